#include "calibration/cpu_kernels.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace contend::cpu {

namespace {

/// The corrections of a step: of the mean, and of the square.
struct Corrections {
  explicit Corrections(const Adam& rule)
      : first{1 - std::pow(rule.beta1, static_cast<float>(rule.step))},
        second{1 - std::pow(rule.beta2, static_cast<float>(rule.step))} {}
  float first, second;
};

float step_adam(const Adam& rule, const Corrections& by, float gradient, float& mean, float& square, float weight) {
  mean = rule.beta1 * mean + (1 - rule.beta1) * gradient;
  square = rule.beta2 * square + (1 - rule.beta2) * gradient * gradient;
  return weight - rule.rate / by.first * mean / (std::sqrt(square / by.second) + rule.epsilon);
}

}  // namespace

void sgd_fused(const Sgd& rule, In gradient, Out velocity, Out weights) {
  CONTEND_CHECK(gradient.size() == weights.size() && velocity.size() == weights.size(), "one gradient a weight");
  for (std::size_t i = 0; i < weights.size(); ++i) {
    velocity[i] = rule.momentum * velocity[i] + gradient[i];
    weights[i] -= rule.rate * velocity[i];
  }
}

void adam_fused(const Adam& rule, In gradient, Out mean, Out square, Out weights) {
  const std::size_t n = weights.size();
  CONTEND_CHECK(gradient.size() == n && mean.size() == n && square.size() == n, "one gradient a weight");
  const Corrections by{rule};
  for (std::size_t i = 0; i < n; ++i) weights[i] = step_adam(rule, by, gradient[i], mean[i], square[i], weights[i]);
}

Bfloat to_bfloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<Bfloat>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

float from_bfloat(Bfloat value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}

void adam_mixed(const Adam& rule, std::span<const Bfloat> gradient, Out mean, Out square, Out weights,
                std::span<Bfloat> copy) {
  const std::size_t n = weights.size();
  CONTEND_CHECK(gradient.size() == n && mean.size() == n && square.size() == n && copy.size() == n,
                "one gradient a weight");
  const Corrections by{rule};
  for (std::size_t i = 0; i < n; ++i) {
    weights[i] = step_adam(rule, by, from_bfloat(gradient[i]), mean[i], square[i], weights[i]);
    copy[i] = to_bfloat(weights[i]);
  }
}

void rms_norm(std::size_t width, In in, In scale, Out out) {
  CONTEND_CHECK(in.size() == out.size() && in.size() % width == 0 && scale.size() == width, "whole rows");
  for (std::size_t begin = 0; begin < in.size(); begin += width) {
    float squares = 0;
    for (std::size_t i = 0; i < width; ++i) squares += in[begin + i] * in[begin + i];
    const float factor = 1 / std::sqrt(squares / static_cast<float>(width) + 1e-5F);
    for (std::size_t i = 0; i < width; ++i) out[begin + i] = in[begin + i] * factor * scale[i];
  }
}

void swiglu(In gate, In up, Out out) {
  CONTEND_CHECK(gate.size() == out.size() && up.size() == out.size(), "as many results as values");
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
}

void rotate_pairs(In turns, In in, Out out) {
  const std::size_t width = turns.size();
  CONTEND_CHECK(in.size() == out.size() && in.size() % width == 0, "whole rows");
  for (std::size_t begin = 0; begin < in.size(); begin += width) {
    for (std::size_t i = 0; i + 1 < width; i += 2) {
      const float a = in[begin + i], b = in[begin + i + 1];
      out[begin + i] = a * turns[i] - b * turns[i + 1];
      out[begin + i + 1] = a * turns[i + 1] + b * turns[i];
    }
    if (width % 2 != 0) out[begin + width - 1] = in[begin + width - 1];
  }
}

void cross_entropy(std::size_t width, In in, std::span<const std::int64_t> labels, Out gradient, Out loss) {
  CONTEND_CHECK(in.size() == gradient.size() && in.size() == width * labels.size() && loss.size() == labels.size(),
                "a label for each row");
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const In logits = in.subspan(row * width, width);
    const Out result = gradient.subspan(row * width, width);
    const auto label = static_cast<std::size_t>(labels[row]);
    const float largest = *std::max_element(logits.begin(), logits.end());
    for (std::size_t i = 0; i < width; ++i) result[i] = std::exp(logits[i] - largest);
    const float sum = add_up(result), scale = 1 / sum;
    for (float& each : result) each *= scale;
    result[label] -= 1;
    loss[row] = std::log(sum) + largest - logits[label];
  }
}

std::uint8_t to_fp8(float value) {
  constexpr float kMost = 448, kLeastNormal = 0x1p-6F;
  const float size = std::min(std::abs(value), kMost);
  const auto sign = static_cast<std::uint8_t>(std::signbit(value) ? 0x80 : 0);
  // Below the least normal number steps are even.
  if (size < kLeastNormal) return static_cast<std::uint8_t>(sign | static_cast<int>(std::nearbyint(size * 0x1p9F)));
  const int exponent = std::ilogb(size);
  const int steps = static_cast<int>(std::nearbyint(std::ldexp(size, 3 - exponent)));  // 8 to 16
  return static_cast<std::uint8_t>(sign | ((exponent + 7) * 8 + steps - 8));
}

float cast_both_ways(std::size_t columns, In in, std::span<std::uint8_t> out, std::span<std::uint8_t> transposed) {
  CONTEND_CHECK(in.size() % columns == 0 && out.size() == in.size() && transposed.size() == in.size(), "whole rows");
  const std::size_t rows = in.size() / columns;
  float most = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const float value = in[row * columns + column];
      most = std::max(most, std::abs(value));
      out[row * columns + column] = transposed[column * rows + row] = to_fp8(value);
    }
  }
  return most;
}

}  // namespace contend::cpu
