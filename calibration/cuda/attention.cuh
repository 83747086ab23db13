#pragma once
// The two attention kernels.

#include "calibration/cuda/attention_tensors.hpp"
#include "calibration/cuda/kernels.cuh"

namespace contend::cuda {

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
