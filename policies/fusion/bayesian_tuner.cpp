#include "policies/fusion/bayesian_tuner.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace contend {

namespace {

constexpr int kCandidates = 512;
constexpr double kNoise = 1e-6;
constexpr std::array kLengths{0.02, 0.05, 0.1, 0.2, 0.5, 1.0};
constexpr double kPi = 3.14159265358979323846;

double matern(double distance, double length) {
  const double r = std::sqrt(5.0) * std::abs(distance) / length;
  return (1 + r + r * r / 3) * std::exp(-r);
}

/// Values scaled to mean 0 and variance 1 over places in [0, 1].
class GaussianProcess {
 public:
  GaussianProcess(const std::vector<double>& x, const Eigen::VectorXd& y, double length) : x_{x}, length_{length} {
    const auto n = static_cast<Eigen::Index>(x.size());
    Eigen::MatrixXd k(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j < n; ++j) k(i, j) = matern(at(i) - at(j), length) + (i == j ? kNoise : 0.0);
    }
    solver_.compute(k);
    weights_ = solver_.solve(y);
    const Eigen::VectorXd diagonal = solver_.matrixLLT().diagonal();
    log_likelihood_ = -0.5 * y.dot(weights_) - diagonal.array().log().sum();
  }
  [[nodiscard]] double log_likelihood() const { return log_likelihood_; }
  struct Prediction {
    double mean, deviation;
  };
  [[nodiscard]] Prediction at_place(double place) const {
    Eigen::VectorXd k(static_cast<Eigen::Index>(x_.size()));
    for (Eigen::Index i = 0; i < k.size(); ++i) k(i) = matern(place - at(i), length_);
    const double variance = 1 - k.dot(solver_.solve(k));
    return {k.dot(weights_), std::sqrt(std::max(0.0, variance))};
  }

 private:
  [[nodiscard]] double at(Eigen::Index i) const { return x_[static_cast<std::size_t>(i)]; }
  const std::vector<double>& x_;
  double length_;
  Eigen::LLT<Eigen::MatrixXd> solver_;
  Eigen::VectorXd weights_;
  double log_likelihood_ = 0;
};

double expected_improvement(const GaussianProcess::Prediction& prediction, double best, double xi) {
  const double gain = prediction.mean - best - xi;
  if (prediction.deviation < 1e-9) return std::max(0.0, gain);
  const double z = gain / prediction.deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * kPi);
  const double share = std::erfc(-z / std::sqrt(2.0)) / 2;
  return gain * share + prediction.deviation * density;
}

/// In [0, 1]; the values are not all equal.
double next_place(const std::vector<double>& x, const std::vector<double>& values, double xi) {
  Eigen::VectorXd y = Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
  y.array() -= y.mean();
  const double deviation = std::sqrt(y.squaredNorm() / static_cast<double>(y.size()));
  if (deviation > 0) y /= deviation;
  double length = kLengths.front();
  double likelihood = -std::numeric_limits<double>::infinity();
  for (const double each : kLengths) {
    const double now = GaussianProcess{x, y, each}.log_likelihood();
    if (now > likelihood) {
      likelihood = now;
      length = each;
    }
  }
  const GaussianProcess process{x, y, length};
  double place = 0, best = -1;
  for (int i = 0; i < kCandidates; ++i) {
    const double candidate = static_cast<double>(i) / (kCandidates - 1);
    if (std::find(x.begin(), x.end(), candidate) != x.end()) continue;
    const double improvement = expected_improvement(process.at_place(candidate), y.maxCoeff(), xi);
    if (improvement > best) {
      best = improvement;
      place = candidate;
    }
  }
  return place;
}

}  // namespace

double maximise(const std::function<double(double)>& objective, const TunerOptions& options) {
  const double span = options.high - options.low;
  std::vector<double> x{span > 0 ? std::clamp((options.first - options.low) / span, 0.0, 1.0) : 0.0};
  std::vector<double> values;
  std::size_t best = 0;
  for (std::size_t trial = 0;; ++trial) {
    values.push_back(objective(options.low + span * x[trial]));
    if (values[trial] > values[best]) best = trial;
    if (trial + 1 >= static_cast<std::size_t>(options.trials)) return options.low + span * x[best];
    x.push_back(next_place(x, values, options.xi));
  }
}

}  // namespace contend
