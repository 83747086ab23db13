#pragma once
// Whether the costs of a network that was measured hold for the sizes that a study sends (`overlap.fitted_bytes`).

#include "scenarios/scenario.hpp"
#include "scenarios/study/study_run.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace contend {

/// How far a size may be from those that were timed before somebody is told. An allowance of ours: benchmarks double
/// the size from row to row, so that the row beside the fitted ones is no farther.
inline constexpr int kFittedBytesAllowance = 2;

/// Collectives between servers, of every row and phase of a study.
struct UnfittedBytes {
  IterationStudy::FittedBytes fitted;
  std::size_t collectives = 0;
  std::size_t outside = 0;  ///< of them: smaller than the least or larger than the most by more than the allowance
  Bytes least, most;        ///< of those outside

  /// What somebody who relies on the study must know, on one line; empty if there are none outside.
  [[nodiscard]] std::string note() const;
};

/// From rows with StudyDetail::messages. None outside where nobody says what the costs were fitted to.
[[nodiscard]] UnfittedBytes unfitted_bytes(const IterationStudy& study, std::span<const StudyRow> rows);

}  // namespace contend
