#pragma once
// Measured iterations in a CSV file, each as an iteration study of its own: the fit of constants
// (models/overlap/iteration_fit.hpp) predicts them as the study would.
//
// The columns are `seconds`, the measured time of an iteration, and keys of a scenario, which each row overrides:
// `network.alpha` ..., and for short keys of the study without `overlap.` and members of the entry that it studies,
// such as `workers` and `model`. A row names one number of workers, one fusion policy and one compression method, or
// the scenario does.

#include "models/layers.hpp"
#include "models/overlap/iteration_fit.hpp"
#include "scenarios/scenario.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// A row of the file.
struct MeasuredIteration {
  int line = 0;
  std::string title;  ///< what its columns say, for people
  std::string group;  ///< its text in the column by which rows are left out together
  double seconds = 0;
  Scenario scenario;
  TimedModel model;
};

/// The member of an entry that is fitted where rows have it.
inline constexpr std::string_view kUpdateMember = "update_per_tensor";

/// Where the rows come from.
struct MeasurementSource {
  std::string scenario;                ///< path of the scenario that the rows override
  std::vector<std::string> overrides;  ///< `key=value`, for all rows
  std::string group = "model";         ///< the column by which rows are left out together
};

/// Reads the rows. Throws InputError with every fault: an unknown or repeated column, a time that is no number > 0, a
/// study that can't be run, a row with several workers or policies or another network.formula than the first, a column
/// of a constant that is fitted, measured costs by size that have no alpha and beta.
[[nodiscard]] std::vector<MeasuredIteration> read_measured_iterations(std::string_view text, const std::string& file,
                                                                      const MeasurementSource& source);

/// The predicted iteration time of a row in seconds. Throws InputError if its policy can't work there.
[[nodiscard]] double predicted_seconds(const MeasuredIteration& row, const IterationConstants& constants);

/// The fit to all rows, and the fits that leave one group out.
struct MeasuredFit {
  IterationFit all;
  std::vector<std::string> undetermined;  ///< constants that change no prediction
  LeaveOneOut left_out;
};
/// Fits alpha, beta and one interference; the first guess is what the first row's scenario has. Where rows have
/// `update_per_tensor`, the fit covers it, too; the first guess is the value of the first of these rows.
[[nodiscard]] MeasuredFit fit_measured(const std::vector<MeasuredIteration>& rows);

/// The constants of the network as a scenario to include, with the value of `network.formula` that they are for; that
/// of an entry of `training` is in a comment. `comments` are lines about where they come from.
[[nodiscard]] std::string constants_fragment(const IterationConstants& constants, std::string_view formula,
                                             const std::vector<std::string>& comments);

}  // namespace contend
