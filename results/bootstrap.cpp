#include "results/bootstrap.hpp"

#include "sim/check.hpp"
#include "sim/random_stream.hpp"
#include "sim/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace contend {
namespace {

constexpr double kEnd = 6;  ///< of the normal distribution

double relative_change(double base, double other) {
  if (base == 0 && other == 0) return 0;
  return other / base - 1;
}

bool is_known(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

/// Resamples the pairs with replacement, repeatedly; calls `use` with the number of times that each pair was drawn.
template <class Use>
void resample(std::size_t pairs, std::uint64_t seed, Use use) {
  RandomStream stream{seed, "paired bootstrap"};
  std::vector<std::uint32_t> times(pairs);
  const auto last = static_cast<std::int64_t>(pairs) - 1;
  for (std::size_t round = resample_count(pairs); round > 0; --round) {
    std::fill(times.begin(), times.end(), 0U);
    for (std::size_t i = 0; i < pairs; ++i) ++times[static_cast<std::size_t>(stream.uniform_integer(0, last))];
    use(times);
  }
}

double weighted_sum(std::span<const double> values, std::span<const std::uint32_t> times) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += values[i] * times[i];
  return sum;
}

/// Computes percentiles of resamples of the same values, which are sorted only once.
class ResampledPercentile {
 public:
  ResampledPercentile(std::span<const double> values, double fraction) : values_{values}, order_(values.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    const double position = fraction * static_cast<double>(values.size() - 1);
    below_ = static_cast<std::size_t>(position);
    weight_ = position - static_cast<double>(below_);
  }

  [[nodiscard]] double operator()(std::span<const std::uint32_t> times) const {
    std::size_t seen = 0;
    double low = kNaN;
    for (const std::size_t i : order_) {
      seen += times[i];
      if (std::isnan(low) && seen > below_) low = values_[i];
      if (seen > below_ + 1) return low + weight_ * (values_[i] - low);
    }
    return low;
  }

 private:
  std::span<const double> values_;
  std::vector<std::size_t> order_;
  std::size_t below_ = 0;  ///< 0-based rank of the order statistic below the percentile
  double weight_ = 0;      ///< of the one above it
};

/// The acceleration from the statistic over all pairs but one: how its spread grows with its value.
double acceleration(std::span<const double> leave_one_out) {
  if (leave_one_out.empty()) return 0;
  const double center = mean(leave_one_out);
  double squares = 0, cubes = 0;
  for (const double value : leave_one_out) {
    const double u = center - value;
    squares += u * u;
    cubes += u * u * u;
  }
  return squares > 0 ? cubes / (6 * squares * std::sqrt(squares)) : 0;
}

}  // namespace

std::size_t resample_count(std::size_t pairs) {
  constexpr std::size_t kDraws = 40'000'000, kFewest = 400, kMost = 10'000;
  return std::clamp(kDraws / std::max<std::size_t>(pairs, 1), kFewest, kMost);
}

double normal_cumulative(double x) {
  if (x <= -kEnd) return 0;
  if (x >= kEnd) return 1;
  // 1/2 + phi(0) (x - x^3/6 + x^5/40 - ...), term k being (-1)^k x^(2k+1) / (2^k k! (2k+1)): no library functions,
  // whose last bits differ between machines. The largest term is e^18 at the ends.
  constexpr double kDensityAtZero = 0.3989422804014327;
  double power = x, sum = x;
  for (int k = 1; k < 120; ++k) {
    power *= -x * x / (2.0 * k);
    sum += power / (2 * k + 1);
  }
  return std::clamp(0.5 + kDensityAtZero * sum, 0.0, 1.0);
}

double normal_quantile(double p) {
  double low = -kEnd, high = kEnd;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (normal_cumulative(middle) < p ? low : high) = middle;
  }
  return high;
}

ConfidenceInterval bca_interval(double observed, std::vector<double> draws, std::span<const double> leave_one_out) {
  CONTEND_CHECK(!draws.empty(), "an interval needs resamples");
  const double count = static_cast<double>(draws.size());
  double below = 0;
  for (const double draw : draws) below += draw < observed ? 1 : draw == observed ? 0.5 : 0;
  // A statistic at the end of its own draws would have an infinite bias.
  const double bias = normal_quantile(std::clamp(below / count, 1 / (count + 1), count / (count + 1)));
  const double a = acceleration(leave_one_out);
  std::sort(draws.begin(), draws.end());
  const auto end = [&](double z) {
    const double shifted = bias + z, slope = 1 - a * shifted;
    const double share = slope > 0 ? normal_cumulative(bias + shifted / slope) : (shifted > 0 ? 1.0 : 0.0);
    const double position = share * (count - 1);
    const auto under = static_cast<std::size_t>(position);
    if (under + 1 >= draws.size()) return draws.back();
    return draws[under] + (position - static_cast<double>(under)) * (draws[under + 1] - draws[under]);
  };
  const double z = normal_quantile(0.975);
  return {end(-z), end(z)};
}

namespace {

/// The interval of the ratio; none if the base is 0 in all pairs, in a resample or with one pair left out.
ConfidenceInterval ratio_interval(const PairedChange& change, std::vector<double> draws,
                                  std::span<const double> leave_one_out) {
  if (!(change.base > 0) || !is_known(draws) || !is_known(leave_one_out)) return {};
  return bca_interval(change.relative, std::move(draws), leave_one_out);
}

}  // namespace

PairedChange plain_change(double base, double other) {
  PairedChange change;
  change.base = base;
  change.other = other;
  change.difference = other - base;
  change.relative = relative_change(base, other);
  return change;
}

PairedChange change_of_means(std::span<const double> base, std::span<const double> other, std::uint64_t seed) {
  CONTEND_CHECK(base.size() == other.size(), "pairs have two halves");
  PairedChange change = plain_change(mean(base), mean(other));
  const std::size_t n = base.size();
  if (n < 2 || !is_known(base) || !is_known(other)) return change;
  std::vector<double> differences(n);
  for (std::size_t i = 0; i < n; ++i) differences[i] = other[i] - base[i];
  change.difference = mean(differences);

  std::vector<double> difference_draws, ratio_draws;
  resample(n, seed, [&](std::span<const std::uint32_t> times) {
    difference_draws.push_back(weighted_sum(differences, times) / static_cast<double>(n));
    ratio_draws.push_back(relative_change(weighted_sum(base, times), weighted_sum(other, times)));
  });
  const double base_sum = std::accumulate(base.begin(), base.end(), 0.0);
  const double other_sum = std::accumulate(other.begin(), other.end(), 0.0);
  std::vector<double> difference_without(n), ratio_without(n);
  for (std::size_t i = 0; i < n; ++i) {
    difference_without[i] = (other_sum - base_sum - differences[i]) / static_cast<double>(n - 1);
    ratio_without[i] = relative_change(base_sum - base[i], other_sum - other[i]);
  }
  change.difference_95 = bca_interval(change.difference, std::move(difference_draws), difference_without);
  change.relative_95 = ratio_interval(change, std::move(ratio_draws), ratio_without);
  return change;
}

PairedChange change_of_percentiles(std::span<const double> base, std::span<const double> other, double fraction,
                                   std::uint64_t seed) {
  CONTEND_CHECK(base.size() == other.size(), "pairs have two halves");
  PairedChange change = plain_change(percentile({base.begin(), base.end()}, fraction),
                                     percentile({other.begin(), other.end()}, fraction));
  if (base.size() < 2 || !is_known(base) || !is_known(other)) return change;
  const ResampledPercentile of_base{base, fraction}, of_other{other, fraction};
  std::vector<double> difference_draws, ratio_draws;
  resample(base.size(), seed, [&](std::span<const std::uint32_t> times) {
    const double before = of_base(times), after = of_other(times);
    difference_draws.push_back(after - before);
    ratio_draws.push_back(relative_change(before, after));
  });
  change.difference_95 = bca_interval(change.difference, std::move(difference_draws), {});
  change.relative_95 = ratio_interval(change, std::move(ratio_draws), {});
  return change;
}

}  // namespace contend
