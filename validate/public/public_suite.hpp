#pragma once
// Public measurements of training steps, and what this program and other simulators predict for them.

#include "models/prediction_errors.hpp"
#include "validate/suites.hpp"

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// A measured iteration and what is predicted for it.
struct PublicPrediction {
  std::string row;               ///< its label
  std::string workload;          ///< rows with one text are ways to train one model on as many GPUs; may be empty
  double measured_s = 0;         ///< of an iteration; 0 where tokens are measured and there is no prediction
  std::optional<double> ours_s;  ///< none: the scenario is refused
  std::string refusal;           ///< why
  bool fits = false;             ///< what the fullest GPU holds, in the memory of its sheet
  std::vector<PartError> parts;  ///< what the errors of the parts of our prediction do to it
  std::optional<double> peer_s;  ///< of the set's peer
};

/// How far predictions are from measurements, as shares of the measurement.
struct PredictionErrors {
  std::size_t rows = 0;
  double mean = 0, median = 0, p90 = 0, worst = 0;  ///< of absolute deviations
  double signed_median = 0;
};
[[nodiscard]] PredictionErrors prediction_errors(std::vector<double> deviations);

/// By how much longer than the fastest measured way of a workload the way takes that is fastest by the predictions, in
/// the mean over all workloads with two predicted ways or more; nothing if there is none.
[[nodiscard]] std::optional<double> choice_regret(const std::vector<PublicPrediction>& rows);

/// Compares all sets whose data are there. Prints a table in Markdown with a row for each set and simulator. Returns a
/// SuiteVerdict: the suite holds if each set's mean deviation and number of refusals are as stated, and what errors of
/// parts don't explain is as models/errors.yaml has it. Throws InputError for a file of another simulator that can't be
/// read.
int validate_public(std::FILE* out, const SuiteFiles& files);

}  // namespace contend
