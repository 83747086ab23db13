#pragma once
// The tensors of attention, for kernels that also compile for the host (device_code.cuh).

#include "calibration/cuda/device_code.cuh"

namespace contend::cuda {

constexpr int kLargestHead = 128;

/// The operands of attention. Matrices are row-major, heads x `sequence` x `size`: `heads` (batch x query heads) of
/// queries, and one of keys and values for each `group` of them (Ainslie et al., arXiv 2305.13245). `lse` (logarithm of
/// the sum of exponentials) and `delta` (sum of dO x O) have one number a row of queries. The forward pass reads q, k,
/// v and writes o and lse; the backward pass reads all of these, d_o and delta, and writes dq, dk and dv.
template <class T>
struct AttentionTensors {
  const T *q, *k, *v;
  T* o;
  float* lse;
  const T* d_o;
  float* delta;
  T *dq, *dk, *dv;
  std::int64_t heads;
  int group;  ///< query heads that share a head of keys and values; a divisor of `heads`
  int sequence, size;
  float scale;  ///< factor of the scores
  bool causal;  ///< a query sees the keys up to its own position

  __device__ bool sees(int query, int key) const { return !causal || key <= query; }
  /// The end of the keys that the queries before `end` see.
  __device__ int keys_until(int end) const { return causal && end < sequence ? end : sequence; }
};

}  // namespace contend::cuda
