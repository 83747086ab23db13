#include "calibration/scattered_surface.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace contend {

namespace {

/// Few enough for a look-up within microseconds, enough for the neighbours in all directions of a grid of four
/// dimensions.
constexpr std::size_t kNeighbours = 24;
constexpr std::array kLengths{1.0, 2.0, 4.0, 8.0, 16.0};
constexpr std::array kNoises{1e-4, 1e-2, 1e-1};

double distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

double covariance(double apart, double length) {
  const double r = std::sqrt(3.0) * apart / length;
  return (1 + r) * std::exp(-r);
}

/// A symmetric positive definite system of a few unknowns, by Cholesky's method in place.
class SmallSystem {
 public:
  explicit SmallSystem(std::size_t size) : size_{size}, values_(size * size) {}

  double& operator()(std::size_t row, std::size_t column) { return values_[row * size_ + column]; }

  void factorise() {
    auto& l = *this;
    for (std::size_t j = 0; j < size_; ++j) {
      for (std::size_t i = j; i < size_; ++i) {
        double sum = l(i, j);
        for (std::size_t k = 0; k < j; ++k) sum -= l(i, k) * l(j, k);
        if (i == j) CONTEND_CHECK(sum > 0, "a covariance with noise is positive definite");
        l(i, j) = i == j ? std::sqrt(sum) : sum / l(j, j);
      }
    }
  }
  /// Solves for `x` in place.
  void solve(std::vector<double>& x) {
    auto& l = *this;
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t k = 0; k < i; ++k) x[i] -= l(i, k) * x[k];
      x[i] /= l(i, i);
    }
    for (std::size_t i = size_; i-- > 0;) {
      for (std::size_t k = i + 1; k < size_; ++k) x[i] -= l(k, i) * x[k];
      x[i] /= l(i, i);
    }
  }

 private:
  std::size_t size_;
  std::vector<double> values_;
};

}  // namespace

ScatteredSurface::ScatteredSurface(std::vector<double> coordinates, std::size_t dimensions)
    : coordinates_{std::move(coordinates)}, dimensions_{dimensions} {
  CONTEND_CHECK(dimensions >= 1 && !coordinates_.empty() && coordinates_.size() % dimensions == 0,
                "whole points, and at least one");
}

std::span<const double> ScatteredSurface::point(std::size_t index) const {
  return std::span{coordinates_}.subspan(index * dimensions_, dimensions_);
}

std::vector<Neighbour> ScatteredSurface::nearest(std::span<const double> where, std::size_t count,
                                                 std::size_t skip) const {
  std::vector<Neighbour> all;
  all.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) {
    if (i != skip) all.push_back({distance(where, point(i)), i});
  }
  const auto nearer = [](const Neighbour& a, const Neighbour& b) {
    return std::pair{a.distance, a.index} < std::pair{b.distance, b.index};
  };
  count = std::min(count, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(), nearer);
  all.resize(count);
  return all;
}

double ScatteredSurface::at(std::span<const double> where, std::span<const double> values,
                            const SurfaceSettings& settings, std::size_t skip,
                            std::span<const double> extra_noise) const {
  const std::vector<Neighbour> near = nearest(where, kNeighbours, skip);
  CONTEND_CHECK(!near.empty(), "a guess needs another point");
  const std::size_t n = near.size();
  SmallSystem system{n};
  std::vector<double> weighted(n), ones(n, 1.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j)
      system(i, j) = covariance(distance(point(near[i].index), point(near[j].index)), settings.length);
    system(i, i) = 1 + settings.noise + (extra_noise.empty() ? 0 : extra_noise[near[i].index]);
    weighted[i] = values[near[i].index];
  }
  system.factorise();
  system.solve(weighted);
  system.solve(ones);
  double of_values = 0, of_ones = 0;
  for (std::size_t i = 0; i < n; ++i) {
    of_values += weighted[i];
    of_ones += ones[i];
  }
  const double mean = of_values / of_ones;
  double guess = mean;
  for (std::size_t i = 0; i < n; ++i)
    guess += covariance(near[i].distance, settings.length) * (weighted[i] - mean * ones[i]);
  return guess;
}

double ScatteredSurface::error(std::span<const double> values, const SurfaceSettings& settings,
                               std::span<const double> extra_noise, std::span<const std::size_t> judged) const {
  if (size() < 2) return std::numeric_limits<double>::infinity();
  const std::size_t trials = judged.empty() ? size() : judged.size();
  double sum = 0;
  for (std::size_t trial = 0; trial < trials; ++trial) {
    const std::size_t i = judged.empty() ? trial : judged[trial];
    // Absolute, not squared: one disturbed sample should not decide.
    sum += std::abs(at(point(i), values, settings, i, extra_noise) - values[i]);
  }
  return sum / static_cast<double>(trials);
}

SurfaceSettings ScatteredSurface::best_settings(std::span<const double> values, std::span<const double> extra_noise,
                                                std::span<const std::size_t> judged) const {
  SurfaceSettings best;
  double least = std::numeric_limits<double>::infinity();
  for (const double length : kLengths) {
    for (const double noise : kNoises) {
      const double found = error(values, {length, noise}, extra_noise, judged);
      if (found < least) {
        least = found;
        best = {length, noise};
      }
    }
  }
  return best;
}

}  // namespace contend
