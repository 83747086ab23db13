#pragma once
// The kernels that the CPU back end times: plain and right rather than tuned, one thread, fp32. Tensors lie row by row
// in the order of their dimensions. Sizes fit (checked at the door), spans don't overlap unless said so.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace contend::cpu {

using In = std::span<const float>;
using Out = std::span<float>;

/// In an order of its own: partial sums, so that it is the memory that limits it.
[[nodiscard]] float add_up(In values);
void relu(In in, Out out);
void add(In a, In b, Out out);
/// Of each row of `width`.
void softmax(std::size_t width, In in, Out out);
/// (x - mean) / sqrt(variance + 1e-5) x scale + shift over each row of `width`; scale and shift have `width` numbers.
void layer_norm(std::size_t width, In in, In scale, In shift, Out out);
/// The same over batch and positions of each channel; tensors are batch x channels x positions.
void batch_norm(std::size_t channels, std::size_t positions, In in, In scale, In shift, Out out);
/// Rows of `width` of a table, by index.
void look_up(std::size_t width, In table, std::span<const std::int64_t> tokens, Out out);

struct ConvolutionShape {
  std::size_t batch, in_channels, height, width, out_channels, kernel_height, kernel_width, stride, pad_height,
      pad_width;
  [[nodiscard]] std::size_t out_height() const { return (height + 2 * pad_height - kernel_height) / stride + 1; }
  [[nodiscard]] std::size_t out_width() const { return (width + 2 * pad_width - kernel_width) / stride + 1; }
  [[nodiscard]] std::size_t positions() const { return out_height() * out_width(); }
  /// Numbers under one window.
  [[nodiscard]] std::size_t window() const { return in_channels * kernel_height * kernel_width; }
};
/// By laying out the windows as a matrix (Chellapilla et al., 2006), in `scratch` of window() x positions().
void convolve(const ConvolutionShape& shape, In in, In weights, Out out, Out scratch);
void convolve_input_gradient(const ConvolutionShape& shape, In out_gradient, In weights, Out in_gradient, Out scratch);
void convolve_weight_gradient(const ConvolutionShape& shape, In in, In out_gradient, Out weight_gradient, Out scratch);

/// Queries that are looked at together.
inline constexpr std::size_t kQueryBlock = 64;
/// softmax(Q K^T / sqrt(size)) V for each of `heads` matrices of sequence x size, without a mask; `scratch` holds
/// 2 x min(kQueryBlock, sequence) x sequence scores.
void attend(std::size_t heads, std::size_t sequence, std::size_t size, In q, In k, In v, Out out, Out scratch);

struct Sgd {
  float rate = 0.01F, momentum = 0.9F;
};
/// v = momentum v + g; w = w - rate v. Both do the same; the first takes three passes.
void sgd(const Sgd& rule, In gradient, Out velocity, Out weights);
void sgd_fused(const Sgd& rule, In gradient, Out velocity, Out weights);

/// Kingma and Ba, ICLR 2015, algorithm 1; the corrections of the bias are those of step `step`.
struct Adam {
  float rate = 1e-3F, beta1 = 0.9F, beta2 = 0.999F, epsilon = 1e-8F;
  int step = 1;
};
/// `scratch` is as long as the weights.
void adam(const Adam& rule, In gradient, Out mean, Out square, Out weights, Out scratch);
void adam_fused(const Adam& rule, In gradient, Out mean, Out square, Out weights);

/// What a sparse method sends: places and values.
struct Selection {
  std::vector<std::int32_t> places;
  std::vector<float> values;
  std::size_t count = 0;  ///< of them that are in use
  explicit Selection(std::size_t capacity) : places(capacity), values(capacity) {}
};
/// The out.capacity largest by magnitude, in order of place; of those that are equal to the last, the first ones.
/// `scratch` is as long as the values.
void top_k(In values, Selection& out, Out scratch);
/// All with magnitude above the threshold, in order of place, as many as fit.
void threshold_k(In values, float threshold, Selection& out);
/// Threshold that a normal distribution with the values' mean and deviation suggests for `wanted`, moved until it lets
/// through 2/3 to 4/3 of that, in at most 4 steps (Shi et al., "Understanding top-k sparsification in distributed deep
/// learning", 2019, algorithm 1); then threshold_k.
void gaussian_k(In values, std::size_t wanted, Selection& out);
/// z with P(|N(0, 1)| > z) = share, 0 < share <= 1.
[[nodiscard]] double two_sided_normal(double share);
/// Values at the places that `out` holds.
void gather(In values, Selection& out);
/// Zeros, and the values of the selection added at its places.
void scatter_add(const Selection& selection, Out out);

/// Bit i of a byte is 1 if value i of its eight is >= 0; the last byte is filled with 0.
void sign_pack(In values, std::span<std::uint8_t> bits);
/// +1 or -1.
void sign_unpack(std::span<const std::uint8_t> bits, Out out);
/// Between the least and the largest value, in equal steps.
struct Range {
  float least = 0, step = 0;
};
Range quantize8(In values, std::span<std::uint8_t> codes);
void dequantize8(std::span<const std::uint8_t> codes, const Range& range, Out out);
/// Two to a byte, the first in the low bits.
Range quantize4(In values, std::span<std::uint8_t> codes);
void dequantize4(std::span<const std::uint8_t> codes, const Range& range, Out out);

/// The columns of a matrix of rank columns, one after the other made orthogonal to those before (modified Gram-Schmidt)
/// and of length 1; a column that is nothing but the others becomes 0.
void orthogonalize(std::size_t rank, Out matrix);

}  // namespace contend::cpu
