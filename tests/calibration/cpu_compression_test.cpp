// The compression kernels of the CPU back end.

#include "calibration/cpu_kernels.hpp"
#include "sim/random_stream.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::cpu;

namespace {

using Floats = std::vector<float>;
using Octets = std::vector<std::uint8_t>;

constexpr double kFloat = 5e-7;  // a few roundings of single precision

double wide(float value) {
  return static_cast<double>(value);
}

Floats normal(std::size_t count, std::uint64_t seed) {
  RandomStream stream{seed, "cpu_compression_test"};
  Floats out(count);
  for (float& each : out) each = static_cast<float>(stream.normal(0.01, 0.3));
  return out;
}

}  // namespace

TEST_CASE("top-k: the largest by magnitude, in order of place, the first of equals") {
  Selection out{3};
  Floats scratch(6);
  top_k(Floats{1, -5, 2, 3, -2, 0}, out, scratch);
  CHECK(out.places == std::vector<std::int32_t>{1, 2, 3});
  CHECK(out.values == Floats{-5, 2, 3});
  CHECK(out.count == 3);
}

TEST_CASE("top-k keeps what a sort keeps") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Floats values = normal(200, seed);
    for (float& each : values) each = std::round(each * 10);  // many equals
    const std::size_t k = 1 + static_cast<std::size_t>(seed * 9);
    Selection out{k};
    Floats scratch(values.size());
    top_k(values, out, scratch);
    Floats kept, sorted;
    for (const float each : out.values) kept.push_back(std::abs(each));
    for (const float each : values) sorted.push_back(std::abs(each));
    std::sort(kept.rbegin(), kept.rend());
    std::sort(sorted.rbegin(), sorted.rend());
    sorted.resize(k);
    CHECK(kept == sorted);
    CHECK(out.count == k);
    CHECK(std::is_sorted(out.places.begin(), out.places.end()));
    for (std::size_t i = 0; i < k; ++i) CHECK(values[static_cast<std::size_t>(out.places[i])] == out.values[i]);
  }
}

TEST_CASE("threshold-k: all above, as many as fit") {
  Selection out{5};
  threshold_k(Floats{1, -5, 2, 3, -2, 0}, 1.5F, out);
  CHECK(out.count == 4);
  CHECK(out.places[3] == 4);
  Selection small{2};
  threshold_k(Floats{1, -5, 2, 3, -2, 0}, 1.5F, small);
  CHECK(small.count == 2);
  CHECK(small.values == Floats{-5, 2});
  // What lies behind the values isn't one of them.
  const Floats longer{1, -5, 2, 9};
  Selection before{5};
  threshold_k(std::span{longer}.first(3), 1.5F, before);
  CHECK(before.count == 2);
}

TEST_CASE("the normal's two-sided quantile") {
  CHECK(two_sided_normal(1) == near_absolute(0, 1e-15));
  CHECK(two_sided_normal(0.05) == near(1.959964, 2e-7));
  CHECK(two_sided_normal(0.001) == near(3.290527, 2e-7));
}

TEST_CASE("GaussianK comes near k on values that are normal") {
  const Floats values = normal(100'000, 3);
  for (const std::size_t wanted : {std::size_t{100}, std::size_t{1000}, std::size_t{10'000}}) {
    Selection out{values.size()};
    gaussian_k(values, wanted, out);
    CHECK(3 * out.count >= 2 * wanted);
    CHECK(3 * out.count <= 4 * wanted);
    for (std::size_t i = 0; i < out.count; ++i) CHECK(values[static_cast<std::size_t>(out.places[i])] == out.values[i]);
  }
}

TEST_CASE("GaussianK refines its threshold at most four times where values are not normal") {
  // Powers keep the signs and draw the values apart or together; the shift gives them a mean.
  for (const double power : {0.2, 1.0, 3.0, 9.0})
    for (const float shift : {0.0F, -0.5F, 4.0F}) {
      Floats values = normal(3000, 4);
      for (float& each : values)
        each = std::copysign(static_cast<float>(std::pow(std::abs(wide(each)), power)), each) + shift;
      double sum = 0, squares = 0;
      for (const float each : values) sum += wide(each);
      const double mean = sum / 3000;
      for (const float each : values) squares += (wide(each) - mean) * (wide(each) - mean);
      for (const std::size_t wanted : {std::size_t{3}, std::size_t{150}, std::size_t{1000}, std::size_t{2999}}) {
        double threshold =
            std::abs(mean) + std::sqrt(squares / 3000) * two_sided_normal(static_cast<double>(wanted) / 3000);
        const auto above = [&] {
          return static_cast<std::size_t>(
              std::count_if(values.begin(), values.end(), [&](float v) { return std::abs(wide(v)) > threshold; }));
        };
        for (int step = 0; step < 4; ++step) {
          const double found = static_cast<double>(above()), share = found / static_cast<double>(wanted);
          if (share >= 2.0 / 3 && share <= 4.0 / 3) break;
          threshold *= share < 1 ? 0.5 : 1.5;
        }
        Selection out{values.size()};
        gaussian_k(values, wanted, out);
        CAPTURE(power);
        CAPTURE(shift);
        CAPTURE(wanted);
        CHECK(out.count == above());
      }
    }
}

TEST_CASE("gather and scatter") {
  Selection some{3};
  some.places = {4, 0, 4};
  gather(Floats{10, 11, 12, 13, 14}, some);
  CHECK(some.values == Floats{14, 10, 14});
  Floats out(5, 99);
  scatter_add(some, out);
  CHECK(out == Floats{10, 0, 0, 0, 28});
}

TEST_CASE("signs") {
  // Places 0, 2, 3 and 8 are not negative: 1 + 4 + 8 = 13, and 1 in the second byte.
  const Floats values{1, -1, 0, 2, -3, -4, -5, -6, 7, -8};
  Octets bits(2);
  sign_pack(values, bits);
  CHECK(bits == Octets{13, 1});
  Floats back(10);
  sign_unpack(bits, back);
  CHECK(back == Floats{1, -1, 1, 1, -1, -1, -1, -1, 1, -1});
}

TEST_CASE("8 and 4 bits: the ends exact, the rest within half a step") {
  for (const std::size_t count : {std::size_t{101}, std::size_t{64}}) {
    const Floats values = normal(count, 5);
    const auto [least, largest] = std::minmax_element(values.begin(), values.end());
    const double width = wide(*largest) - wide(*least);
    Octets codes(count), pairs((count + 1) / 2);
    Floats back8(count), back4(count);
    const Range fine = quantize8(values, codes), coarse = quantize4(values, pairs);
    dequantize8(codes, fine, back8);
    dequantize4(pairs, coarse, back4);
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(std::abs(wide(back8[i]) - wide(values[i])) <= 0.501 * width / 255);
      CHECK(std::abs(wide(back4[i]) - wide(values[i])) <= 0.501 * width / 15);
    }
    CHECK(codes[static_cast<std::size_t>(least - values.begin())] == 0);
    CHECK(codes[static_cast<std::size_t>(largest - values.begin())] == 255);
  }
  // -1, 0, 1, 2 in steps of 3 / 15 = 0.2: codes 0, 5, 10, 15, the first of a pair below.
  Octets pairs(2);
  static_cast<void>(quantize4(Floats{-1, 0, 1, 2}, pairs));
  CHECK(pairs == Octets{0x50, 0xfa});
  // Values all alike have no step.
  Octets codes(3);
  Floats back(3);
  const Range range = quantize8(Floats{2, 2, 2}, codes);
  dequantize8(codes, range, back);
  CHECK(back == Floats{2, 2, 2});
}

TEST_CASE("Gram-Schmidt: columns of length 1 at right angles that span the same") {
  // (3, 4) and (1, 0): the first becomes (0.6, 0.8); of the second 0.6 times that is taken: (0.64, -0.48), of length
  // 0.8.
  Floats small{3, 1, 4, 0};
  orthogonalize(2, small);
  CHECK(wide(small[0]) == near(0.6, kFloat));
  CHECK(wide(small[1]) == near(0.8, kFloat));
  CHECK(wide(small[2]) == near(0.8, kFloat));
  CHECK(wide(small[3]) == near(-0.6, kFloat));
  const std::size_t rows = 300, rank = 6;
  Floats matrix = normal(rows * rank, 9);
  orthogonalize(rank, matrix);
  for (std::size_t a = 0; a < rank; ++a)
    for (std::size_t b = 0; b <= a; ++b) {
      double dot = 0;
      for (std::size_t row = 0; row < rows; ++row) dot += wide(matrix[row * rank + a]) * wide(matrix[row * rank + b]);
      CHECK(dot == near_absolute(a == b ? 1 : 0, 1e-6));
    }
  // A second column that is twice the first has nothing left.
  Floats dependent{1, 2, 2, 4, 2, 4};
  orthogonalize(2, dependent);
  CHECK(dependent[1] == 0);
  CHECK(wide(dependent[0]) == near(1 / 3.0, kFloat));
}
