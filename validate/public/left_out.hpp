#pragma once
// Judges the intervals of predictions on sets of measurements that were left out: what the errors of parts don't
// explain of a set is taken from all other sets.

#include "models/prediction_errors.hpp"

#include <span>
#include <vector>

namespace contend {

/// The measured predictions of a set.
using JudgedSet = std::vector<JudgedPrediction>;

/// By set: what the other sets show beyond the errors of parts.
[[nodiscard]] std::vector<Unmodelled> unmodelled_by_others(std::span<const JudgedSet> sets);
/// What all of them show.
[[nodiscard]] Unmodelled unmodelled_by_all(std::span<const JudgedSet> sets);
/// The share of the predictions whose measurement lies in the interval of 90%; 0 without predictions.
[[nodiscard]] double coverage(const JudgedSet& set, const Unmodelled& unmodelled);

/// The share of all sets together.
struct TotalCoverage {
  double of_rows = 0;  ///< each row with the same weight
  double of_sets = 0;  ///< each set with the same weight, because rows of one machine and program are wrong together
};
[[nodiscard]] TotalCoverage total_coverage(std::span<const JudgedSet> sets, std::span<const Unmodelled> by_others);

}  // namespace contend
