// Finds the verb, and turns errors into a message on stderr and an exit code.

#include "cli/program.hpp"

#include "cli/commands.hpp"
#include "cli/dispatch.hpp"
#include "cli/exit_code.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/program_text.hpp"
#include "cli/trial.hpp"
#include "cli/version.hpp"
#include "policies/plugin.hpp"
#include "sim/error.hpp"
#include "sim/policy_failure.hpp"
#include "text/atomic_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
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

std::string first_commands() {
  const std::size_t width =
      std::ranges::max(kFirstCommands, {}, [](const auto& each) { return each.first.size(); }).first.size();
  std::string out = "contend: expected a verb; to begin:\n";
  for (const auto& [command, text] : kFirstCommands) out += fmt::format("  {:<{}}  {}\n", command, width, text);
  out.pop_back();
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
  if (words.size() < 2) throw UsageError{first_commands()};
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

bool load_plugins(std::vector<std::string>& words) {
  bool any = false;
  const auto load = [&](const std::string& path) {
    load_plugin(path);
    any = true;
  };
  constexpr std::string_view kOption = "--plugin";
  if (const char* const listed = std::getenv("CONTEND_PLUGIN"); listed != nullptr) {
    std::istringstream paths{listed};
    for (std::string path; std::getline(paths, path, ':');)
      if (!path.empty()) load(path);
  }
  while (words.size() > 1 && words[1].starts_with(kOption)) {
    const std::string rest = words[1].substr(kOption.size());
    if (!rest.empty() && rest.front() != '=') break;  // another option
    if (rest.empty() && words.size() == 2) throw UsageError{"contend --plugin: expected FILE, got nothing"};
    load(rest.empty() ? words[2] : rest.substr(1));
    words.erase(words.begin() + 1, words.begin() + (rest.empty() ? 3 : 2));
  }
  return any;
}

namespace {

/// Runs a function that may fail and returns its exit code. If the function throws an error, writes the message of the
/// error and returns the error's exit code.
int guarded(const std::vector<std::string>& words, const std::function<int()>& run) {
  try {
    return run();
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

/// Runs a verb. A full disk behind `contend ... > file` must not look like success.
int run_verb(const std::vector<std::string>& words, const std::vector<std::string>& command_line) {
  const int code = dispatch(words, command_line);
  const bool flushed = std::fflush(stdout) == 0;
  const int number = errno;
  if (flushed && std::ferror(stdout) == 0) return code;
  print_message("contend: can't write to standard output{}\n", flushed ? "" : ": " + system_reason(number));
  return kExitInput;
}

}  // namespace

int run_program(int argc, char** argv, void (*register_policies)()) {
  open_standard_streams();
  watch_crashes();
  const std::vector<std::string> command_line{argv, argv + argc};
  std::vector<std::string> words = command_line;
  return guarded(words, [&] {
    if (register_policies != nullptr) register_policies();
    const bool has_plugins = load_plugins(words);
    return run_watched(has_plugins || register_policies != nullptr,
                       [&] { return guarded(words, [&] { return run_verb(words, command_line); }); });
  });
}

}  // namespace contend
