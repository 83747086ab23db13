#include "policies/fusion/bayesian_tuner.hpp"

#include "models/gaussian_process.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace contend {

namespace {

constexpr int kCandidates = 512;

/// Returns the candidate in [0, 1] with the largest expected improvement.
double next_place(const std::vector<double>& x, const std::vector<double>& values, double xi) {
  std::vector<GaussianProcess::Point> points;
  for (const double each : x) points.push_back({each});
  const GaussianProcess process{std::move(points), values};
  double place = 0, best = -1;
  for (int i = 0; i < kCandidates; ++i) {
    const double candidate = static_cast<double>(i) / (kCandidates - 1);
    if (std::find(x.begin(), x.end(), candidate) != x.end()) continue;
    const double improvement = process.expected_improvement({candidate}, xi);
    if (improvement > best) {
      best = improvement;
      place = candidate;
    }
  }
  return place;
}

}  // namespace

double maximise(const std::function<double(double)>& objective, const TunerOptions& options) {
  const double span = std::log(options.high / options.low);
  const auto number = [&](double x) { return std::clamp(options.low * std::exp(span * x), options.low, options.high); };
  const double first = std::clamp(options.first, options.low, options.high);
  std::vector<double> x{span > 0 ? std::log(first / options.low) / span : 0.0};
  std::vector<double> values;
  std::size_t best = 0;
  for (std::size_t trial = 0;; ++trial) {
    values.push_back(objective(trial == 0 ? first : number(x[trial])));
    if (values[trial] > values[best]) best = trial;
    if (trial + 1 >= static_cast<std::size_t>(options.trials)) return best == 0 ? first : number(x[best]);
    x.push_back(next_place(x, values, options.xi));
  }
}

}  // namespace contend
