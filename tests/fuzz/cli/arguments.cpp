// Arbitrary lines as the words of a command line, the verb first: either a UsageError or an InputError that says why,
// or values that the options of the verb can have. The verbs of kCarriedOut are carried out in a temporary folder with
// a scenario and a job list, as long as no word leads out of it, and so are the verbs of kRuns.

#include "cli/commands.hpp"
#include "cli/dispatch.hpp"
#include "cli/options.hpp"
#include "sim/check.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::array<std::string_view, 11> kCarriedOut = {
    "check", "show", "list", "import", "schema", "completion", "man", "ask", "collective", "recording", "stragglers"};
/// Carried out on the two jobs of the list as they are, which take no time.
constexpr std::array<std::string_view, 3> kRuns = {"run", "explain", "compare"};
/// What makes other jobs of these, or many runs, which may take any time.
constexpr std::array<std::string_view, 3> kLong = {"set", "repeat", "precise"};

/// What leads out of the folder, and what starts a program (policies outside of this one, in any spelling of YAML).
constexpr std::array<std::string_view, 5> kHarmful = {"/", "..", "external", "command", "\\"};

/// Makes a folder with a scenario and a job list the current one, and their output go nowhere.
void enter_folder() {
  static const contend::TemporaryFolder folder;
  static const bool quiet =
      std::freopen("/dev/null", "w", stdout) != nullptr && std::freopen("/dev/null", "r", stdin) != nullptr;
  CONTEND_CHECK(quiet, "the output can go nowhere");
  // What earlier inputs have written must not matter.
  for (const auto& entry : std::filesystem::directory_iterator{folder.path("")})
    std::filesystem::remove_all(entry.path());
  contend::write_file(folder.path("s.yaml"),
                      "schema_version: 1\ncluster: {servers: 2, gpus_per_server: 2}\nnetwork: {nic: 10Gbps}\n"
                      "workload: {jobs: jobs.csv}\n");
  contend::write_file(folder.path("jobs.csv"), "job_id,submit_s,gpus,duration_s\na,0,1,20\nb,0.5,4,5\n");
  std::filesystem::current_path(folder.path(""));
}

void check_values(const contend::Command& command, const contend::Arguments& arguments) {
  for (const contend::Option& option : command.options) {
    const std::vector<std::string> values = arguments.values(option.name);
    CONTEND_CHECK(arguments.has(option.name) == !values.empty(), "an option that is there has a value");
    if (arguments.has("help")) continue;
    CONTEND_CHECK(option.repeatable || values.size() <= 1, "an option is given as often as it may be");
    CONTEND_CHECK(option.value.empty() || std::ranges::count(values, "") == 0, "an option that takes a value has one");
  }
  if (arguments.has("help")) return;
  const std::size_t count = arguments.positionals().size();
  CONTEND_CHECK(count >= command.min_arguments && count <= command.max_arguments, "a verb has its arguments");
}

void run_arguments(std::string_view text) {
  std::vector<std::string> words{"contend"};
  while (!text.empty()) words.emplace_back(contend::fuzz::take(text, '\n'));
  const auto has_none = [&](const auto& parts) {
    return std::ranges::none_of(words, [&](const std::string& word) {
      return std::ranges::any_of(parts, [&](std::string_view part) { return word.find(part) != std::string::npos; });
    });
  };
  try {
    const contend::Command* const command = contend::named_command(std::span{words}.subspan(1));
    if (command != nullptr) {
      const auto rest = std::span{words}.subspan(1 + contend::words_of(*command));
      check_values(*command, contend::parse_arguments(*command, rest, words));
      const bool runs = std::ranges::find(kRuns, command->name) != kRuns.end() && has_none(kLong);
      if (!runs && std::ranges::find(kCarriedOut, command->name) == kCarriedOut.end()) return;
    }
    if (!has_none(kHarmful)) return;
    enter_folder();
    static_cast<void>(contend::dispatch(words, words));
  } catch (const contend::UsageError& error) {
    CONTEND_CHECK(std::string_view{error.what()}.size() > 5, "a usage error says what is wrong");
  }
}

const contend::fuzz::Target kArguments{"arguments", run_arguments};

}  // namespace
