// Measures computing while something else runs: the operation is timed as usual on its own stream, while copies or
// collectives follow each other on a second stream from before it begins until after it has ended (time_beside() of
// timing.cuh).
//
//   gemm_beside_copy         the product, beside copies of `bytes` from pinned host memory.
//   copy_beside_copy         a copy within the device, beside copies of as many bytes from pinned host memory.
//   gemm_beside_all_reduce   the product, beside all-reduces of `bytes` over all devices.
#include "calibration/cuda/collective.cuh"
#include "calibration/cuda/gemm.cuh"
#include "calibration/cuda/timing.cuh"

#include <cstring>

namespace contend::cuda {

namespace {

/// Returns a function that enqueues a copy of `bytes` from the host to memory of its own.
std::function<void()> copies(Session& session, Operation& operation, std::int64_t bytes) {
  const auto size = static_cast<size_t>(bytes);
  const auto host = std::make_shared<PinnedMemory>(allocate_pinned(size));
  std::memset(host->get(), 0x5a, size);
  void* const device = operation.tensor<float>("copied", (bytes + 3) / 4);
  return [=, &session] {
    check(cudaMemcpyAsync(device, host->get(), size, cudaMemcpyHostToDevice, session.background),
          "copying to the device");
  };
}

/// Returns `operation` such that its time is measured beside `other`.
Operation beside(Session& session, Operation operation, std::function<void()> other) {
  const auto measured = std::make_shared<Operation>();
  measured->execute = operation.execute;
  operation.time = [=, &session](int launches) { return time_beside(session, *measured, launches, other); };
  return operation;
}

Request without_last(const Request& request) {
  Request shorter = request;
  shorter.shape.pop_back();
  return shorter;
}

Operation gemm_beside_copy(Session& session, const Request& request) {
  Operation operation = make_gemm(session, without_last(request));
  auto other = copies(session, operation, request.shape.back());
  return beside(session, std::move(operation), std::move(other));
}

Operation copy_beside_copy(Session& session, const Request& request) {
  Operation operation;
  const std::int64_t bytes = request.shape[0];
  const float* const from = operation.tensor<float>("from", (bytes + 3) / 4, Fill::normal);
  float* const to = operation.tensor<float>("to", (bytes + 3) / 4);
  operation.execute = [=](cudaStream_t stream) {
    check(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDeviceToDevice, stream), "copying");
  };
  auto other = copies(session, operation, bytes);
  return beside(session, std::move(operation), std::move(other));
}

Operation gemm_beside_all_reduce(Session& session, const Request& request) {
  const auto all_reduce =
      std::make_shared<Operation>(make_all_reduce(session, request.shape.back(), std::max(2, session.devices)));
  return beside(session, make_gemm(session, without_last(request)),
                [all_reduce, &session] { all_reduce->execute(session.background); });
}

}  // namespace

Entries contention_operators() {
  return {{"gemm_beside_copy", 5, gemm_beside_copy},
          {"copy_beside_copy", 1, copy_beside_copy},
          {"gemm_beside_all_reduce", 5, gemm_beside_all_reduce}};
}

}  // namespace contend::cuda
