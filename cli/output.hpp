#pragma once
// What the program writes: its standard streams, messages, what its standard output can show, and checks of the files
// that a verb writes.

#include "cli/command.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace contend {

/// Opens whichever of standard input, output and error the caller has closed. Otherwise the next file to be opened
/// would take the place of one of them, and messages would go into that file. Messages are then lost, and what is
/// printed on standard output can't be written, which is an error as it is for a full disk.
void open_standard_streams();

/// Writes on standard output. Throws std::system_error if that fails at once.
void write_output(std::string_view text);

/// The same with a format as in fmt::print().
template <class... Arguments>
void print_output(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write_output(fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// Writes on standard error, as printable_text() shows it: messages quote files, whose bytes no terminal is to obey. If
/// nothing can be written there, the message is lost and everything else is as ever, above all the exit code.
void write_message(std::string_view text);
/// Writes on standard error over the line that was written there last: the progress that a terminal shows while a verb
/// works. An empty text clears the line.
void write_progress(std::string_view text);

/// The same with a format as in fmt::print().
template <class... Arguments>
void print_message(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write_message(fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// While one lives, what its thread prints and says is kept here and doesn't reach the standard streams. It is for
/// those who call a verb as a function. Captures of one thread nest.
class OutputCapture {
 public:
  OutputCapture();
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  std::string output;    ///< for standard output
  std::string messages;  ///< for standard error

 private:
  OutputCapture* outer_;
};

/// Throws UsageError or InputError if what these options say can't be written: a file that is an input of the verb or
/// not contend's to replace, one file for two options, a file in a folder that doesn't exist. dispatch() asks before
/// the verb begins to work.
void check_written_files(std::span<const Option> options, const Arguments& arguments);

/// Throws UsageError if `output` is one of the input files, which would be lost.
void refuse_to_overwrite(const std::string& output, std::span<const std::string> inputs);

/// Throws UsageError if the name of a figure, the value of this option, has an ending other than .svg: figures are SVG,
/// and no viewer opens a `plot.png` with SVG in it. Names without an ending may be devices or pipes.
void need_svg(std::string_view option, const std::string& path);

/// The width of lines on standard output: the variable COLUMNS if it is set, else the width of the terminal, and
/// `otherwise` if the output is a file or a pipe. 0 means any width.
[[nodiscard]] std::size_t output_width(std::size_t otherwise = 0);

/// The text with the verdicts at the start of its lines in colour, `ok` green and `FAIL` red, if standard output is a
/// terminal and the variable NO_COLOR is not set.
[[nodiscard]] std::string coloured_verdicts(std::string_view text);

}  // namespace contend
