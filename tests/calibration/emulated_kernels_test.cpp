// Kernels of the CUDA back end on an emulated GPU against plain loops, in several orders of their threads.

#include "tests/calibration/emulated_memory.hpp"
// Names of the language that the kernels are written in come first.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wpsabi"
#include "calibration/cuda/compact_kernels.cuh"
#include "calibration/cuda/launch_plan.hpp"
#include "calibration/cuda/row_kernels.cuh"
#include "calibration/cuda/sign_kernels.cuh"
#pragma GCC diagnostic pop
#include "tests/near.hpp"

#include <limits>
#include <map>

#include <doctest/doctest.h>

namespace contend::cuda {

namespace {

using emulated::irregular;
using emulated::kSeeds;
using emulated::Memory;
using emulated::Short;

struct RowCase {
  std::int64_t rows, width;
};

/// Runs `kernel` with a warp a row and with a block a row.
template <class Kernel>
void launch_rows(bool warp, unsigned seed, Kernel kernel) {
  emulated::Gpu::launch({3}, {warp ? 256U : 64U}, seed, [&] { kernel(); });
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

template <class T>
std::vector<double> row_of(const Memory<T>& matrix, const RowCase& c, std::int64_t row) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < c.width; ++i)
    out.push_back(static_cast<double>(static_cast<float>(matrix[static_cast<std::size_t>(row * c.width + i)])));
  return out;
}

template <class T, int Size, bool Warp, bool Centred>
void check_norm(const RowCase& c, double tolerance) {
  const auto all = static_cast<std::size_t>(c.rows * c.width), width = static_cast<std::size_t>(c.width);
  const auto rows = static_cast<std::size_t>(c.rows);
  const Memory<T> x = irregular<T>(all, 1), dy = irregular<T>(all, 2);
  const Memory<float> gamma = irregular<float>(width, 3), beta = irregular<float>(width, 4);
  for (const unsigned seed : kSeeds) {
    const Memory<T> y{all}, dx{all};
    const Memory<float> mean{rows}, deviation{rows}, dgamma{width}, dbeta{width};
    launch_rows(Warp, seed, [&] {
      norm_rows<T, Size, Warp, Centred>(c.rows, c.width, x.get(), y.get(), gamma.get(), beta.get(), mean.get(),
                                        deviation.get());
    });
    launch_rows(Warp, seed, [&] {
      norm_gradients<T, Size, Warp, Centred>(c.rows, c.width, x.get(), dy.get(), dx.get(), gamma.get(), mean.get(),
                                             deviation.get());
    });
    emulated::Gpu::launch({static_cast<unsigned>((c.width + 31) / 32), 2}, {32, 8}, seed, [&] {
      norm_weight_gradients<T, Centred>(c.rows, c.width, (c.rows + 1) / 2, x.get(), dy.get(), mean.get(),
                                        deviation.get(), dgamma.get(), dbeta.get());
    });
    double worst = 0, worst_gradient = 0;
    std::vector<double> scales(width), shifts(width);
    for (std::int64_t row = 0; row < c.rows; ++row) {
      const std::vector<double> in = row_of(x, c, row), gradient = row_of(dy, c, row);
      const auto n = static_cast<double>(c.width);
      const double average = Centred ? sum_of(in) / n : 0;
      double squares = 0, sum = 0, products = 0;
      for (const double v : in) squares += (v - average) * (v - average);
      const double inverse = 1 / std::sqrt(squares / n + 1e-5);
      for (std::size_t i = 0; i < width; ++i) {
        const double scaled = gradient[i] * static_cast<double>(gamma[i]);
        if (Centred) sum += scaled / n;
        products += scaled * (in[i] - average) * inverse / n;
        scales[i] += gradient[i] * (in[i] - average) * inverse;
        shifts[i] += Centred ? gradient[i] : 0;
      }
      const std::vector<double> out = row_of(y, c, row), back = row_of(dx, c, row);
      for (std::size_t i = 0; i < width; ++i) {
        const double normal = (in[i] - average) * inverse;
        const double shift = Centred ? static_cast<double>(beta[i]) : 0;
        worst = std::max(worst, std::abs(out[i] - (normal * static_cast<double>(gamma[i]) + shift)));
        const double expected = inverse * (gradient[i] * static_cast<double>(gamma[i]) - sum - normal * products);
        worst_gradient = std::max(worst_gradient, std::abs(back[i] - expected));
      }
    }
    CHECK(worst < tolerance);
    CHECK(worst_gradient < 4 * tolerance);
    double worst_weight = 0;
    for (std::size_t i = 0; i < width; ++i) {
      worst_weight = std::max(worst_weight, std::abs(static_cast<double>(dgamma[i]) - scales[i]));
      worst_weight = std::max(worst_weight, std::abs(static_cast<double>(dbeta[i]) - shifts[i]));
    }
    CHECK(worst_weight < 1e-3);
  }
}

template <class T, int Size>
void check_column_sums(const RowCase& c, double tolerance) {
  const auto all = static_cast<std::size_t>(c.rows * c.width), width = static_cast<std::size_t>(c.width);
  const Memory<T> x = irregular<T>(all, 9);
  const auto columns = static_cast<unsigned>((c.width + 32 * Size - 1) / (32 * Size));
  for (const unsigned seed : kSeeds) {
    const Memory<float> sums{width};
    emulated::Gpu::launch({columns, 3}, {32, 8}, seed,
                          [&] { sum_columns<T, Size>(c.rows, c.width, (c.rows + 2) / 3, x.get(), sums.get()); });
    std::vector<double> expected(width);
    for (std::int64_t row = 0; row < c.rows; ++row) {
      const std::vector<double> in = row_of(x, c, row);
      for (std::size_t i = 0; i < width; ++i) expected[i] += in[i];
    }
    double worst = 0;
    for (std::size_t i = 0; i < width; ++i)
      worst = std::max(worst, std::abs(static_cast<double>(sums[i]) - expected[i]));
    CHECK(worst < tolerance);
  }
}

template <class T, int Size, bool Warp>
void check_softmax(const RowCase& c, double tolerance) {
  const auto all = static_cast<std::size_t>(c.rows * c.width);
  const Memory<T> x = irregular<T>(all, 5), dy = irregular<T>(all, 6);
  for (const unsigned seed : kSeeds) {
    const Memory<T> y{all}, dx{all};
    launch_rows(Warp, seed, [&] { softmax_rows<T, Size, Warp>(c.rows, c.width, x.get(), y.get()); });
    launch_rows(Warp, seed, [&] { softmax_gradients<T, Size, Warp>(c.rows, c.width, y.get(), dy.get(), dx.get()); });
    double worst = 0;
    for (std::int64_t row = 0; row < c.rows; ++row) {
      const std::vector<double> in = row_of(x, c, row), out = row_of(y, c, row), gradient = row_of(dy, c, row),
                                back = row_of(dx, c, row);
      double total = 0, along = 0;
      for (const double v : in) total += std::exp(v);
      for (std::size_t i = 0; i < in.size(); ++i) along += out[i] * gradient[i];
      for (std::size_t i = 0; i < in.size(); ++i) {
        worst = std::max(worst, std::abs(out[i] - std::exp(in[i]) / total));
        worst = std::max(worst, std::abs(back[i] - out[i] * (gradient[i] - along)));
      }
    }
    CHECK(worst < tolerance);
  }
}

template <class T, int Size>
void check_cross_entropy(const RowCase& c, double tolerance) {
  const auto all = static_cast<std::size_t>(c.rows * c.width), rows = static_cast<std::size_t>(c.rows);
  const Memory<T> x = irregular<T>(all, 7);
  const Memory<std::int64_t> labels{rows};
  for (std::size_t i = 0; i < rows; ++i) labels[i] = static_cast<std::int64_t>(i * 37) % c.width;
  for (const unsigned seed : kSeeds) {
    const Memory<T> dx{all};
    const Memory<float> loss{rows};
    launch_rows(false, seed,
                [&] { cross_entropy_rows<T, Size>(c.rows, c.width, x.get(), labels.get(), dx.get(), loss.get()); });
    for (std::int64_t row = 0; row < c.rows; ++row) {
      const std::vector<double> in = row_of(x, c, row), gradient = row_of(dx, c, row);
      const auto label = static_cast<std::size_t>(labels[static_cast<std::size_t>(row)]);
      double total = 0, worst = 0;
      for (const double v : in) total += std::exp(v);
      for (std::size_t i = 0; i < in.size(); ++i)
        worst = std::max(worst, std::abs(gradient[i] - (std::exp(in[i]) / total - (i == label ? 1.0 : 0.0))));
      CHECK(worst < tolerance);
      CHECK(static_cast<double>(loss[static_cast<std::size_t>(row)]) == near(std::log(total) - in[label], 1e-5));
    }
  }
}

struct Picked {
  std::map<std::uint32_t, float> pairs;
  std::uint32_t count = 0;
};

Picked compacted(const Memory<float>& x, float threshold, bool all_ties, std::uint32_t wanted, std::uint32_t room,
                 unsigned seed) {
  const Memory<SelectionState> state{1};
  state[0].threshold = std::bit_cast<std::uint32_t>(threshold);
  state[0].wanted = wanted;
  const Memory<float> values{room};
  const Memory<std::uint32_t> places{room};
  emulated::Gpu::launch({2}, {kThreads}, seed, [&] {
    compact(x.get(), static_cast<std::int64_t>(x.size()), all_ties, room, state.get(), values.get(), places.get());
  });
  Picked out;
  out.count = state[0].count;
  for (std::uint32_t i = 0; i < std::min(room, out.count); ++i) out.pairs[places[i]] = values[i];
  CHECK(out.pairs.size() == std::min(room, out.count));  // no place is written twice
  return out;
}

}  // namespace

TEST_CASE("normalisations by a warp and by a block a row") {
  for (const RowCase& c : {RowCase{5, 8}, {26, 64}, {3, 520}}) {
    CAPTURE(c.width);
    check_norm<float, 4, true, true>(c, 1e-4);
    check_norm<float, 4, false, true>(c, 1e-4);
    check_norm<float, 1, false, false>(c, 1e-4);
    check_norm<Short, 8, true, false>(c, 0.05);
    check_norm<Short, 8, false, true>(c, 0.05);
  }
}

TEST_CASE("sums of columns by blocks with shares of the rows") {
  for (const RowCase& c : {RowCase{5, 8}, {26, 64}, {70, 520}}) {
    CAPTURE(c.width);
    check_column_sums<float, 4>(c, 1e-4);
    check_column_sums<float, 1>(c, 1e-4);
    check_column_sums<Short, 8>(c, 1e-3);
  }
}

TEST_CASE("softmax by a warp and by a block a row") {
  for (const RowCase& c : {RowCase{5, 8}, {26, 64}, {3, 520}}) {
    CAPTURE(c.width);
    check_softmax<float, 4, true>(c, 1e-5);
    check_softmax<float, 1, false>(c, 1e-5);
    check_softmax<Short, 8, true>(c, 0.05);
    check_softmax<Short, 8, false>(c, 0.05);
  }
}

TEST_CASE("cross-entropy and its gradient") {
  for (const RowCase& c : {RowCase{1, 8}, {4, 1000}}) {
    check_cross_entropy<float, 4>(c, 1e-5);
    check_cross_entropy<float, 1>(c, 1e-5);
    check_cross_entropy<Short, 8>(c, 0.05);
  }
}

TEST_CASE("compaction finds all that is above the threshold and as many ties as are wanted") {
  for (const std::size_t n : {1UL, 7UL, 4096UL, 9001UL}) {
    CAPTURE(n);
    const Memory<float> x = irregular<float>(n, 8);  // of 20001 different numbers: the largest recur
    const float threshold = 1.5F;
    for (std::size_t i = 0; i < n; i += 5) x[i] = i % 2 == 0 ? threshold : -threshold;
    std::uint32_t above = 0, ties = 0;
    for (std::size_t i = 0; i < n; ++i) {
      above += std::abs(x[i]) > threshold ? 1U : 0U;
      ties += std::abs(x[i]) == threshold ? 1U : 0U;
    }
    for (const unsigned seed : kSeeds) {
      for (const std::uint32_t wanted : {0U, ties / 3, ties}) {
        const Picked some = compacted(x, threshold, false, wanted, static_cast<std::uint32_t>(n), seed);
        CHECK(some.count == above + wanted);
        std::uint32_t found_above = 0;
        std::size_t wrong = 0;
        for (const auto& [place, value] : some.pairs) {
          if (place >= n || value != x[place] || std::abs(value) < threshold) ++wrong;
          found_above += std::abs(value) > threshold ? 1U : 0U;
        }
        CHECK(found_above == above);
        CHECK(wrong == 0);
      }
      CHECK(compacted(x, threshold, true, 0, static_cast<std::uint32_t>(n), seed).count == above + ties);
      // What does not fit is counted and not written.
      CHECK(compacted(x, threshold, true, 0, 1, seed).count == above + ties);
    }
  }
}

TEST_CASE("a tile adds to the counter once, and not at all if nothing in it is selected") {
  const Memory<float> x{3 * std::size_t{kCompacted}};
  x[5] = 2;
  CHECK(compacted(x, 1, false, 0, 10, 1).pairs == std::map<std::uint32_t, float>{{5, 2.0F}});
  CHECK(compacted(x, 3, false, 0, 10, 1).count == 0);
}

TEST_CASE("signs are packed in the order of the elements") {
  for (const std::size_t n : {1UL, 31UL, 33UL, 512UL, 513UL, 5001UL}) {
    CAPTURE(n);
    const Memory<float> x = irregular<float>(n, 9);
    if (n > 2) x[2] = -0.0F;
    const std::size_t words = (n + 31) / 32;
    for (const unsigned seed : kSeeds) {
      const Memory<std::uint32_t> bits{words + 1};
      bits[words] = 77;  // not ours
      emulated::Gpu::launch({2}, {kThreads}, seed,
                            [&] { pack_signs(x.get(), bits.get(), static_cast<std::int64_t>(n)); });
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < 32 * words; ++i) {
        const bool expected = i < n && std::signbit(x[i]);
        if ((bits[i / 32] >> (i % 32) & 1U) != (expected ? 1U : 0U)) ++wrong;
      }
      CHECK(wrong == 0);
      CHECK(bits[words] == 77);
    }
  }
}

TEST_CASE("no more kernels wait behind a gate than a queue has room for") {
  CHECK(executions_at_once(10, 1) == 10);
  CHECK(executions_at_once(100'000, 1) == 500);
  CHECK(executions_at_once(100'000, 10) == 50);
  CHECK(executions_at_once(3, 10'000) == 1);
}

TEST_CASE("copies of operands together exceed the cache twice, within the memory") {
  constexpr std::int64_t kMebi = 1 << 20;
  CHECK(copies_beyond_cache(200 * kMebi, 50 * kMebi, 1000 * kMebi) == 1);
  CHECK(copies_beyond_cache(10 * kMebi, 50 * kMebi, 1000 * kMebi) == 11);
  CHECK(copies_beyond_cache(10 * kMebi, 50 * kMebi, 30 * kMebi) == 3);
  CHECK(copies_beyond_cache(1, 50 * kMebi, 1000 * kMebi) == kMostCopies);
  CHECK(copies_beyond_cache(10 * kMebi, 50 * kMebi, 0) == 1);
}

}  // namespace contend::cuda
