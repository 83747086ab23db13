#pragma once
// Runs of a sweep grouped by the values of its parameters.

#include "report/sweep_data.hpp"
#include "sim/statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace contend {

/// The different values of a parameter: numbers in numeric order, then texts in theirs.
struct SweepLevels {
  std::vector<std::string> names;
  std::vector<double> numbers;
  std::vector<std::size_t> of_row;  ///< by run, then by point without one
};
[[nodiscard]] SweepLevels levels_of(const SweepData::Parameter& parameter);

/// Of names that choose_axes() has checked.
[[nodiscard]] const SweepData::Parameter& parameter_of(const SweepData& data, const std::string& key);
[[nodiscard]] const SweepData::Metric& metric_of(const SweepData& data, const std::string& name);

/// The runs that one figure stands for.
struct SweepGroup {
  std::size_t waiting = 0;  ///< points without a run
  std::set<std::int64_t> points;
  std::map<std::uint64_t, std::vector<double>> by_seed;  ///< a value a point that has one

  /// Over the points, seed by seed, and then over seeds; NaN where no seed has a value at every point.
  [[nodiscard]] Estimate figure() const;
};

/// By level of `by` and of x. With `only`, of those rows.
[[nodiscard]] std::vector<std::vector<SweepGroup>> grouped(const SweepData& data, const std::vector<double>& values,
                                                           const SweepLevels& x, const SweepLevels& by,
                                                           const std::vector<bool>& only = {});

}  // namespace contend
