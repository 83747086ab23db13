#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/instant_option.hpp"
#include "cli/manifest_yaml.hpp"
#include "cli/output.hpp"
#include "cli/quantity_option.hpp"
#include "sim/error.hpp"
#include "text/json_writer.hpp"
#include "text/own_files.hpp"
#include "traces/cluster/snapshot_scenario.hpp"
#include "traces/jobs/timestamp.hpp"

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

namespace fs = std::filesystem;

/// Names of a kind of things that people are shown.
constexpr std::size_t kShownNames = 12;

std::string snapshot_text(const ClusterSnapshot& snapshot, const SnapshotCounts& counts) {
  std::string out =
      fmt::format("{} at {} UTC ({})\n", snapshot.name, format_timestamp(snapshot.now), snapshot.now_source);
  const auto line = [&](std::string_view name, const std::string& value) {
    out += fmt::format("  {:<18}{}\n", name, value);
  };
  line("read", fmt::format("{}", fmt::join(snapshot.files, ", ")));
  line("nodes", fmt::format("{}, {} in service", counts.nodes, counts.usable_nodes));
  line("GPUs", fmt::format("{}, {} in service, {} free", counts.gpus, counts.usable_gpus, counts.free_gpus));
  line("running jobs", fmt::format("{}, on {} GPUs", counts.running, counts.running_gpus));
  line("waiting jobs",
       fmt::format("{}, for {} GPUs; {} after other jobs", counts.waiting, counts.waiting_gpus, counts.dependent));
  line("scheduling", snapshot.scheduler.empty() ? "fifo, because the files don't say which" : snapshot.scheduler);
  if (!snapshot.left_out.empty()) out += "not in the scenario:\n";
  for (const auto& [kind, names] : snapshot.left_out) {
    std::int64_t all = 0;
    std::vector<std::string> shown;
    for (const auto& [name, count] : names) {
      all += count;
      if (shown.size() < kShownNames) shown.push_back(count == 1 ? name : fmt::format("{} ({})", name, count));
    }
    if (names.size() > shown.size()) shown.push_back(fmt::format("{} others", names.size() - shown.size()));
    out += fmt::format("  {}: {}: {}\n", kind, all, fmt::join(shown, ", "));
  }
  return out;
}

std::string snapshot_json(const ClusterSnapshot& snapshot, const SnapshotCounts& counts) {
  JsonWriter json;
  json.begin_object().member("name", snapshot.name);
  json.member("now_s", snapshot.now.ns() / 1'000'000'000).member("now_source", snapshot.now_source);
  json.member("scheduling", snapshot.scheduler.empty() ? "fifo" : snapshot.scheduler);
  json.member("nodes", counts.nodes).member("usable_nodes", counts.usable_nodes).member("gpus", counts.gpus);
  json.member("usable_gpus", counts.usable_gpus).member("free_gpus", counts.free_gpus);
  json.member("running", counts.running).member("running_gpus", counts.running_gpus);
  json.member("waiting", counts.waiting).member("waiting_gpus", counts.waiting_gpus);
  json.member("dependent", counts.dependent);
  json.key("files").begin_array();
  for (const std::string& file : snapshot.files) json.value(file);
  json.end_array().key("left_out").begin_array();
  for (const auto& [kind, names] : snapshot.left_out)
    for (const auto& [name, count] : names)
      json.begin_object().member("kind", kind).member("name", name).member("count", count).end_object();
  json.end_array().end_object();
  return json.take();
}

}  // namespace

int cluster_import_verb(const Arguments& arguments) {
  if (arguments.has("json") && arguments.has("quiet"))
    throw UsageError{"contend cluster import: expected one of --json and --quiet, got both"};
  const std::optional<std::string> output = arguments.value("output");
  const std::string list = output ? fs::path{*output}.replace_extension(".csv").string() : "jobs.csv";
  if (output == list)
    throw UsageError{"--output: expected a scenario, such as now.yaml, beside which NAME.csv is written"};
  const std::optional<Time> limit = quantity_of<Time>(arguments, "limit");
  ClusterSnapshot snapshot =
      read_snapshot(arguments.positionals(), instant_of(arguments, "now", "since 1970"), read_manifests);
  const SnapshotScenario made = scenario_of(snapshot, fs::path{list}.filename().string(), limit);
  if (output) {
    std::vector<WrittenFile> files{{*output, made.yaml}};
    if (!made.jobs.empty()) files.push_back({list, made.jobs});
    write_own_files(files);
  }
  if (arguments.has("json"))
    print_output("{}", snapshot_json(snapshot, made.counts));
  else if (!arguments.has("quiet"))
    print_output("{}", snapshot_text(snapshot, made.counts));
  return kExitOk;
}

}  // namespace contend
