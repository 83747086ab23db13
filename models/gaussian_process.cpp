#include "models/gaussian_process.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace contend {

namespace {

constexpr std::array kLengths{0.02, 0.05, 0.1, 0.2, 0.5, 1.0};
constexpr std::array kKeyLengths{0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4};
constexpr std::array kNoises{1e-6, 1e-4, 1e-2, 1e-1};
constexpr double kPriorDeviation = 1.5;  // of the logarithm of a length
constexpr int kRounds = 3;               // of the search along one length at a time
constexpr double kFirstKeyLength = 0.8;
constexpr double kCertain = 1e-9;  // deviation below which a prediction counts as exact
constexpr double kPi = 3.14159265358979323846;

using Lengths = std::vector<double>;

double matern(double scaled_distance) {
  const double r = std::sqrt(5.0) * scaled_distance;
  return (1 + r + r * r / 3) * std::exp(-r);
}

/// Squared distances between the points along each key.
using Squares = std::vector<Eigen::MatrixXd>;

/// The process for given lengths of the kernel.
struct Solution {
  Solution(const Squares& squares, const Eigen::VectorXd& y, double noise, Lengths of_lengths)
      : lengths{std::move(of_lengths)} {
    Eigen::MatrixXd k = Eigen::MatrixXd::Zero(y.size(), y.size());
    for (std::size_t key = 0; key < squares.size(); ++key) k += squares[key] / (lengths[key] * lengths[key]);
    k = k.unaryExpr([](double square) { return matern(std::sqrt(square)); });
    k.diagonal().array() += noise;
    solver.compute(k);
    weights = solver.solve(y);
    const Eigen::VectorXd diagonal = solver.matrixLLT().diagonal();
    log_likelihood = -0.5 * y.dot(weights) - diagonal.array().log().sum();
  }

  Lengths lengths;
  Eigen::LLT<Eigen::MatrixXd> solver;
  Eigen::VectorXd weights;
  double log_likelihood = 0;
};

}  // namespace

struct GaussianProcess::Fit {
  std::vector<Point> points;
  std::vector<std::size_t> key_of;  ///< by coordinate
  double mean = 0, deviation = 1;   ///< of the values
  double best = 0;                  ///< the largest value, scaled
  Solution solution;

  [[nodiscard]] double covariance(const Point& a, const Point& b) const {
    double sum = 0;
    for (std::size_t c = 0; c < a.size(); ++c) {
      const double apart = (a[c] - b[c]) / solution.lengths[key_of[c]];
      sum += apart * apart;
    }
    return matern(std::sqrt(sum));
  }

  /// The prediction of a weighted sum in units of the deviation.
  [[nodiscard]] Prediction scaled(std::span<const Point> there, std::span<const double> weights) const {
    Eigen::VectorXd k = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(points.size()));
    double variance = 0;
    for (std::size_t j = 0; j < there.size(); ++j) {
      for (Eigen::Index i = 0; i < k.size(); ++i)
        k(i) += weights[j] * covariance(there[j], points[static_cast<std::size_t>(i)]);
      for (std::size_t i = 0; i < there.size(); ++i)
        variance += weights[i] * weights[j] * covariance(there[i], there[j]);
    }
    variance -= k.dot(solution.solver.solve(k));
    return {k.dot(solution.weights), std::sqrt(std::max(0.0, variance))};
  }
  [[nodiscard]] Prediction scaled(const Point& point) const {
    constexpr double kWhole = 1;
    return scaled({&point, 1}, {&kWhole, 1});
  }
};

namespace {

/// The values with mean 0 and deviation 1.
struct Scaled {
  explicit Scaled(std::span<const double> values)
      : y{Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()))}, mean{y.mean()} {
    y.array() -= mean;
    const double spread = std::sqrt(y.squaredNorm() / static_cast<double>(y.size()));
    if (!(spread > 0)) return;
    y /= spread;
    deviation = spread;
  }
  Eigen::VectorXd y;
  double mean = 0, deviation = 1;
};

Squares squares_of(const std::vector<GaussianProcess::Point>& points, const std::vector<std::size_t>& key_of) {
  const std::size_t keys = key_of.empty() ? 1 : *std::max_element(key_of.begin(), key_of.end()) + 1;
  const auto n = static_cast<Eigen::Index>(points.size());
  Squares squares(keys, Eigen::MatrixXd::Zero(n, n));
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = 0; j < points.size(); ++j) {
      for (std::size_t c = 0; c < key_of.size(); ++c) {
        const double apart = points[i][c] - points[j][c];
        squares[key_of[c]](static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) += apart * apart;
      }
    }
  }
  return squares;
}

void check_points(const std::vector<GaussianProcess::Point>& points, std::span<const double> values, double noise) {
  CONTEND_CHECK(!points.empty() && points.size() == values.size() && noise > 0, "a value for each point");
}

/// The logarithm of the prior of lengths, up to a constant: normal on their logarithms.
double log_prior(const Lengths& lengths) {
  double sum = 0;
  for (const double each : lengths) {
    const double deviations = std::log(each) / kPriorDeviation;
    sum -= 0.5 * deviations * deviations;
  }
  return sum;
}

}  // namespace

GaussianProcess::GaussianProcess(std::vector<Point> points, std::span<const double> values, double noise) {
  check_points(points, values, noise);
  const Scaled scaled{values};
  std::vector<std::size_t> key_of(points.front().size(), 0);
  const Squares squares = squares_of(points, key_of);
  Solution best{squares, scaled.y, noise, {kLengths.front()}};
  for (std::size_t i = 1; i < kLengths.size(); ++i) {
    Solution other{squares, scaled.y, noise, {kLengths[i]}};
    if (other.log_likelihood > best.log_likelihood) best = std::move(other);
  }
  fit_ = std::make_unique<Fit>(
      Fit{std::move(points), std::move(key_of), scaled.mean, scaled.deviation, scaled.y.maxCoeff(), std::move(best)});
}

GaussianProcess::GaussianProcess(std::vector<Point> points, std::span<const double> values,
                                 std::vector<std::size_t> key_of, const GaussianKernel& kernel) {
  check_points(points, values, kernel.noise);
  CONTEND_CHECK(key_of.size() == points.front().size(), "a key for each coordinate");
  const Scaled scaled{values};
  Solution solution{squares_of(points, key_of), scaled.y, kernel.noise, kernel.lengths};
  fit_ = std::make_unique<Fit>(Fit{std::move(points), std::move(key_of), scaled.mean, scaled.deviation,
                                   scaled.y.maxCoeff(), std::move(solution)});
}

GaussianKernel likely_kernel(const std::vector<GaussianProcess::Point>& points, std::span<const double> values,
                             const std::vector<std::size_t>& key_of) {
  check_points(points, values, kNoises.front());
  const Scaled scaled{values};
  const Squares squares = squares_of(points, key_of);
  const auto probability = [&](const GaussianKernel& kernel) {
    return Solution{squares, scaled.y, kernel.noise, kernel.lengths}.log_likelihood + log_prior(kernel.lengths);
  };
  GaussianKernel best{Lengths(squares.size(), kFirstKeyLength), kNoises[1]};
  double most = probability(best);
  bool better = true;
  const auto consider = [&](const GaussianKernel& other) {
    const double there = probability(other);
    if (!(there > most)) return;
    most = there;
    best = other;
    better = true;
  };
  for (int round = 0; round < kRounds && better; ++round) {
    better = false;
    for (std::size_t key = 0; key < squares.size(); ++key) {
      GaussianKernel other = best;
      for (const double length : kKeyLengths) {
        other.lengths[key] = length;
        consider(other);
      }
    }
    GaussianKernel other = best;
    for (const double noise : kNoises) {
      other.noise = noise;
      consider(other);
    }
  }
  return best;
}

GaussianProcess::~GaussianProcess() = default;
GaussianProcess::GaussianProcess(GaussianProcess&&) noexcept = default;
GaussianProcess& GaussianProcess::operator=(GaussianProcess&&) noexcept = default;

GaussianProcess::Prediction GaussianProcess::at(const Point& point) const {
  const Prediction scaled = fit_->scaled(point);
  return {fit_->mean + fit_->deviation * scaled.mean, fit_->deviation * scaled.deviation};
}

GaussianProcess::Prediction GaussianProcess::at(std::span<const Point> points, std::span<const double> weights) const {
  CONTEND_CHECK(points.size() == weights.size(), "a weight for each point");
  const Prediction scaled = fit_->scaled(points, weights);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  return {sum * fit_->mean + fit_->deviation * scaled.mean, fit_->deviation * scaled.deviation};
}

double GaussianProcess::expected_improvement(const Point& point, double xi) const {
  return fit_->deviation * expected_gain(fit_->scaled(point), fit_->best + xi);
}

// Jones, Schonlau and Welch, 1998, equation 15.
double expected_gain(const GaussianProcess::Prediction& there, double level) {
  const double excess = there.mean - level;
  if (there.deviation < kCertain) return std::max(0.0, excess);
  const double z = excess / there.deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * kPi);
  const double share = std::erfc(-z / std::sqrt(2.0)) / 2;
  return excess * share + there.deviation * density;
}

double probability_at_least(const GaussianProcess::Prediction& there, double level) {
  if (there.deviation < kCertain) return there.mean >= level ? 1.0 : 0.0;
  return std::erfc((level - there.mean) / there.deviation / std::sqrt(2.0)) / 2;
}

}  // namespace contend
