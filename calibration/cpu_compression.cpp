#include "calibration/cpu_kernels.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <cmath>

namespace contend::cpu {

namespace {

constexpr int kGaussianSteps = 4;

void keep(Selection& out, std::size_t place, float value) {
  out.places[out.count] = static_cast<std::int32_t>(place);
  out.values[out.count] = value;
  ++out.count;
}

std::size_t count_above(In values, float threshold) {
  return static_cast<std::size_t>(
      std::count_if(values.begin(), values.end(), [&](float v) { return std::abs(v) > threshold; }));
}

/// Range of `levels` + 1 codes.
Range range_of(In values, int levels) {
  float least = values[0], largest = values[0];
  for (const float each : values) {
    least = each < least ? each : least;
    largest = each > largest ? each : largest;
  }
  return {least, (largest - least) / static_cast<float>(levels)};
}

unsigned code(float value, const Range& range, float inverse) {
  return static_cast<unsigned>((value - range.least) * inverse + 0.5F);
}

float inverse_step(const Range& range) {
  return range.step > 0 ? 1 / range.step : 0;
}

}  // namespace

void top_k(In values, Selection& out, Out scratch) {
  const std::size_t k = out.places.size();
  CONTEND_CHECK(k >= 1 && k <= values.size() && scratch.size() == values.size(), "no more than there are");
  for (std::size_t i = 0; i < values.size(); ++i) scratch[i] = std::abs(values[i]);
  const auto nth = scratch.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(scratch.begin(), nth, scratch.end(), [](float a, float b) { return a > b; });
  const float last = *nth;
  std::size_t ties =
      k - static_cast<std::size_t>(std::count_if(scratch.begin(), nth, [&](float v) { return v > last; }));
  out.count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float size = std::abs(values[i]);
    if (size < last || (size == last && ties == 0)) continue;
    if (size == last) --ties;
    keep(out, i, values[i]);
  }
}

void threshold_k(In values, float threshold, Selection& out) {
  out.count = 0;
  for (std::size_t i = 0; i < values.size() && out.count < out.places.size(); ++i)
    if (std::abs(values[i]) > threshold) keep(out, i, values[i]);
}

double two_sided_normal(double share) {
  CONTEND_CHECK(share > 0 && share <= 1, "a share of nothing");
  double low = 0, high = 40;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) > share ? low : high) = middle;
  }
  return (low + high) / 2;
}

void gaussian_k(In values, std::size_t wanted, Selection& out) {
  CONTEND_CHECK(wanted >= 1 && wanted <= values.size(), "no more than there are");
  const auto n = static_cast<float>(values.size());
  const float mean = add_up(values) / n;
  double squares = 0;
  for (const float each : values) squares += static_cast<double>((each - mean) * (each - mean));
  const float deviation = std::sqrt(static_cast<float>(squares) / n);
  const auto z = static_cast<float>(two_sided_normal(static_cast<double>(wanted) / static_cast<double>(values.size())));
  float threshold = std::abs(mean) + deviation * z;
  for (int step = 0; step < kGaussianSteps; ++step) {
    const std::size_t found = count_above(values, threshold);
    if (3 * found < 2 * wanted)
      threshold *= 0.5F;
    else if (3 * found > 4 * wanted)
      threshold *= 1.5F;
    else
      break;
  }
  threshold_k(values, threshold, out);
}

void gather(In values, Selection& out) {
  out.count = out.places.size();
  for (std::size_t i = 0; i < out.count; ++i) out.values[i] = values[static_cast<std::size_t>(out.places[i])];
}

void scatter_add(const Selection& selection, Out out) {
  std::fill(out.begin(), out.end(), 0.0F);
  for (std::size_t i = 0; i < selection.count; ++i)
    out[static_cast<std::size_t>(selection.places[i])] += selection.values[i];
}

void sign_pack(In values, std::span<std::uint8_t> bits) {
  CONTEND_CHECK(bits.size() == (values.size() + 7) / 8, "a bit a value");
  for (std::size_t byte = 0; byte < bits.size(); ++byte) {
    const In eight = values.subspan(8 * byte, std::min<std::size_t>(8, values.size() - 8 * byte));
    unsigned packed = 0;
    for (std::size_t i = 0; i < eight.size(); ++i) packed |= (eight[i] >= 0 ? 1U : 0U) << i;
    bits[byte] = static_cast<std::uint8_t>(packed);
  }
}

void sign_unpack(std::span<const std::uint8_t> bits, Out out) {
  CONTEND_CHECK(bits.size() == (out.size() + 7) / 8, "a bit a value");
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = (bits[i / 8] >> (i % 8) & 1) != 0 ? 1.0F : -1.0F;
}

Range quantize8(In values, std::span<std::uint8_t> codes) {
  CONTEND_CHECK(!values.empty() && codes.size() == values.size(), "a code a value");
  const Range range = range_of(values, 255);
  const float inverse = inverse_step(range);
  for (std::size_t i = 0; i < values.size(); ++i) codes[i] = static_cast<std::uint8_t>(code(values[i], range, inverse));
  return range;
}

void dequantize8(std::span<const std::uint8_t> codes, const Range& range, Out out) {
  CONTEND_CHECK(codes.size() == out.size(), "a code a value");
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = range.least + range.step * static_cast<float>(codes[i]);
}

Range quantize4(In values, std::span<std::uint8_t> codes) {
  CONTEND_CHECK(!values.empty() && codes.size() == (values.size() + 1) / 2, "two codes a byte");
  const Range range = range_of(values, 15);
  const float inverse = inverse_step(range);
  const std::size_t pairs = values.size() / 2;
  for (std::size_t i = 0; i < pairs; ++i)
    codes[i] =
        static_cast<std::uint8_t>(code(values[2 * i], range, inverse) | code(values[2 * i + 1], range, inverse) << 4);
  if (values.size() % 2 == 1) codes[pairs] = static_cast<std::uint8_t>(code(values.back(), range, inverse));
  return range;
}

void dequantize4(std::span<const std::uint8_t> codes, const Range& range, Out out) {
  CONTEND_CHECK(codes.size() == (out.size() + 1) / 2, "two codes a byte");
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = range.least + range.step * static_cast<float>(codes[i / 2] >> (4 * (i % 2)) & 15);
}

void orthogonalize(std::size_t rank, Out matrix) {
  CONTEND_CHECK(rank >= 1 && matrix.size() % rank == 0, "whole rows");
  const auto dot = [&](std::size_t a, std::size_t b) {
    double sum = 0;
    for (std::size_t row = 0; row < matrix.size(); row += rank)
      sum += static_cast<double>(matrix[row + a] * matrix[row + b]);
    return sum;
  };
  for (std::size_t column = 0; column < rank; ++column) {
    const double before = dot(column, column);
    for (std::size_t other = 0; other < column; ++other) {
      const auto share = static_cast<float>(dot(column, other));
      for (std::size_t row = 0; row < matrix.size(); row += rank) matrix[row + column] -= share * matrix[row + other];
    }
    const double after = dot(column, column);
    // What rounding leaves of a column that depends on the others has no direction.
    const float scale = after > 1e-10 * before ? static_cast<float>(1 / std::sqrt(after)) : 0;
    for (std::size_t row = 0; row < matrix.size(); row += rank) matrix[row + column] *= scale;
  }
}

}  // namespace contend::cpu
