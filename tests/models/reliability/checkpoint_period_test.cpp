// Tests the period of checkpoints against values computed with exact arithmetic, and against a search for the least
// time.

#include "models/reliability/checkpoint_period.hpp"
#include "tests/near.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("the period of checkpoints: the exact optimum, and what Young's period sqrt(2 cost mtbf) keeps") {
  struct Row {
    double mtbf, cost, restart, young, exact, at_exact, at_young, at_hour;
  };
  // 50-digit arithmetic (Lambert's W by mpmath), rounded to doubles.
  constexpr Row kRows[] = {
      {3600.0, 10.0, 60.0, 268.32815729997476, 261.70331270177846, 0.91197763787363098, 0.91195690815508619,
       0.56984986012398983},
      {28440.0, 120.0, 600.0, 2612.584926849269, 2533.2048903261755, 0.89191150799555583, 0.89187365501578424,
       0.88692000221178054},
      {1800.0, 60.0, 300.0, 464.75800154489003, 425.6487372398753, 0.64631290417043552, 0.64571830530786582,
       0.25498323012587255},
      {1000000.0, 0.001, 0.0, 44.721359549995794, 44.720692885813663, 0.99995527930711419, 0.99995527930710922,
       0.9982008022223661},
      {100.0, 500.0, 10.0, 316.22776601683793, 99.751508066485055, 0.0022484479952442643, 0.00081632347921100372,
       5.0909554256121322e-17},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.mtbf);
    CHECK(optimal_period(row.cost, row.mtbf) == near(row.exact));
    const auto at = [&](double period) { return efficiency({row.mtbf, row.restart, period, row.cost}); };
    CHECK(at(row.exact) == near(row.at_exact));
    CHECK(at(row.young) == near(row.at_young));
    CHECK(at(3600) == near(row.at_hour));
  }
}

TEST_CASE("no other period takes less time than the optimal one") {
  for (const double cost : {0.01, 1.0, 30.0, 400.0}) {
    constexpr double kMean = 1000;
    const double best = optimal_period(cost, kMean);
    const auto time = [&](double period) { return 1 / efficiency({kMean, 50, period, cost}); };
    for (const double factor : {0.5, 0.9, 0.99, 1.01, 1.1, 2.0}) CHECK(time(best * factor) > time(best));
  }
  CHECK(optimal_period(0, 1000) == 0);
}

TEST_CASE("the expected time of a job that is interrupted") {
  const CheckpointedRun run{7200, 120, 900, 30};
  CHECK(expected_time(86400, run) == near(96904.171725329566));
  CHECK(expected_time(86400 + 450, run) == near(97408.875303101335));
  CHECK(expected_time(0, run) == 0);
  CHECK(expected_time_unsaved(3600, 7200, 120) == near(4749.2920418695887));
}
