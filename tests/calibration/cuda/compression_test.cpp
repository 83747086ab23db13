// Compression against plain loops.
#include "tests/calibration/cuda/prepared.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include <doctest/doctest.h>

using namespace contend;

namespace {

const std::int64_t kSizes[] = {1, 7, 33, 4'097, 1'000'003};

/// What a selection has written: pairs by index, of which there are as many as `selection` has counted.
std::map<std::size_t, double> selected(const Prepared& p, std::size_t count) {
  const Values values = p.read("values"), indices = p.read("indices");
  REQUIRE(count <= values.size());
  std::map<std::size_t, double> pairs;
  for (std::size_t i = 0; i < count; ++i) pairs[static_cast<std::size_t>(indices[i])] = values[i];
  CHECK(pairs.size() == count);  // no index twice
  return pairs;
}

/// Word 2 of the `selection` is the number of elements written.
std::size_t counted(const Prepared& p) {
  return static_cast<std::size_t>(p.read("selection").at(2));
}

/// The magnitude of rank k, from 1.
double kth_magnitude(const Values& x, std::size_t k) {
  Values magnitudes(x.size());
  std::transform(x.begin(), x.end(), magnitudes.begin(), [](double each) { return std::abs(each); });
  const auto kth = magnitudes.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(magnitudes.begin(), kth, magnitudes.end(), std::greater<>());
  return *kth;
}

/// All pairs are elements of x; all above the k-th magnitude are there, the rest are equal to it.
void check_top(const std::map<std::size_t, double>& pairs, const Values& x, std::size_t k) {
  const double threshold = kth_magnitude(x, k);
  std::size_t above = 0, wrong = 0;
  for (const auto& [index, value] : pairs) {
    if (index >= x.size() || value != x[index] || std::abs(value) < threshold) ++wrong;
    if (std::abs(value) > threshold) ++above;
  }
  CHECK(wrong == 0);
  CHECK(above == static_cast<std::size_t>(
                     std::count_if(x.begin(), x.end(), [&](double each) { return std::abs(each) > threshold; })));
}

/// The first rank, the last, and some between.
std::set<std::int64_t> ranks(std::int64_t n) {
  return {1, std::max<std::int64_t>(1, n / 100), std::max<std::int64_t>(1, n / 2), n};
}

}  // namespace

TEST_CASE("exact top-k, of normal values and of ties") {
  for (const std::int64_t n : kSizes) {
    for (const std::int64_t k : ranks(n)) {
      CAPTURE(n);
      CAPTURE(k);
      Prepared p("top_k", "fp32", {n, k});
      REQUIRE(p.supported());
      p.poison("indices");
      p.execute();
      const auto count = static_cast<std::size_t>(k);
      CHECK(counted(p) == count);
      check_top(selected(p, count), p.read("x"), count);

      // Few values, so that most ranks fall among equals; zeros of both signs; one subnormal number and an infinity.
      Values x = p.read("x");
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(static_cast<int>(i * 7919 % 11) - 5) / 4;
      if (x.size() > 6) {
        x[2] = -0.0;
        x[4] = 1e-40F;
        x[5] = -std::numeric_limits<double>::infinity();
      }
      p.write("x", x);
      p.execute();
      CHECK(counted(p) == count);
      check_top(selected(p, count), p.read("x"), count);
    }
  }
}

TEST_CASE("top-k by a threshold") {
  for (const std::int64_t n : kSizes) {
    for (const std::int64_t k : ranks(n)) {
      CAPTURE(n);
      CAPTURE(k);
      Prepared p("threshold_k", "fp32", {n, k});
      REQUIRE(p.supported());
      p.execute();
      const Values x = p.read("x");
      const double threshold = kth_magnitude(x, static_cast<std::size_t>(k));
      const auto count = static_cast<std::size_t>(
          std::count_if(x.begin(), x.end(), [&](double each) { return std::abs(each) >= threshold; }));
      CHECK(counted(p) == count);
      check_top(selected(p, count), x, static_cast<std::size_t>(k));
    }
  }
}

TEST_CASE("GaussianK finds about k, all those above its threshold") {
  for (const std::int64_t k : {100, 1'000, 30'000}) {
    CAPTURE(k);
    Prepared p("gaussian_k", "fp32", {1'000'003, k});
    REQUIRE(p.supported());
    p.execute();
    const std::size_t count = counted(p);
    CHECK(3 * count >= 2 * static_cast<std::size_t>(k));
    CHECK(3 * count <= 4 * static_cast<std::size_t>(k));
    check_top(selected(p, count), p.read("x"), count);
  }
  // Far from normal, all of one magnitude: mean 0 and deviation 1, so the first threshold of 2.58 selects nothing;
  // halved once it still does (1.29), halved twice it selects all (0.64), then 1.5 times that (0.97) still does.
  Prepared p("gaussian_k", "fp32", {10'000, 100});
  REQUIRE(p.supported());
  Values x(10'000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 1 : -1;
  p.write("x", x);
  p.execute();
  CHECK(counted(p) == 10'000);  // found, of which there was room for the first
}

TEST_CASE("random-k takes different elements") {
  for (const std::int64_t n : kSizes) {
    for (const std::int64_t k : ranks(n)) {
      Prepared p("random_k", "fp32", {n, k});
      REQUIRE(p.supported());
      p.execute();
      const Values x = p.read("x");
      std::size_t wrong = 0;
      for (const auto& [index, value] : selected(p, static_cast<std::size_t>(k))) {
        if (index >= x.size() || x[index] != value) ++wrong;
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("pairs are added into zeros") {
  for (const std::int64_t n : kSizes) {
    for (const std::int64_t k : ranks(n)) {
      Prepared p("scatter_add", "fp32", {n, k});
      REQUIRE(p.supported());
      const Values values = p.read("values"), indices = p.read("indices");
      Values expected(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < static_cast<std::size_t>(k); ++i) {
        expected[static_cast<std::size_t>(indices[i])] += values[i];
      }
      p.poison("y");
      p.execute();
      check_close(p.read("y"), expected, 1e-6);
    }
  }
}

TEST_CASE("signs, packed and unpacked") {
  for (const std::int64_t n : kSizes) {
    Prepared pack("sign_pack", "fp32", {n}), unpack("sign_unpack", "fp32", {n});
    REQUIRE(pack.supported());
    REQUIRE(unpack.supported());
    const Values x = pack.read("x");
    std::vector<std::uint32_t> words((x.size() + 31) / 32);
    Values signs(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      words[i / 32] |= static_cast<std::uint32_t>(std::signbit(x[i])) << (i % 32);
      signs[i] = std::signbit(x[i]) ? -1 : 1;
    }
    const Values bits(words.begin(), words.end());
    pack.poison("bits");
    pack.execute();
    CHECK(pack.read("bits") == bits);
    unpack.write("bits", bits);
    unpack.poison("x");
    unpack.execute();
    CHECK(unpack.read("x") == signs);
  }
}

TEST_CASE("quantised to 8 and 4 bits and back") {
  for (const std::int64_t n : kSizes) {
    for (const std::size_t bits : {std::size_t{8}, std::size_t{4}}) {
      CAPTURE(n);
      CAPTURE(bits);
      Prepared to("quantize" + std::to_string(bits), "fp32", {n}),
          back("dequantize" + std::to_string(bits), "fp32", {n});
      REQUIRE(to.supported());
      REQUIRE(back.supported());
      const Values x = to.read("x");
      const double least = *std::min_element(x.begin(), x.end()), most = *std::max_element(x.begin(), x.end());
      const double steps = bits == 8 ? 255 : 15, step = (most - least) / steps;
      to.poison("levels");
      to.poison("range");
      to.execute();
      const Values range = to.read("range"), words = to.read("levels");
      CHECK(range[0] == least);
      CHECK(range[1] == near(step, 1e-6));
      const std::size_t per_word = 32 / bits;
      REQUIRE(words.size() == (x.size() + per_word - 1) / per_word);
      Values restored(x.size());
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto word = static_cast<std::uint32_t>(words[i / per_word]);
        const double level = word >> (bits * (i % per_word)) & ((1U << bits) - 1);
        restored[i] = range[0] + range[1] * level;
        // The nearest level, with room for the rounding of fp32 between two of them.
        if (std::abs(restored[i] - x[i]) > 0.5001 * step + 1e-6) ++wrong;
      }
      CHECK(wrong == 0);
      back.write("levels", words);
      back.write("range", range);
      back.poison("x");
      back.execute();
      check_close(back.read("x"), restored, 1e-6);
    }
  }
}
