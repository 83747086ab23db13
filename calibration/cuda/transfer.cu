// Measures copies between host and device by cudaMemcpyAsync.
//
//   to_device_pinned, to_host_pinned       from and to page-locked memory.
//   to_device_pageable, to_host_pageable   from and to ordinary memory, which the driver copies through its own
//                                          page-locked buffers while the caller waits, so it has no gate (timing.cuh).
//   both_ways_pinned                       `bytes` each way on two streams; from when the first begins to when the
//                                          second has ended.
// All pages are touched before; host memory lies where the calling thread's pages do, so pin the thread to the NUMA
// node of the device for the best figures.
#include "calibration/cuda/operation.cuh"
#include "calibration/cuda/timing.cuh"

#include <cstring>

namespace contend::cuda {

namespace {

enum class Way { to_device, to_host };

void* host_memory(Operation& operation, size_t bytes, bool pinned) {
  void* memory = nullptr;
  if (pinned) {
    auto owned = std::make_shared<PinnedMemory>(allocate_pinned(bytes));
    memory = owned->get();
    operation.keep(std::move(owned));
  } else {
    auto owned = std::make_shared<std::vector<char>>(bytes);
    memory = owned->data();
    operation.keep(std::move(owned));
  }
  std::memset(memory, 0x5a, bytes);
  return memory;
}

std::int64_t floats_in(std::int64_t bytes) {
  return (bytes + 3) / 4;
}

template <Way Direction, bool Pinned>
Operation transfer(Session&, const Request& request) {
  Operation operation;
  const auto bytes = static_cast<size_t>(request.shape[0]);
  void* const device = operation.tensor<float>("device", floats_in(request.shape[0]), Fill::normal);
  void* const host = host_memory(operation, bytes, Pinned);
  operation.gated = Pinned;
  operation.execute = [=](cudaStream_t stream) {
    if (Direction == Way::to_device) {
      check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream), "copying to the device");
    } else {
      check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream), "copying to the host");
    }
  };
  return operation;
}

Operation both_ways(Session& session, const Request& request) {
  Operation operation;
  const auto bytes = static_cast<size_t>(request.shape[0]);
  void* const to = operation.tensor<float>("to", floats_in(request.shape[0]));
  const void* const from = operation.tensor<float>("from", floats_in(request.shape[0]), Fill::normal);
  const void* const host_from = host_memory(operation, bytes, true);
  void* const host_to = host_memory(operation, bytes, true);
  const auto forked = std::make_shared<Event>(), joined = std::make_shared<Event>();
  operation.execute = [=, &session](cudaStream_t stream) {
    forked->record(stream);
    check(cudaStreamWaitEvent(session.background, forked->get(), 0), "joining streams");
    check(cudaMemcpyAsync(to, host_from, bytes, cudaMemcpyHostToDevice, stream), "copying to the device");
    check(cudaMemcpyAsync(host_to, from, bytes, cudaMemcpyDeviceToHost, session.background), "copying to the host");
    joined->record(session.background);
    check(cudaStreamWaitEvent(stream, joined->get(), 0), "joining streams");
  };
  return operation;
}

}  // namespace

Entries transfer_operators() {
  return {{"to_device_pinned", 1, transfer<Way::to_device, true>},
          {"to_host_pinned", 1, transfer<Way::to_host, true>},
          {"to_device_pageable", 1, transfer<Way::to_device, false>},
          {"to_host_pageable", 1, transfer<Way::to_host, false>},
          {"both_ways_pinned", 1, both_ways}};
}

}  // namespace contend::cuda
