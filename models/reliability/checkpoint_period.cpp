#include "models/reliability/checkpoint_period.hpp"

#include "sim/check.hpp"
#include "sim/portable_math.hpp"

#include <cmath>

namespace contend {
namespace {

/// -log(1 - t) - t = t^2/2 + t^3/3 + ... for 0 <= t < 1, without cancellation.
double excess(double t) {
  if (t > 0.25) return -portable_log(1 - t) - t;
  double sum = 0;
  for (int n = 40; n >= 2; --n) sum = sum * t + 1.0 / n;
  return sum * t * t;
}

/// e^(restart/mtbf) (e^(length/mtbf) - 1): the expected time of a part of this length, in units of mtbf.
double expected_part(double length, double mtbf, double restart) {
  return portable_exp(restart / mtbf) * portable_expm1(length / mtbf);
}

}  // namespace

// With t = period / mtbf the condition for the least time is e^t (1 - t) = e^(-cost/mtbf), or excess(t) = cost / mtbf.
// The left side is convex and grows, so Newton's method from above falls to the root and stops there.
double optimal_period(double cost, double mtbf) {
  CONTEND_CHECK(cost >= 0 && mtbf > 0, "an optimal period needs a mean time between interruptions");
  const double target = cost / mtbf;
  if (target == 0) return 0;
  // Above the root: t^2/2 <= excess(t), and excess(1 - e^-(1 + x)) = x + e^-(1 + x) > x.
  double t = std::fmin(std::sqrt(2 * target), 1 - portable_exp(-(1 + target)));
  for (int step = 0; step < 100; ++step) {
    const double next = t - (excess(t) - target) * (1 - t) / t;
    if (!(next < t)) break;
    t = next;
  }
  return mtbf * t;
}

double expected_time(double work, const CheckpointedRun& run) {
  CONTEND_CHECK(work >= 0 && run.period > 0 && run.mtbf > 0, "a run with checkpoints has work, a period and a mean");
  const double whole = std::floor(work / run.period);
  const double rest = work - whole * run.period;
  double parts = whole * expected_part(run.period + run.cost, run.mtbf, run.restart);
  if (rest > 0) parts += expected_part(rest + run.cost, run.mtbf, run.restart);
  return run.mtbf * parts;
}

double expected_time_unsaved(double work, double mtbf, double restart) {
  return mtbf * expected_part(work, mtbf, restart);
}

double efficiency(const CheckpointedRun& run) {
  return run.period / expected_time(run.period, run);
}

}  // namespace contend
