// The program `contend`: finds the verb, and turns errors into a message on stderr and an exit code.

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/version.hpp"
#include "sim/error.hpp"
#include "text/atomic_file.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <span>
#include <system_error>

#include <fmt/core.h>

namespace contend {
namespace {

using CommandGetter = const Command& (*)();
constexpr CommandGetter kCommands[] = {run_command,
                                       compare_command,
                                       explain_command,
                                       report_command,
                                       sweep_command,
                                       tune_command,
                                       results_command,
                                       merge_command,
                                       check_command,
                                       show_command,
                                       list_command,
                                       import_command,
                                       schema_command,
                                       validate_command,
                                       calibrate_command,
                                       calibrate_model_command,
                                       calibrate_network_command,
                                       fit_command,
                                       collective_command,
                                       flows_command};
/// A job list with one wrong column would otherwise scroll everything else away.
constexpr std::size_t kMaxComplaints = 20;

std::string program_help() {
  std::string out =
      "contend simulates clusters of GPUs that train deep networks: scheduling, placement and communication.\n\n"
      "Examples:\n"
      "  contend run scenarios/ada-srsf/base.yaml -o out\n"
      "  contend run scenarios/ada-srsf/communication-*.yaml --set network.nic=25Gbps\n\n"
      "Usage: contend VERB [OPTION]...\n\nVerbs:\n";
  for (const CommandGetter command : kCommands) out += fmt::format("  {:<18} {}\n", command().name, command().summary);
  out += fmt::format("  {:<18} {}\n\n", "version", "Print the version.");
  out +=
      "`contend VERB --help` explains a verb. Results go to stdout, messages to stderr.\n"
      "On a terminal tables fit its width (COLUMNS overrides it), and verdicts have colours unless NO_COLOR is set.\n"
      "Exit codes: 0 ok; 1 a comparison, expectation or validation failed; 2 usage; 3 invalid input; 4 jobs left "
      "unfinished;\n5 a required facility is missing, such as a GPU; 6 a policy in another process failed, and 130 "
      "interrupted,\nboth with partial results written and marked; 70 internal error.\n"
      "Environment: CONTEND_MAX_INFLATED, the most that one gzip file may inflate to (default 4GiB).\n";
  return out;
}

void print_version() {
  const std::string hash = git_hash();
  fmt::print("contend {}{}\n", version(), hash.empty() ? "" : fmt::format(" ({})", hash));
}

/// The command that the words after the program's name begin with, or nullptr. A verb may have two words, such as
/// `calibrate network`, beside the verb of the first word alone.
const Command* named_command(std::span<const std::string> words) {
  const auto named = [](const std::string& name) -> const Command* {
    const auto* const found =
        std::find_if(std::begin(kCommands), std::end(kCommands), [&](CommandGetter get) { return get().name == name; });
    return found == std::end(kCommands) ? nullptr : &(*found)();
  };
  if (words.size() >= 2)
    if (const Command* const command = named(words[0] + ' ' + words[1])) return command;
  return words.empty() || words[0].find(' ') != std::string::npos ? nullptr : named(words[0]);
}

std::size_t words_of(const Command& command) {
  return command.name.find(' ') == std::string_view::npos ? 1 : 2;
}

/// `calibrate netwrk` isn't an argument too many, but a second word that is misspelt.
void check_second_word(const Command& command, std::span<const std::string> words) {
  if (words.size() < 2 || words[1].starts_with('-') || words_of(command) == 2 || command.max_arguments > 0) return;
  std::vector<std::string> seconds;
  const std::string first = words[0] + ' ';
  for (const CommandGetter get : kCommands)
    if (get().name.starts_with(first)) seconds.emplace_back(get().name.substr(first.size()));
  if (!seconds.empty())
    throw UsageError{
        fmt::format("contend {}: unexpected argument \"{}\"{}", command.name, words[1], suggestion(words[1], seconds))};
}

const Command& find_command(std::span<const std::string> words) {
  if (const Command* const command = named_command(words)) {
    check_second_word(*command, words);
    return *command;
  }
  std::vector<std::string> names{"version", "--help", "--version"};
  for (const CommandGetter get : kCommands) names.emplace_back(get().name.substr(0, get().name.find(' ')));
  throw UsageError{fmt::format("contend: unknown verb \"{}\"{}", words[0], suggestion(words[0], names))};
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
    fmt::print("{}", help_text(find_command(std::span{words}.subspan(2))));
    return kExitOk;
  }
  const Command& command = find_command(std::span{words}.subspan(1));
  const Arguments arguments = parse_arguments(command, std::span{words}.subspan(1 + words_of(command)), words);
  if (arguments.has("help")) {
    fmt::print("{}", help_text(command));
    return kExitOk;
  }
  return command.run(arguments);
}

void print_complaints(const InputError& error) {
  const std::vector<Complaint>& all = error.complaints();
  for (std::size_t i = 0; i < std::min(all.size(), kMaxComplaints); ++i) {
    const Complaint& complaint = all[i];
    print_message("{}{}\n", complaint.file.empty() ? "contend: " : "", complaint.format());
  }
  if (all.size() > kMaxComplaints) print_message("... and {} more errors\n", all.size() - kMaxComplaints);
}

int guarded(const std::vector<std::string>& words) {
  try {
    const int code = dispatch(words);
    // A full disk behind `contend ... > file` must not look like success.
    const bool flushed = std::fflush(stdout) == 0;
    const int number = errno;
    if (flushed && std::ferror(stdout) == 0) return code;
    print_message("contend: can't write to standard output{}\n", flushed ? "" : ": " + system_reason(number));
    return kExitInput;
  } catch (const UsageError& error) {
    const Command* const known = words.empty() ? nullptr : named_command(std::span{words}.subspan(1));
    print_message("{}\nTry `contend {}--help`.\n", error.what(), known ? fmt::format("{} ", known->name) : "");
    return kExitUsage;
  } catch (const InputError& error) {
    print_complaints(error);
    return kExitInput;
  } catch (const std::system_error& error) {  // of fmt::print, threads and folders
    const int number = error.code().value();
    print_message("contend: {}\n", number == ENOSPC ? system_reason(number) : error.what());
    return kExitInput;
  } catch (const std::exception& error) {
    print_message("contend: internal error: {}\n", error.what());
    return kExitInternal;
  }
}

}  // namespace
}  // namespace contend

int main(int argc, char** argv) {
  contend::open_standard_streams();
  // A broken invariant aborts after its message (sim/check.hpp); scripts know it by the documented exit code.
  std::signal(SIGABRT, [](int) { std::_Exit(contend::kExitInternal); });
  return contend::guarded({argv, argv + argc});
}
