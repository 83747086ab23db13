#include "tests/policies/assignment.hpp"

#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using contend::test::cheapest_assignment;

namespace {

double cost_of(const std::vector<double>& costs, std::size_t columns, const std::vector<std::size_t>& assigned) {
  double sum = 0;
  for (std::size_t i = 0; i < assigned.size(); ++i) sum += costs[i * columns + assigned[i]];
  return sum;
}

/// The least cost over all assignments.
double least_cost(const std::vector<double>& costs, std::size_t rows, std::size_t columns) {
  std::vector<std::size_t> order(columns);
  std::iota(order.begin(), order.end(), 0U);
  double least = std::numeric_limits<double>::infinity();
  do {
    least =
        std::min(least, cost_of(costs, columns, {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(rows)}));
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

}  // namespace

TEST_CASE("assignment: the example of scipy's manual, and equal costs give the identity") {
  CHECK(cheapest_assignment(std::vector<double>{4, 1, 3, 2, 0, 5, 3, 2, 2}, 3) == std::vector<std::size_t>{1, 0, 2});
  CHECK(cheapest_assignment(std::vector<double>(9, 7.0), 3) == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("assignment: the cost is the cost of the best of all assignments") {
  const std::uint64_t rounds = effort<std::uint64_t>(300);
  for (std::uint64_t seed = 0; seed < rounds; ++seed) {
    CAPTURE(seed);
    RandomStream stream{seed, "assignment"};
    const auto columns = static_cast<std::size_t>(stream.uniform_integer(1, 7));
    const auto rows = static_cast<std::size_t>(stream.uniform_integer(1, static_cast<std::int64_t>(columns)));
    std::vector<double> costs;
    for (std::size_t i = 0; i < rows * columns; ++i)
      costs.push_back(stream.uniform() < 0.5 ? static_cast<double>(stream.uniform_integer(-2, 3)) : stream.uniform());
    const std::vector<std::size_t> assigned = cheapest_assignment(costs, columns);
    CHECK(std::set<std::size_t>{assigned.begin(), assigned.end()}.size() == rows);
    CHECK(cost_of(costs, columns, assigned) == near_absolute(least_cost(costs, rows, columns), 1e-12));
  }
}
