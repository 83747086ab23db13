// Kernels of attention and of training on an emulated GPU against plain loops.

#include "tests/calibration/emulated_memory.hpp"
// Names of the language that the kernels are written in come first.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wpsabi"
#include "calibration/cuda/attention_plain_kernels.cuh"
#include "calibration/cuda/training_kernels.cuh"
#pragma GCC diagnostic pop
#include "calibration/shared_shapes.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace contend::cuda {

namespace {

using Numbers = std::vector<double>;
using emulated::Memory;

struct AttentionCase {
  std::size_t heads, group, sequence, size;
  bool causal;
};

Numbers doubles(const Memory<float>& from) {
  Numbers out(from.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(from[i]);
  return out;
}

/// Attention and its gradients by the textbook.
struct PlainAttention {
  PlainAttention(const AttentionCase& c, const Memory<float>& q_in, const Memory<float>& k_in,
                 const Memory<float>& v_in, const Memory<float>& d_o_in)
      : q{doubles(q_in)}, k{doubles(k_in)}, v{doubles(v_in)}, d_o{doubles(d_o_in)} {
    o.resize(q.size());
    dq.resize(q.size());
    dk.resize(k.size());
    dv.resize(v.size());
    const double scale = 1 / std::sqrt(static_cast<double>(c.size));
    for (std::size_t head = 0; head < c.heads; ++head) {
      const std::size_t key_head = head / c.group;
      for (std::size_t i = 0; i < c.sequence; ++i) row(c, (head * c.sequence + i) * c.size, key_head, i, scale);
    }
  }
  Numbers q, k, v, d_o, o, dq, dk, dv;

 private:
  void row(const AttentionCase& c, std::size_t at, std::size_t key_head, std::size_t i, double scale) {
    const std::size_t seen = c.causal ? i + 1 : c.sequence;
    Numbers weights(seen);
    double total = 0, delta = 0;
    const auto key = [&](std::size_t j) { return (key_head * c.sequence + j) * c.size; };
    for (std::size_t j = 0; j < seen; ++j) {
      double score = 0;
      for (std::size_t e = 0; e < c.size; ++e) score += q[at + e] * k[key(j) + e];
      total += weights[j] = std::exp(scale * score);
    }
    for (std::size_t j = 0; j < seen; ++j)
      for (std::size_t e = 0; e < c.size; ++e) o[at + e] += weights[j] / total * v[key(j) + e];
    for (std::size_t e = 0; e < c.size; ++e) delta += o[at + e] * d_o[at + e];
    for (std::size_t j = 0; j < seen; ++j) {
      const double weight = weights[j] / total;
      double product = 0;
      for (std::size_t e = 0; e < c.size; ++e) product += d_o[at + e] * v[key(j) + e];
      const double d_score = scale * weight * (product - delta);
      for (std::size_t e = 0; e < c.size; ++e) {
        dq[at + e] += d_score * k[key(j) + e];
        dk[key(j) + e] += d_score * q[at + e];
        dv[key(j) + e] += weight * d_o[at + e];
      }
    }
  }
};

double largest_difference(const Memory<float>& found, const Numbers& expected) {
  REQUIRE(found.size() == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(found[i]) - expected[i]));
  return worst;
}

template <int Parts>
unsigned blocks_of(std::size_t heads, std::size_t sequence) {
  constexpr std::size_t kRows = plain::kBlock / Parts;
  return static_cast<unsigned>(heads * ((sequence + kRows - 1) / kRows));
}

template <int Parts>
void check_attention(const AttentionCase& c) {
  CAPTURE(c.sequence);
  CAPTURE(c.size);
  CAPTURE(c.causal);
  const std::size_t all = c.heads * c.sequence * c.size, rows = c.heads * c.sequence;
  const Memory<float> q = emulated::irregular<float>(all, 1), d_o = emulated::irregular<float>(all, 2);
  const Memory<float> k = emulated::irregular<float>(all / c.group, 3),
                      v = emulated::irregular<float>(all / c.group, 4);
  const PlainAttention expected{c, q, k, v, d_o};
  const Memory<float> o{all}, lse{rows}, delta{rows}, dq{all}, dk{all / c.group}, dv{all / c.group};
  for (std::size_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (std::size_t e = 0; e < c.size; ++e)
      sum += expected.o[row * c.size + e] * static_cast<double>(d_o[row * c.size + e]);
    delta[row] = static_cast<float>(sum);
  }
  const AttentionTensors<float> t{q.get(),
                                  k.get(),
                                  v.get(),
                                  o.get(),
                                  lse.get(),
                                  d_o.get(),
                                  delta.get(),
                                  dq.get(),
                                  dk.get(),
                                  dv.get(),
                                  static_cast<std::int64_t>(c.heads),
                                  static_cast<int>(c.group),
                                  static_cast<int>(c.sequence),
                                  static_cast<int>(c.size),
                                  1 / std::sqrt(static_cast<float>(c.size)),
                                  c.causal};
  const auto run = [&](std::size_t heads, auto kernel) {
    emulated::Gpu::launch({blocks_of<Parts>(heads, c.sequence)}, {plain::kBlock}, 1, kernel);
  };
  run(c.heads, [&] { plain::attend<float, Parts>(t); });
  run(c.heads / c.group, [&] { plain::attention_gradients<float, Parts, true>(t); });
  run(c.heads, [&] { plain::attention_gradients<float, Parts, false>(t); });
  CHECK(largest_difference(o, expected.o) < 1e-4);
  CHECK(largest_difference(dq, expected.dq) < 1e-3);
  CHECK(largest_difference(dk, expected.dk) < 1e-3);
  CHECK(largest_difference(dv, expected.dv) < 1e-3);
}

/// A number of one byte, in steps of 1/16.
struct Byte {
  Byte() = default;
  explicit Byte(float value) : steps{static_cast<std::int8_t>(std::lround(value * 16))} {}
  std::int8_t steps;
  bool operator==(const Byte&) const = default;
};

}  // namespace

TEST_CASE("attention with a causal mask and with heads that share keys is the textbook's") {
  check_attention<2>({2, 1, 9, 40, false});
  check_attention<2>({2, 1, 70, 16, true});  // more rows than a block has
  check_attention<2>({4, 2, 35, 8, true});
  check_attention<2>({6, 3, 20, 8, false});
  check_attention<4>({2, 2, 37, 100, true});
}

TEST_CASE("rotary positions turn neighbouring numbers") {
  constexpr std::size_t kRows = 3, kWidth = 2 * kTurned;
  const Memory<float> x = emulated::irregular<float>(kRows * kWidth, 5), turns{kRows * kTurned}, y{kRows * kWidth};
  const auto angle = [](std::size_t row, std::size_t pair) {
    return static_cast<double>(row + 1) * static_cast<double>(pair + 1) / 50;
  };
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t pair = 0; pair < kTurned / 2; ++pair) {
      turns[row * kTurned + 2 * pair] = static_cast<float>(std::cos(angle(row, pair)));
      turns[row * kTurned + 2 * pair + 1] = static_cast<float>(std::sin(angle(row, pair)));
    }
  }
  emulated::Gpu::launch({2}, {64}, 1, [&] { turn_positions<float>(kRows, kWidth, x.get(), turns.get(), y.get()); });
  double worst = 0;
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t i = 0; i < kWidth; i += 2) {
      const double c = std::cos(angle(row, i % kTurned / 2)), s = std::sin(angle(row, i % kTurned / 2));
      const auto a = static_cast<double>(x[row * kWidth + i]), b = static_cast<double>(x[row * kWidth + i + 1]);
      worst = std::max(worst, std::abs(static_cast<double>(y[row * kWidth + i]) - (a * c - b * s)));
      worst = std::max(worst, std::abs(static_cast<double>(y[row * kWidth + i + 1]) - (a * s + b * c)));
    }
  }
  CHECK(worst < 1e-5);
}

TEST_CASE("casts are written both ways, with the largest magnitude") {
  constexpr std::size_t kRows = 2 * kCastTile, kColumns = 3 * kCastTile;
  for (const unsigned seed : emulated::kSeeds) {
    const Memory<float> x = emulated::irregular<float>(kRows * kColumns, 6);
    x[777] = -7.5F;
    const Memory<Byte> y{kRows * kColumns}, t{kRows * kColumns};
    const Memory<unsigned> most{1};
    emulated::Gpu::launch({2}, {kThreads}, seed, [&] {
      cast_both_ways(std::int64_t{kRows}, std::int64_t{kColumns}, x.get(), 1.0F, y.get(), t.get(), most.get());
    });
    std::size_t wrong = 0;
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::size_t column = 0; column < kColumns; ++column) {
        const Byte expected{x[row * kColumns + column]};
        if (y[row * kColumns + column] != expected || t[column * kRows + row] != expected) ++wrong;
      }
    }
    CHECK(wrong == 0);
    CHECK(std::bit_cast<float>(most[0]) == 7.5F);
  }
}

TEST_CASE("Adam with weights of 16 bits keeps the weights of 32") {
  constexpr std::size_t kCount = 1000;
  const Memory<emulated::Short> g = emulated::irregular<emulated::Short>(kCount, 7), w{kCount};
  const Memory<float> p = emulated::irregular<float>(kCount, 8), m{kCount}, v{kCount};
  const Numbers before = doubles(p);
  const MixedAdam c{0.9F, 0.999F, 1e-8F, 0.01F, 2.0F};
  emulated::Gpu::launch({2}, {64}, 1,
                        [&] { step_mixed_adam(std::int64_t{kCount}, g.get(), p.get(), m.get(), v.get(), w.get(), c); });
  double worst = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto gradient = static_cast<double>(static_cast<float>(g[i]));
    const double mean = 0.1 * gradient, square = 0.001 * gradient * gradient;
    const double after = before[i] - 0.01 * mean / (2 * std::sqrt(square) + 1e-8);
    worst = std::max(worst, std::abs(static_cast<double>(p[i]) - after));
    CHECK(static_cast<float>(w[i]) == static_cast<float>(emulated::Short{p[i]}));
  }
  CHECK(worst < 1e-5);
}

TEST_CASE("a reduction adds every number once, whatever its blocks") {
  for (const unsigned blocks : {1U, 3U}) {
    constexpr std::size_t kMany = 5000;
    const Memory<float> a = emulated::irregular<float>(4 * kMany, 9), b = emulated::irregular<float>(4 * kMany, 10),
                        out{4 * kMany};
    emulated::Gpu::launch({blocks}, {kReduceThreads}, 1, [&] {
      reduce_two(std::int64_t{kMany}, reinterpret_cast<const float4*>(a.get()),
                 reinterpret_cast<const float4*>(b.get()), reinterpret_cast<float4*>(out.get()));
    });
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < 4 * kMany; ++i)
      if (out[i] != a[i] + b[i]) ++wrong;
    CHECK(wrong == 0);
  }
}

TEST_CASE("the rows of a grouped product are uneven and have the mean that was asked for") {
  CHECK(rows_of_group(0, 1, 100) == 100);
  CHECK(rows_of_group(0, 3, 100) == 50);
  CHECK(rows_of_group(1, 3, 100) == 100);
  CHECK(rows_of_group(2, 3, 100) == 150);
  CHECK(rows_of_group(0, 8, 1) == 1);
}

}  // namespace contend::cuda
