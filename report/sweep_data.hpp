#pragma once
// The runs of a sweep as columns, and figures of any metric over any two parameters.

#include "report/figure.hpp"
#include "scenarios/sweep/sweep_store.hpp"

#include <cstdint>
#include <optional>
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
  };
  struct Metric {
    StoreMetric description;
    std::vector<double> values;  ///< by run; NaN if there is no value
  };
  StoreInfo info;
  std::string build;  ///< of the program; several are joined by commas
  std::vector<Parameter> parameters;
  std::vector<Metric> metrics;
  std::vector<std::int64_t> points;  ///< by run
  std::vector<std::uint64_t> seeds;
  std::vector<RunStatus> states;
  std::vector<std::string> errors;  ///< empty for a completed run

  [[nodiscard]] std::size_t runs() const { return points.size(); }
};

/// Reads the store of a sweep. Throws InputError.
[[nodiscard]] SweepData read_sweep(const std::string& path);

/// The names of two parameters and a metric to draw; choose_axes() chooses those that are empty.
struct SweepAxes {
  std::string x, by, metric;
};
/// Completes the axes. x is the numeric parameter with most values, or any parameter if none is numeric; `by` is the
/// next one if another varies; neither is `taken`. The metric is the average JCT, or the first one. Throws InputError
/// for an unknown name, with the nearest.
[[nodiscard]] SweepAxes choose_axes(const SweepData& data, const SweepAxes& wanted, const std::string& taken = {});

/// A line for each value of `by` and, with two parameters, a heat map. As in query_results(), a figure is averaged
/// first over its points for each seed and then over seeds, which gives its 95% interval. Seeds without a value at one
/// of these points are left out; if none remains, there is no figure.
[[nodiscard]] std::vector<Figure> sweep_figures(const SweepData& data, const SweepAxes& axes);

/// The value of a parameter, as the store prints it, that serves as the reference.
struct SweepReference {
  std::string key, value;
};
/// For each other value of that parameter, a map of the metric relative to the reference, with a cell for each value of
/// x and of `by`; it shows where each side is better. A cell is the ratio of two figures of sweep_figures(), empty if
/// there is none. Throws InputError for an unknown value, with the nearest, and unless x and `by` are two other
/// parameters.
[[nodiscard]] std::vector<Figure> ratio_maps(const SweepData& data, const SweepAxes& axes,
                                             const SweepReference& reference);

/// Writes the columns for the page.
void write_sweep_json(JsonWriter& json, const SweepData& data, const SweepAxes& axes);

}  // namespace contend
