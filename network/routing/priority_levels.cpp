#include "network/routing/priority_levels.hpp"

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/random_stream.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace contend {
namespace {

/// An order of the jobs in which the higher one of each conflict comes first, drawn at random among the jobs that may
/// come next.
std::vector<std::size_t> random_order(std::size_t jobs, std::span<const JobConflict> conflicts, RandomStream& random) {
  std::vector<int> above(jobs, 0);
  for (const JobConflict& each : conflicts) ++above[each.low];
  std::vector<std::size_t> free, order;
  for (std::size_t job = 0; job < jobs; ++job)
    if (above[job] == 0) free.push_back(job);
  while (!free.empty()) {
    const auto at = static_cast<std::size_t>(random.uniform_integer(0, std::ssize(free) - 1));
    order.push_back(free[at]);
    free.erase(free.begin() + static_cast<std::ptrdiff_t>(at));
    for (const JobConflict& each : conflicts)
      if (each.high == order.back() && --above[each.low] == 0) free.push_back(each.low);
  }
  if (order.size() < jobs) throw InputError{"conflicts of jobs form a circle: each says that one is above the next"};
  return order;
}

/// Cuts the order into at most `levels` parts so that most weight lies between different parts.
PriorityLevels best_cut(std::span<const std::size_t> order, std::span<const JobConflict> conflicts, int levels) {
  const std::size_t jobs = order.size();
  std::vector<std::size_t> place(jobs);
  for (std::size_t i = 0; i < jobs; ++i) place[order[i]] = i;
  // inside[i][j]: the weight of conflicts within places i, ..., j - 1.
  std::vector<std::vector<double>> inside(jobs + 1, std::vector<double>(jobs + 1, 0));
  for (const JobConflict& each : conflicts) inside[place[each.high]][place[each.low] + 1] += each.weight;
  for (std::size_t length = 1; length <= jobs; ++length) {
    for (std::size_t i = 0; i + length <= jobs; ++i) {
      const std::size_t j = i + length;
      inside[i][j] += inside[i + 1][j] + (length > 1 ? inside[i][j - 1] - inside[i + 1][j - 1] : 0);
    }
  }
  // lost[j]: the least weight inside parts, with the first j jobs in the levels so far.
  std::vector<double> lost(jobs + 1, std::numeric_limits<double>::infinity());
  lost[0] = 0;
  std::vector<std::vector<std::size_t>> from(static_cast<std::size_t>(levels), std::vector<std::size_t>(jobs + 1, 0));
  for (std::size_t level = 0; level < from.size(); ++level) {
    std::vector<double> next(jobs + 1, std::numeric_limits<double>::infinity());
    for (std::size_t j = 0; j <= jobs; ++j) {
      for (std::size_t i = 0; i <= j; ++i) {
        if (lost[i] + inside[i][j] >= next[j]) continue;
        next[j] = lost[i] + inside[i][j];
        from[level][j] = i;
      }
    }
    lost = std::move(next);
  }
  PriorityLevels result;
  result.level.assign(jobs, 0);
  std::size_t end = jobs;
  for (std::size_t level = from.size(); level-- > 0;) {
    const std::size_t begin = from[level][end];
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
  PriorityLevels best;
  best.kept = -1;
  for (int i = 0; i < tries; ++i) {
    PriorityLevels found = best_cut(random_order(jobs, conflicts, random), conflicts, levels);
    if (found.kept > best.kept) best = std::move(found);
  }
  return best;
}

}  // namespace contend
