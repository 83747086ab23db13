#include "models/gaussian_process.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace contend {

namespace {

constexpr std::array kLengths{0.02, 0.05, 0.1, 0.2, 0.5, 1.0};
constexpr double kPi = 3.14159265358979323846;

double distance(const GaussianProcess::Point& a, const GaussianProcess::Point& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

double matern(double distance, double length) {
  const double r = std::sqrt(5.0) * distance / length;
  return (1 + r + r * r / 3) * std::exp(-r);
}

/// The process for one length of the kernel.
struct Solution {
  Solution(const std::vector<GaussianProcess::Point>& points, const Eigen::VectorXd& y, double noise, double of_length)
      : length{of_length} {
    const auto n = static_cast<Eigen::Index>(points.size());
    Eigen::MatrixXd k(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j < n; ++j) {
        const double apart = distance(points[static_cast<std::size_t>(i)], points[static_cast<std::size_t>(j)]);
        k(i, j) = matern(apart, length) + (i == j ? noise : 0.0);
      }
    }
    solver.compute(k);
    weights = solver.solve(y);
    const Eigen::VectorXd diagonal = solver.matrixLLT().diagonal();
    log_likelihood = -0.5 * y.dot(weights) - diagonal.array().log().sum();
  }

  double length;
  Eigen::LLT<Eigen::MatrixXd> solver;
  Eigen::VectorXd weights;
  double log_likelihood = 0;
};

}  // namespace

struct GaussianProcess::Fit {
  std::vector<Point> points;
  double mean = 0, deviation = 1;  ///< of the values
  double best = 0;                 ///< the largest value, scaled
  Solution solution;

  /// The prediction in units of the deviation.
  [[nodiscard]] Prediction scaled(const Point& point) const {
    Eigen::VectorXd k(static_cast<Eigen::Index>(points.size()));
    for (Eigen::Index i = 0; i < k.size(); ++i)
      k(i) = matern(distance(point, points[static_cast<std::size_t>(i)]), solution.length);
    const double variance = 1 - k.dot(solution.solver.solve(k));
    return {k.dot(solution.weights), std::sqrt(std::max(0.0, variance))};
  }
};

GaussianProcess::GaussianProcess(std::vector<Point> points, std::span<const double> values, double noise) {
  CONTEND_CHECK(!points.empty() && points.size() == values.size() && noise > 0, "a value for each point");
  Eigen::VectorXd y = Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
  const double mean = y.mean();
  y.array() -= mean;
  const double deviation = std::sqrt(y.squaredNorm() / static_cast<double>(y.size()));
  if (deviation > 0) y /= deviation;
  Solution best{points, y, noise, kLengths.front()};
  for (std::size_t i = 1; i < kLengths.size(); ++i) {
    Solution other{points, y, noise, kLengths[i]};
    if (other.log_likelihood > best.log_likelihood) best = std::move(other);
  }
  fit_ = std::make_unique<Fit>(
      Fit{std::move(points), mean, deviation > 0 ? deviation : 1.0, y.maxCoeff(), std::move(best)});
}

GaussianProcess::~GaussianProcess() = default;
GaussianProcess::GaussianProcess(GaussianProcess&&) noexcept = default;
GaussianProcess& GaussianProcess::operator=(GaussianProcess&&) noexcept = default;

GaussianProcess::Prediction GaussianProcess::at(const Point& point) const {
  const Prediction scaled = fit_->scaled(point);
  return {fit_->mean + fit_->deviation * scaled.mean, fit_->deviation * scaled.deviation};
}

double GaussianProcess::expected_improvement(const Point& point, double xi) const {
  const Prediction there = fit_->scaled(point);
  const double gain = there.mean - fit_->best - xi;
  if (there.deviation < 1e-9) return fit_->deviation * std::max(0.0, gain);
  const double z = gain / there.deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * kPi);
  const double share = std::erfc(-z / std::sqrt(2.0)) / 2;
  return fit_->deviation * (gain * share + there.deviation * density);
}

}  // namespace contend
