#include "cli/sweep_store.hpp"

#include "cli/clock.hpp"
#include "cli/group_report.hpp"
#include "cli/version.hpp"
#include "scenarios/sweep/sqlite.hpp"
#include "sim/error.hpp"
#include "text/atomic_file.hpp"
#include "text/json_writer.hpp"
#include "text/quantities.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

namespace contend {
namespace {

std::string build() {
  return StoreManifest{
      .manifest = 0, .version = std::string{version()}, .git_hash = std::string{git_hash()}, .json = {}}
      .build();
}

[[noreturn]] void refuse_existing(const std::string& path) {
  SweepStore store = SweepStore::open(path);
  throw InputError{fmt::format(
      "{}: this store exists already, with {} of {} runs; --resume continues it, another -o STORE begins a new one",
      path, store.runs().size(), store.info().runs)};
}

}  // namespace

std::optional<Time> timeout_of(const Arguments& arguments, const SweepPlan& plan) {
  const auto text = arguments.value("timeout");
  if (!text) return std::nullopt;
  if (plan.info().kind == "study") throw UsageError{"--timeout: only runs of jobs have one, not iteration studies"};
  const Parsed<Time> time = parse_quantity<Time>(*text);
  if (!time.value || *time.value <= Time{})
    throw UsageError{fmt::format("--timeout: expected a duration above 0 such as 30s or 10min, got \"{}\"", *text)};
  return time.value;
}

WriterLock lock_store(const std::string& path) {
  refuse_link_or_folder(path);  // two names of one store would have a lock each
  refuse_foreign_logs(path);
  return WriterLock{path + ".lock", path};
}

ResumedSweep open_store(const Arguments& arguments, const SweepPlan& plan, const std::string& path, bool resume) {
  StoreInfo info = plan.info();
  info.per_job = arguments.has("per-job");
  for (const Grouping* grouping : chosen_groupings(arguments)) {
    const std::string name{grouping->name};
    if (std::ranges::find(info.groupings, name) == info.groupings.end()) info.groupings.push_back(name);
  }
  if (!info.groupings.empty() && info.kind == "study")
    throw UsageError{"--by groups jobs, but this is an iteration study"};
  if (!std::filesystem::exists(path)) {
    return {.store = SweepStore::create(path, info, plan.points()),
            .done = std::vector<bool>(static_cast<std::size_t>(info.runs), false)};
  }
  if (!resume) refuse_existing(path);
  return resume_sweep(path, plan, info, build());
}

StoreManifest manifest_of(const Arguments& arguments, const LoadedSweep& sweep, unsigned threads) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  JsonWriter json;
  json.begin_object().member("program", "contend").member("version", version()).member("git_hash", git_hash());
  json.key("command_line").begin_array();
  for (const std::string& word : arguments.command_line()) json.value(word);
  json.end_array().key("inputs").begin_array();
  for (const InputFile& input : sweep.inputs)
    json.begin_object().member("path", input.path).member("sha256", input.sha256).end_object();
  json.end_array().member("threads", static_cast<std::int64_t>(threads));
  json.member("begin", utc_now()).member("host", std::string_view{host.data()}).end_object();
  return {.manifest = 0, .version = std::string{version()}, .git_hash = std::string{git_hash()}, .json = json.take()};
}

std::string resume_command(const Arguments& arguments) {
  std::string command;
  for (const std::string& word : arguments.command_line()) {
    const bool plain = word.find_first_of(" '\"\\$`*?[]{}()<>|&;#~!") == std::string::npos && !word.empty();
    command += (command.empty() ? "" : " ") + (plain ? word : "'" + word + "'");
  }
  return arguments.has("resume") ? command : command + " --resume";
}

std::size_t metric_named(const StoreInfo& info, const std::string& option, const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < info.metrics.size(); ++i) {
    if (info.metrics[i].name == name) return i;
    names.push_back(info.metrics[i].name);
  }
  const std::string hint = suggestion(name, names);
  throw UsageError{fmt::format("--{}: there is no metric {}{}", option, name,
                               hint.empty() ? fmt::format("; they are {}", fmt::join(names, ", ")) : hint)};
}

}  // namespace contend
