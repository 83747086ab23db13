// Tests that the fit finds the constants that made the figures, and that it never uses the group that it leaves out.

#include "models/overlap/iteration_fit.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr IterationConstants kTruth{0.0004, 1.7, 0.35, 0};
constexpr IterationConstants kGuess{0.0001, 0.8, 0.1, 0};

/// Networks of one layer with a task of `compute` ms beside `messages` messages of `bytes` in all.
struct Shape {
  const char* group;
  int compute, messages;
  double bytes;
};
constexpr Shape kShapes[] = {{"a", 90, 1, 60e6},  {"a", 90, 160, 60e6}, {"a", 400, 20, 60e6},
                             {"b", 60, 1, 20e6},  {"b", 60, 300, 20e6}, {"b", 30, 5, 20e6},
                             {"c", 200, 1, 90e6}, {"c", 200, 60, 90e6}, {"c", 100, 200, 90e6}};

/// A closed form with the three constants: one message is exposed, several overlap with half of the computing.
double model(std::size_t row, const IterationConstants& constants) {
  const Shape& shape = kShapes[row];
  const double compute = shape.compute * 1e-3;
  const double network = constants.alpha_s * shape.messages + constants.beta_ns_per_byte * 1e-9 * shape.bytes;
  if (shape.messages == 1) return compute + network;
  const double hidden = std::min(compute / 2, network);
  return compute + network - hidden + constants.interference * hidden;
}

/// The same where the host updates 200 tensors of network b and 400 of c, one after the other.
double model_with_update(std::size_t row, const IterationConstants& constants) {
  const std::string group = kShapes[row].group;
  return model(row, constants) + constants.update_s * (group == "a" ? 0 : group == "b" ? 200 : 400);
}

std::vector<FittedRow> rows_of(double error) {
  std::vector<FittedRow> rows;
  for (std::size_t i = 0; i < std::size(kShapes); ++i) {
    rows.push_back({kShapes[i].group, model(i, kTruth) * (1 + (i % 2 == 0 ? error : -error))});
  }
  return rows;
}

}  // namespace

TEST_CASE("the fit finds the constants that made the figures") {
  const IterationFit fit = fit_iterations(rows_of(0), model, kGuess);
  CHECK(fit.constants.alpha_s == near(kTruth.alpha_s, 1e-3));
  CHECK(fit.constants.beta_ns_per_byte == near(kTruth.beta_ns_per_byte, 1e-3));
  CHECK(fit.constants.interference == near(kTruth.interference, 1e-2));
}

TEST_CASE("figures with errors of 3% give constants within a few times that, and predictions of what was left out") {
  const std::vector<FittedRow> rows = rows_of(0.03);
  const LeaveOneOut found = leave_one_out(rows, model, kGuess);
  CHECK(found.groups == std::vector<std::string>{"a", "b", "c"});
  for (const IterationFit& fit : found.fits) {
    CHECK(fit.constants.beta_ns_per_byte == near(kTruth.beta_ns_per_byte, 0.2));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) CHECK(found.predicted[i] == near(rows[i].seconds, 0.15));
}

TEST_CASE("the update of a tensor is fitted where rows have it, whatever the first guess") {
  const IterationConstants truth{kTruth.alpha_s, kTruth.beta_ns_per_byte, kTruth.interference, 250e-6};
  std::vector<FittedRow> rows;
  for (std::size_t i = 0; i < std::size(kShapes); ++i)
    rows.push_back({kShapes[i].group, model_with_update(i, truth), std::string{kShapes[i].group} != "a"});
  IterationConstants guess = kGuess;
  for (const double first : {1e-6, 20e-6, 5e-3}) {
    guess.update_s = first;
    const IterationFit fit = fit_iterations(rows, model_with_update, guess);
    CHECK(fit.knows_update);
    CHECK(fit.constants.update_s == near(truth.update_s, 1e-2));
    CHECK(fit.constants.beta_ns_per_byte == near(truth.beta_ns_per_byte, 1e-2));
  }
  // Where all rows with an update are left out, nothing is known of it: the first guess predicts nothing.
  for (FittedRow& row : rows)
    if (row.group == "c") row = {"b", row.seconds, row.updates};
  const LeaveOneOut found = leave_one_out(rows, model_with_update, guess);
  CHECK(found.fits[0].knows_update);
  CHECK_FALSE(found.fits[1].knows_update);
  CHECK(found.fits[1].constants.update_s == near(guess.update_s));
  for (std::size_t i = 0; i < rows.size(); ++i) CHECK(std::isnan(found.predicted[i]) == rows[i].updates);
  rows.resize(6);
  CHECK_THROWS_WITH_AS((void)fit_iterations(rows, model_with_update, guess, "a"),
                       "3 measured iterations (all but \"a\") don't determine 4 constants", InputError);
}

TEST_CASE("a first guess of beta that is far off finds the constants, too") {
  for (const double factor : {0.02, 60.0}) {
    IterationConstants guess = kGuess;
    guess.beta_ns_per_byte = kTruth.beta_ns_per_byte * factor;
    CHECK(fit_iterations(rows_of(0), model, guess).constants.beta_ns_per_byte == near(kTruth.beta_ns_per_byte, 1e-2));
  }
}

TEST_CASE("a row that nothing explains hardly moves the constants") {
  std::vector<FittedRow> rows = rows_of(0);
  rows[5].seconds *= 2;
  const IterationFit fit = fit_iterations(rows, model, kGuess);
  CHECK(fit.constants.alpha_s == near(kTruth.alpha_s, 0.02));
  CHECK(fit.constants.beta_ns_per_byte == near(kTruth.beta_ns_per_byte, 0.02));
}

TEST_CASE("intervals are the jackknife's, and hold the truth where rows are a little off") {
  const std::vector<FittedRow> rows = rows_of(0.02);
  const IterationFit all = fit_iterations(rows, model, kGuess);
  const LeaveOneOut left_out = leave_one_out(rows, model, kGuess);
  const auto bounds = constant_intervals(all, left_out);
  REQUIRE(bounds);
  CHECK(bounds->low.beta_ns_per_byte < kTruth.beta_ns_per_byte);
  CHECK(bounds->high.beta_ns_per_byte > kTruth.beta_ns_per_byte);
  double mean = 0, squares = 0;
  for (const IterationFit& fit : left_out.fits) mean += std::log(fit.constants.alpha_s) / 3;
  for (const IterationFit& fit : left_out.fits) squares += std::pow(std::log(fit.constants.alpha_s) - mean, 2);
  constexpr double kStudent = 4.302652729911275;  // two degrees of freedom
  CHECK(bounds->high.alpha_s == near(all.constants.alpha_s * std::exp(kStudent * std::sqrt(squares * 2 / 3)), 1e-6));
  CHECK(bounds->low.interference >= 0);

  std::vector<FittedRow> two = rows_of(0.02);
  two.resize(6);
  CHECK_FALSE(constant_intervals(fit_iterations(two, model, kGuess), leave_one_out(two, model, kGuess)));
}

TEST_CASE("the group that is left out does not move the constants") {
  std::vector<FittedRow> rows = rows_of(0);
  for (FittedRow& row : rows) {
    if (row.group == "b") row.seconds *= 1.1;
  }
  const LeaveOneOut found = leave_one_out(rows, model, kGuess);
  CHECK(found.fits[1].constants.alpha_s == near(kTruth.alpha_s, 1e-3));
  CHECK(found.predicted[3] == near(model(3, kTruth), 1e-3));
  CHECK_FALSE(found.fits[0].constants.beta_ns_per_byte == near(kTruth.beta_ns_per_byte, 1e-2));
}

TEST_CASE("two groups are enough to leave one out, and one isn't") {
  std::vector<FittedRow> rows = rows_of(0);
  rows.resize(6);
  CHECK(leave_one_out(rows, model, kGuess).groups == std::vector<std::string>{"a", "b"});
  rows.resize(3);
  CHECK_THROWS_WITH_AS((void)leave_one_out(rows, model, kGuess),
                       "all measured iterations are of \"a\": leaving them out leaves nothing to fit", InputError);
}

TEST_CASE("too few figures are refused") {
  std::vector<FittedRow> rows{{"a", 1.0}, {"b", 1.0}, {"b", 2.0}};
  CHECK_THROWS_AS((void)leave_one_out(rows, model, kGuess), InputError);
  rows.resize(1);
  CHECK_THROWS_AS((void)fit_iterations(rows, model, kGuess), InputError);
  CHECK_THROWS_AS((void)leave_one_out(rows, model, kGuess), InputError);
}

TEST_CASE("a fit takes few steps, and from the truth hardly any") {
  const std::vector<FittedRow> rows = rows_of(0), noisy = rows_of(0.03);
  std::size_t calls = 0;
  const IterationPredictor counting = [&](std::size_t row, const IterationConstants& constants) {
    ++calls;
    return model(row, constants);
  };
  const auto calls_of = [&](const std::vector<FittedRow>& all, const IterationConstants& start) {
    calls = 0;
    (void)fit_iterations(all, counting, start);
    return calls / all.size();
  };
  // Looks at all rows: five for beta, one at the start, three a step for the slopes, one for each step that is tried,
  // two for what they hide, and the result. Rows that constants explain need no other start, but begin again from it.
  CHECK(calls_of(rows, kTruth) == 19);
  CHECK(calls_of(rows, kGuess) == 73);
  CHECK(calls_of(noisy, kGuess) == 98);
  CHECK(calls_of(rows, {1e-9, 1e4, 20, 0}) == 142);
}

TEST_CASE("interference is not fitted to rows that hide less than a tenth of themselves") {
  // The network takes thirty times as long as computing: an error of 3% is more than all that overlapping hides.
  const Shape kLong[] = {{"a", 60, 1, 900e6}, {"a", 60, 160, 900e6}, {"a", 60, 20, 900e6}};
  const auto predict = [&](std::size_t row, const IterationConstants& constants) {
    const double compute = kLong[row].compute * 1e-3;
    const double network =
        constants.alpha_s * kLong[row].messages + constants.beta_ns_per_byte * 1e-9 * kLong[row].bytes;
    const double hidden = kLong[row].messages == 1 ? 0 : std::min(compute, network);
    return compute + network - hidden + constants.interference * hidden;
  };
  std::vector<FittedRow> rows;
  for (std::size_t i = 0; i < std::size(kLong); ++i) rows.push_back({"a", predict(i, kTruth) * (i == 0 ? 0.97 : 1.03)});
  const IterationFit fit = fit_iterations(rows, predict, {1e-4, 0.8, 0.05});
  CHECK_FALSE(fit.knows_interference);
  CHECK(fit.constants.interference == 0.05);
  CHECK(fit.constants.beta_ns_per_byte == near(kTruth.beta_ns_per_byte, 0.05));
  CHECK(fit_iterations(rows_of(0), model, kGuess).knows_interference);
}

TEST_CASE("constants that the rows leave open stay where they were, and all stay in range") {
  // Single messages don't overlap: nothing is slowed down.
  std::vector<FittedRow> rows = rows_of(0);
  rows = {rows[0], rows[3], rows[6]};
  const IterationPredictor alone = [](std::size_t row, const IterationConstants& constants) {
    return model(3 * row, constants);
  };
  const IterationFit fit = fit_iterations(rows, alone, {1e-4, 0.8, 0.25});
  CHECK(fit.constants.interference == near(0.25));
  CHECK(fit.constants.beta_ns_per_byte == near(kTruth.beta_ns_per_byte, 0.05));
  // Iterations longer or shorter than any network makes them: the constants stay within their limits.
  for (FittedRow& row : rows) row.seconds = 1e9;
  const IterationFit slow = fit_iterations(rows, alone, kGuess);
  CHECK(slow.constants.alpha_s <= 10);
  CHECK(slow.constants.beta_ns_per_byte <= 1.0001e4);
  for (FittedRow& row : rows) row.seconds = 1e-9;
  const IterationFit fast = fit_iterations(rows, alone, kGuess);
  CHECK(fast.constants.alpha_s >= 1e-9);
  CHECK(fast.constants.beta_ns_per_byte >= 1e-6);
}
