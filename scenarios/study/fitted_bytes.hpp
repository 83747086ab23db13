#pragma once
// Checks whether measured network costs cover the message sizes that a study sends (`network.fitted_bytes`).

#include "scenarios/scenario.hpp"
#include "scenarios/study/study_run.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace contend {

/// The factor by which a size may leave the measured range without a note. This allowance is a choice of this program:
/// benchmarks double the size from row to row, so the next row outside the range is within it.
inline constexpr int kFittedBytesAllowance = 2;

/// Collectives between servers, over all jobs and phases of a study.
struct UnfittedBytes {
  NetworkSetup::FittedBytes fitted;
  std::size_t collectives = 0;
  std::size_t outside = 0;  ///< those smaller than the least or larger than the most by more than the allowance
  Bytes least, most;        ///< sizes of those outside

  /// One line that warns the user of the study; empty if none is outside.
  [[nodiscard]] std::string note() const;
};

/// Computes it from messages_of_study(). None counts as outside if the measured sizes are unknown.
[[nodiscard]] UnfittedBytes unfitted_bytes(const NetworkSetup& network, std::span<const StudyMessages> jobs);

}  // namespace contend
