#include "models/prediction_errors.hpp"

#include "tests/near.hpp"

#include <array>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("errors of predictions: an interval of two classes, by hand") {
  // Effects of 3 and 4% make 5%; with 12% that no class explains 13%. 5% of a normal distribution lie above 1.64485.
  const std::vector<PartError> parts{{.of = ErrorClass::products, .error = .1, .effect = .03},
                                     {.of = ErrorClass::between, .error = .29, .effect = .04}};
  CHECK(sigma_of(parts) == near(.05, 1e-12));
  const PredictionInterval interval = interval_of(sigma_of(parts), {.centre = .1, .spread = .12});
  CHECK(std::log(interval.low) == near(.1 - 1.64485 * .13, 1e-4));
  CHECK(std::log(interval.high) == near(.1 + 1.64485 * .13, 1e-4));
  CHECK(interval.holds(1));
  CHECK_FALSE(interval.holds(.88));  // log: -0.128
  CHECK(interval.holds(.9));         // -0.105, and the end is at -0.114
  CHECK_FALSE(interval.holds(1.4));
  const PredictionInterval wider = interval_of(.06, {.centre = .1, .spread = .12});
  CHECK(wider.low < interval.low);
  CHECK(wider.high > interval.high);
}

TEST_CASE("errors of predictions: what parts don't explain has one weight for each set, by hand") {
  // Means of 0.2 and 0.5: centre 0.35. Squares of distances 0.0325 in the first set, 0.0225 in the second, of which the
  // parts explain 0.01: 0.0225 in the mean.
  const std::vector<JudgedPrediction> first{{.1, 0}, {.3, 0}}, second{{.5, .1}, {.5, .1}, {.5, .1}}, none;
  const std::array sets{&first, &second, &none};
  const Unmodelled both = unmodelled_of(sets);
  CHECK(both.centre == near(.35, 1e-12));
  CHECK(both.spread == near(.15, 1e-12));
  // In standard deviations of 0.15, and of sqrt(0.1^2 + 0.15^2) in the second set: -1.67, -0.33 and 0.83.
  CHECK(both.low == near(-.25 / .15, 1e-12));
  CHECK(both.high == near(.15 / std::hypot(.1, .15), 1e-12));
  const std::array explained{&second};
  CHECK(unmodelled_of(explained).spread == 0);
  CHECK(unmodelled_of({}).centre == 0);
  CHECK(unmodelled_of({}).high == near(1.64485, 1e-5));
}
