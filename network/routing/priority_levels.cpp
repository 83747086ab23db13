#include "network/routing/priority_levels.hpp"

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/random_stream.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace contend {
namespace {

/// By job: the lower ones of its conflicts, in the order of these.
std::vector<std::vector<std::size_t>> jobs_below(std::size_t jobs, std::span<const JobConflict> conflicts) {
  std::vector<std::vector<std::size_t>> below(jobs);
  for (const JobConflict& each : conflicts) below[each.high].push_back(each.low);
  return below;
}

/// An order of the jobs in which the higher one of each conflict comes first, drawn at random among the jobs that may
/// come next.
std::vector<std::size_t> random_order(std::span<const std::vector<std::size_t>> below, RandomStream& random) {
  const std::size_t jobs = below.size();
  std::vector<int> above(jobs, 0);
  for (const auto& lower : below)
    for (const std::size_t job : lower) ++above[job];
  std::vector<std::size_t> free, order;
  for (std::size_t job = 0; job < jobs; ++job)
    if (above[job] == 0) free.push_back(job);
  while (!free.empty()) {
    const auto at = static_cast<std::size_t>(random.uniform_integer(0, std::ssize(free) - 1));
    order.push_back(free[at]);
    free.erase(free.begin() + static_cast<std::ptrdiff_t>(at));
    for (const std::size_t job : below[order.back()])
      if (--above[job] == 0) free.push_back(job);
  }
  if (order.size() < jobs) throw InputError{"conflicts of jobs form a circle: each says that one is above the next"};
  return order;
}

/// Weights of conflicts within parts of an order. The weights of the parts that end at one place lie next to each
/// other.
class InsideWeights {
 public:
  void count(std::span<const std::size_t> order, std::span<const JobConflict> conflicts) {
    const std::size_t jobs = order.size();
    width_ = jobs + 1;
    weights_.assign(width_ * width_, 0);
    place_.resize(jobs);
    for (std::size_t i = 0; i < jobs; ++i) place_[order[i]] = i;
    for (const JobConflict& each : conflicts) at(place_[each.high], place_[each.low] + 1) += each.weight;
    for (std::size_t end = 2; end <= jobs; ++end)
      for (std::size_t begin = end - 1; begin-- > 0;)
        at(begin, end) += at(begin + 1, end) + (at(begin, end - 1) - at(begin + 1, end - 1));
  }
  /// By `begin`, the weight within the places begin, ..., end - 1.
  [[nodiscard]] std::span<const double> until(std::size_t end) const { return {&weights_[end * width_], end + 1}; }

 private:
  double& at(std::size_t begin, std::size_t end) { return weights_[end * width_ + begin]; }
  std::size_t width_ = 0;
  std::vector<double> weights_;
  std::vector<std::size_t> place_;
};

/// The least of a[i] + b[i].
double least_sum(std::span<const double> a, std::span<const double> b) {
  constexpr std::size_t kLanes = 8;  // sums that are compared side by side
  std::array<double, kLanes> least;
  least.fill(std::numeric_limits<double>::infinity());
  std::size_t i = 0;
  for (; i + kLanes <= a.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double sum = a[i + lane] + b[i + lane];
      least[lane] = sum < least[lane] ? sum : least[lane];
    }
  }
  double best = std::ranges::min(least);
  for (; i < a.size(); ++i) best = std::min(best, a[i] + b[i]);
  return best;
}

/// Cuts the order into at most `levels` parts so that most weight lies between different parts; of equal cuts each
/// level from the last one on begins as far in front as it can.
PriorityLevels best_cut(std::span<const std::size_t> order, std::span<const JobConflict> conflicts, int levels,
                        InsideWeights& inside) {
  const std::size_t jobs = order.size();
  inside.count(order, conflicts);
  // lost[level][j]: the least weight inside parts, with the first j jobs in the levels up to this one.
  std::vector<std::vector<double>> lost(static_cast<std::size_t>(levels), std::vector<double>(jobs + 1));
  for (std::size_t j = 0; j <= jobs; ++j) lost[0][j] = inside.until(j)[0];
  for (std::size_t level = 1; level < lost.size(); ++level)
    for (std::size_t j = 0; j <= jobs; ++j)
      lost[level][j] = least_sum({lost[level - 1].data(), j + 1}, inside.until(j));
  PriorityLevels result;
  result.level.assign(jobs, 0);
  std::size_t end = jobs;
  for (std::size_t level = lost.size(); level-- > 1;) {
    const std::span<const double> part = inside.until(end);
    std::size_t begin = 0;
    while (begin < end && lost[level - 1][begin] + part[begin] != lost[level][end]) ++begin;
    for (std::size_t i = begin; i < end; ++i) result.level[order[i]] = static_cast<int>(level);
    end = begin;
  }
  for (const JobConflict& each : conflicts)
    if (result.level[each.high] != result.level[each.low]) result.kept += each.weight;
  return result;
}

}  // namespace

PriorityLevels priority_levels(std::size_t jobs, std::span<const JobConflict> conflicts, int levels, int tries,
                               std::uint64_t seed) {
  CONTEND_CHECK(levels >= 1 && tries >= 1, "there is a level and an order");
  for (const JobConflict& each : conflicts)
    CONTEND_CHECK(each.high < jobs && each.low < jobs && each.weight >= 0, "conflicts are between jobs");
  RandomStream random{seed, "priority levels"};
  const std::vector<std::vector<std::size_t>> below = jobs_below(jobs, conflicts);
  InsideWeights inside;
  double all = 0;
  for (const JobConflict& each : conflicts) all += each.weight;
  PriorityLevels best;
  best.kept = -1;
  for (int i = 0; i < tries && best.kept < all; ++i) {
    PriorityLevels found = best_cut(random_order(below, random), conflicts, levels, inside);
    if (found.kept > best.kept) best = std::move(found);
  }
  return best;
}

}  // namespace contend
