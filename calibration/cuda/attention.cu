// attention, attention_backward: softmax(Q K^T / sqrt(head size)) V without a mask, and causal_attention(_backward)
// with one that hides later keys, where heads of queries may share heads of keys; in fused kernels that never write
// scores to memory (Dao et al., "FlashAttention", NeurIPS 2022). The kernels are our own and not cuDNN's, because they
// run on every device and tests compare them with plain loops. fp16 and bf16 use tensor cores on devices that have
// mma.m16n8k16 (attention_matrix.cu); fp32 and older devices use multiply-adds (attention_plain.cu). Libraries tuned
// for one generation may be several times faster, so the measured time is an upper bound of theirs, and the profile
// says that these kernels were measured. Tiles that the mask hides are left out.
//
// The backward pass has a kernel for dK and dV, over blocks of keys, and one for dQ, over blocks of queries. Both
// compute the scores again. That takes 7 products, where an algorithm that adds up dQ by atomics takes 5, but gives the
// same bits in every run. Tensors: `q`, `k`, `v`, `o`, `lse`, `do`, `dq`, `dk`, `dv`. Heads have up to 128 elements.
#include "calibration/cuda/attention.cuh"

#include <cmath>

namespace contend::cuda {

namespace {

/// Computes `delta`; one warp takes one row.
template <class T>
__global__ void __launch_bounds__(kThreads)
    sum_products(const T* o, const T* d_o, float* delta, std::int64_t rows, int size) {
  const std::int64_t row = thread_index() / 32;
  if (row >= rows) return;
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x % 32); i < size; i += 32) {
    sum += to_float(o[row * size + i]) * to_float(d_o[row * size + i]);
  }
  sum = reduce_warp(sum, Plus{});
  if (threadIdx.x % 32 == 0) delta[row] = sum;
}

template <class T>
AttentionTensors<T> make_tensors(Operation& operation, const Request& request, bool causal) {
  const std::int64_t heads = elements_of({request.shape[0], request.shape[1]});
  const std::int64_t key_heads = elements_of({request.shape[0], request.shape[2]});
  const std::int64_t sequence = request.shape[3], size = request.shape[4];
  if (request.shape[1] % request.shape[2] != 0) {
    fail(CONTEND_UNSUPPORTED, "heads of keys are shared by equally many heads of queries");
  }
  if (size > kLargestHead) fail(CONTEND_UNSUPPORTED, "heads larger than 128 have no kernel");
  // Kernels have a block for each 32 rows of a head, or a warp for each row.
  if (sequence > (1 << 24) || heads > 0x7fffffff / ((sequence + 31) / 32) || heads > 0x3fffffff / sequence * 8) {
    fail(CONTEND_UNSUPPORTED, "more rows of heads than a grid has blocks for");
  }
  const std::int64_t elements = elements_of({heads, sequence, size});
  const std::int64_t key_elements = elements_of({key_heads, sequence, size});
  AttentionTensors<T> t{};
  t.heads = heads;
  t.group = static_cast<int>(heads / key_heads);
  t.causal = causal;
  t.sequence = static_cast<int>(sequence);
  t.size = static_cast<int>(size);
  t.scale = 1 / std::sqrt(static_cast<float>(size));
  t.q = operation.tensor<T>("q", elements, Fill::normal);
  t.k = operation.tensor<T>("k", key_elements, Fill::normal);
  t.v = operation.tensor<T>("v", key_elements, Fill::normal);
  t.o = operation.tensor<T>("o", elements);
  t.lse = operation.tensor<float>("lse", heads * sequence);
  return t;
}

template <class T>
void launch_forward(const Session& session, const AttentionTensors<T>& t, cudaStream_t stream) {
  if constexpr (sizeof(T) == 2) {
    if (session.capability >= 80) return launch_matrix_attention(t, stream);
  }
  launch_plain_attention(t, stream);
}

template <class T>
void launch_backward(const Session& session, const AttentionTensors<T>& t, cudaStream_t stream) {
  const std::int64_t rows = t.heads * t.sequence;
  const auto blocks = static_cast<unsigned>((rows + kThreads / 32 - 1) / (kThreads / 32));
  sum_products<<<blocks, kThreads, 0, stream>>>(t.o, t.d_o, t.delta, rows, t.size);
  if constexpr (sizeof(T) == 2) {
    if (session.capability >= 80) return launch_matrix_attention_gradients(t, stream);
  }
  launch_plain_attention_gradients(t, stream);
}

template <bool Causal>
Operation attention(Session& session, const Request& request) {
  return by_type(request, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Operation operation;
    const auto t = make_tensors<T>(operation, request, Causal);
    operation.execute = [t, &session](cudaStream_t stream) { launch_forward(session, t, stream); };
    return operation;
  });
}

template <bool Causal>
Operation attention_backward(Session& session, const Request& request) {
  return by_type(request, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Operation operation;
    auto t = make_tensors<T>(operation, request, Causal);
    const std::int64_t rows = t.heads * t.sequence, elements = rows * t.size, key_elements = elements / t.group;
    t.d_o = operation.tensor<T>("do", elements, Fill::normal);
    t.delta = operation.tensor<float>("delta", rows);
    t.dq = operation.tensor<T>("dq", elements);
    t.dk = operation.tensor<T>("dk", key_elements);
    t.dv = operation.tensor<T>("dv", key_elements);
    if constexpr (sizeof(T) == 2) {
      if (session.capability >= 80) allow_matrix_attention<T>();
    }
    launch_forward(session, t, nullptr);  // computes the o and lse of these tensors
    check(cudaGetLastError(), "launching a kernel");
    operation.execute = [t, &session](cudaStream_t stream) { launch_backward(session, t, stream); };
    operation.kernels = 3;
    return operation;
  });
}

}  // namespace

Entries attention_operators() {
  return {{"attention", 5, attention<false>},
          {"attention_backward", 5, attention_backward<false>},
          {"causal_attention", 5, attention<true>},
          {"causal_attention_backward", 5, attention_backward<true>}};
}

}  // namespace contend::cuda
