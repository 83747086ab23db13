#include "cli/output.hpp"

#include "cli/command.hpp"

#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

namespace contend {

void open_standard_streams() {
  // open() returns the lowest number that is free. A stream that is open for the wrong direction fails as a closed one.
  for (const auto& [stream, mode] :
       {std::pair{STDIN_FILENO, O_WRONLY}, std::pair{STDOUT_FILENO, O_RDONLY}, std::pair{STDERR_FILENO, O_WRONLY}})
    if (::fcntl(stream, F_GETFD) < 0) static_cast<void>(::open("/dev/null", mode));
}

void write_message(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

void refuse_to_overwrite(const std::string& output, std::span<const std::string> inputs) {
  for (const std::string& input : inputs) {
    std::error_code ignored;
    if (std::filesystem::equivalent(output, input, ignored))
      throw UsageError{fmt::format("{}: this file is an input of the command; write to another one", output)};
  }
}

}  // namespace contend
