// Tests Crux's measure, paths and levels beside cases worked by hand and a search of all assignments.

#include "models/fabric/crux.hpp"

#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// The most weight that any legal assignment of levels keeps.
double best_of_all(std::size_t jobs, const std::vector<CruxConflict>& conflicts, int levels) {
  double best = 0;
  std::vector<int> level(jobs, 0);
  for (;;) {
    double kept = 0;
    bool legal = true;
    for (const CruxConflict& each : conflicts) {
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

TEST_CASE("intensity is work over the time of the fullest link") {
  const std::vector<double> rates{10, 20, 20};
  const CruxJob job{60, {{100, {{0}, {1}}}, {200, {{1}, {2}}}}};
  CHECK(crux_time(job, std::vector<std::size_t>{0, 0}, rates) == near(10));
  CHECK(crux_time(job, std::vector<std::size_t>{1, 0}, rates) == near(15));
  CHECK(crux_intensity(job, std::vector<std::size_t>{0, 0}, rates) == near(6));
  CHECK(std::isinf(crux_intensity({60, {}}, {}, rates)));
}

TEST_CASE("the most intense job chooses its paths first") {
  // Two links, three jobs of a flow each: the most intense two get a link each, the third the one with less on it.
  const std::vector<double> rates{10, 10};
  const auto job = [](double work, double bytes) { return CruxJob{work, {{bytes, {{0}, {1}}}}}; };
  const std::vector<CruxJob> jobs{job(10, 50), job(90, 100), job(80, 60)};
  CHECK(crux_paths(jobs, rates) == CruxPaths{{0}, {1}, {0}});
  // Equal flows of one job go apart, as many as there are links.
  const std::vector<CruxJob> one{{1, {{5, {{0}, {1}}}, {5, {{0}, {1}}}, {9, {{0}, {1}}}}}};
  CHECK(crux_paths(one, rates) == CruxPaths{{1, 1, 0}});
  // Of equal flows the first chooses first.
  const std::vector<CruxJob> equal{{1, {{5, {{0}, {1}}}, {5, {{0}, {1}}}}}};
  CHECK(crux_paths(equal, rates) == CruxPaths{{0, 1}});
}

TEST_CASE("levels keep as much weight between jobs in conflict as any") {
  RandomStream random{5, "crux levels"};
  const int cases = effort(200);
  for (int i = 0; i < cases; ++i) {
    const auto jobs = static_cast<std::size_t>(random.uniform_integer(2, 6));
    std::vector<CruxConflict> conflicts;
    for (std::size_t a = 0; a < jobs; ++a)
      for (std::size_t b = a + 1; b < jobs; ++b)
        if (random.uniform() < 0.5) conflicts.push_back({a, b, static_cast<double>(random.uniform_integer(1, 9))});
    const int levels = static_cast<int>(random.uniform_integer(1, 3));
    const CruxLevels found = crux_levels(jobs, conflicts, levels, 200, 1);
    CHECK(found.kept == near_absolute(best_of_all(jobs, conflicts, levels), 1e-9));
    for (const CruxConflict& each : conflicts) CHECK(found.level[each.high] <= found.level[each.low]);
    for (const int level : found.level) CHECK(level < levels);
  }
}

TEST_CASE("one level is for all, and a circle of priorities is refused") {
  const std::vector<CruxConflict> pair{{0, 1, 3}};
  CHECK(crux_levels(2, pair, 1, 1, 1).level == std::vector<int>{0, 0});
  CHECK(crux_levels(2, pair, 1, 1, 1).kept == 0);
  CHECK(crux_levels(2, pair, 8, 1, 1).kept == near(3));
  const std::vector<CruxConflict> circle{{0, 1, 1}, {1, 2, 1}, {2, 0, 1}};
  CHECK_THROWS_AS(static_cast<void>(crux_levels(3, circle, 2, 1, 1)), InputError);
}
