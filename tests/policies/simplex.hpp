#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

namespace contend::test {

/// The largest c x for A x <= b, x >= 0, with b >= 0: the simplex method on a table, with Bland's rule. It is slow and
/// obvious, and shares nothing with ShareProgram and LinearProgram.
inline double simplex(std::vector<std::vector<double>> a, std::vector<double> b, std::vector<double> c) {
  const std::size_t rows = a.size(), columns = c.size();
  for (std::size_t r = 0; r < rows; ++r) {
    a[r].resize(columns + rows);
    a[r][columns + r] = 1;
  }
  c.resize(columns + rows);
  std::vector<std::size_t> basis(rows);
  for (std::size_t r = 0; r < rows; ++r) basis[r] = columns + r;
  double value = 0;
  for (;;) {
    std::size_t enter = 0;
    while (enter < c.size() && c[enter] <= 1e-11) ++enter;
    if (enter == c.size()) return value;
    std::size_t leave = rows;
    for (std::size_t r = 0; r < rows; ++r) {
      if (a[r][enter] <= 1e-11) continue;
      const double ratio = leave == rows ? -1 : b[r] / a[r][enter] - b[leave] / a[leave][enter];
      if (leave == rows || ratio < 0 || (ratio == 0 && basis[r] < basis[leave])) leave = r;
    }
    REQUIRE(leave < rows);
    const double pivot = a[leave][enter];
    for (double& each : a[leave]) each /= pivot;
    b[leave] /= pivot;
    for (std::size_t r = 0; r < rows; ++r) {
      const double factor = a[r][enter];
      if (r == leave || factor == 0) continue;
      for (std::size_t k = 0; k < a[r].size(); ++k) a[r][k] -= factor * a[leave][k];
      b[r] = std::max(0.0, b[r] - factor * b[leave]);
    }
    const double factor = c[enter];
    for (std::size_t k = 0; k < c.size(); ++k) c[k] -= factor * a[leave][k];
    value += factor * b[leave];
    basis[leave] = enter;
  }
}

}  // namespace contend::test
