#pragma once
// The runs of a sweep as columns, and figures of any metric over any two parameters.

#include "report/figure.hpp"
#include "scenarios/sweep/sweep_store.hpp"
#include "sim/statistics.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace contend {

struct SweepData {
  struct Parameter {
    std::string key;
    std::string unit;      ///< of the numbers of a quantity
    bool numeric = false;  ///< every value is a number or missing
    /// Values as people write them, by run and then by point without a run; empty if the point has no such key.
    std::vector<std::string> values;
    std::vector<double> numbers;  ///< as many; NaN if the value is not a number
    std::string title{};          ///< the key as a figure names it, see key_titles()
  };
  struct Metric {
    StoreMetric description;
    std::vector<double> values;  ///< by run; NaN if there is no value
  };
  StoreInfo info;
  Draws draws = Draws::independent;  ///< what the runs of a point have in common
  bool has_checksums = true;         ///< SweepStore::has_checksums()
  std::string build;                 ///< of the program; several are joined by commas
  std::vector<Parameter> parameters;
  std::vector<Metric> metrics;
  std::vector<std::int64_t> points;  ///< by run, and then those without a run
  std::vector<std::uint64_t> seeds;
  std::vector<RunStatus> states;
  std::vector<std::string> errors;  ///< empty for a completed run

  /// The point with which each run is compared under the same seed; empty if the sweep has no baseline.
  std::vector<std::int64_t> baselines;
  std::string baseline_text;  ///< what these points have in common, `NIC = 200Gbps`; empty without a baseline

  [[nodiscard]] std::size_t runs() const { return seeds.size(); }
};

/// Reads the store of a sweep. Throws InputError.
[[nodiscard]] SweepData read_sweep(const std::string& path);

/// The value of a parameter, as the store prints it: one that figures are held at, or that serves as their reference.
struct SweepReference {
  std::string key, value;
};

/// What to draw: two parameters, a metric, and what becomes of the other parameters that vary.
struct SweepAxes {
  std::string x{}, by{}, metric{};
  std::vector<SweepReference> held{};   ///< figures are drawn of the points with these values only
  std::vector<std::string> averaged{};  ///< figures are means over all values of these
};
/// Completes the axes. x is the numeric parameter with most values, or any parameter if none is numeric. `by` is a
/// parameter of words, such as a policy, before one of numbers, and has no more values than lines can be told apart.
/// Neither is `taken`. The metric is the average JCT, or the first one. No figure is a mean over a parameter that is
/// not `averaged`: where points with different values of another parameter would fall together, it is held at the value
/// that most of the sweep has, the first of several, unless most of the figure would be empty then. Throws InputError
/// for an unknown name or value, with the nearest.
[[nodiscard]] SweepAxes choose_axes(const SweepData& data, const SweepAxes& wanted, const std::string& taken = {});

/// A line for each value of `by`, or a dot for each point where points that differ in more fall together, and, with two
/// parameters, a heat map; if the sweep has a baseline, the same again for the ratio to it. As in query_results(), a
/// figure is averaged first over its points for each seed and then over seeds, which gives its 95% interval; a ratio is
/// the geometric mean over seeds and points. Seeds without a value at one of these points are left out; if none
/// remains, there is no figure.
[[nodiscard]] std::vector<Figure> sweep_figures(const SweepData& data, const SweepAxes& axes);

/// One of the two goals of a front.
struct SweepGoal {
  std::string metric;
  bool maximise = false;
};
/// The Pareto front of the points that have been run under the most seeds and whose jobs have all finished, as in
/// `contend tune`. Throws InputError for a metric that isn't there, with the nearest, or if no point has both values.
[[nodiscard]] Figure sweep_front(const SweepData& data, const SweepGoal& x, const SweepGoal& y);

/// For each other value of the reference's parameter, a map of the metric relative to the reference, with a cell for
/// each value of x and of `by`; it shows where each side is better. A cell is the ratio of two figures of
/// sweep_figures(), empty if there is none. Throws InputError for an unknown value, with the nearest, and unless x and
/// `by` are two other parameters.
[[nodiscard]] std::vector<Figure> ratio_maps(const SweepData& data, const SweepAxes& axes,
                                             const SweepReference& reference);

/// Writes the columns for the page.
void write_sweep_json(JsonWriter& json, const SweepData& data, const SweepAxes& axes);

}  // namespace contend
