#pragma once
// The runs of a sweep as columns, and the figures that follow from them: any metric over any two parameters.

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
    /// By run, and then of each point that has no run yet: as people write it; empty where the point has no such key.
    std::vector<std::string> values;
    std::vector<double> numbers;  ///< as many; NaN where it is no number
  };
  struct Metric {
    StoreMetric description;
    std::vector<double> values;  ///< by run, NaN where there is none
  };
  StoreInfo info;
  std::string build;  ///< of the program that made it; several are joined by commas
  std::vector<Parameter> parameters;
  std::vector<Metric> metrics;
  std::vector<std::int64_t> points;  ///< by run
  std::vector<std::uint64_t> seeds;
  std::vector<RunStatus> states;
  std::vector<std::string> errors;  ///< empty where it is done

  [[nodiscard]] std::size_t runs() const { return points.size(); }
};

/// Throws InputError.
[[nodiscard]] SweepData read_sweep(const std::string& path);

/// What is drawn: names of parameters and of a metric; what is empty is chosen by default_axes().
struct SweepAxes {
  std::string x, by, metric;
};
/// x: the numeric parameter, else any, with most values; by: the next one, if another differs; neither is `taken`;
/// metric: average JCT, or the first. Throws InputError for a name that isn't there, with the nearest.
[[nodiscard]] SweepAxes choose_axes(const SweepData& data, const SweepAxes& wanted, const std::string& taken = {});

/// A line a value of `by`, and, with two parameters, a heat map. As query_results() has it, a figure is averaged over
/// the points that it stands for, seed by seed, and then over seeds, to which its 95% interval belongs. Seeds that lack
/// a value at one of these points are left out; where none is left there is no figure.
[[nodiscard]] std::vector<Figure> sweep_figures(const SweepData& data, const SweepAxes& axes);

/// A value of a parameter, as the store prints it, that others are compared with.
struct SweepReference {
  std::string key, value;
};
/// For each other value of that parameter a map of the metric over the one at the reference, a cell a value of x and of
/// `by`: who wins where. The ratio of two figures as sweep_figures() has them; empty where there is none. Throws
/// InputError for a value that isn't there, with the nearest, and where x and `by` aren't two other parameters.
[[nodiscard]] std::vector<Figure> ratio_maps(const SweepData& data, const SweepAxes& axes,
                                             const SweepReference& reference);

/// The columns for the page.
void write_sweep_json(JsonWriter& json, const SweepData& data, const SweepAxes& axes);

}  // namespace contend
