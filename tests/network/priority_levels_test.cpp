// Tests levels of priority beside a search of all assignments.

#include "network/routing/priority_levels.hpp"

#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// The most weight that any legal assignment of levels keeps.
double best_of_all(std::size_t jobs, const std::vector<JobConflict>& conflicts, int levels) {
  double best = 0;
  std::vector<int> level(jobs, 0);
  for (;;) {
    double kept = 0;
    bool legal = true;
    for (const JobConflict& each : conflicts) {
      legal = legal && level[each.high] <= level[each.low];
      if (level[each.high] != level[each.low]) kept += each.weight;
    }
    if (legal) best = std::max(best, kept);
    std::size_t job = 0;
    while (job < jobs && ++level[job] == levels) level[job++] = 0;
    if (job == jobs) return best;
  }
}

/// What priority_levels() draws, from all conflicts for each job.
std::vector<std::size_t> plain_order(std::size_t jobs, std::span<const JobConflict> conflicts, RandomStream& random) {
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

/// What priority_levels() cuts, by all places of each cut.
PriorityLevels plain_cut(std::span<const std::size_t> order, std::span<const JobConflict> conflicts, int levels) {
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

PriorityLevels plain_levels(std::size_t jobs, std::span<const JobConflict> conflicts, int levels, int tries) {
  RandomStream random{1, "priority levels"};
  PriorityLevels best;
  best.kept = -1;
  for (int i = 0; i < tries; ++i) {
    PriorityLevels found = plain_cut(plain_order(jobs, conflicts, random), conflicts, levels);
    if (found.kept > best.kept) best = std::move(found);
  }
  return best;
}

}  // namespace

TEST_CASE("levels are the levels of a plain search through the same orders") {
  RandomStream random{6, "priority levels"};
  for (int i = 0; i < effort(60); ++i) {
    CAPTURE(i);
    const auto jobs = static_cast<std::size_t>(random.uniform_integer(1, 60));
    const double density = random.uniform();
    const bool whole = random.uniform() < 0.5;  // weights of which many are equal
    std::vector<JobConflict> conflicts;
    for (std::size_t a = 0; a < jobs; ++a) {
      const double weight = whole ? static_cast<double>(random.uniform_integer(0, 3)) : random.uniform() * 1e3;
      for (std::size_t b = a + 1; b < jobs; ++b)
        if (random.uniform() < density) conflicts.push_back({a, b, weight});
    }
    const int levels = static_cast<int>(random.uniform_integer(1, 8));
    const PriorityLevels found = priority_levels(jobs, conflicts, levels, 32, 1);
    const PriorityLevels plain = plain_levels(jobs, conflicts, levels, 32);
    CHECK(found.level == plain.level);
    CHECK(found.kept == plain.kept);
  }
}

TEST_CASE("levels keep as much weight between jobs in conflict as any") {
  RandomStream random{5, "priority levels"};
  const int cases = effort(200);
  for (int i = 0; i < cases; ++i) {
    const auto jobs = static_cast<std::size_t>(random.uniform_integer(2, 6));
    std::vector<JobConflict> conflicts;
    for (std::size_t a = 0; a < jobs; ++a)
      for (std::size_t b = a + 1; b < jobs; ++b)
        if (random.uniform() < 0.5) conflicts.push_back({a, b, static_cast<double>(random.uniform_integer(1, 9))});
    const int levels = static_cast<int>(random.uniform_integer(1, 3));
    const PriorityLevels found = priority_levels(jobs, conflicts, levels, 200, 1);
    CHECK(found.kept == near_absolute(best_of_all(jobs, conflicts, levels), 1e-9));
    for (const JobConflict& each : conflicts) CHECK(found.level[each.high] <= found.level[each.low]);
    for (const int level : found.level) CHECK(level < levels);
  }
}

TEST_CASE("one level is for all, and a circle of priorities is refused") {
  const std::vector<JobConflict> pair{{0, 1, 3}};
  CHECK(priority_levels(2, pair, 1, 1, 1).level == std::vector<int>{0, 0});
  CHECK(priority_levels(2, pair, 1, 1, 1).kept == 0);
  CHECK(priority_levels(2, pair, 8, 1, 1).kept == near(3));
  const std::vector<JobConflict> circle{{0, 1, 1}, {1, 2, 1}, {2, 0, 1}};
  CHECK_THROWS_AS(static_cast<void>(priority_levels(3, circle, 2, 1, 1)), InputError);
}

TEST_CASE("of several best cuts the one that puts the fewest jobs into the upper levels counts") {
  // Nothing is lost wherever the order 0, 1, 2 is cut behind its first job.
  const std::vector<JobConflict> chain{{0, 1, 1}, {1, 2, 0}};
  const PriorityLevels found = priority_levels(3, chain, 2, 1, 1);
  CHECK(found.kept == near(1));
  CHECK(found.level == std::vector<int>{0, 1, 1});
}
