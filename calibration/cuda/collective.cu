// Measures copies and collectives between the devices of this machine.
//
//   peer_copy        `from` on the session's device to `to` on the next one, directly where the devices can reach each
//                    other's memory, else through the host, as cudaMemcpyPeerAsync chooses.
//   nccl_...         NCCL in this process, one communicator a device: the session's device first, then the others in
//                    their order. fp32 sums, from `in0`, `in1`, ... to `out0`, `out1`, ... . Timed on the first
//                    device, which ends when the others have done their part. all_to_all is a send and a receive for
//                    each pair.
#include "calibration/cuda/operation.cuh"
#include "calibration/cuda/versions.cuh"

#ifdef CONTEND_HAS_NCCL
#include <nccl.h>
#endif

#include <map>

namespace contend::cuda {

namespace {

using cuda::check;

void need_devices(const Session& session, std::int64_t devices) {
  if (devices < 2) fail(CONTEND_UNSUPPORTED, "it takes at least 2 devices to communicate");
  if (session.devices < devices) {
    fail(CONTEND_UNSUPPORTED, "this takes " + std::to_string(devices) + " devices, and this process sees " +
                                  std::to_string(session.devices));
  }
}

/// Makes another device the current one for a while.
class Visit {
 public:
  Visit(const Session& session, int device) : home_(session.device) {
    check(cudaSetDevice(device), "choosing a device");
  }
  ~Visit() { cudaSetDevice(home_); }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  int home_;
};

float* tensor_on(const Session& session, int device, Operation& operation, const std::string& name,
                 std::int64_t elements, Fill fill) {
  const Visit visit(session, device);
  float* const memory = operation.tensor<float>(name.c_str(), elements, fill);
  check(cudaDeviceSynchronize(), "filling a tensor");
  return memory;
}

Operation peer_copy(Session& session, const Request& request) {
  need_devices(session, 2);
  const int from_device = session.device, to_device = (session.device + 1) % session.devices;
  int reachable = 0;
  check(cudaDeviceCanAccessPeer(&reachable, from_device, to_device), "asking for peer access");
  if (reachable != 0) {
    const cudaError_t enabled = cudaDeviceEnablePeerAccess(to_device, 0);
    if (enabled != cudaErrorPeerAccessAlreadyEnabled) check(enabled, "enabling peer access");
    cudaGetLastError();
  }
  Operation operation;
  const std::int64_t bytes = request.shape[0];
  const float* const from = tensor_on(session, from_device, operation, "from", (bytes + 3) / 4, Fill::normal);
  float* const to = tensor_on(session, to_device, operation, "to", (bytes + 3) / 4, Fill::zeros);
  operation.execute = [=](cudaStream_t stream) {
    check(cudaMemcpyPeerAsync(to, to_device, from, from_device, static_cast<size_t>(bytes), stream),
          "copying to a peer");
  };
  return operation;
}

enum class Kind { all_reduce, all_gather, reduce_scatter, all_to_all };

#ifdef CONTEND_HAS_NCCL

void check(ncclResult_t result, const char* call) {
  if (result == ncclSuccess) return;
  cudaGetLastError();
  fail(CONTEND_FAILED, std::string("NCCL, ") + call + ": " + ncclGetErrorString(result));
}

struct Member {
  int device;
  cudaStream_t stream;  ///< null for the session's device, which has streams of its own
  ncclComm_t communicator;
};

/// The communicators over the first n devices. It creates them on first use, because that takes seconds.
class Groups {
 public:
  explicit Groups(Session& session) : session_(session) {}
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;
  ~Groups() {
    for (auto& [size, members] : groups_) {
      for (const Member& each : members) {
        const bool broken = cudaSetDevice(each.device) != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess;
        // A communicator on a broken device might wait for the others forever.
        if (each.communicator != nullptr && broken) ncclCommAbort(each.communicator);
        if (each.communicator != nullptr && !broken) ncclCommDestroy(each.communicator);
        if (each.stream != nullptr) cudaStreamDestroy(each.stream);
      }
    }
    cudaSetDevice(session_.device);
  }

  const std::vector<Member>& of(int size) {
    auto& members = groups_[size];
    if (!members.empty()) return members;
    try {
      make(size, members);
    } catch (const Failure&) {
      for (const Member& each : members) {
        if (each.stream != nullptr) cudaStreamDestroy(each.stream);
      }
      members.clear();
      throw;
    }
    return members;
  }

 private:
  void make(int size, std::vector<Member>& members) {
    std::vector<int> devices{session_.device};
    for (int device = 0; static_cast<int>(devices.size()) < size; ++device) {
      if (device != session_.device) devices.push_back(device);
    }
    for (const int device : devices) {
      members.push_back({device, nullptr, nullptr});
      if (device == session_.device) continue;
      const Visit visit(session_, device);
      check(cudaStreamCreateWithFlags(&members.back().stream, cudaStreamNonBlocking), "creating a stream");
    }
    std::vector<ncclComm_t> communicators(devices.size(), nullptr);
    check(ncclCommInitAll(communicators.data(), size, devices.data()), "making communicators");
    for (size_t i = 0; i < members.size(); ++i) members[i].communicator = communicators[i];
    check(cudaSetDevice(session_.device), "choosing the device");
  }

  Session& session_;
  std::map<int, std::vector<Member>> groups_;
};

ncclResult_t enqueue_all_to_all(const float* in, float* out, size_t share, int ranks, ncclComm_t communicator,
                                cudaStream_t stream) {
  for (int peer = 0; peer < ranks; ++peer) {
    const size_t offset = static_cast<size_t>(peer) * share;
    if (const auto sent = ncclSend(in + offset, share, ncclFloat, peer, communicator, stream); sent != ncclSuccess) {
      return sent;
    }
    if (const auto got = ncclRecv(out + offset, share, ncclFloat, peer, communicator, stream); got != ncclSuccess) {
      return got;
    }
  }
  return ncclSuccess;
}

ncclResult_t enqueue(Kind kind, const float* in, float* out, size_t share, int ranks, ncclComm_t communicator,
                     cudaStream_t stream) {
  switch (kind) {
    case Kind::all_reduce:
      return ncclAllReduce(in, out, share * static_cast<size_t>(ranks), ncclFloat, ncclSum, communicator, stream);
    case Kind::all_gather:
      return ncclAllGather(in, out, share, ncclFloat, communicator, stream);
    case Kind::reduce_scatter:
      return ncclReduceScatter(in, out, share, ncclFloat, ncclSum, communicator, stream);
    case Kind::all_to_all:
      return enqueue_all_to_all(in, out, share, ranks, communicator, stream);
  }
  return ncclInvalidArgument;
}

Operation collective(Session& session, Kind kind, std::int64_t bytes, std::int64_t devices) {
  need_devices(session, devices);
  if (!why_no_nccl().empty()) fail(CONTEND_UNSUPPORTED, why_no_nccl());
  const auto ranks = static_cast<int>(devices);
  const std::vector<Member> members = session.library<Groups>().of(ranks);
  Operation operation;
  // Every rank has the same number of elements.
  const std::int64_t share = std::max<std::int64_t>(1, bytes / 4 / devices), all = share * devices;
  std::vector<const float*> in;
  std::vector<float*> out;
  for (const Member& each : members) {
    const std::string number = std::to_string(in.size());
    in.push_back(tensor_on(session, each.device, operation, "in" + number, kind == Kind::all_gather ? share : all,
                           Fill::normal));
    out.push_back(tensor_on(session, each.device, operation, "out" + number, kind == Kind::reduce_scatter ? share : all,
                            Fill::zeros));
  }
  operation.execute = [=](cudaStream_t stream) {
    check(ncclGroupStart(), "beginning a group");
    ncclResult_t result = ncclSuccess;
    for (size_t i = 0; i < members.size() && result == ncclSuccess; ++i) {
      result = enqueue(kind, in[i], out[i], static_cast<size_t>(share), ranks, members[i].communicator,
                       members[i].stream != nullptr ? members[i].stream : stream);
    }
    const ncclResult_t ended =
        ncclGroupEnd();  // also after an error; otherwise the next group would lie inside this one
    check(result, "communicating");
    check(ended, "communicating");
  };
  return operation;
}

#else

Operation collective(Session& session, Kind, std::int64_t, std::int64_t devices) {
  need_devices(session, devices);
  fail(CONTEND_UNSUPPORTED, why_no_nccl());
}

#endif

template <Kind Which>
Operation over_devices(Session& session, const Request& request) {
  return collective(session, Which, request.shape[0], request.shape[1]);
}

}  // namespace

Entries collective_operators() {
  return {{"peer_copy", 1, peer_copy},
          {"nccl_all_reduce", 2, over_devices<Kind::all_reduce>},
          {"nccl_all_gather", 2, over_devices<Kind::all_gather>},
          {"nccl_reduce_scatter", 2, over_devices<Kind::reduce_scatter>},
          {"nccl_all_to_all", 2, over_devices<Kind::all_to_all>}};
}

}  // namespace contend::cuda
