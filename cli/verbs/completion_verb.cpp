#include "cli/command.hpp"
#include "cli/completion.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"

#include <string>

#include <fmt/core.h>

namespace contend {
int completion_verb(const Arguments& arguments) {
  const std::string& shell = arguments.positionals().front();
  if (shell == "bash")
    print_output("{}", bash_completion());
  else if (shell == "zsh")
    print_output("{}", zsh_completion());
  else if (shell == "fish")
    print_output("{}", fish_completion());
  else
    throw UsageError{fmt::format("contend completion: expected bash, zsh or fish, got \"{}\"{}", shell,
                                 suggestion(shell, {"bash", "zsh", "fish"}))};
  return kExitOk;
}

}  // namespace contend
