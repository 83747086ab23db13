#pragma once
// The command line of the process that continues a calibration.

#include <cstdint>
#include <string>
#include <vector>

namespace contend {

/// The words of a command `contend calibrate ...` with --resume, and with `seconds` as its --budget.
[[nodiscard]] std::vector<std::string> resumed_command(const std::vector<std::string>& words, std::uint64_t seconds);

}  // namespace contend
