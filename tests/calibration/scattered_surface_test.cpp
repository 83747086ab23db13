// Kriging against its equations, solved in full with a Lagrange multiplier.

#include "calibration/scattered_surface.hpp"

#include "sim/random_stream.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

/// Solves a x = b by Gaussian elimination with pivots; `a` is square and row-major.
std::vector<double> solved(std::vector<double> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c; r < n; ++r)
      if (std::abs(a[r * n + c]) > std::abs(a[pivot * n + c])) pivot = r;
    for (std::size_t k = 0; k < n; ++k) std::swap(a[c * n + k], a[pivot * n + k]);
    std::swap(b[c], b[pivot]);
    for (std::size_t r = 0; r < n; ++r) {
      if (r == c) continue;
      const double factor = a[r * n + c] / a[c * n + c];
      for (std::size_t k = c; k < n; ++k) a[r * n + k] -= factor * a[c * n + k];
      b[r] -= factor * b[c];
    }
  }
  for (std::size_t c = 0; c < n; ++c) b[c] /= a[c * n + c];
  return b;
}

double matern(double x, double y, double length) {
  const double r = std::sqrt(3.0) * std::hypot(x, y) / length;
  return (1 + r) * std::exp(-r);
}

struct Points {
  std::vector<double> coordinates, values, extra;
  [[nodiscard]] double x(std::size_t i) const { return coordinates[2 * i]; }
  [[nodiscard]] double y(std::size_t i) const { return coordinates[2 * i + 1]; }
};

Points drawn(std::size_t count) {
  RandomStream random{11, "surface"};
  Points points;
  for (std::size_t i = 0; i < count; ++i) {
    points.coordinates.push_back(random.uniform(0, 8));
    points.coordinates.push_back(random.uniform(0, 8));
    points.values.push_back(std::sin(points.x(i)) + points.y(i) / 8 + random.uniform(-0.2, 0.2));
    points.extra.push_back(i % 3 == 0 ? 0.5 : 0);
  }
  return points;
}

/// The weights of the best unbiased prediction add up to 1.
double predicted(const Points& points, double x, double y, const SurfaceSettings& settings, std::size_t skip,
                 const std::vector<double>& extra) {
  std::vector<std::pair<double, std::size_t>> nearest;
  for (std::size_t i = 0; i < points.values.size(); ++i)
    if (i != skip) nearest.emplace_back(std::hypot(points.x(i) - x, points.y(i) - y), i);
  std::sort(nearest.begin(), nearest.end());
  nearest.resize(std::min<std::size_t>(24, nearest.size()));
  const std::size_t n = nearest.size(), size = n + 1;
  std::vector<double> matrix(size * size, 1), right(size, 1);
  matrix.back() = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t a = nearest[i].second;
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t b = nearest[j].second;
      matrix[i * size + j] = matern(points.x(a) - points.x(b), points.y(a) - points.y(b), settings.length);
    }
    matrix[i * size + i] += settings.noise + (extra.empty() ? 0 : extra[a]);
    right[i] = matern(points.x(a) - x, points.y(a) - y, settings.length);
  }
  const std::vector<double> weights = solved(matrix, right);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += weights[i] * points.values[nearest[i].second];
  return sum;
}

}  // namespace

TEST_CASE("kriging solves its equations, with noise of single values and without a point") {
  for (const std::size_t count : {std::size_t{2}, std::size_t{3}, std::size_t{7}, std::size_t{40}}) {
    const Points points = drawn(count);
    const ScatteredSurface surface{points.coordinates, 2};
    CHECK(surface.size() == count);
    for (const SurfaceSettings settings : {SurfaceSettings{4, 0.01}, SurfaceSettings{1.5, 0.1}})
      for (const std::size_t skip : {ScatteredSurface::kNone, std::size_t{1}})
        for (const std::vector<double>& extra : {std::vector<double>{}, points.extra}) {
          CAPTURE(count);
          const std::vector<double> where{3.5, 2.25};
          CHECK(surface.at(where, points.values, settings, skip, extra) ==
                near(predicted(points, 3.5, 2.25, settings, skip, extra), 1e-9));
        }
  }
}

TEST_CASE("the settings of a surface are those that predict left-out values best") {
  for (const std::size_t count : {std::size_t{2}, std::size_t{30}, std::size_t{64}, std::size_t{100}}) {
    const Points points = drawn(count);
    for (const std::vector<double>& extra : {std::vector<double>{}, points.extra}) {
      // Of many points 64 are left out in turn, as evenly as they go.
      const std::size_t trials = std::min<std::size_t>(64, count);
      double least = std::numeric_limits<double>::infinity();
      SurfaceSettings best;
      for (const double length : {1.0, 2.0, 4.0, 8.0, 16.0})
        for (const double noise : {1e-4, 1e-2, 1e-1}) {
          double sum = 0;
          for (std::size_t trial = 0; trial < trials; ++trial) {
            const std::size_t i = trial * count / trials;
            const SurfaceSettings settings{length, noise};
            sum += std::abs(predicted(points, points.x(i), points.y(i), settings, i, extra) - points.values[i]);
          }
          if (sum >= least * (1 - 1e-12)) continue;
          least = sum;
          best = {length, noise};
        }
      const SurfaceSettings found = ScatteredSurface{points.coordinates, 2}.best_settings(points.values, extra);
      CAPTURE(count);
      CHECK(found.length == best.length);
      CHECK(found.noise == best.noise);
    }
  }
  const SurfaceSettings alone = ScatteredSurface{{1, 2}, 2}.best_settings(std::vector<double>{5});
  CHECK(alone.length == SurfaceSettings{}.length);
  CHECK(alone.noise == SurfaceSettings{}.noise);
}

TEST_CASE("of equally near points the first given come first") {
  const ScatteredSurface surface{{1, -1, 1, 3, -1}, 1};
  const std::vector<Neighbour> nearest = surface.nearest(std::vector<double>{0}, 4);
  REQUIRE(nearest.size() == 4);
  for (const auto& [place, index] : {std::pair<std::size_t, std::size_t>{0, 0}, {1, 1}, {2, 2}, {3, 4}}) {
    CHECK(nearest[place].index == index);
    CHECK(nearest[place].distance == 1);
  }
  CHECK(surface.nearest(std::vector<double>{0}, 9).size() == 5);
  CHECK(surface.nearest(std::vector<double>{0}, 9, 3).size() == 4);
}
