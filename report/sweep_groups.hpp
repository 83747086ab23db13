#pragma once
// Groups the runs of a sweep by the values of its parameters.

#include "report/sweep_data.hpp"
#include "sim/statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace contend {

/// The distinct values of a parameter: numbers in numeric order, then texts in alphabetical order.
struct SweepLevels {
  std::vector<std::string> names;
  std::vector<double> numbers;
  std::vector<std::size_t> of_row;  ///< index of the level, by run and then by point without a run
};
[[nodiscard]] SweepLevels levels_of(const SweepData::Parameter& parameter);

/// Finds a parameter or metric by a name that choose_axes() has checked.
[[nodiscard]] const SweepData::Parameter& parameter_of(const SweepData& data, const std::string& key);
[[nodiscard]] const SweepData::Metric& metric_of(const SweepData& data, const std::string& name);

/// The runs behind one figure.
struct SweepGroup {
  std::size_t waiting = 0;  ///< points without a run
  std::set<std::int64_t> points;
  std::map<std::uint64_t, std::vector<double>> by_seed;  ///< for each seed, one value for each point that has one

  /// The mean over the points for each seed and then over seeds; NaN if no seed has a value at every point.
  [[nodiscard]] Estimate figure() const;
};

/// The groups by level of `by` and of x; `only`, if given, selects rows.
[[nodiscard]] std::vector<std::vector<SweepGroup>> grouped(const SweepData& data, const std::vector<double>& values,
                                                           const SweepLevels& x, const SweepLevels& by,
                                                           const std::vector<bool>& only = {});

}  // namespace contend
