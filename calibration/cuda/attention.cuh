#pragma once
// The two implementations of attention, and what both work on.

#include "calibration/cuda/kernels.cuh"

namespace contend::cuda {

/// Tensors of `heads` (batch x heads) x `sequence` x `size` numbers, row by row; `lse` (logarithm of the sum of
/// exponentials) and `delta` (sum of dO x O) have one number a row. The forward pass reads q, k, v and writes o and
/// lse; the backward pass reads all of these, d_o and delta, and writes dq, dk and dv.
template <class T>
struct AttentionTensors {
  const T *q, *k, *v;
  T* o;
  float* lse;
  const T* d_o;
  float* delta;
  T *dq, *dk, *dv;
  std::int64_t heads;
  int sequence, size;
  float scale;  ///< of scores
};

constexpr int kLargestHead = 128;

/// Multiply-adds one by one, for every device and number; a row is the work of 2 or 4 threads.
template <class T>
void launch_plain_attention(const AttentionTensors<T>& t, cudaStream_t stream);
template <class T>
void launch_plain_attention_gradients(const AttentionTensors<T>& t, cudaStream_t stream);

/// Tensor cores of capability 8.0 and above, fp16 and bf16.
template <class T>
void launch_matrix_attention(const AttentionTensors<T>& t, cudaStream_t stream);
template <class T>
void launch_matrix_attention_gradients(const AttentionTensors<T>& t, cudaStream_t stream);
/// To be called once before: allows the gradients' kernels the shared memory that they need.
template <class T>
void allow_matrix_attention();

}  // namespace contend::cuda
