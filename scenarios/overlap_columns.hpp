#pragma once
// The one table of the figures of a study of one iteration: for tables, files and stores of sweeps.

#include "scenarios/overlap_run.hpp"

#include <span>
#include <string_view>

namespace contend {

struct OverlapColumn {
  std::string_view name;   ///< in files, with the unit
  std::string_view title;  ///< for people, in the unit that they are shown in
  double shown;            ///< factor to that unit
  std::string_view unit;   ///< `s`, `share` (of 1), `per_s`, `B` or `messages`
  std::string_view text;
  double (*value)(const OverlapRow&);
  bool of_compression = false;  ///< shown to people only where something is compressed
  bool of_levels = false;       ///< shown to people only where servers have several workers
};
[[nodiscard]] std::span<const OverlapColumn> overlap_columns();

}  // namespace contend
