#pragma once
// Checks the files that a verb writes, and says what its standard output can show.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace contend {

/// Throws UsageError if `output` is one of the input files, which would be lost.
void refuse_to_overwrite(const std::string& output, std::span<const std::string> inputs);

/// The width of lines on standard output: that of the variable COLUMNS if it is set, else that of the terminal, and
/// `otherwise` if the output is a file or a pipe. 0 means any width.
[[nodiscard]] std::size_t output_width(std::size_t otherwise = 0);

/// The text with the verdicts at the start of its lines in colour, `ok` green and `FAIL` red, if standard output is a
/// terminal and the variable NO_COLOR is not set.
[[nodiscard]] std::string coloured_verdicts(std::string_view text);

}  // namespace contend
