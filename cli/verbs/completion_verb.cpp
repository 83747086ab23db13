#include "cli/command.hpp"
#include "cli/completion.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"

#include <string>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::string_view kCompletionExamples[] = {
    "source <(contend completion bash)",
    "contend completion fish > ~/.config/fish/completions/contend.fish",
};

int run_completion(const Arguments& arguments) {
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

}  // namespace

const Command& completion_command() {
  static constexpr Command kCommand = {.name = "completion",
                                       .arguments = "SHELL",
                                       .summary = "Print the completion of verbs and options for bash, zsh or fish.",
                                       .examples = kCompletionExamples,
                                       .options = {},
                                       .min_arguments = 1,
                                       .max_arguments = 1,
                                       .run = run_completion};
  return kCommand;
}

}  // namespace contend
