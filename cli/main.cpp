// The program `contend`: finds the verb, and turns what goes wrong into a message on stderr and an exit code.

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/options.hpp"
#include "cli/version.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <system_error>

#include <fmt/core.h>

namespace contend {
namespace {

using CommandGetter = const Command& (*)();
constexpr CommandGetter kCommands[] = {run_command,  compare_command, explain_command, report_command,  sweep_command,
                                       tune_command, results_command, merge_command,   check_command,   show_command,
                                       list_command, import_command,  schema_command,  validate_command};
/// A job list with one wrong column would otherwise scroll everything else away.
constexpr std::size_t kMaxDiagnostics = 20;

std::string program_help() {
  std::string out =
      "contend simulates clusters of GPUs that train deep networks: schedulers, placement and the network.\n\n"
      "Examples:\n"
      "  contend run scenarios/ada-srsf/base.yaml -o out\n"
      "  contend run scenarios/ada-srsf/communication-*.yaml --set network.nic=25Gbps\n\n"
      "Usage: contend VERB [OPTION]...\n\nVerbs:\n";
  for (const CommandGetter command : kCommands) out += fmt::format("  {:<10} {}\n", command().name, command().summary);
  out += fmt::format("  {:<10} {}\n\n", "version", "Print the version.");
  out +=
      "`contend VERB --help` explains a verb. Results go to stdout, messages to stderr.\n"
      "Exit codes: 0 ok; 1 a comparison, expectation or validation failed; 2 usage; 3 invalid input; 4 jobs left "
      "unfinished;\n"
      "70 internal error; 130 interrupted, with partial results written and marked.\n";
  return out;
}

void print_version() {
  const std::string hash = git_hash();
  fmt::print("contend {}{}\n", version(), hash.empty() ? "" : fmt::format(" ({})", hash));
}

bool is_verb(const std::string& word) {
  return std::any_of(std::begin(kCommands), std::end(kCommands), [&](CommandGetter get) { return get().name == word; });
}

const Command& find_command(const std::string& verb) {
  std::vector<std::string> names{"version", "--help", "--version"};
  for (const CommandGetter command : kCommands) {
    if (command().name == verb) return command();
    names.emplace_back(command().name);
  }
  throw UsageError{fmt::format("contend: unknown verb \"{}\"{}", verb, suggestion(verb, names))};
}

int dispatch(const std::vector<std::string>& words) {
  if (words.size() < 2) throw UsageError{"contend: expected a verb"};
  const std::string& verb = words[1];
  if (verb == "--help" || verb == "-h" || (verb == "help" && words.size() == 2)) {
    fmt::print("{}", program_help());
    return kExitOk;
  }
  if (verb == "--version" || verb == "version") {
    print_version();
    return kExitOk;
  }
  if (verb == "help") {
    fmt::print("{}", help_text(find_command(words[2])));
    return kExitOk;
  }
  const Command& command = find_command(verb);
  const Arguments arguments = parse_arguments(command, std::span{words}.subspan(2), words);
  if (arguments.has("help")) {
    fmt::print("{}", help_text(command));
    return kExitOk;
  }
  return command.run(arguments);
}

void print_diagnostics(const InputError& error) {
  const std::vector<Diagnostic>& all = error.diagnostics();
  for (std::size_t i = 0; i < std::min(all.size(), kMaxDiagnostics); ++i) {
    const Diagnostic& diagnostic = all[i];
    fmt::print(stderr, "{}{}\n", diagnostic.file.empty() ? "contend: " : "", diagnostic.format());
  }
  if (all.size() > kMaxDiagnostics) fmt::print(stderr, "... and {} more errors\n", all.size() - kMaxDiagnostics);
}

int guarded(const std::vector<std::string>& words) {
  try {
    const int code = dispatch(words);
    // A full disk behind `contend ... > file` must not look like success.
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    fmt::print(stderr, "contend: can't write to standard output\n");
    return kExitInput;
  } catch (const UsageError& error) {
    const bool known = words.size() > 1 && is_verb(words[1]);
    fmt::print(stderr, "{}\nTry `contend {}--help`.\n", error.what(), known ? words[1] + ' ' : "");
    return kExitUsage;
  } catch (const InputError& error) {
    print_diagnostics(error);
    return kExitInput;
  } catch (const std::system_error& error) {  // of fmt::print, threads and folders
    fmt::print(stderr, "contend: {}\n", error.what());
    return kExitInput;
  } catch (const std::exception& error) {
    fmt::print(stderr, "contend: internal error: {}\n", error.what());
    return kExitInternal;
  }
}

}  // namespace
}  // namespace contend

int main(int argc, char** argv) {
  // A broken invariant aborts after its message (sim/check.hpp); scripts know it by the documented exit code.
  std::signal(SIGABRT, [](int) { std::_Exit(contend::kExitInternal); });
  return contend::guarded({argv, argv + argc});
}
