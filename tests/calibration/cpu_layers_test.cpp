// What the CPU back end computes, against loops that follow the definition word for word.

#include "calibration/cpu_kernels.hpp"
#include "sim/random_stream.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;
using namespace contend::cpu;

namespace {

using Floats = std::vector<float>;

Floats drawn(std::size_t count, std::string_view name) {
  RandomStream stream{7, name};
  Floats out(count);
  for (float& each : out) each = static_cast<float>(stream.uniform(-1, 1));
  return out;
}

double to_double(float value) {
  return static_cast<double>(value);
}

/// The largest deviation; NaN anywhere counts as an infinite one, which std::max would pass over.
double worst(const Floats& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double off = std::abs(to_double(a[i]) - b[i]);
    out = std::isnan(off) ? std::numeric_limits<double>::infinity() : std::max(out, off);
  }
  return out;
}

/// The three passes of a convolution, by its definition.
struct PlainConvolution {
  std::vector<double> out, in_gradient, weight_gradient;

  PlainConvolution(const ConvolutionShape& s, const Floats& in, const Floats& weights, const Floats& out_gradient)
      : out(s.batch * s.out_channels * s.positions()), in_gradient(in.size()), weight_gradient(weights.size()) {
    for (std::size_t b = 0; b < s.batch; ++b)
      for (std::size_t o = 0; o < s.out_channels; ++o)
        for (std::size_t oy = 0; oy < s.out_height(); ++oy)
          for (std::size_t ox = 0; ox < s.out_width(); ++ox)
            for (std::size_t c = 0; c < s.in_channels; ++c)
              for (std::size_t ky = 0; ky < s.kernel_height; ++ky)
                for (std::size_t kx = 0; kx < s.kernel_width; ++kx) {
                  const auto y = static_cast<long>(oy * s.stride + ky) - static_cast<long>(s.pad_height);
                  const auto x = static_cast<long>(ox * s.stride + kx) - static_cast<long>(s.pad_width);
                  if (y < 0 || x < 0 || y >= static_cast<long>(s.height) || x >= static_cast<long>(s.width)) continue;
                  const std::size_t i = ((b * s.in_channels + c) * s.height + static_cast<std::size_t>(y)) * s.width +
                                        static_cast<std::size_t>(x);
                  const std::size_t w = ((o * s.in_channels + c) * s.kernel_height + ky) * s.kernel_width + kx;
                  const std::size_t r = ((b * s.out_channels + o) * s.out_height() + oy) * s.out_width() + ox;
                  out[r] += to_double(in[i]) * to_double(weights[w]);
                  in_gradient[i] += to_double(out_gradient[r]) * to_double(weights[w]);
                  weight_gradient[w] += to_double(out_gradient[r]) * to_double(in[i]);
                }
  }
};

}  // namespace

TEST_CASE("a convolution worked out by hand") {
  // 1 2 3      1 0            1 x 1 + 1 x 5 = 6    2 + 6 = 8
  // 4 5 6  by  0 1  without padding:  4 + 8 = 12           5 + 9 = 14
  // 7 8 9
  const ConvolutionShape s{1, 1, 3, 3, 1, 2, 2, 1, 0, 0};
  Floats out(4), scratch(16);
  convolve(s, Floats{1, 2, 3, 4, 5, 6, 7, 8, 9}, Floats{1, 0, 0, 1}, out, scratch);
  CHECK(out == Floats{6, 8, 12, 14});
}

TEST_CASE("convolutions and their gradients are as in the definition") {
  for (const ConvolutionShape& s :
       {ConvolutionShape{2, 3, 8, 9, 4, 3, 3, 1, 1, 1}, ConvolutionShape{1, 2, 11, 11, 3, 5, 5, 2, 2, 2},
        ConvolutionShape{3, 4, 7, 7, 5, 1, 1, 2, 0, 0}, ConvolutionShape{2, 2, 6, 10, 3, 1, 7, 1, 0, 3},
        ConvolutionShape{1, 3, 5, 5, 2, 3, 3, 3, 2, 2}}) {
    const Floats in = drawn(s.batch * s.in_channels * s.height * s.width, "in");
    const Floats weights = drawn(s.out_channels * s.window(), "weights");
    const Floats out_gradient = drawn(s.batch * s.out_channels * s.positions(), "out");
    const PlainConvolution plain{s, in, weights, out_gradient};
    Floats out(out_gradient.size(), 99), in_gradient(in.size(), 99), weight_gradient(weights.size(), 99);
    Floats scratch(s.window() * s.positions());
    convolve(s, in, weights, out, scratch);
    convolve_input_gradient(s, out_gradient, weights, in_gradient, scratch);
    convolve_weight_gradient(s, in, out_gradient, weight_gradient, scratch);
    INFO(fmt::format("{} x {} by {} x {}, stride {}", s.height, s.width, s.kernel_height, s.kernel_width, s.stride));
    CHECK(worst(out, plain.out) < 1e-5);
    CHECK(worst(in_gradient, plain.in_gradient) < 1e-5);
    CHECK(worst(weight_gradient, plain.weight_gradient) < 1e-4);
  }
}

TEST_CASE("attention is softmax(Q K^T / sqrt(d)) V, in whole blocks and not, with shared keys and with a mask") {
  for (const std::size_t sequence : {std::size_t{5}, kQueryBlock, kQueryBlock + 9})
    for (const std::size_t group : {std::size_t{1}, std::size_t{2}})
      for (const bool causal : {false, true}) {
        const AttentionShape shape{4, group, sequence, 8, causal};
        const std::size_t size = shape.size, all = shape.heads * sequence * size;
        const Floats q = drawn(all, "q"), k = drawn(all / group, "k"), v = drawn(all / group, "v");
        std::vector<double> expected(all);
        for (std::size_t h = 0; h < shape.heads; ++h)
          for (std::size_t i = 0; i < sequence; ++i) {
            const std::size_t row = (h * sequence + i) * size, seen = causal ? i + 1 : sequence;
            const auto key = [&](std::size_t j) { return (h / group * sequence + j) * size; };
            std::vector<double> weights(seen);
            double sum = 0;
            for (std::size_t j = 0; j < seen; ++j) {
              double score = 0;
              for (std::size_t d = 0; d < size; ++d) score += to_double(q[row + d]) * to_double(k[key(j) + d]);
              weights[j] = std::exp(score / std::sqrt(8.0));
              sum += weights[j];
            }
            for (std::size_t j = 0; j < seen; ++j)
              for (std::size_t d = 0; d < size; ++d) expected[row + d] += weights[j] / sum * to_double(v[key(j) + d]);
          }
        Floats out(all), scratch(shape.scratch());
        attend(shape, q, k, v, out, scratch);
        CAPTURE(sequence);
        CAPTURE(causal);
        CHECK(worst(out, expected) < 1e-5);
      }
}

TEST_CASE("softmax, small and shifted") {
  // Weights e^0, e^0, e^ln 2: 1/4, 1/4, 1/2; a large shift changes nothing but digits that 80 + ln 2 has lost.
  const float two = std::log(2.0F);
  Floats out(6);
  softmax(3, Floats{0, 0, two, 80, 80, 80 + two}, out);
  for (const std::size_t row : {std::size_t{0}, std::size_t{3}}) {
    CHECK(to_double(out[row]) == near(0.25, 1e-5));
    CHECK(to_double(out[row + 2]) == near(0.5, 1e-5));
  }
}

TEST_CASE("normalizations") {
  // A row 1, 3: mean 2, variance 1. A row 0, 10: mean 5, variance 25.
  Floats out(4);
  layer_norm(2, Floats{1, 3, 0, 10}, Floats{2, 1}, Floats{0.5, 0}, out);
  CHECK(worst(out, {-2 + 0.5, 1, -2 + 0.5, 1}) < 1e-4);
  // Two images of 2 channels at 2 places. Channel 0: 1 3 | 5 7, mean 4, variance (9 + 1 + 1 + 9) / 4 = 5.
  // Channel 1: 0 10 | 10 0, mean 5, variance 25.
  Floats images(8);
  batch_norm(2, 2, Floats{1, 3, 0, 10, 5, 7, 10, 0}, Floats{1, 1}, Floats{0, 0.25}, images);
  const double unit = 1 / std::sqrt(5.0);
  CHECK(worst(images, {-3 * unit, -unit, -1 + 0.25, 1 + 0.25, unit, 3 * unit, 1 + 0.25, -1 + 0.25}) < 1e-5);
}

TEST_CASE("element by element") {
  Floats out(3);
  relu(Floats{-1, 0, 2}, out);
  CHECK(out == Floats{0, 0, 2});
  add(Floats{1, 2, 3}, Floats{10, 20, 30}, out);
  CHECK(out == Floats{11, 22, 33});
  sum_columns(Floats{1, 2, 3, 10, 20, 30}, out);
  CHECK(out == Floats{11, 22, 33});
  for (const std::size_t count : {std::size_t{1}, std::size_t{16}, std::size_t{100}}) {
    Floats values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
    CHECK(to_double(add_up(values)) == static_cast<double>(count * (count - 1) / 2));
  }
  Floats rows(4);
  look_up(2, Floats{0, 1, 10, 11, 20, 21}, std::vector<std::int64_t>{2, 0}, rows);
  CHECK(rows == Floats{20, 21, 0, 1});
}

TEST_CASE("a step of SGD with momentum") {
  // v = 0.9 x 1 + 2 = 2.9; w = 5 - 0.1 x 2.9 = 4.71.
  Floats velocity{1, 0}, weights{5, 5};
  sgd_fused({.rate = 0.1F, .momentum = 0.9F}, Floats{2, 0}, velocity, weights);
  CHECK(worst(velocity, {2.9, 0}) < 1e-6);
  CHECK(worst(weights, {4.71, 5}) < 1e-6);
}

TEST_CASE("a step of Adam, and one with numbers of 16 bits") {
  // First step: the corrected mean is the gradient, the corrected square its square, so a weight moves by the rate.
  const Adam rule{.rate = 0.01F};
  Floats mean(2), square(2), weights{1, 1};
  adam_fused(rule, Floats{3, -0.5}, mean, square, weights);
  CHECK(worst(weights, {0.99, 1.01}) < 1e-5);
  CHECK(worst(mean, {0.3, -0.05}) < 1e-6);
  CHECK(worst(square, {0.009, 0.00025}) < 1e-6);
  Floats mixed_mean(2), mixed_square(2), mixed_weights{1, 1};
  std::vector<Bfloat> copy(2);
  adam_mixed(rule, std::vector<Bfloat>{to_bfloat(3), to_bfloat(-0.5)}, mixed_mean, mixed_square, mixed_weights, copy);
  CHECK(mixed_weights == weights);
  // bf16 has 8 digits: steps of 1/256 below 1 and of 1/128 above.
  CHECK(from_bfloat(copy[0]) == 253.0F / 256);
  CHECK(from_bfloat(copy[1]) == 1 + 1.0F / 128);
}

TEST_CASE("numbers of 16 and of 8 bits are the nearest, ties to even") {
  CHECK(from_bfloat(to_bfloat(1 + 1.0F / 256)) == 1.0F);
  CHECK(from_bfloat(to_bfloat(1 + 3.0F / 256)) == 1 + 4.0F / 256);
  CHECK(from_bfloat(to_bfloat(-2.5F)) == -2.5F);
  CHECK(to_fp8(0) == 0);
  CHECK(to_fp8(1) == 0x38);
  CHECK(to_fp8(-1.125F) == 0xb9);
  CHECK(to_fp8(1.0625F) == 0x38);  // between 1 and 1.125
  CHECK(to_fp8(1.1875F) == 0x3a);  // between 1.125 and 1.25
  CHECK(to_fp8(1.99F) == 0x40);    // 2
  CHECK(to_fp8(448) == 0x7e);
  CHECK(to_fp8(1e6F) == 0x7e);
  CHECK(to_fp8(0x1p-9F) == 1);  // the least one
  CHECK(to_fp8(0x1p-6F) == 0x08);
}

TEST_CASE("what transformers do to rows") {
  Floats out(4);
  // Mean squares 5 and 50.
  rms_norm(2, Floats{1, 3, 0, 10}, Floats{2, 1}, out);
  CHECK(worst(out, {2 / std::sqrt(5.0), 3 / std::sqrt(5.0), 0, 10 / std::sqrt(50.0)}) < 1e-5);
  swiglu(Floats{0, 1, -1, 100}, Floats{5, 2, 2, 3}, out);
  CHECK(worst(out, {0, 2 / (1 + std::exp(-1.0)), -2 / (1 + std::exp(1.0)), 300}) < 1e-4);
  // A quarter turn.
  rotate_pairs(Floats{0, 1}, Floats{1, 2, 3, 4}, out);
  CHECK(out == Floats{-2, 1, -4, 3});
  Floats loss(2);
  const float two = std::log(2.0F);
  cross_entropy(2, Floats{0, 0, 80, 80 + two}, std::vector<std::int64_t>{1, 0}, out, loss);
  CHECK(worst(out, {0.5, -0.5, 1.0 / 3 - 1, 2.0 / 3}) < 1e-5);
  CHECK(worst(loss, {std::log(2.0), std::log(3.0)}) < 1e-5);
  std::vector<std::uint8_t> cast(6), turned(6);
  CHECK(cast_both_ways(3, Floats{1, 2, -7, 0, -1, 3}, cast, turned) == 7.0F);
  CHECK(cast[2] == to_fp8(-7));
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t column = 0; column < 3; ++column) CHECK(turned[column * 2 + row] == cast[row * 3 + column]);
}
