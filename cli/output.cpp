#include "cli/output.hpp"

#include "cli/trial.hpp"
#include "sim/error.hpp"
#include "text/own_files.hpp"
#include "text/printable.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace contend {
namespace {

thread_local OutputCapture* innermost_capture = nullptr;

}  // namespace

void open_standard_streams() {
  // open() returns the lowest number that is free. A stream that is open for the wrong direction fails as a closed one.
  for (const auto& [stream, mode] :
       {std::pair{STDIN_FILENO, O_WRONLY}, std::pair{STDOUT_FILENO, O_RDONLY}, std::pair{STDERR_FILENO, O_WRONLY}})
    if (::fcntl(stream, F_GETFD) < 0) static_cast<void>(::open("/dev/null", mode));
}

void write_output(std::string_view text) {
  if (innermost_capture != nullptr)
    innermost_capture->output += text;
  else
    fmt::print("{}", text);
}

namespace {

void write_error_stream(std::string_view text) {
  if (innermost_capture != nullptr)
    innermost_capture->messages += text;
  else
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

}  // namespace

void write_message(std::string_view text) {
  if (innermost_capture == nullptr && was_said()) return;
  write_error_stream(printable_text(text));
}

void write_progress(std::string_view text) {
  write_error_stream(fmt::format("\r{}\x1b[K", text));
  std::fflush(stderr);
}

OutputCapture::OutputCapture() : outer_{std::exchange(innermost_capture, this)} {}

OutputCapture::~OutputCapture() {
  innermost_capture = outer_;
}

namespace {

/// True if the two paths are one, however each of them is written.
bool is_same_name(const std::string& a, const std::string& b) {
  const auto whole = [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
  };
  return whole(a) == whole(b);
}

}  // namespace

void refuse_to_overwrite(const std::string& output, std::span<const std::string> inputs) {
  for (const std::string& input : inputs) {
    std::error_code ignored;
    if (std::filesystem::equivalent(output, input, ignored))
      throw UsageError{fmt::format("{}: this file is an input of the command; write to another one", output)};
    if (is_same_name(output, input))
      throw UsageError{fmt::format("{}: the command names this file twice; write to another one", output)};
  }
}

void check_written_files(std::span<const Option> options, const Arguments& arguments) {
  std::vector<std::string> inputs = arguments.positionals();
  for (const Option& option : options)
    if (option.value == "FILE" && !option.writes)
      for (std::string& each : arguments.values(option.name)) inputs.push_back(std::move(each));
  std::vector<std::pair<std::string, std::string_view>> written;
  for (const Option& option : options) {
    const std::optional<std::string> path = option.writes ? arguments.value(option.name) : std::nullopt;
    if (!path || *path == "-") continue;  // standard output
    refuse_to_overwrite(*path, inputs);
    for (const auto& [before, name] : written)
      if (is_same_name(before, *path))
        throw UsageError{fmt::format("{}: --{} and --{} need a file each", *path, name, option.name)};
    written.emplace_back(*path, option.name);
    const std::filesystem::path folder = std::filesystem::path{*path}.parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder))
      throw InputError{{.file = *path, .reason = "can't be written: there is no folder " + folder.string()}};
    refuse_foreign_file(*path);
  }
}

void need_svg(std::string_view option, const std::string& path) {
  const std::string ending = std::filesystem::path{path}.extension().string();
  if (!ending.empty() && !same_but_for_case(ending, ".svg"))
    throw UsageError{fmt::format("--{}: figures are SVG; expected a name that ends in .svg, got \"{}\"", option, path)};
}

std::size_t output_width(std::size_t otherwise) {
  if (const char* const columns = std::getenv("COLUMNS"); columns != nullptr) {
    std::size_t width = 0;
    const char* const end = columns + std::strlen(columns);
    const auto [stop, error] = std::from_chars(columns, end, width);
    if (error == std::errc{} && stop == end && width > 0) return width;
  }
  winsize size{};
  const bool known = ::isatty(STDOUT_FILENO) == 1 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return known && size.ws_col > 0 ? size.ws_col : otherwise;
}

std::string coloured_verdicts(std::string_view text) {
  const char* const plain = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool wanted = ::isatty(STDOUT_FILENO) == 1 && (plain == nullptr || *plain == '\0') &&
                      (terminal == nullptr || std::string_view{terminal} != "dumb");
  if (!wanted) return std::string{text};
  constexpr std::string_view kGood = "ok  ", kBad = "FAIL";
  std::string out;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size() - 1) + 1;
    const std::string_view line = text.substr(start, end - start);
    if (line.starts_with(kGood) || line.starts_with(kBad))
      out += fmt::format("\x1b[{}m{}\x1b[0m{}", line.starts_with(kBad) ? 31 : 32, line.substr(0, kBad.size()),
                         line.substr(kBad.size()));
    else
      out += line;
    start = end;
  }
  return out;
}

}  // namespace contend
