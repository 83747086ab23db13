#include "sim/random_stream.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/check.hpp"
#include "sim/portable_math.hpp"

namespace contend {
namespace {

__extension__ using Uint128 = unsigned __int128;  // g++ and clang both have it, neither calls it ISO C++

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

std::uint32_t low(std::uint64_t word) {
  return static_cast<std::uint32_t>(word);
}
std::uint32_t high(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 32);
}

/// FNV-1a over the bytes, then the finalizer of splitmix64 (Steele, Lea and Flood, OOPSLA 2014), because FNV-1a alone
/// leaves names that differ in the last letter close together.
std::uint64_t hash_name(std::string_view name) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ULL;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebULL;
  return h ^ (h >> 31);
}

/// The hat of the Zipf distribution, h(x) = x^-s, and its integral H with H(1) = 0, in a form that also holds at s = 1:
/// H(x) = (x^(1-s) - 1) / (1-s) = log(x) (e^t - 1)/t with t = (1-s) log(x).
class ZipfHat {
 public:
  explicit ZipfHat(double s) : s_{s} {}
  [[nodiscard]] double density(double x) const { return portable_exp(-s_ * portable_log(x)); }
  [[nodiscard]] double integral(double x) const {
    const double log_x = portable_log(x);
    return log_x * expm1_ratio((1 - s_) * log_x);
  }
  [[nodiscard]] double inverse_integral(double y) const {
    // Rounding can carry t below the limit -1 of the domain, where x is infinite.
    const double t = std::max(y * (1 - s_), -1.0);
    return t > -1 ? portable_exp(y * log1p_ratio(t)) : kUnbounded;
  }

 private:
  double s_;
};

}  // namespace

std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter = {high(b) ^ counter[1] ^ key[0], low(b), high(a) ^ counter[3] ^ key[1], low(a)};
    key = {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U};
  }
  return counter;
}

RandomStream::RandomStream(std::uint64_t seed, std::string_view name) : seed_{seed}, name_hash_{hash_name(name)} {}

std::uint64_t RandomStream::next() {
  if (used_ == words_.size()) {
    const auto block =
        philox4x32_10({low(block_), high(block_), low(name_hash_), high(name_hash_)}, {low(seed_), high(seed_)});
    words_ = {block[0] | std::uint64_t{block[1]} << 32, block[2] | std::uint64_t{block[3]} << 32};
    ++block_;
    used_ = 0;
  }
  return words_[used_++];
}

double RandomStream::uniform() {
  return static_cast<double>(next() >> 11) * 0x1p-53;
}

double RandomStream::uniform(double lo, double hi) {
  CONTEND_CHECK(lo <= hi, "uniform: the lower end lies above the upper");
  return lo + (hi - lo) * uniform();
}

std::int64_t RandomStream::uniform_integer(std::int64_t lo, std::int64_t hi) {
  CONTEND_CHECK(lo <= hi, "uniform_integer: the lower end lies above the upper");
  const std::uint64_t base = static_cast<std::uint64_t>(lo);
  const std::uint64_t count = static_cast<std::uint64_t>(hi) - base + 1;  // modulo 2^64: all words give 0
  if (count == 0) return static_cast<std::int64_t>(next());
  Uint128 product = Uint128{next()} * count;
  if (static_cast<std::uint64_t>(product) < count) {
    const std::uint64_t surplus = (0 - count) % count;  // 2^64 mod count words would make some results more likely
    while (static_cast<std::uint64_t>(product) < surplus) product = Uint128{next()} * count;
  }
  return static_cast<std::int64_t>(base + static_cast<std::uint64_t>(product >> 64));
}

double RandomStream::exponential(double mean) {
  CONTEND_CHECK(mean >= 0, "exponential: the mean must not be negative");
  return mean * (0 - portable_log(1 - uniform()));  // 1 - u is exact and never 0; 0 - x turns no 0 into -0
}

double RandomStream::normal(double mean, double sd) {
  CONTEND_CHECK(sd >= 0, "normal: the standard deviation must not be negative");
  for (;;) {
    const double x = uniform(-1, 1);
    const double y = uniform(-1, 1);
    const double square = x * x + y * y;
    if (square > 0 && square < 1) return mean + sd * (x * std::sqrt(-2 * portable_log(square) / square));
  }
}

double RandomStream::lognormal(double mu, double sigma) {
  return portable_exp(normal(mu, sigma));
}

double RandomStream::weibull(double shape, double scale) {
  CONTEND_CHECK(shape > 0 && scale >= 0, "weibull: the shape must be positive and the scale not negative");
  const double unit = exponential(1);
  return unit > 0 ? scale * portable_exp(portable_log(unit) / shape) : 0;
}

std::int64_t RandomStream::zipf(std::int64_t n, double s) {
  CONTEND_CHECK(n >= 1 && n <= (std::int64_t{1} << 53) && s >= 0, "zipf: n must lie in 1..2^53 and s must be >= 0");
  const ZipfHat hat{s};
  const double last = static_cast<double>(n);
  // Area under the hat from its left end, where k = 1 keeps its own probability of 1 exactly, to n + 1/2.
  const double area_low = hat.integral(1.5) - 1;
  const double area_high = hat.integral(last + 0.5);
  // If x is closer than this to k, it is accepted without evaluating the hat.
  const double sure = 2 - hat.inverse_integral(hat.integral(2.5) - hat.density(2));
  for (;;) {
    const double area = area_high + uniform() * (area_low - area_high);
    const double x = hat.inverse_integral(area);
    const double k = std::clamp(std::floor(x + 0.5), 1.0, last);
    if (k - x <= sure || area >= hat.integral(k + 0.5) - hat.density(k)) return static_cast<std::int64_t>(k);
  }
}

Empirical::Empirical(std::vector<double> samples) : sorted_{std::move(samples)} {
  CONTEND_CHECK(!sorted_.empty(), "empirical distribution without samples");
  for (const double sample : sorted_) CONTEND_CHECK(std::isfinite(sample), "an empirical sample is not finite");
  std::sort(sorted_.begin(), sorted_.end());
}

double Empirical::quantile(double p) const {
  CONTEND_CHECK(p >= 0 && p <= 1, "quantile of a probability outside [0, 1]");
  const double position = p * static_cast<double>(sorted_.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= sorted_.size()) return sorted_.back();
  const double step = sorted_[below + 1] - sorted_[below];
  return sorted_[below] + (position - static_cast<double>(below)) * step;
}

WeightedChoice::WeightedChoice(std::span<const double> weights) {
  double sum = 0;
  for (const double weight : weights) {
    CONTEND_CHECK(weight >= 0, "a weight of a choice is negative or no number");
    sum += weight;
    cumulative_.push_back(sum);
  }
  CONTEND_CHECK(sum > 0 && std::isfinite(sum), "the weights of a choice must have a positive finite sum");
}

std::size_t WeightedChoice::draw(RandomStream& stream) const {
  // u < 1, but the product may round up to the sum itself; then the last alternative with a weight > 0 is chosen.
  const double point = stream.uniform() * cumulative_.back();
  const auto chosen = std::min(std::upper_bound(cumulative_.begin(), cumulative_.end(), point),
                               std::lower_bound(cumulative_.begin(), cumulative_.end(), cumulative_.back()));
  return static_cast<std::size_t>(chosen - cumulative_.begin());
}

}  // namespace contend
