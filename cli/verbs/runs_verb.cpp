#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/text_table.hpp"
#include "results/metric_bound.hpp"
#include "results/result_columns.hpp"
#include "results/result_reader.hpp"
#include "scenarios/keys/differences.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/sweep/sweep_store.hpp"
#include "sim/complaints.hpp"
#include "sim/error.hpp"
#include "sim/fields.hpp"
#include "text/json_writer.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::size_t kRunsWidth = 160;
constexpr std::size_t kMostMetrics = 3;  ///< so many are columns unless the user names more
constexpr std::size_t kMostKeys = 4;     ///< so many of the keys that differ are columns

/// A folder of `contend run -o`, or a store of `contend sweep`.
struct KeptRun {
  std::string path{}, name{}, written{}, state{};
  std::int64_t runs = 0;
  std::optional<Scenario> scenario{};  ///< of a folder whose scenario this version can read
  std::vector<double> figures{};       ///< means over the runs of a folder, in the order of metrics(); else empty
};

/// When the file was written, in UTC, to the minute.
std::string time_of(const std::filesystem::path& file) {
  const auto when = std::chrono::file_clock::to_sys(std::filesystem::last_write_time(file));
  return fmt::format("{:%Y-%m-%d %H:%M}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(
                         std::chrono::time_point_cast<std::chrono::system_clock::duration>(when))));
}

/// The state of a run whose files can't be read.
std::string unreadable(const InputError& error) {
  const std::string& reason = error.complaints().front().reason;
  return reason.starts_with("can't be ") ? reason : "can't be read: " + reason;
}

KeptRun folder_at(const std::filesystem::path& folder) {
  KeptRun kept{.path = folder.string(), .written = time_of(folder / "manifest.json")};
  try {
    const StoredResults stored = read_results(kept.path);
    kept.name = stored.name;
    kept.state = stored.exit_state;
    kept.runs = static_cast<std::int64_t>(stored.replicas.size());
    for (std::size_t i = 0; i < metrics().size(); ++i) {
      std::vector<double> values;
      for (const StoredReplica& each : stored.replicas) values.push_back(each.figures[i]);
      kept.figures.push_back(mean(values));
    }
    kept.scenario = load_scenario((folder / "scenario.yaml").string());
  } catch (const InputError& error) {
    if (kept.state.empty()) kept.state = unreadable(error);
  }
  return kept;
}

KeptRun store_at(const std::filesystem::path& file) {
  KeptRun kept{.path = file.string(), .written = time_of(file)};
  try {
    SweepStore store = SweepStore::open(kept.path);
    kept.name = store.info().name;
    kept.runs = static_cast<std::int64_t>(store.runs().size());
    kept.state = kept.runs < store.info().runs ? fmt::format("{} of {} runs", kept.runs, store.info().runs) : "sweep";
  } catch (const InputError& error) {
    kept.state = unreadable(error);
  }
  return kept;
}

/// True if the file begins as a manifest of this program does.
bool is_manifest(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return false;
  std::ifstream in{file};
  std::string head(64, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  return head.find("\"program\": \"contend\"") != std::string::npos;
}

/// All runs at or below the path, in the order of their paths. Links aren't followed.
std::vector<KeptRun> runs_below(const std::string& path) {
  if (!std::filesystem::exists(path))
    throw InputError{{Complaint{.file = path, .reason = "there is no such file or folder"}}};
  std::vector<std::filesystem::path> folders, stores;
  const auto look_at = [&](const std::filesystem::path& each) {
    if (is_manifest(each / "manifest.json")) folders.push_back(each);
    if (each.extension() == ".sqlite") stores.push_back(each);
  };
  look_at(path);
  if (std::filesystem::is_directory(path))
    for (const auto& each : std::filesystem::recursive_directory_iterator{
             path, std::filesystem::directory_options::skip_permission_denied})
      look_at(each.path());
  std::vector<KeptRun> found;
  for (const auto& each : folders) found.push_back(folder_at(each));
  for (const auto& each : stores) found.push_back(store_at(each));
  std::ranges::sort(found, {}, &KeptRun::path);
  return found;
}

/// Leaves the runs whose scenarios these settings change in nothing. Throws UsageError for a text that sets no key, and
/// InputError if no scenario takes the settings.
void leave_those_with(const std::vector<std::string>& settings, std::vector<KeptRun>& runs) {
  for (const std::string& text : settings)
    if (text.find('=') == std::string::npos || text.front() == '=')
      throw UsageError{fmt::format("--where: expected KEY=VALUE, got \"{}\"", text)};
  if (settings.empty()) return;
  std::optional<InputError> refused;
  bool any_takes = false;
  std::erase_if(runs, [&](const KeptRun& run) {
    if (!run.scenario) return true;
    try {
      const std::string file = (std::filesystem::path{run.path} / "scenario.yaml").string();
      const Scenario changed = load_scenario(file, {.overrides = settings});
      any_takes = true;
      return to_yaml(changed) != to_yaml(*run.scenario);
    } catch (const InputError& error) {
      refused = amended(error, [](Complaint& each) {
        if (each.file == "--set") each.file = "--where";
      });
      return true;
    }
  });
  if (refused && !any_takes) throw *refused;
}

/// The metrics that the user names; else the first usual ones that a run has.
std::vector<const Metric*> shown_metrics(const Arguments& arguments, const std::vector<KeptRun>& runs) {
  std::vector<const Metric*> shown;
  const std::string given = arguments.value("metric").value_or("");
  for (std::string_view rest = given; !rest.empty();) {
    const std::string name{take_field(rest, ',')};
    const Metric* const metric = find_metric(name);
    if (metric == nullptr)
      throw UsageError{fmt::format("--metric: unknown metric \"{}\"; {}", name, metric_hint(name))};
    shown.push_back(metric);
  }
  if (arguments.has("metric")) return shown;
  for (const char* name : {"avg_jct_s", "avg_waiting_s", "gpu_utilisation", "iteration_s", "throughput_per_s"}) {
    const Metric& usual = metric(name);
    const std::size_t i = metric_index(usual);
    if (shown.size() < kMostMetrics &&
        std::ranges::any_of(runs, [&](const KeptRun& run) { return !run.figures.empty() && run.figures[i] > 0; }))
      shown.push_back(&usual);
  }
  return shown;
}

/// The keys in which the scenarios differ, with an empty value for runs without a scenario.
std::vector<KeyDifference> differences_of(const std::vector<KeptRun>& runs) {
  std::vector<Scenario> scenarios;
  for (const KeptRun& run : runs)
    if (run.scenario) scenarios.push_back(*run.scenario);
  if (scenarios.size() < 2) return {};
  std::vector<KeyDifference> all = differing_keys(scenarios);
  for (KeyDifference& each : all)
    for (std::size_t i = 0; i < runs.size(); ++i)
      if (!runs[i].scenario) each.values.insert(each.values.begin() + static_cast<std::ptrdiff_t>(i), "");
  return all;
}

std::string runs_json(const std::vector<KeptRun>& runs, const std::vector<const Metric*>& shown,
                      const std::vector<KeyDifference>& differences) {
  JsonWriter json;
  json.begin_array();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const KeptRun& run = runs[i];
    json.begin_object().member("path", run.path).member("scenario", run.name).member("written", run.written);
    json.member("state", run.state).member("runs", run.runs).key("keys").begin_object();
    for (const KeyDifference& each : differences)
      if (!each.values[i].empty()) json.member(each.key, each.values[i]);
    json.end_object().key("figures").begin_object();
    for (const Metric* each : shown)
      if (!run.figures.empty()) json.member(each->name, run.figures[metric_index(*each)]);
    json.end_object().end_object();
  }
  json.end_array();
  return json.take();
}

std::string runs_text(const std::vector<KeptRun>& runs, const std::vector<const Metric*>& shown,
                      const std::vector<KeyDifference>& differences) {
  std::vector<std::string> titles{"path", "scenario", "written (UTC)", "state", "runs"};
  const std::size_t keys = std::min(kMostKeys, differences.size());
  for (std::size_t k = 0; k < keys; ++k) titles.push_back(differences[k].key);
  std::vector<std::vector<std::string>> columns;
  for (const Metric* each : shown) {
    const double factor = shown_factor(each->unit);
    const std::string_view unit = shown_unit(each->unit);
    titles.push_back(unit.empty() ? std::string{each->title} : fmt::format("{} [{}]", each->title, unit));
    std::vector<double> values;
    for (const KeptRun& run : runs)
      values.push_back(run.figures.empty() ? std::nan("") : factor * run.figures[metric_index(*each)]);
    columns.push_back(format_column(values));
  }
  Table table{titles};
  for (std::size_t i = 1; i < 4; ++i) table.align_left(i);
  for (std::size_t k = 0; k < keys; ++k) table.align_left(5 + k);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<std::string> cells{runs[i].path, runs[i].name, runs[i].written, runs[i].state,
                                   runs[i].runs > 0 ? fmt::format("{}", runs[i].runs) : "-"};
    for (std::size_t k = 0; k < keys; ++k)
      cells.push_back(differences[k].values[i].empty() ? "-" : differences[k].values[i]);
    for (const auto& column : columns) cells.push_back(column[i]);
    table.add(std::move(cells));
  }
  std::string out = table.text(output_width(kRunsWidth));
  if (differences.size() > keys)
    out += fmt::format("and {} more keys differ; --json has all\n", differences.size() - keys);
  return out;
}

}  // namespace

int runs_verb(const Arguments& arguments) {
  const std::string path = arguments.positionals().empty() ? "." : arguments.positionals().front();
  std::vector<KeptRun> runs = runs_below(path);
  const std::size_t all = runs.size();
  leave_those_with(arguments.values("where"), runs);
  const std::vector<const Metric*> shown = shown_metrics(arguments, runs);
  const std::vector<KeyDifference> differences = differences_of(runs);
  if (arguments.has("json")) {
    print_output("{}", runs_json(runs, shown, differences));
    return kExitOk;
  }
  if (runs.empty()) {
    print_message("contend runs: {} below {}\n",
                  all == 0 ? "no folder of `contend run -o` and no store of `contend sweep` lies"
                           : fmt::format("--where leaves none of the {} runs", all),
                  path);
    return kExitOk;
  }
  print_output("{}", runs_text(runs, shown, differences));
  return kExitOk;
}

}  // namespace contend
