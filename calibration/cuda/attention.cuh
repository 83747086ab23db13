#pragma once
// The two attention kernels and the tensors that both use.

#include "calibration/cuda/kernels.cuh"

namespace contend::cuda {

/// The operands of attention. Matrices are row-major, `heads` (batch x heads) x `sequence` x `size`; `lse` (logarithm
/// of the sum of exponentials) and `delta` (sum of dO x O) have one number a row. The forward pass reads q, k, v and
/// writes o and lse; the backward pass reads all of these, d_o and delta, and writes dq, dk and dv.
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
  float scale;  ///< factor of the scores
};

constexpr int kLargestHead = 128;

/// Attention by single multiply-adds, for every device and number format; 2 or 4 threads compute a row.
template <class T>
void launch_plain_attention(const AttentionTensors<T>& t, cudaStream_t stream);
template <class T>
void launch_plain_attention_gradients(const AttentionTensors<T>& t, cudaStream_t stream);

/// Attention on tensor cores of capability 8.0 and above, in fp16 and bf16.
template <class T>
void launch_matrix_attention(const AttentionTensors<T>& t, cudaStream_t stream);
template <class T>
void launch_matrix_attention_gradients(const AttentionTensors<T>& t, cudaStream_t stream);
/// Raises the shared-memory limit of the gradient kernels; call it once before they are launched.
template <class T>
void allow_matrix_attention();

}  // namespace contend::cuda
