#pragma once
// The part of the suite `ada-srsf` that compares the engine, the time stepper and the reference job set by job set.

#include "validate/ada_srsf/time_stepped.hpp"

#include <cstdio>
#include <span>
#include <string>

namespace contend {

/// Draws job sets with seeds from 1 and prints what the unwritten rules change. Holds if the engine ends every job at
/// the nanosecond at which the time stepper ends it without these rules.
[[nodiscard]] bool hold_drawn_sets(std::FILE* out, int sets);

/// The same on the job sets of the reference. Holds if, besides, the time stepper with both rules gives every figure of
/// the reference.
[[nodiscard]] bool hold_reference_sets(std::FILE* out, std::span<const TimeSteppedRow> rows, const std::string& folder);

}  // namespace contend
