#include "calibration/roofline_fit.hpp"

#include "calibration/dense.hpp"
#include "calibration/noise_weights.hpp"
#include "calibration/robust_fit.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace contend {

namespace {

constexpr std::size_t kLeastSamples = 4;
constexpr int kMaxTurns = 30;
constexpr int kReweightings = 3;

bool bound_by_compute(const RooflineFit& fit, const TimedWork& work) {
  return fit.seconds_per_flop * work.flops > fit.seconds_per_byte * work.bytes;
}

/// The highest rates that any sample reached, nothing fixed.
RooflineFit best_seen(std::span<const TimedWork> samples) {
  double peak = 0, bandwidth = 0;
  for (const TimedWork& each : samples) {
    peak = std::max(peak, each.flops / each.seconds);
    bandwidth = std::max(bandwidth, each.bytes / each.seconds);
  }
  return {peak > 0 ? 1 / peak : 0, bandwidth > 0 ? 1 / bandwidth : 0, 0};
}

/// One column of the least squares: the flops, the bytes or the 1 of each sample, over its time.
using Column = std::vector<double>;

/// Coefficients of the columns for a left side of ones, which makes the errors relative. No weights: all 1.
std::vector<double> solve(const std::vector<const Column*>& columns, std::span<const double> weights) {
  const std::size_t rows = columns.front()->size();
  std::vector<double> matrix;
  matrix.reserve(rows * columns.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (const Column* column : columns) matrix.push_back((*column)[i]);
  }
  const std::vector<double> ones(rows, 1.0);
  return least_squares(matrix, columns.size(), ones, weights).coefficients;
}

bool any(const Column& column) {
  return std::any_of(column.begin(), column.end(), [](double value) { return value > 0; });
}

RooflineFit turn(std::span<const TimedWork> samples, std::span<const double> weights, const RooflineFit& before) {
  Column flops, bytes, fixed;
  for (const TimedWork& each : samples) {
    const bool compute = bound_by_compute(before, each);
    flops.push_back(compute ? each.flops / each.seconds : 0);
    bytes.push_back(compute ? 0 : each.bytes / each.seconds);
    fixed.push_back(1 / each.seconds);
  }
  RooflineFit after = before;
  std::vector<const Column*> columns;
  std::vector<double*> targets;
  if (any(flops)) {
    columns.push_back(&flops);
    targets.push_back(&after.seconds_per_flop);
  }
  if (any(bytes)) {
    columns.push_back(&bytes);
    targets.push_back(&after.seconds_per_byte);
  }
  columns.push_back(&fixed);
  targets.push_back(&after.overhead);
  std::vector<double> found = solve(columns, weights);
  if (found.back() < 0) {
    columns.pop_back();
    found = solve(columns, weights);
    found.push_back(0);
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (found[i] > 0 || targets[i] == &after.overhead) *targets[i] = found[i];
  }
  return after;
}

RooflineFit by_turns(std::span<const TimedWork> samples, std::span<const double> weights, RooflineFit fit) {
  for (int i = 0; i < kMaxTurns; ++i) {
    const RooflineFit next = turn(samples, weights, fit);
    const bool settled = std::none_of(samples.begin(), samples.end(), [&](const TimedWork& each) {
      return bound_by_compute(fit, each) != bound_by_compute(next, each);
    });
    fit = next;
    if (settled) break;
  }
  return fit;
}

/// The floor of the noise is what samples are off the roofline anyway: it is a model, and no interval makes it truer.
std::vector<double> weights_of(std::span<const TimedWork> samples, const RooflineFit& fit) {
  std::vector<double> deviations, residuals;
  for (const TimedWork& each : samples) {
    deviations.push_back(each.deviation);
    residuals.push_back(fit.seconds(each.bytes, each.flops) / each.seconds - 1);
  }
  return noise_weights(deviations, std::max(typical_noise(deviations), robust_deviation(residuals)));
}

}  // namespace

double RooflineFit::seconds(double bytes, double flops) const {
  return std::max(seconds_per_flop * flops, seconds_per_byte * bytes) + overhead;
}

RooflineFit fit_roofline(std::span<const TimedWork> samples) {
  CONTEND_CHECK(!samples.empty(), "a fit needs samples");
  const RooflineFit seen = best_seen(samples);
  if (samples.size() < kLeastSamples) return seen;
  RooflineFit fit = by_turns(samples, {}, seen);
  // The distance of a sample from a fit that noisy ones have drawn aside is not yet its distance from the roofline.
  for (int i = 0; i < kReweightings; ++i) {
    const std::vector<double> weights = weights_of(samples, fit);
    if (std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 1; })) break;
    fit = by_turns(samples, weights, fit);
  }
  return fit;
}

}  // namespace contend
