#include "cli/output.hpp"

#include "cli/command.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/core.h>

namespace contend {

void refuse_to_overwrite(const std::string& output, std::span<const std::string> inputs) {
  for (const std::string& input : inputs) {
    std::error_code ignored;
    if (std::filesystem::equivalent(output, input, ignored))
      throw UsageError{fmt::format("{}: this file is an input of the command; write to another one", output)};
  }
}

}  // namespace contend
