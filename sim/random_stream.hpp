#pragma once
// Random streams give the same bits on every machine. A number is a pure function of (seed, name of the stream,
// position). A part that draws more numbers therefore does not shift the numbers of another, and the order in which
// streams are created does not matter. The distributions use + - * / sqrt and the project's own logarithm and
// exponential (random_stream.cpp), because the functions of C libraries differ in the last bit between versions and
// processors.
//
// Source of the generator: Philox4x32-10, Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
// SC'11; it passes BigCrush. Parameters outside the stated ranges are broken invariants: readers of input check them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// The bare generator: encrypts a counter of 128 bits with a key of 64 bits; words in little-endian order.
std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// A named sequence of random numbers. The seed is the key of the cipher; a 64-bit hash of the name and the position
/// are its counter. Streams of different seeds or name hashes therefore share no block. The period is 2^65 words. A
/// copy repeats the original.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view name);

  /// Uniform over all 64-bit words.
  std::uint64_t next();
  /// Uniform over the 2^53 multiples of 2^-53 in [0, 1).
  double uniform();
  /// Uniform in [lo, hi), lo <= hi and both finite; rounding may return hi if the two are a few ulps apart.
  double uniform(double lo, double hi);
  /// Exactly uniform over the integers lo..hi, both included, lo <= hi. Source: Lemire, "Fast random integer generation
  /// in an interval", ACM TOMACS 29 (2019), algorithm 5.
  std::int64_t uniform_integer(std::int64_t lo, std::int64_t hi);
  /// Exponential by inversion, in [0, 36.8 mean] and in the unit of `mean` >= 0.
  double exponential(double mean);
  /// Normal; sd >= 0. Polar method: Marsaglia and Bray, SIAM Review 6 (1964); the second number of a pair is dropped,
  /// so that a stream has no memory but its position.
  double normal(double mean, double sd);
  /// exp of a normal with mean `mu` and standard deviation `sigma` >= 0; the median is exp(mu).
  double lognormal(double mu, double sigma);
  /// Weibull by inversion, in [0, inf) and in the unit of `scale` >= 0; shape > 0 (below 1 the failure rate falls).
  double weibull(double shape, double scale);
  /// k in 1..n with probability proportional to k^-s; 1 <= n <= 2^53, s >= 0 (0 is uniform). Constant time by
  /// rejection-inversion: Hoermann and Derflinger, ACM TOMACS 6 (1996), section 4.
  std::int64_t zipf(std::int64_t n, double s);

  /// Permutes the items; all orders are equally likely (Fisher and Yates, from the back).
  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      const auto j = static_cast<std::size_t>(uniform_integer(0, static_cast<std::int64_t>(i - 1)));
      std::swap(items[i - 1], items[j]);
    }
  }

 private:
  std::uint64_t seed_;
  std::uint64_t name_hash_;
  std::uint64_t block_ = 0;               // blocks used up
  std::array<std::uint64_t, 2> words_{};  // of the last block
  std::size_t used_ = 2;                  // number of these words already returned
};

/// The distribution of measured values. Its quantile function interpolates linearly between the sorted samples, at the
/// probabilities 0, 1/(n-1), ..., 1 (definition 7 of Hyndman and Fan, The American Statistician 50, 1996), so it lies
/// between the smallest and the largest sample. With one sample it is a constant.
class Empirical {
 public:
  /// Takes at least one sample, all finite, in any order and unit.
  explicit Empirical(std::vector<double> samples);
  /// The value below which a share `p` of the distribution lies, 0 <= p <= 1, in the unit of the samples.
  [[nodiscard]] double quantile(double p) const;
  double draw(RandomStream& stream) const { return quantile(stream.uniform()); }

 private:
  std::vector<double> sorted_;
};

/// A random choice among n alternatives in proportion to their weights. A draw takes O(log n) and one number of the
/// stream.
class WeightedChoice {
 public:
  /// Takes at least one weight, none negative or infinite, not all 0; the sum need not be 1.
  explicit WeightedChoice(std::span<const double> weights);
  /// Index of the chosen alternative; one of weight 0 is never chosen.
  std::size_t draw(RandomStream& stream) const;

 private:
  std::vector<double> cumulative_;
};

}  // namespace contend
