// Tests Pareto fronts: beside points placed by hand, and beside the definition on points at random.

#include "scenarios/sweep/pareto.hpp"

#include "sim/random_stream.hpp"
#include "tests/effort.hpp"

#include <numeric>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

using Places = std::vector<ParetoPlace>;

}  // namespace

TEST_CASE("pareto: less of one and more of the other") {
  const std::vector<ParetoGoal> goals{{false, {{1}, {2}, {3}, {2}, {1}}}, {true, {{10}, {30}, {20}, {30}, {9}}}};
  const std::vector<std::size_t> all{0, 1, 2, 3, 4};
  // 2 is worse than 1 in both; 1 and 3 are the same point; 4 is as good as 0 in one and worse in the other.
  CHECK(pareto_places(goals, all, Draws::independent) == Places{ParetoPlace::front, ParetoPlace::front,
                                                                ParetoPlace::dominated, ParetoPlace::front,
                                                                ParetoPlace::dominated});
  // Only the points that are asked for count.
  const std::vector<std::size_t> few{2, 4};
  CHECK(pareto_places(goals, few, Draws::independent) == Places{ParetoPlace::front, ParetoPlace::front});
  CHECK(pareto_places(goals, {}, Draws::independent).empty());
}

TEST_CASE("pareto: what the seeds can't tell apart is a tie") {
  // Point 1 is worse by 1 on average, under seeds that spread by 10; point 2 by 1 under each seed.
  const std::vector<ParetoGoal> goals{{false, {{0, 10, 20}, {11, 1, 21}, {1, 11, 21}}},
                                      {false, {{5, 5, 5}, {5, 5, 5}, {5, 5, 5}}}};
  const std::vector<std::size_t> all{0, 1, 2};
  CHECK(pareto_places(goals, all, Draws::independent) ==
        Places{ParetoPlace::front, ParetoPlace::tie, ParetoPlace::dominated});
}

TEST_CASE("pareto: on points at random, no point of the front is beaten and each other one is") {
  RandomStream random{3, "pareto"};
  const int rounds = effort(100);
  std::size_t on_front = 0, off = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto count = static_cast<std::size_t>(random.uniform_integer(1, 40));
    std::vector<ParetoGoal> goals(3);
    for (ParetoGoal& goal : goals) {
      goal.maximise = random.uniform() < 0.5;
      for (std::size_t i = 0; i < count; ++i)
        goal.values.push_back({static_cast<double>(random.uniform_integer(0, 9))});
    }
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    const Places places = pareto_places(goals, all, Draws::independent);
    for (std::size_t i = 0; i < count; ++i) {
      bool beaten = false;
      for (std::size_t j = 0; j < count; ++j) {
        int worse = 0, better = 0;
        for (const ParetoGoal& goal : goals) {
          const double ahead = (goal.values[j][0] - goal.values[i][0]) * (goal.maximise ? 1 : -1);
          worse += ahead < 0 ? 1 : 0;
          better += ahead > 0 ? 1 : 0;
        }
        beaten = beaten || (worse == 0 && better > 0);
      }
      REQUIRE(places[i] == (beaten ? ParetoPlace::dominated : ParetoPlace::front));
      ++(beaten ? off : on_front);
    }
  }
  CHECK(on_front >= static_cast<std::size_t>(2 * rounds));
  CHECK(off >= static_cast<std::size_t>(2 * rounds));
}
