// Tests levels of priority beside a search of all assignments.

#include "network/routing/priority_levels.hpp"

#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cstdint>
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

}  // namespace

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
