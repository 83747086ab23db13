// Attention by multiply-adds (attention_plain_kernels.cuh).
#include "calibration/cuda/attention.cuh"
#include "calibration/cuda/attention_plain_kernels.cuh"

namespace contend::cuda {

namespace {

using plain::attend;
using plain::attention_gradients;
using plain::kBlock;

template <int Parts>
unsigned blocks(std::int64_t heads, int sequence) {
  constexpr int kRows = kBlock / Parts;
  return static_cast<unsigned>(heads * ((sequence + kRows - 1) / kRows));
}

template <class T, int Parts>
void launch_gradients(const AttentionTensors<T>& t, cudaStream_t stream) {
  attention_gradients<T, Parts, true><<<blocks<Parts>(t.heads / t.group, t.sequence), kBlock, 0, stream>>>(t);
  attention_gradients<T, Parts, false><<<blocks<Parts>(t.heads, t.sequence), kBlock, 0, stream>>>(t);
}

}  // namespace

template <class T>
void launch_plain_attention(const AttentionTensors<T>& t, cudaStream_t stream) {
  if (t.size <= 64) {
    attend<T, 2><<<blocks<2>(t.heads, t.sequence), kBlock, 0, stream>>>(t);
  } else {
    attend<T, 4><<<blocks<4>(t.heads, t.sequence), kBlock, 0, stream>>>(t);
  }
}

template <class T>
void launch_plain_attention_gradients(const AttentionTensors<T>& t, cudaStream_t stream) {
  if (t.size <= 64) {
    launch_gradients<T, 2>(t, stream);
  } else {
    launch_gradients<T, 4>(t, stream);
  }
}

template void launch_plain_attention(const AttentionTensors<float>&, cudaStream_t);
template void launch_plain_attention(const AttentionTensors<__half>&, cudaStream_t);
template void launch_plain_attention(const AttentionTensors<__nv_bfloat16>&, cudaStream_t);
template void launch_plain_attention_gradients(const AttentionTensors<float>&, cudaStream_t);
template void launch_plain_attention_gradients(const AttentionTensors<__half>&, cudaStream_t);
template void launch_plain_attention_gradients(const AttentionTensors<__nv_bfloat16>&, cudaStream_t);

}  // namespace contend::cuda
