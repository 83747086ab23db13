#pragma once
// Fits the constants of an iteration study to measured iterations: alpha, beta, one factor of interference and, if some
// iterations have it, the time of the host for the update of a tensor. Judges them by rows that they were not fitted
// to.
//
// The fit minimises the sum of the squares of log(predicted / measured) with the method of Levenberg and Marquardt
// (Marquardt, J. SIAM 1963). Iteration times have kinks where another message becomes the last one, so the slopes are
// differences over 2% of a constant, and a step that doesn't improve the sum is not taken. What is squared is the root
// of the loss of Cauchy with a scale of 5%, by which a row that no constants explain weighs little more than an
// ordinary one.
//
// Interference shows only in time that overlapping hides. Where no row hides 10% of itself, an error of a few per cent
// in the rows would be taken for any interference at all; then the first guess of it stays, and the other
// constants are fitted.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The constants that are fitted.
struct IterationConstants {
  double alpha_s = 0;           ///< start-up time of a message, from 1e-9 to 10
  double beta_ns_per_byte = 0;  ///< time per byte, from 1e-6 to 1e4
  double interference = 0;      ///< both factors of sim/interference.hpp, from 0 to 20
  double update_s = 0;          ///< of the host for each tensor (`update_per_tensor`), from 0 to 1
};

/// A measured iteration.
struct FittedRow {
  std::string group;     ///< rows that are left out together, for example the rows of one network
  double seconds = 0;    ///< measured, > 0
  bool updates = false;  ///< its prediction has the time of the host for the update of a tensor
};

/// Predicts the iteration time of a row in seconds.
using IterationPredictor = std::function<double(std::size_t row, const IterationConstants& constants)>;

/// Constants and what they predict.
struct IterationFit {
  IterationConstants constants;
  std::vector<double> predicted;   ///< seconds, by row; also for rows that were left out
  bool knows_interference = true;  ///< false: the rows hide too little time, and it is the first guess
  bool knows_update = true;        ///< false: none of the rows has one, and it is the first guess
};

/// Fits the constants to all rows but the rows of the group `without`; an empty name leaves none out. `start` is the
/// first guess; the update is fitted if one of these rows has one. Throws InputError if fewer rows than constants are
/// left.
[[nodiscard]] IterationFit fit_iterations(const std::vector<FittedRow>& rows, const IterationPredictor& predict,
                                          const IterationConstants& start, const std::string& without = {});

/// The fits that leave out one group each, by group in order of first appearance.
struct LeaveOneOut {
  std::vector<std::string> groups;
  std::vector<IterationFit> fits;  ///< as `groups`
  std::vector<double> predicted;   ///< seconds, by row, from the fit without its group; NaN for a row with an update of
                                   ///< which that fit knows nothing
};
/// Bounds of each constant.
struct ConstantIntervals {
  IterationConstants low, high;
};
/// 95% intervals around the constants of the fit to all groups, by how much these change when a group is left out (the
/// jackknife: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 11, with Student's t), on
/// logarithms but for interference. None with fewer than three groups. The intervals of the update are infinite where
/// fewer than three of these fits know it.
[[nodiscard]] std::optional<ConstantIntervals> constant_intervals(const IterationFit& all, const LeaveOneOut& left_out);

/// Fits once for each group. Throws InputError if there is only one group, or as fit_iterations().
[[nodiscard]] LeaveOneOut leave_one_out(const std::vector<FittedRow>& rows, const IterationPredictor& predict,
                                        const IterationConstants& start);

}  // namespace contend
