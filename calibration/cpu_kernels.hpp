#pragma once
// The kernels that the CPU back end times: fp32 on one thread, simple and correct rather than tuned. Tensors are
// row-major in the order of their dimensions. The caller has checked the sizes; spans do not overlap unless a comment
// allows it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace contend::cpu {

using In = std::span<const float>;
using Out = std::span<float>;

/// The sum of all values, by partial sums, so that memory bandwidth limits it and not the latency of additions.
[[nodiscard]] float add_up(In values);
void relu(In in, Out out);
void add(In a, In b, Out out);
/// The sum of all rows; a row has as many numbers as `sums`.
void sum_columns(In in, Out sums);
/// Softmax of each row of `width` numbers.
void softmax(std::size_t width, In in, Out out);
/// (x - mean) / sqrt(variance + 1e-5) x scale + shift over each row of `width` numbers; `scale` and `shift` have
/// `width` each.
void layer_norm(std::size_t width, In in, In scale, In shift, Out out);
/// The same per channel over batch and positions; tensors are batch x channels x positions.
void batch_norm(std::size_t channels, std::size_t positions, In in, In scale, In shift, Out out);
/// Copies the rows of `width` numbers that `tokens` index out of a table.
void look_up(std::size_t width, In table, std::span<const std::int64_t> tokens, Out out);

/// The sizes of a two-dimensional convolution with equal strides in both directions.
struct ConvolutionShape {
  std::size_t batch, in_channels, height, width, out_channels, kernel_height, kernel_width, stride, pad_height,
      pad_width;
  [[nodiscard]] std::size_t out_height() const { return (height + 2 * pad_height - kernel_height) / stride + 1; }
  [[nodiscard]] std::size_t out_width() const { return (width + 2 * pad_width - kernel_width) / stride + 1; }
  [[nodiscard]] std::size_t positions() const { return out_height() * out_width(); }
  /// Input numbers under one position of the kernel.
  [[nodiscard]] std::size_t window() const { return in_channels * kernel_height * kernel_width; }
};
/// Convolution by matrix product over unfolded windows (Chellapilla et al., 2006); `scratch` holds window() x
/// positions() numbers.
void convolve(const ConvolutionShape& shape, In in, In weights, Out out, Out scratch);
void convolve_input_gradient(const ConvolutionShape& shape, In out_gradient, In weights, Out in_gradient, Out scratch);
void convolve_weight_gradient(const ConvolutionShape& shape, In in, In out_gradient, Out weight_gradient, Out scratch);

/// Queries that attend() processes together.
inline constexpr std::size_t kQueryBlock = 64;
/// The sizes of attention.
struct AttentionShape {
  std::size_t heads;  ///< of queries, over the whole batch
  std::size_t group;  ///< of them, heads that share one of keys and values; a divisor of `heads`
  std::size_t sequence, size;
  bool causal;  ///< a query sees the keys up to its own position; whole blocks of others are left out
  [[nodiscard]] std::size_t scratch() const { return 2 * (sequence < kQueryBlock ? sequence : kQueryBlock) * sequence; }
};
/// softmax(Q K^T / sqrt(size)) V for each head; `scratch` holds shape.scratch() numbers.
void attend(const AttentionShape& shape, In q, In k, In v, Out out, Out scratch);

struct Sgd {
  float rate = 0.01F, momentum = 0.9F;
};
/// v = momentum v + g; w = w - rate v, in one pass.
void sgd_fused(const Sgd& rule, In gradient, Out velocity, Out weights);

/// Adam as Kingma and Ba, ICLR 2015, algorithm 1; the bias corrections are the corrections of step `step`. In one pass.
struct Adam {
  float rate = 1e-3F, beta1 = 0.9F, beta2 = 0.999F, epsilon = 1e-8F;
  int step = 1;
};
void adam_fused(const Adam& rule, In gradient, Out mean, Out square, Out weights);

/// A number of 16 bits with the exponent of fp32 (bf16).
using Bfloat = std::uint16_t;
[[nodiscard]] Bfloat to_bfloat(float value);  ///< to nearest, ties to even
[[nodiscard]] float from_bfloat(Bfloat value);
/// The same with gradients of 16 bits, and a copy of the weights in 16 bits (Micikevicius et al., ICLR 2018).
void adam_mixed(const Adam& rule, std::span<const Bfloat> gradient, Out mean, Out square, Out weights,
                std::span<Bfloat> copy);

/// x / sqrt(mean square + 1e-5) x scale over each row of `width` numbers.
void rms_norm(std::size_t width, In in, In scale, Out out);
/// gate / (1 + exp(-gate)) x up.
void swiglu(In gate, In up, Out out);
/// Turns pairs of numbers of each row by the angle of their place: `turns` has cosine and sine in turn, as many as a
/// row has numbers. The last of an odd number stays as it is.
void rotate_pairs(In turns, In in, Out out);
/// -log softmax(x)[label] of each row of `width` numbers, and its gradient softmax(x) - 1[label].
void cross_entropy(std::size_t width, In in, std::span<const std::int64_t> labels, Out gradient, Out loss);

/// A number of 8 bits: 4 of exponent with bias 7, 3 of mantissa (E4M3; Micikevicius et al., arXiv 2209.05433). To
/// nearest, ties to even; beyond 448 the largest.
[[nodiscard]] std::uint8_t to_fp8(float value);
/// Casts a matrix with rows of `columns` numbers, as it is and transposed; returns the largest magnitude.
float cast_both_ways(std::size_t columns, In in, std::span<std::uint8_t> out, std::span<std::uint8_t> transposed);

/// A sparse gradient: the indices and values that a sparse compression method sends.
struct Selection {
  std::vector<std::int32_t> places;
  std::vector<float> values;
  std::size_t count = 0;  ///< entries in use
  explicit Selection(std::size_t capacity) : places(capacity), values(capacity) {}
};
/// The out.capacity entries of largest magnitude, in index order; among equal magnitudes at the limit, the lowest
/// indices. `scratch` is as long as `values`.
void top_k(In values, Selection& out, Out scratch);
/// The entries of magnitude above the threshold, in index order, as many as fit.
void threshold_k(In values, float threshold, Selection& out);
/// Selects about `wanted` entries by threshold: starts at the threshold that a normal distribution with the mean and
/// deviation of `values` suggests, and moves it in at most 4 steps until it selects 2/3 to 4/3 of `wanted` (Shi et al.,
/// "Understanding top-k sparsification in distributed deep learning", 2019, algorithm 1).
void gaussian_k(In values, std::size_t wanted, Selection& out);
/// The z for which P(|N(0, 1)| > z) = share; 0 < share <= 1.
[[nodiscard]] double two_sided_normal(double share);
/// Reads the values at the indices that `out` holds.
void gather(In values, Selection& out);
/// Sets `out` to zero and adds the selection's values at its indices.
void scatter_add(const Selection& selection, Out out);

/// Packs signs, eight to a byte: bit i is 1 if value i of the eight is >= 0; unused bits of the last byte are 0.
void sign_pack(In values, std::span<std::uint8_t> bits);
/// The inverse: +1 or -1 for each bit.
void sign_unpack(std::span<const std::uint8_t> bits, Out out);
/// The scale of a quantization in equal steps between the least and the largest value.
struct Range {
  float least = 0, step = 0;
};
Range quantize8(In values, std::span<std::uint8_t> codes);
void dequantize8(std::span<const std::uint8_t> codes, const Range& range, Out out);
/// 4-bit codes, two to a byte, the first in the low bits.
Range quantize4(In values, std::span<std::uint8_t> codes);
void dequantize4(std::span<const std::uint8_t> codes, const Range& range, Out out);

/// Makes the `rank` columns of a matrix orthonormal in turn (modified Gram-Schmidt). A column that depends linearly on
/// those before it becomes 0.
void orthogonalize(std::size_t rank, Out matrix);

}  // namespace contend::cpu
