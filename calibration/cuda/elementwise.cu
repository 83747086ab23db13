// Measures elementwise operators of one pass, and the steps of optimisers. All load and store 16 bytes at a time.
//
//   activation     ReLU, `y` from `x`.
//   sum            `y` = `a` + `b`.
//   add_residual   the same in fp32: the gradient and what compression left over in the step before.
//   sgd_fused      momentum 0.9, weights `p`, gradient `g`, velocity `v`, in one kernel: 5 reads and writes.
//   adam_fused     Kingma and Ba (ICLR 2015), moments `m` and `v`, in one kernel: 7 reads and writes. The step is the
//                  tenth.
// Weights and moments change with every execution, which does not change its cost.
#include "calibration/cuda/kernels.cuh"

#include <cmath>

namespace contend::cuda {

namespace {

struct Relu {
  __device__ void operator()(float (&v)[2]) const { v[0] = fmaxf(v[1], 0.0F); }
};
struct Add {
  __device__ void operator()(float (&v)[3]) const { v[0] = v[1] + v[2]; }
};
constexpr float kRate = 0.01F, kMomentum = 0.9F;

/// The values are p, v, g.
struct SgdStep {
  __device__ void operator()(float (&v)[3]) const {
    v[1] = kMomentum * v[1] + v[2];
    v[0] -= kRate * v[1];
  }
};

struct AdamConstants {
  float beta1 = 0.9F, beta2 = 0.999F, epsilon = 1e-8F;
  float step;        ///< rate / (1 - beta1^t)
  float root_scale;  ///< 1 / sqrt(1 - beta2^t)
};

AdamConstants adam_constants() {
  AdamConstants constants{};
  constexpr int kStep = 10;
  constants.step = 0.001F / (1 - std::pow(constants.beta1, kStep));
  constants.root_scale = 1 / std::sqrt(1 - std::pow(constants.beta2, kStep));
  return constants;
}

/// The values are p, m, v, g.
struct AdamStep {
  AdamConstants c;
  __device__ void operator()(float (&v)[4]) const {
    v[1] += (1 - c.beta1) * (v[3] - v[1]);
    v[2] = c.beta2 * v[2] + (1 - c.beta2) * v[3] * v[3];
    v[0] -= c.step * v[1] / (sqrtf(v[2]) * c.root_scale + c.epsilon);
  }
};

Operation activation(Session& session, const Request& request) {
  return by_type(request, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Operation operation;
    const std::int64_t n = request.shape[0];
    T* const x = operation.tensor<T>("x", n, Fill::normal);
    T* const y = operation.tensor<T>("y", n);
    operation.execute = [=, &session](cudaStream_t stream) {
      launch_each<1, false>(session, stream, n, Tensors<T, 2>{{y, x}}, Relu{});
    };
    return operation;
  });
}

Operation sum(Session& session, const Request& request) {
  return by_type(request, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Operation operation;
    const std::int64_t n = request.shape[0];
    T* const a = operation.tensor<T>("a", n, Fill::normal);
    T* const b = operation.tensor<T>("b", n, Fill::normal);
    T* const y = operation.tensor<T>("y", n);
    operation.execute = [=, &session](cudaStream_t stream) {
      launch_each<1, false>(session, stream, n, Tensors<T, 3>{{y, a, b}}, Add{});
    };
    return operation;
  });
}

Operation add_residual(Session& session, const Request& request) {
  only_fp32(request);
  return sum(session, request);
}

struct Weights {
  Weights(Operation& operation, const Request& request) : n(request.shape[0]) {
    only_fp32(request);
    p = operation.tensor<float>("p", n, Fill::normal);
    g = operation.tensor<float>("g", n, Fill::normal, 0.01F);
    v = operation.tensor<float>("v", n);
  }
  std::int64_t n;
  float *p, *g, *v;
};

Operation sgd_fused(Session& session, const Request& request) {
  Operation operation;
  const Weights w(operation, request);
  operation.execute = [w, &session](cudaStream_t stream) {
    launch_each<2, true>(session, stream, w.n, Tensors<float, 3>{{w.p, w.v, w.g}}, SgdStep{});
  };
  return operation;
}

Operation adam_fused(Session& session, const Request& request) {
  Operation operation;
  const Weights w(operation, request);
  float* const m = operation.tensor<float>("m", w.n);
  const AdamConstants c = adam_constants();
  operation.execute = [=, &session](cudaStream_t stream) {
    launch_each<3, true>(session, stream, w.n, Tensors<float, 4>{{w.p, m, w.v, w.g}}, AdamStep{c});
  };
  return operation;
}

}  // namespace

Entries elementwise_operators() {
  return {{"activation", 1, activation}, {"sum", 1, sum}, {"add_residual", 1, add_residual}};
}

Entries optimizer_operators() {
  return {{"sgd_fused", 1, sgd_fused, 0, true}, {"adam_fused", 1, adam_fused, 0, true}};
}

}  // namespace contend::cuda
