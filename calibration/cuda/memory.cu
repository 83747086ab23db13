// Measures launches and memory.
//
//   launch   `launches` empty kernels of one block of 32 threads. Not gated: the host's part is what is asked for, at
//   the
//            rate at which it launches one kernel after the other.
//   copy     cudaMemcpyAsync within the device; 2 x bytes of memory.
//   read     16-byte loads, added up; one number a block is written.
//   write    16-byte stores.
#include "calibration/cuda/kernels.cuh"

namespace contend::cuda {

namespace {

__global__ void nothing() {}

Operation launch(Session&, const Request& request) {
  Operation operation;
  operation.gated = false;
  operation.execute = [launches = request.shape[0]](cudaStream_t stream) {
    for (std::int64_t i = 0; i < launches; ++i) nothing<<<1, 32, 0, stream>>>();
  };
  return operation;
}

Operation copy(Session&, const Request& request) {
  Operation operation;
  const std::int64_t bytes = request.shape[0];
  const auto* const from = operation.tensor<float>("from", (bytes + 3) / 4, Fill::normal);
  auto* const to = operation.tensor<float>("to", (bytes + 3) / 4);
  operation.execute = [=](cudaStream_t stream) {
    check(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDeviceToDevice, stream), "copying");
  };
  return operation;
}

__global__ void __launch_bounds__(kThreads) add_up(const float* from, float* sums, std::int64_t n) {
  float sum = 0;
  const auto* const packs = reinterpret_cast<const float4*>(from);
  const std::int64_t stride = thread_count();
  std::int64_t i = thread_index();
  // Four loads are in flight at once.
  for (; i + 3 * stride < n / 4; i += 4 * stride) {
    const float4 a = packs[i], b = packs[i + stride], c = packs[i + 2 * stride], d = packs[i + 3 * stride];
    sum += (a.x + a.y + a.z + a.w) + (b.x + b.y + b.z + b.w) + (c.x + c.y + c.z + c.w) + (d.x + d.y + d.z + d.w);
  }
  for (; i < n / 4; i += stride) {
    const float4 a = packs[i];
    sum += a.x + a.y + a.z + a.w;
  }
  const std::int64_t last = n / 4 * 4 + thread_index();
  if (last < n) sum += from[last];
  sum = reduce_block(sum, Plus{});
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

Operation read(Session& session, const Request& request) {
  Operation operation;
  const std::int64_t n = (request.shape[0] + 3) / 4;
  const unsigned blocks = blocks_for(n, 4 * kThreads, full(session));
  const auto* const from = operation.tensor<float>("from", n, Fill::normal);
  auto* const sums = operation.tensor<float>("sums", blocks);
  operation.execute = [=](cudaStream_t stream) { add_up<<<blocks, kThreads, 0, stream>>>(from, sums, n); };
  return operation;
}

struct Constant {
  float value;
  __device__ void operator()(float (&values)[1]) const { values[0] = value; }
};

Operation write(Session& session, const Request& request) {
  Operation operation;
  const std::int64_t n = (request.shape[0] + 3) / 4;
  auto* const to = operation.tensor<float>("to", n);
  operation.execute = [=, &session](cudaStream_t stream) {
    launch_each<1, false>(session, stream, n, Tensors<float, 1>{{to}}, Constant{1.5F});
  };
  return operation;
}

}  // namespace

Entries launch_operators() {
  return {{"launch", 1, launch}};
}

Entries memory_operators() {
  return {{"copy", 1, copy}, {"read", 1, read}, {"write", 1, write}};
}

}  // namespace contend::cuda
