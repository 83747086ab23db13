#pragma once
// Groups the runs of a sweep by the values of its parameters.

#include "report/sweep_data.hpp"
#include "sim/statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// The distinct values of a parameter: numbers in numeric order, then texts in natural order.
struct SweepLevels {
  std::vector<std::string> names;
  std::vector<std::string> titles;  ///< the names as figures have them
  std::vector<double> numbers;
  std::vector<std::size_t> of_row;  ///< index of the level, by run and then by point without a run
};
[[nodiscard]] SweepLevels levels_of(const SweepData::Parameter& parameter);

/// The index of the level that a reference names, by its text or by its value: 0.01Tbps names the level 10Gbps. Throws
/// InputError, with the nearest.
[[nodiscard]] std::size_t level_named(const SweepLevels& levels, const SweepReference& reference);

/// An axis with the levels as categories.
[[nodiscard]] FigureAxis level_axis(const SweepData::Parameter& parameter, const SweepLevels& levels);

/// ` (workers = 4)`: the values at which figures are held, for a title; may be empty.
[[nodiscard]] std::string held_text(const SweepData& data, const SweepAxes& axes);
/// ` Means over 3 values of placement and over 5 seeds.`: what each figure is a mean of, for a caption; may be empty.
[[nodiscard]] std::string averaged_text(const SweepData& data, const SweepAxes& axes);

/// Throws InputError, with the nearest name, if `name` is not empty and none of `names`; `what` they are: `metric`.
void check_name(const std::string& name, const std::vector<std::string>& names, std::string_view what);
/// Finds a parameter or metric by a name that has been checked.
[[nodiscard]] const SweepData::Parameter& parameter_of(const SweepData& data, const std::string& key);
[[nodiscard]] const SweepData::Metric& metric_of(const SweepData& data, const std::string& name);

/// The runs behind one figure.
struct SweepGroup {
  Draws draws = Draws::independent;  ///< what the runs of a point have in common
  std::size_t waiting = 0;           ///< points without a run
  std::set<std::int64_t> points;
  std::map<std::uint64_t, std::vector<double>> by_seed;  ///< for each seed, one value for each point that has one

  /// The mean over the points for each seed and then over seeds; NaN if no seed has a value at every point.
  [[nodiscard]] Estimate figure() const;
  /// The same of values that are logarithms of ratios: the geometric mean.
  [[nodiscard]] RatioEstimate ratio() const;
};

/// The logarithm of each run's metric over the metric of its baseline under one seed: NaN if one of them has no value,
/// negative infinity if one is not positive.
[[nodiscard]] std::vector<double> log_ratios(const SweepData& data, const std::vector<double>& values);

/// True for the rows (runs, and then points without a run) that have the values at which the axes hold parameters.
[[nodiscard]] std::vector<bool> held_rows(const SweepData& data, const SweepAxes& axes);

/// True if rows with equal levels of the parameters `grouped_by` differ in this one.
[[nodiscard]] bool is_mixed(const SweepLevels& levels, const std::vector<const SweepLevels*>& grouped_by,
                            const std::vector<bool>& only);

/// The number of different combinations of levels in these rows.
[[nodiscard]] std::size_t combinations(const std::vector<const SweepLevels*>& of, const std::vector<bool>& only);

/// The groups by level of `by` and of x; `only`, if given, selects rows.
[[nodiscard]] std::vector<std::vector<SweepGroup>> grouped(const SweepData& data, const std::vector<double>& values,
                                                           const SweepLevels& x, const SweepLevels& by,
                                                           const std::vector<bool>& only = {});

}  // namespace contend
