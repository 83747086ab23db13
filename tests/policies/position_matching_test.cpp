// Matching of jobs with positions on alike GPUs, against the assignment of jobs to single places.

#include "policies/scheduling/position_matching.hpp"

#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/policies/assignment.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

struct Matching {
  std::vector<double> takes;
  std::vector<std::size_t> gpus;
  [[nodiscard]] std::size_t jobs() const { return takes.size() / gpus.size(); }
};

/// Each place of each GPU is a column of its own.
std::vector<Position> by_places(const Matching& made) {
  std::vector<Position> places;
  for (std::size_t t = 0; t < made.gpus.size(); ++t)
    for (std::size_t g = 0; g < made.gpus[t]; ++g)
      for (std::size_t k = 1; k <= (made.jobs() + made.gpus[t] - 1) / made.gpus[t]; ++k) places.push_back({t, k});
  std::vector<double> costs;
  for (std::size_t i = 0; i < made.jobs(); ++i)
    for (const Position& place : places)
      costs.push_back(static_cast<double>(place.from_last) * made.takes[i * made.gpus.size() + place.type]);
  std::vector<Position> found;
  for (const std::size_t column : test::cheapest_assignment(costs, places.size())) found.push_back(places[column]);
  return found;
}

double cost_of_matching(const Matching& made, const std::vector<Position>& positions) {
  double sum = 0;
  for (std::size_t i = 0; i < positions.size(); ++i)
    sum += static_cast<double>(positions[i].from_last) * made.takes[i * made.gpus.size() + positions[i].type];
  return sum;
}

Matching random_matching(std::uint64_t seed, bool has_ties) {
  RandomStream random{seed, "positions"};
  Matching made;
  const auto types = random.uniform_integer(1, 4);
  for (std::int64_t t = 0; t < types; ++t)
    made.gpus.push_back(static_cast<std::size_t>(random.uniform_integer(t == 0 ? 1 : 0, 5)));
  for (std::int64_t n = types * random.uniform_integer(1, 30); n > 0; --n)
    made.takes.push_back(has_ties ? static_cast<double>(random.uniform_integer(1, 4)) : 0.1 + 10 * random.uniform());
  return made;
}

}  // namespace

TEST_CASE("positions: on one type the shortest job goes first") {
  const Matching three{{30, 10, 20}, {1}};
  CHECK(match_positions(three.takes, three.gpus) == std::vector<Position>{{0, 1}, {0, 3}, {0, 2}});
  CHECK(match_positions({}, three.gpus).empty());
}

TEST_CASE("positions: Gavel's case of four jobs on k80, p100 and v100 costs 1,150 s") {
  // Rates (v100, p100, k80) (2, 1, .5), (3, 2, 1), (4, 3, 2), (1, 1, 1); 300, 500, 1000 and 500 steps are left.
  const Matching four{{150, 300, 600, 500.0 / 3, 250, 500, 250, 1000.0 / 3, 500, 500, 500, 500}, {2, 1, 3}};
  CHECK(cost_of_matching(four, match_positions(four.takes, four.gpus)) == near(1150.0, 1e-12));
}

TEST_CASE(
    "positions: the cost is the cost of the assignment to single places, and so is each position where it is unique") {
  const std::uint64_t rounds = effort<std::uint64_t>(400);
  for (std::uint64_t seed = 0; seed < rounds; ++seed) {
    CAPTURE(seed);
    const bool has_ties = seed % 2 == 0;
    const Matching made = random_matching(seed, has_ties);
    const std::vector<Position> found = match_positions(made.takes, made.gpus), slow = by_places(made);
    CHECK(cost_of_matching(made, found) == near(cost_of_matching(made, slow), 1e-12));
    if (!has_ties) CHECK(found == slow);
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> used;
    for (const Position& each : found) ++used[{each.type, each.from_last}];
    for (const auto& [place, count] : used) {
      CHECK(count <= made.gpus[place.first]);
      if (place.second > 1) CHECK(count <= used[{place.first, place.second - 1}]);  // no gaps
    }
  }
}
