#include "models/overlap/iteration_fit.hpp"

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace contend {

namespace {

constexpr int kConstants = 4;
constexpr int kInterference = 2, kUpdate = 3;  // their places among them
constexpr double kLeastUpdate = 1e-9;          // stands for none
constexpr double kLeastHidden = 0.1;
constexpr double kUsualError = 0.05;
using Vector = Eigen::Matrix<double, kConstants, 1>;
using Matrix = Eigen::Matrix<double, kConstants, kConstants>;

/// The constants that keep their first guess.
using Held = std::array<bool, kConstants>;

/// The constants as numbers of a similar size, of which any value is valid: logarithms, but for the interference.
Vector point_of(const IterationConstants& constants) {
  return {std::log(constants.alpha_s), std::log(constants.beta_ns_per_byte), constants.interference,
          std::log(std::max(constants.update_s, kLeastUpdate))};
}
IterationConstants constants_at(const Vector& point) {
  const double update = std::exp(point[3]);
  return {std::exp(point[0]), std::exp(point[1]), point[2], update > kLeastUpdate * 1.01 ? update : 0.0};
}
/// The nearest point whose constants some network can have: constants that the rows leave open stay finite.
Vector in_range(const Vector& point) {
  static const Vector kLeast = point_of({1e-9, 1e-6, 0, 0});
  static const Vector kMost = point_of({10, 1e4, 20, 1});
  return point.cwiseMax(kLeast).cwiseMin(kMost);
}

/// The root of the loss of Cauchy, by which an error of many times kUsualError weighs little more than a smaller one.
double robust(double error) {
  const double ratio = error / kUsualError;
  return std::copysign(kUsualError * std::sqrt(std::log1p(ratio * ratio)), error);
}

class Fitter {
 public:
  Fitter(const std::vector<FittedRow>& rows, const IterationPredictor& predict, std::vector<std::size_t> used)
      : rows_{rows}, predict_{predict}, used_{std::move(used)} {}

  /// The largest share of a row that overlapping hides: with both factors 1 it costs all that it saves.
  [[nodiscard]] double hidden(IterationConstants constants) const {
    double most = 0;
    for (const std::size_t row : used_) {
      constants.interference = 0;
      const double free = predict_(row, constants);
      constants.interference = 1;
      most = std::max(most, predict_(row, constants) / free - 1);
    }
    return most;
  }

  /// At most so many steps of the method of Levenberg and Marquardt from `start`.
  [[nodiscard]] IterationConstants fit(const IterationConstants& start, const Held& held, int steps) const {
    constexpr double kSlopeStep = 0.02, kSmallStep = 1e-3, kSettled = 1e-3, kLongestStep = 1;
    Vector at = in_range(point_of(start));
    std::vector<double> here = residuals(at);
    double damping = 1e-3;
    for (int step = 0; step < steps; ++step) {
      Matrix normal = Matrix::Zero();
      Vector gradient = Vector::Zero();
      std::array<std::vector<double>, kConstants> slopes;
      for (int c = 0; c < kConstants; ++c) {
        if (held[static_cast<std::size_t>(c)]) {
          slopes[static_cast<std::size_t>(c)].assign(here.size(), 0);
          continue;
        }
        Vector aside = at;
        aside[c] += kSlopeStep;
        slopes[static_cast<std::size_t>(c)] = residuals(aside);
        for (std::size_t i = 0; i < here.size(); ++i) {
          double& slope = slopes[static_cast<std::size_t>(c)][i];
          slope = (slope - here[i]) / kSlopeStep;
          gradient[c] += slope * here[i];
        }
      }
      for (int a = 0; a < kConstants; ++a) {
        for (int b = 0; b < kConstants; ++b) {
          for (std::size_t i = 0; i < here.size(); ++i) {
            normal(a, b) += slopes[static_cast<std::size_t>(a)][i] * slopes[static_cast<std::size_t>(b)][i];
          }
        }
      }
      bool better = false, settled = false;
      double length = 0;
      while (!better && damping < 1e6) {
        Matrix damped = normal;
        // A constant on which no row depends has no slope; it stays where it is.
        for (int c = 0; c < kConstants; ++c) damped(c, c) += damping * std::max(normal(c, c), 1e-9);
        const Vector change = damped.ldlt().solve(gradient);
        const Vector next = in_range(at - change.cwiseMin(kLongestStep).cwiseMax(-kLongestStep));
        length = (next - at).norm();
        std::vector<double> there = residuals(next);
        const double before = sum(here), after = sum(there);
        better = after < before;
        if (better) {
          settled = before - after < kSettled * before;
          at = next;
          here = std::move(there);
          damping = std::max(1e-6, damping / 4);
        } else {
          damping *= 8;
          if (length < kSmallStep) break;
        }
      }
      if (!better || settled || length < kSmallStep) break;
    }
    return constants_at(at);
  }

  /// The best fit from several places: the sum has several minima, because one constant can take the place of another,
  /// and a guess that is far off leads nowhere. Beta begins where it is best of five powers of ten. Then each start
  /// goes a few steps, and the best of them goes on.
  [[nodiscard]] IterationConstants best_fit(IterationConstants start, const Held& held) const {
    struct Start {
      double alpha;         ///< times the alpha of the first guess
      double interference;  ///< < 0: as in the first guess
      double update_s;      ///< 0: as in the first guess; below the time of the kernels nothing would depend on it
    };
    constexpr Start kStarts[] = {{1, -1, 0}, {0.2, 0.6, 1e-3}, {5, 0, 3e-4}};
    constexpr double kPowers[] = {1, 0.01, 0.1, 10, 100}, kExact = 1e-3;
    constexpr int kFirstSteps = 6, kSteps = 40;
    double least = std::numeric_limits<double>::infinity();
    const double beta = start.beta_ns_per_byte;
    for (const double power : kPowers) {
      IterationConstants other = start;
      other.beta_ns_per_byte = beta * power;
      const double there = sum(residuals(point_of(other)));
      if (there >= least) continue;
      least = there;
      start.beta_ns_per_byte = other.beta_ns_per_byte;
    }
    IterationConstants best = start;
    least = std::numeric_limits<double>::infinity();
    for (const Start& each : kStarts) {
      IterationConstants from = start;
      from.alpha_s *= each.alpha;
      if (!held[kInterference] && each.interference >= 0) from.interference = each.interference;
      if (!held[kUpdate] && each.update_s > 0) from.update_s = each.update_s;
      const IterationConstants found = fit(from, held, kFirstSteps);
      const double there = sum(residuals(point_of(found)));
      if (there >= least) continue;
      least = there;
      best = found;
      if (least < kExact * kExact * static_cast<double>(used_.size())) break;
    }
    return fit(best, held, kSteps);
  }

 private:
  [[nodiscard]] std::vector<double> residuals(const Vector& point) const {
    const IterationConstants constants = constants_at(point);
    std::vector<double> all;
    all.reserve(used_.size());
    for (const std::size_t row : used_) all.push_back(robust(std::log(predict_(row, constants) / rows_[row].seconds)));
    return all;
  }
  static double sum(const std::vector<double>& residuals) {
    double total = 0;
    for (const double each : residuals) total += each * each;
    return total;
  }

  const std::vector<FittedRow>& rows_;
  const IterationPredictor& predict_;
  std::vector<std::size_t> used_;
};

}  // namespace

IterationFit fit_iterations(const std::vector<FittedRow>& rows, const IterationPredictor& predict,
                            const IterationConstants& start, const std::string& without) {
  CONTEND_CHECK(start.alpha_s > 0 && start.beta_ns_per_byte > 0 && start.interference >= 0 && start.update_s >= 0,
                "a first guess in range");
  std::vector<std::size_t> used;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    CONTEND_CHECK(rows[row].seconds > 0, "an iteration takes time");
    if (without.empty() || rows[row].group != without) used.push_back(row);
  }
  IterationFit fit;
  Held held{};
  fit.knows_update = std::ranges::any_of(used, [&](std::size_t row) { return rows[row].updates; });
  held[kUpdate] = !fit.knows_update;
  const auto free = static_cast<std::size_t>(std::count(held.begin(), held.end(), false));
  if (used.size() < free) {
    throw InputError{fmt::format("{} measured iterations{} don't determine {} constants", used.size(),
                                 without.empty() ? "" : fmt::format(" (all but \"{}\")", without), free)};
  }
  const Fitter fitter{rows, predict, std::move(used)};
  fit.constants = fitter.best_fit(start, held);
  if (fitter.hidden(fit.constants) < kLeastHidden) {
    fit.knows_interference = false;
    held[kInterference] = true;
    fit.constants = fitter.best_fit(start, held);
  }
  for (std::size_t row = 0; row < rows.size(); ++row) fit.predicted.push_back(predict(row, fit.constants));
  return fit;
}

LeaveOneOut leave_one_out(const std::vector<FittedRow>& rows, const IterationPredictor& predict,
                          const IterationConstants& start) {
  LeaveOneOut all;
  for (const FittedRow& row : rows) {
    if (std::find(all.groups.begin(), all.groups.end(), row.group) == all.groups.end()) all.groups.push_back(row.group);
  }
  if (all.groups.size() < 2) {
    throw InputError{fmt::format("all measured iterations are of \"{}\": leaving them out leaves nothing to fit",
                                 all.groups.empty() ? "" : all.groups.front())};
  }
  for (const std::string& group : all.groups) all.fits.push_back(fit_iterations(rows, predict, start, group));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto group = std::find(all.groups.begin(), all.groups.end(), rows[row].group) - all.groups.begin();
    const IterationFit& fit = all.fits[static_cast<std::size_t>(group)];
    all.predicted.push_back(rows[row].updates && !fit.knows_update ? kNaN : fit.predicted[row]);
  }
  return all;
}

std::optional<ConstantIntervals> constant_intervals(const IterationFit& all, const LeaveOneOut& left_out) {
  constexpr std::size_t kLeastGroups = 3;
  const Vector at = point_of(all.constants);
  ConstantIntervals bounds;
  Vector low = at, high = at;
  for (int c = 0; c < kConstants; ++c) {
    std::vector<double> values;
    for (const IterationFit& fit : left_out.fits)
      if (c != kUpdate || fit.knows_update) values.push_back(point_of(fit.constants)[c]);
    if (values.size() < kLeastGroups && c != kUpdate) return std::nullopt;
    double half = std::numeric_limits<double>::infinity();
    if (values.size() >= kLeastGroups) {
      const auto groups = static_cast<double>(values.size());
      half = student_t_975(values.size() - 1) * sample_deviation(values) * (groups - 1) / std::sqrt(groups);
    }
    low[c] -= half;
    high[c] += half;
  }
  bounds.low = constants_at(in_range(low));
  bounds.high = constants_at(in_range(high));
  if (std::isinf(high[kUpdate])) bounds.high.update_s = high[kUpdate];
  return bounds;
}

}  // namespace contend
