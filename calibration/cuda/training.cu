// Measures what training does beside products and rows, by our own kernels (training_kernels.cuh).
//
//   swiglu            `y` = silu(`gate`) x `up` (Shazeer, arXiv 2002.05202); swiglu_backward: `dgate` and `dup` from
//                     `gate`, `up` and `dy`.
//   rope              `y`: pairs of numbers of `x` turned by angles (`turns`) of their row. The gradient is the same
//                     with the opposite angles.
//   cast_transpose    fp8 numbers `y` of `x` and their transposed `t`, and the largest magnitude `most`.
//   adam_mixed        gradients `g` and weights `w` of 16 bits (bf16), weights `p` and moments `m`, `v` of 32 bits.
//   reduce            the sum `out` of two tensors `a`, `b` of kReducedBytes, by a given number of blocks: what a
//   ring's
//                     kernel does with the memory of its device.
#include "calibration/cuda/training_kernels.cuh"

#include "calibration/cuda/kernels.cuh"
#include "calibration/shared_shapes.hpp"

#include <cmath>

namespace contend::cuda {

namespace {

struct Swiglu {
  __device__ void operator()(float (&v)[3]) const { v[0] = v[1] / (1 + __expf(-v[1])) * v[2]; }
};
/// The values are the gradients of gate and up, then gate, up and the gradient of the product.
struct SwigluGradients {
  __device__ void operator()(float (&v)[5]) const {
    const float sigmoid = 1 / (1 + __expf(-v[2])), silu = v[2] * sigmoid;
    v[0] = v[4] * v[3] * (sigmoid + silu * (1 - sigmoid));
    v[1] = v[4] * silu;
  }
};

Operation swiglu(Session& session, const Request& request) {
  return by_type(request, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Operation operation;
    const std::int64_t n = elements_of({request.shape[0], request.shape[1]});
    T* const gate = operation.tensor<T>("gate", n, Fill::normal);
    T* const up = operation.tensor<T>("up", n, Fill::normal);
    T* const y = operation.tensor<T>("y", n);
    operation.execute = [=, &session](cudaStream_t stream) {
      launch_each<1, false>(session, stream, n, Tensors<T, 3>{{y, gate, up}}, Swiglu{});
    };
    return operation;
  });
}

Operation swiglu_backward(Session& session, const Request& request) {
  return by_type(request, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Operation operation;
    const std::int64_t n = elements_of({request.shape[0], request.shape[1]});
    T* const gate = operation.tensor<T>("gate", n, Fill::normal);
    T* const up = operation.tensor<T>("up", n, Fill::normal);
    T* const dy = operation.tensor<T>("dy", n, Fill::normal);
    T* const dgate = operation.tensor<T>("dgate", n);
    T* const dup = operation.tensor<T>("dup", n);
    operation.execute = [=, &session](cudaStream_t stream) {
      launch_each<2, false>(session, stream, n, Tensors<T, 5>{{dgate, dup, gate, up, dy}}, SwigluGradients{});
    };
    return operation;
  });
}

Operation rope(Session& session, const Request& request) {
  const std::int64_t rows = request.shape[0], width = request.shape[1];
  if (width % kTurned != 0) fail(CONTEND_UNSUPPORTED, "heads of 128 numbers are turned");
  return by_type(request, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Operation operation;
    const T* const x = operation.tensor<T>("x", elements_of({rows, width}), Fill::normal);
    const float* const turns = operation.tensor<float>("turns", elements_of({rows, kTurned}), Fill::normal);
    T* const y = operation.tensor<T>("y", elements_of({rows, width}));
    const unsigned blocks = blocks_for(rows * width, std::int64_t{kThreads} * Pack<T>::kSize, 4 * full(session));
    operation.execute = [=](cudaStream_t stream) {
      turn_positions<T><<<blocks, kThreads, 0, stream>>>(rows, width, x, turns, y);
    };
    return operation;
  });
}

Operation cast_transpose(Session& session, const Request& request) {
  const std::int64_t rows = request.shape[0], columns = request.shape[1];
  if (rows % kCastTile != 0 || columns % kCastTile != 0) {
    fail(CONTEND_UNSUPPORTED, "rows and columns in multiples of 64 are cast");
  }
  return by_type(request, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Operation operation;
    const std::int64_t n = elements_of({rows, columns});
    const T* const x = operation.tensor<T>("x", n, Fill::normal);
    auto* const y = operation.tensor<__nv_fp8_e4m3>("y", n);
    auto* const t = operation.tensor<__nv_fp8_e4m3>("t", n);
    auto* const most = operation.tensor<std::uint32_t>("most", 1);
    const unsigned blocks = blocks_for(n, kCastTile * kCastTile, full(session));
    operation.execute = [=](cudaStream_t stream) {
      cast_both_ways<<<blocks, kThreads, 0, stream>>>(rows, columns, x, 1.0F, y, t, most);
    };
    return operation;
  });
}

Operation adam_mixed(Session& session, const Request& request) {
  only_fp32(request);
  Operation operation;
  const std::int64_t n = request.shape[0];
  if (n % 4 != 0) fail(CONTEND_UNSUPPORTED, "steps of multiples of 4 elements are measured");
  const auto* const g = operation.tensor<__nv_bfloat16>("g", n, Fill::normal, 0.01F);
  float* const p = operation.tensor<float>("p", n, Fill::normal);
  float* const m = operation.tensor<float>("m", n);
  float* const v = operation.tensor<float>("v", n);
  auto* const w = operation.tensor<__nv_bfloat16>("w", n);
  constexpr int kStep = 10;
  MixedAdam c{0.9F, 0.999F, 1e-8F, 0, 0};
  c.step = 0.001F / (1 - std::pow(c.beta1, kStep));
  c.root_scale = 1 / std::sqrt(1 - std::pow(c.beta2, kStep));
  const unsigned blocks = blocks_for(n, 4 * kThreads, full(session));
  operation.execute = [=](cudaStream_t stream) {
    step_mixed_adam<<<blocks, kThreads, 0, stream>>>(n, g, p, m, v, w, c);
  };
  return operation;
}

Operation reduce(Session&, const Request& request) {
  only_fp32(request);
  if (request.shape[0] > 1024) fail(CONTEND_UNSUPPORTED, "at most 1024 blocks");
  return make_reduce(request.shape[0]);
}

}  // namespace

Operation make_reduce(std::int64_t blocks) {
  Operation operation;
  constexpr std::int64_t kElements = kReducedBytes / 4;
  const auto* const a = reinterpret_cast<const float4*>(operation.tensor<float>("a", kElements, Fill::normal));
  const auto* const b = reinterpret_cast<const float4*>(operation.tensor<float>("b", kElements, Fill::normal));
  auto* const out = reinterpret_cast<float4*>(operation.tensor<float>("out", kElements));
  operation.execute = [=](cudaStream_t stream) {
    reduce_two<<<static_cast<unsigned>(blocks), kReduceThreads, 0, stream>>>(kElements / 4, a, b, out);
  };
  return operation;
}

Entries training_operators() {
  return {{"swiglu", 2, swiglu},
          {"swiglu_backward", 2, swiglu_backward},
          {"rope", 2, rope},
          {"cast_transpose", 2, cast_transpose},
          {"adam_mixed", 1, adam_mixed, 0, true},
          {"reduce", 1, reduce}};
}

}  // namespace contend::cuda
