#include "calibration/cpu_kernels.hpp"
#include "calibration/dense.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace contend::cpu {

namespace {

constexpr float kVarianceFloor = 1e-5F;

std::int64_t signed_size(std::size_t size) {
  return static_cast<std::int64_t>(size);
}

/// Sum of a function of each value, by 16 partial sums that a compiler can keep in vectors.
template <class Function>
float sum_of(In values, Function of) {
  constexpr std::size_t kLanes = 16;
  std::array<float, kLanes> sums{};
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += of(values[i + lane]);
  float total = 0;
  for (; i < values.size(); ++i) total += of(values[i]);
  for (const float each : sums) total += each;
  return total;
}

/// 1 / sqrt(variance + floor) of `count` values whose squared distances from the mean sum to `squares`.
float inverse_deviation(float squares, std::size_t count) {
  return 1 / std::sqrt(squares / static_cast<float>(count) + kVarianceFloor);
}

/// Calls visit(place in the matrix of windows, whether that is inside the image, place in the image) for one image.
template <class Visit>
void visit_windows(const ConvolutionShape& s, Visit visit) {
  std::size_t row = 0;
  for (std::size_t channel = 0; channel < s.in_channels; ++channel)
    for (std::size_t ky = 0; ky < s.kernel_height; ++ky)
      for (std::size_t kx = 0; kx < s.kernel_width; ++kx, ++row)
        for (std::size_t oy = 0; oy < s.out_height(); ++oy) {
          // Unsigned numbers below 0 are large, so one comparison sees both ends.
          const std::size_t y = oy * s.stride + ky - s.pad_height;
          const std::size_t line = (channel * s.height + y) * s.width;
          const std::size_t first = row * s.positions() + oy * s.out_width();
          for (std::size_t ox = 0; ox < s.out_width(); ++ox) {
            const std::size_t x = ox * s.stride + kx - s.pad_width;
            visit(first + ox, y < s.height && x < s.width, line + x);
          }
        }
}

void lay_out_windows(const ConvolutionShape& s, const float* image, Out windows) {
  visit_windows(s, [&](std::size_t to, bool inside, std::size_t from) { windows[to] = inside ? image[from] : 0; });
}

void add_windows(const ConvolutionShape& s, In windows, float* image) {
  std::fill_n(image, s.in_channels * s.height * s.width, 0.0F);
  visit_windows(s, [&](std::size_t from, bool inside, std::size_t to) {
    if (inside) image[to] += windows[from];
  });
}

void check_sizes(const ConvolutionShape& s, std::size_t in, std::size_t weights, std::size_t out, std::size_t scratch) {
  CONTEND_CHECK(in == s.batch * s.in_channels * s.height * s.width && weights == s.out_channels * s.window() &&
                    out == s.batch * s.out_channels * s.positions() && scratch == s.window() * s.positions(),
                "tensors of other sizes than their convolution");
}

}  // namespace

float add_up(In values) {
  return sum_of(values, [](float value) { return value; });
}

void relu(In in, Out out) {
  CONTEND_CHECK(in.size() == out.size(), "as many results as values");
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = in[i] > 0 ? in[i] : 0;
}

void add(In a, In b, Out out) {
  CONTEND_CHECK(a.size() == out.size() && b.size() == out.size(), "as many results as values");
  for (std::size_t i = 0; i < a.size(); ++i) out[i] = a[i] + b[i];
}

void sum_columns(In in, Out sums) {
  CONTEND_CHECK(!sums.empty() && in.size() % sums.size() == 0, "whole rows");
  std::fill(sums.begin(), sums.end(), 0.0F);
  for (std::size_t begin = 0; begin < in.size(); begin += sums.size()) {
    const In row = in.subspan(begin, sums.size());
    for (std::size_t i = 0; i < row.size(); ++i) sums[i] += row[i];
  }
}

void softmax(std::size_t width, In in, Out out) {
  CONTEND_CHECK(in.size() == out.size() && in.size() % width == 0, "whole rows");
  for (std::size_t begin = 0; begin < in.size(); begin += width) {
    const In row = in.subspan(begin, width);
    const Out result = out.subspan(begin, width);
    const float largest = *std::max_element(row.begin(), row.end());
    for (std::size_t i = 0; i < width; ++i) result[i] = std::exp(row[i] - largest);
    const float scale = 1 / add_up(result);
    for (float& each : result) each *= scale;
  }
}

void layer_norm(std::size_t width, In in, In scale, In shift, Out out) {
  CONTEND_CHECK(in.size() == out.size() && in.size() % width == 0 && scale.size() == width && shift.size() == width,
                "whole rows");
  for (std::size_t begin = 0; begin < in.size(); begin += width) {
    const In row = in.subspan(begin, width);
    const float mean = add_up(row) / static_cast<float>(width);
    const float squares = sum_of(row, [mean](float value) { return (value - mean) * (value - mean); });
    const float factor = inverse_deviation(squares, width);
    for (std::size_t i = 0; i < width; ++i) out[begin + i] = (row[i] - mean) * factor * scale[i] + shift[i];
  }
}

void batch_norm(std::size_t channels, std::size_t positions, In in, In scale, In shift, Out out) {
  const std::size_t image = channels * positions;
  CONTEND_CHECK(in.size() == out.size() && in.size() % image == 0 && scale.size() == channels, "whole images");
  const std::size_t count = in.size() / channels;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    float sum = 0, squares = 0;
    for (std::size_t begin = channel * positions; begin < in.size(); begin += image)
      sum += add_up(in.subspan(begin, positions));
    const float mean = sum / static_cast<float>(count);
    for (std::size_t begin = channel * positions; begin < in.size(); begin += image)
      squares += sum_of(in.subspan(begin, positions), [mean](float value) { return (value - mean) * (value - mean); });
    const float factor = inverse_deviation(squares, count) * scale[channel];
    for (std::size_t begin = channel * positions; begin < in.size(); begin += image)
      for (std::size_t i = begin; i < begin + positions; ++i) out[i] = (in[i] - mean) * factor + shift[channel];
  }
}

void look_up(std::size_t width, In table, std::span<const std::int64_t> tokens, Out out) {
  CONTEND_CHECK(out.size() == tokens.size() * width, "a row for each token");
  for (std::size_t i = 0; i < tokens.size(); ++i)
    std::copy_n(table.begin() + tokens[i] * signed_size(width), width, out.begin() + signed_size(i * width));
}

void convolve(const ConvolutionShape& s, In in, In weights, Out out, Out scratch) {
  check_sizes(s, in.size(), weights.size(), out.size(), scratch.size());
  const ProductShape product{1, signed_size(s.out_channels), signed_size(s.positions()), signed_size(s.window())};
  const std::size_t image = in.size() / s.batch, result = out.size() / s.batch;
  for (std::size_t i = 0; i < s.batch; ++i) {
    lay_out_windows(s, in.data() + i * image, scratch);
    multiply(product, weights, scratch, out.subspan(i * result, result));
  }
}

void convolve_input_gradient(const ConvolutionShape& s, In out_gradient, In weights, Out in_gradient, Out scratch) {
  check_sizes(s, in_gradient.size(), weights.size(), out_gradient.size(), scratch.size());
  const ProductShape product{1, signed_size(s.window()), signed_size(s.positions()), signed_size(s.out_channels)};
  const std::size_t image = in_gradient.size() / s.batch, result = out_gradient.size() / s.batch;
  for (std::size_t i = 0; i < s.batch; ++i) {
    multiply(product, weights, out_gradient.subspan(i * result, result), scratch, Layout::transposed);
    add_windows(s, scratch, in_gradient.data() + i * image);
  }
}

void convolve_weight_gradient(const ConvolutionShape& s, In in, In out_gradient, Out weight_gradient, Out scratch) {
  check_sizes(s, in.size(), weight_gradient.size(), out_gradient.size(), scratch.size());
  const ProductShape product{1, signed_size(s.out_channels), signed_size(s.window()), signed_size(s.positions())};
  const std::size_t image = in.size() / s.batch, result = out_gradient.size() / s.batch;
  for (std::size_t i = 0; i < s.batch; ++i) {
    lay_out_windows(s, in.data() + i * image, scratch);
    multiply(product, out_gradient.subspan(i * result, result), scratch, weight_gradient, Layout::plain,
             Layout::transposed, i > 0);
  }
}

void attend(const AttentionShape& s, In q, In k, In v, Out out, Out scratch) {
  const std::size_t all = s.heads * s.sequence * s.size;
  CONTEND_CHECK(q.size() == all && k.size() == all / s.group && v.size() == k.size() && out.size() == all &&
                    scratch.size() == s.scratch(),
                "tensors of other sizes than their attention");
  const float scale = 1 / std::sqrt(static_cast<float>(s.size));
  for (std::size_t head = 0; head < s.heads; ++head) {
    const std::size_t base = head * s.sequence * s.size, key_base = head / s.group * s.sequence * s.size;
    for (std::size_t first = 0; first < s.sequence; first += kQueryBlock) {
      const std::size_t rows = std::min(kQueryBlock, s.sequence - first);
      const std::size_t keys = s.causal ? first + rows : s.sequence;
      const Out scores = scratch.first(rows * keys), weights = scratch.subspan(s.scratch() / 2, rows * keys);
      const auto [m, n, d] = std::array{signed_size(rows), signed_size(keys), signed_size(s.size)};
      multiply({1, m, n, d}, q.subspan(base + first * s.size, rows * s.size), k.subspan(key_base, keys * s.size),
               scores, Layout::plain, Layout::transposed);
      for (float& each : scores) each *= scale;
      if (s.causal) {
        for (std::size_t row = 0; row < rows; ++row)
          for (std::size_t key = first + row + 1; key < keys; ++key)
            scores[row * keys + key] = -std::numeric_limits<float>::infinity();
      }
      softmax(keys, scores, weights);
      multiply({1, m, d, n}, weights, v.subspan(key_base, keys * s.size),
               out.subspan(base + first * s.size, rows * s.size));
    }
  }
}

}  // namespace contend::cpu
