// The revised simplex method: programs with rows of very different sizes, by hand and against a slow method.

#include "policies/scheduling/linear_program.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/policies/simplex.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using contend::test::simplex;

namespace {

/// max c x for A x <= b, x >= 0.
struct DenseProgram {
  std::vector<std::vector<double>> a;
  std::vector<double> b, c;
};

/// Programs as schedulers have them: rows of what there is, with entries >= 0, one of which limits every column, and
/// rows with a limit of 0 that bind columns to each other. Many vertices have more rows that hold with equality than
/// columns.
DenseProgram random_program(RandomStream& stream) {
  const auto rows = static_cast<std::size_t>(stream.uniform_integer(1, 8));
  const auto columns = static_cast<std::size_t>(stream.uniform_integer(1, 10));
  DenseProgram made{std::vector<std::vector<double>>(rows, std::vector<double>(columns)), std::vector<double>(rows),
                    std::vector<double>(columns)};
  const auto amount = [&] {
    return stream.uniform() < 0.5 ? static_cast<double>(stream.uniform_integer(1, 4)) : 0.1 + 3 * stream.uniform();
  };
  for (std::size_t r = 0; r < rows; ++r) {
    const bool binds = r > 0 && stream.uniform() < 0.5;
    made.b[r] = binds ? 0 : amount();
    for (std::size_t k = 0; k < columns; ++k) {
      if (r > 0 && stream.uniform() < 0.4) continue;
      made.a[r][k] = binds && stream.uniform() < 0.6 ? -amount() : amount();
    }
  }
  for (double& value : made.c) value = stream.uniform() < 0.2 ? 0 : stream.uniform() < 0.1 ? 1e6 : amount();
  return made;
}

/// Solves it with each row multiplied by its factor, and checks that what comes of it is an optimum: it is feasible,
/// and the duals prove that no better one exists.
double solved(const DenseProgram& dense, const std::vector<double>& factors) {
  const std::size_t rows = dense.b.size(), columns = dense.c.size();
  std::vector<double> limits;
  for (std::size_t r = 0; r < rows; ++r) limits.push_back(dense.b[r] * factors[r]);
  LinearProgram program{limits};
  for (std::size_t k = 0; k < columns; ++k) {
    std::vector<std::pair<std::size_t, double>> entries;
    for (std::size_t r = 0; r < rows; ++r)
      if (dense.a[r][k] != 0) entries.emplace_back(r, dense.a[r][k] * factors[r]);
    CHECK(program.add(dense.c[k], std::move(entries)) == k);
  }
  const std::vector<double> x = program.solve();
  const std::vector<double> duals = program.duals();
  const double most = std::max(1.0, *std::ranges::max_element(dense.c));
  double value = 0, bound = 0;
  for (std::size_t k = 0; k < columns; ++k) {
    CHECK(x[k] >= 0);
    value += dense.c[k] * x[k];
    double price = 0;
    for (std::size_t r = 0; r < rows; ++r) price += duals[r] * factors[r] * dense.a[r][k];
    CHECK(price >= dense.c[k] - 1e-8 * most);
  }
  for (std::size_t r = 0; r < rows; ++r) {
    double used = 0;
    for (std::size_t k = 0; k < columns; ++k) used += dense.a[r][k] * x[k];
    CHECK(used <= dense.b[r] + 1e-8);
    CHECK(duals[r] * factors[r] >= -1e-8 * most);
    bound += duals[r] * factors[r] * dense.b[r];
  }
  CHECK(bound == near_absolute(value, 1e-7 * std::max(1.0, value)));
  return value;
}

}  // namespace

TEST_CASE("linear program: an entry of 10^10 in one row does not make the entries of others count as 0") {
  // Two jobs on types of 4 and 2 GPUs, alone or together. The second has a deadline which it needs next to nothing for,
  // so that its row of rates over those needed has large entries. Both have all of their time on the second type.
  const DenseProgram dense{{{1, 0, 1, 0, 1, 0, 0},
                            {0, 1, 0, 1, 0, 1, 0},
                            {1, 1, 0, 0, 1, 1, 0},
                            {0, 0, 1, 1, 1, 1, 0},
                            {0, 0, -8e9, -18e9, -8e9, -18e9, 1},
                            {0, 0, 0, 0, 0, 0, 1}},
                           {4, 2, 1, 1, 0, 1},
                           {0.7, 0.75, 0.7, 0.75, 1.4, 1.5, 2900}};
  CHECK(solved(dense, std::vector<double>(6, 1)) == near(2901.5, 1e-12));
}

TEST_CASE("linear program: random programs against a slow simplex method, with rows of all sizes") {
  int degenerate = 0;
  for (std::uint64_t seed = 0; seed < effort<std::uint64_t>(2000); ++seed) {
    CAPTURE(seed);
    RandomStream stream{seed, "linear program"};
    const DenseProgram dense = random_program(stream);
    const double slow = simplex(dense.a, dense.b, dense.c);
    CHECK(solved(dense, std::vector<double>(dense.b.size(), 1)) == near_absolute(slow, 1e-7 * std::max(1.0, slow)));
    std::vector<double> factors;
    for (std::size_t r = 0; r < dense.b.size(); ++r)
      factors.push_back(std::exp2(static_cast<double>(stream.uniform_integer(-40, 40))));
    CHECK(solved(dense, factors) == near_absolute(slow, 1e-7 * std::max(1.0, slow)));
    degenerate += std::ranges::count(dense.b, 0.0) > 1 ? 1 : 0;
  }
  CHECK(degenerate > effort(500));
}
