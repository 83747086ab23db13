// Finds the verb, and turns errors into a message on stderr and an exit code.

#include "cli/program.hpp"

#include "cli/commands.hpp"
#include "cli/dispatch.hpp"
#include "cli/exit_code.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/program_text.hpp"
#include "cli/version.hpp"
#include "policies/plugin.hpp"
#include "sim/ask_policy.hpp"
#include "sim/error.hpp"
#include "sim/policy_failure.hpp"
#include "text/atomic_file.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <unistd.h>

namespace contend {
namespace {

/// A job list with one wrong column would otherwise scroll everything else away.
constexpr std::size_t kMaxComplaints = 20;

std::string program_help() {
  std::string out = fmt::format("{}\n\nExamples:\n", kProgramSummary);
  for (const std::string_view example : kProgramExamples) out += fmt::format("  {}\n", example);
  out += "\nUsage: contend [--plugin FILE]... VERB [OPTION]...\n\nVerbs:\n";
  for (const Command& command : commands()) out += fmt::format("  {:<18} {}\n", command.name, command.summary);
  out += fmt::format("  {:<18} {}\n\n", "version", "Print the version.");
  out +=
      "`contend VERB --help` explains a verb. Results go to stdout, messages to stderr.\n"
      "On a terminal tables fit its width, and verdicts have colours.\n\nExit codes:\n";
  for (const auto& [code, text] : kExitCodes) out += fmt::format("  {:<18} {}\n", static_cast<int>(code), text);
  out += "\nEnvironment:\n";
  const std::size_t width =
      std::ranges::max(kEnvironment, {}, [](const auto& each) { return each.first.size(); }).first.size();
  for (const auto& [name, text] : kEnvironment) out += fmt::format("  {:<{}} {}\n", name, width, text);
  return out;
}

void print_version() {
  const std::string hash = git_hash(), cuda = cuda_version();
  print_output("contend {}{}\ncompiled by {}; CUDA: {}\n", version(), hash.empty() ? "" : fmt::format(" ({})", hash),
               compiler(), cuda.empty() ? "none" : cuda);
}

/// `calibrate netwrk` isn't an argument too many, but a second word that is misspelt.
void check_second_word(const Command& command, std::span<const std::string> words) {
  if (words.size() < 2 || words[1].starts_with('-') || words_of(command) == 2 || command.max_arguments > 0) return;
  std::vector<std::string> seconds;
  const std::string first = words[0] + ' ';
  for (const Command& each : commands())
    if (each.name.starts_with(first)) seconds.emplace_back(each.name.substr(first.size()));
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
  for (const Command& each : commands()) names.emplace_back(each.name.substr(0, each.name.find(' ')));
  throw UsageError{fmt::format("contend: unknown verb \"{}\"{}", words[0], suggestion(words[0], names))};
}

}  // namespace

int dispatch(const std::vector<std::string>& words, const std::vector<std::string>& command_line) {
  if (words.size() < 2) throw UsageError{"contend: expected a verb"};
  const std::string& verb = words[1];
  if (verb == "--help" || verb == "-h" || (verb == "help" && words.size() == 2)) {
    print_output("{}", program_help());
    return kExitOk;
  }
  if (verb == "--version" || verb == "version") {
    if (words.size() > 2) throw UsageError{fmt::format("contend {}: unexpected argument \"{}\"", verb, words[2])};
    print_version();
    return kExitOk;
  }
  if (verb == "help") {
    const Command& command = find_command(std::span{words}.subspan(2));
    if (words.size() > 2 + words_of(command))
      throw UsageError{fmt::format("contend help: unexpected argument \"{}\"", words[2 + words_of(command)])};
    print_output("{}", help_text(command));
    return kExitOk;
  }
  const Command& command = find_command(std::span{words}.subspan(1));
  const Arguments arguments = parse_arguments(command, std::span{words}.subspan(1 + words_of(command)), command_line);
  if (arguments.has("help")) {
    print_output("{}", help_text(command));
    return kExitOk;
  }
  try {
    check_written_files(command.options, arguments);
    return command.run(arguments);
  } catch (const InputError& error) {
    if (command.print_wrong_input != nullptr) command.print_wrong_input(arguments, error);
    throw;
  } catch (const UsageError& error) {
    if (command.print_wrong_input != nullptr) command.print_wrong_input(arguments, InputError{error.what()});
    throw;
  }
}

std::string complaints_text(const InputError& error) {
  const std::vector<Complaint>& all = error.complaints();
  std::string out;
  for (std::size_t i = 0; i < std::min(all.size(), kMaxComplaints); ++i)
    out += fmt::format("{}{}\n", all[i].file.empty() ? "contend: " : "", all[i].format());
  if (all.size() > kMaxComplaints) out += fmt::format("... and {} more errors\n", all.size() - kMaxComplaints);
  return out;
}

void load_plugins(std::vector<std::string>& words) {
  constexpr std::string_view kOption = "--plugin";
  if (const char* const listed = std::getenv("CONTEND_PLUGIN"); listed != nullptr) {
    std::istringstream paths{listed};
    for (std::string path; std::getline(paths, path, ':');)
      if (!path.empty()) load_plugin(path);
  }
  while (words.size() > 1 && words[1].starts_with(kOption)) {
    const std::string rest = words[1].substr(kOption.size());
    if (!rest.empty() && rest.front() != '=') return;  // another option
    if (rest.empty() && words.size() == 2) throw UsageError{"contend --plugin: expected FILE, got nothing"};
    load_plugin(rest.empty() ? words[2] : rest.substr(1));
    words.erase(words.begin() + 1, words.begin() + (rest.empty() ? 3 : 2));
  }
}

namespace {

std::atomic<bool> g_in_verb{false};

/// Ends the program as the failure of the policy that this thread asks. Safe in a handler of signals.
[[noreturn]] void end_by_policy(std::string_view how) {
  const AskedPolicy by = asked_policy.kind.empty() ? AskedPolicy{"some", "?"} : asked_policy;
  for (const std::string_view part :
       {std::string_view{"contend: "}, by.kind, std::string_view{" policy `"}, std::string_view{by.name},
        std::string_view{"` "}, how, std::string_view{", which ends the program: the results of the run are lost\n"}})
    static_cast<void>(!::write(STDERR_FILENO, part.data(), part.size()));
  std::_Exit(kExitPolicy);
}

constexpr std::pair<int, std::string_view> kCrashes[] = {{SIGSEGV, "used a bad address (SIGSEGV)"},
                                                         {SIGBUS, "used a bad address (SIGBUS)"},
                                                         {SIGFPE, "divided by zero (SIGFPE)"},
                                                         {SIGILL, "came to a bad instruction (SIGILL)"},
                                                         {SIGABRT, "called abort()"}};
struct sigaction g_before_crash[std::size(kCrashes)];  // NOLINT: a handler can only reach globals

/// A policy that crashes ends the program as one that fails. A broken invariant of the program aborts after its message
/// (sim/check.hpp); scripts know it by the documented exit code. Other crashes are left to who had the signal before.
extern "C" void end_after_crash(int signal) {
  for (std::size_t i = 0; i < std::size(kCrashes); ++i) {
    if (kCrashes[i].first != signal) continue;
    if (!asked_policy.kind.empty()) end_by_policy(kCrashes[i].second);
    if (signal == SIGABRT) std::_Exit(kExitInternal);
    sigaction(signal, &g_before_crash[i], nullptr);  // what crashed does so again
  }
}

void watch_crashes() {
  for (std::size_t i = 0; i < std::size(kCrashes); ++i) {
    struct sigaction action {};
    action.sa_handler = end_after_crash;
    sigemptyset(&action.sa_mask);
    sigaction(kCrashes[i].first, &action, &g_before_crash[i]);
  }
}

/// While it lives, nothing of the program calls exit(). A policy of a plugin that does ends the program as one that
/// fails.
class ExitWatch {
 public:
  ExitWatch() {
    static const int registered = std::atexit([] {
      if (g_in_verb) end_by_policy("called exit()");
    });
    static_cast<void>(registered);
    g_in_verb = true;
  }
  ~ExitWatch() { g_in_verb = false; }
  ExitWatch(const ExitWatch&) = delete;
  ExitWatch& operator=(const ExitWatch&) = delete;
};

int guarded(const std::vector<std::string>& command_line, void (*register_policies)()) {
  std::vector<std::string> words = command_line;
  try {
    if (register_policies != nullptr) register_policies();
    load_plugins(words);
    const int code = [&] {
      const ExitWatch watch;
      return dispatch(words, command_line);
    }();
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
  } catch (const PolicyError& error) {
    write_message(complaints_text(error));
    return kExitPolicy;
  } catch (const InputError& error) {
    write_message(complaints_text(error));
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

int run_program(int argc, char** argv, void (*register_policies)()) {
  open_standard_streams();
  watch_crashes();
  return guarded({argv, argv + argc}, register_policies);
}

}  // namespace contend
