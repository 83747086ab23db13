#pragma once
// Formats the figures of a recording, for people and for programs.

#include "traces/recording/recording.hpp"

#include <string>

namespace contend {

/// One rank in detail, or a table of several.
[[nodiscard]] std::string recording_text(const Recording& recording);
/// All ranks in detail, and the faults.
[[nodiscard]] std::string recording_json(const Recording& recording);

}  // namespace contend
