#include "scenarios/keys/keys.hpp"

#include "network/catalogue.hpp"
#include "scenarios/keys/expectation_codec.hpp"
#include "scenarios/keys/failure_keys.hpp"
#include "scenarios/keys/key_rows.hpp"
#include "scenarios/keys/like_keys.hpp"
#include "scenarios/keys/loan_keys.hpp"
#include "scenarios/keys/network_keys.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/keys/scheduling_keys.hpp"
#include "scenarios/keys/sharing_keys.hpp"
#include "scenarios/keys/study_keys.hpp"
#include "scenarios/keys/training_codec.hpp"
#include "scenarios/keys/type_keys.hpp"
#include "scenarios/sweep/sweep_keys.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace contend {
namespace {

using key_rows::displacing;
using key_rows::kDay;
using key_rows::kHour;
using key_rows::property;
using key_rows::row;

constexpr std::int64_t kMaxJobs = 1'000'000;
constexpr std::int64_t kMaxIterations = 1'000'000'000'000;

bool studies_jobs(const Scenario& scenario) {
  return !scenario.overlap.given();
}

bool studies_iteration(const Scenario& scenario) {
  return scenario.overlap.given();
}

/// Keys of jobs and clusters are invalid in an iteration study, and `overlap.*` is invalid in a study of jobs.
ScenarioKey for_its_study(ScenarioKey key) {
  constexpr std::string_view kOfJobs[] = {"cluster.", "policies.", "scheduling.", "workload.",   "engine.",
                                          "measure.", "failures.", "loans.",      "checkpoints."};
  const auto add = [&](KeyCondition condition, std::string_view needs) {
    key.conditions.push_back(condition);
    if (key.needs.empty()) key.needs = needs;
  };
  if (key.path == "cluster.gpus_per_server") return key;  // studies have servers, too, as many as their workers fill
  if (std::any_of(std::begin(kOfJobs), std::end(kOfJobs),
                  [&](std::string_view group) { return key.path.starts_with(group); })) {
    add(studies_jobs, "a study of jobs (no overlap.training)");
  } else if (key.path.starts_with("overlap.") && key.path != "overlap.training") {
    add(studies_iteration, "overlap.training");
  }
  return key;
}

/// A key of the file itself, not of the scenario that it describes: there is nothing of it to store or to show.
class FileKeyIo : public PartIo<Scenario> {
 public:
  void read(const YamlNode&, const Reading&, Scenario&) const override {}
  void copy(const Scenario&, Scenario&) const final {}
  [[nodiscard]] std::string print(const Scenario&) const override { return {}; }
  [[nodiscard]] std::optional<PlainValue> plain(const Scenario&, PartNames) const final { return std::nullopt; }
  [[nodiscard]] std::optional<PlainValue> part(const Scenario&, std::string_view) const final { return std::nullopt; }
  void visit_paths(Scenario&, const PathVisitor&) const final {}
};

class IncludeIo final : public FileKeyIo {
 public:
  IncludeIo() { type = "path or list of paths"; }
  void schema(JsonWriter& json) const override {
    json.key("anyOf").begin_array();
    json.begin_object().member("type", "string").end_object();
    json.begin_object().member("type", "array").key("items").begin_object().member("type", "string").end_object();
    json.end_object().end_array();
  }
};

ScenarioKey version_key() {
  ScenarioKey key = row<&Scenario::schema_version>(
      "schema_version", integer_codec<int>(1, kSchemaVersion),
      "version of the scenario format; required in every file. The versions have the keys in common and differ in what "
      "a key means that is not given: in 2 what a framework does on the device of the job, in 1 an ideal. A file that "
      "includes others has its own version");
  key.role = KeyRole::schema_version;
  return key;
}

ScenarioKey include_key() {
  ScenarioKey key =
      key_rows::key_of("include", std::make_unique<const IncludeIo>(),
                       "files whose keys this file takes over, relative to this file; later files override "
                       "earlier ones, this file overrides all");
  key.role = KeyRole::include;
  return key;
}

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  for (const TextEntry& each : machines()) names.emplace_back(each.name);
  return names;
}

std::vector<ScenarioKey> run_keys() {
  return {
      version_key(),
      include_key(),
      row<&NetworkSetup::machine>(
          "machine", optional_codec(name_codec(machine_names()), ""),
          "servers as they are built (`contend list machines`): what isn't given of their GPUs, memory, interfaces, "
          "links, library and interference, and the device of entries of training, is as that machine has it"),
      row<&Scenario::name>("name", title_codec(), "short name, for tables and plots"),
      row<&Scenario::description>("description", text_codec(), "purpose of the scenario"),
      row<&Scenario::seed>("seed", integer_codec<std::uint64_t>(0, INT64_MAX), "seed of the first replica"),
      row<&Scenario::repeat>("repeat", integer_codec<int>(1, 100'000), "replicas, with the seeds seed, seed + 1, ..."),
  };
}

std::vector<ScenarioKey> cluster_keys() {
  std::vector<ScenarioKey> keys{
      row<&ClusterSetup::servers>(
          "cluster.servers", integer_codec<int>(1, 1'000'000),
          "number of servers; each has one network interface unless network.server describes it"),
      row<&ClusterSetup::gpus_per_server>(
          "cluster.gpus_per_server", integer_codec<int>(1, 1024),
          "GPUs of each server; in an iteration study workers, of which by default each has a server of its own, and "
          "fewer workers than that are on one server"),
      row<&ClusterSetup::gpu_memory>("cluster.gpu_memory", quantity_codec(Bytes{1}, Bytes{std::int64_t{1} << 50}),
                                     "memory of each GPU"),
  };
  for (ScenarioKey& key : keys) {  // with types they follow from these
    key.conditions = {[](const Scenario& scenario) { return scenario.cluster.types.empty(); }};
  }
  keys.push_back(types_key());
  return keys;
}

std::vector<ScenarioKey> policy_keys() {
  return {
      row<&Scenario::scheduling>("policies.scheduling", policy_codec(policy_kind("scheduling")),
                                 "chooses the queued job that starts next"),
      row<&Scenario::placement>("policies.placement", policy_codec(policy_kind("placement")),
                                "chooses the GPUs of a starting job"),
      row<&Scenario::communication>("policies.communication", policy_codec(policy_kind("communication")),
                                    "decides when a waiting transfer may enter the network"),
  };
}

std::vector<ScenarioKey> workload_keys() {
  using Interval = std::pair<std::int64_t, std::int64_t>;
  std::vector<ScenarioKey> keys{
      jobs_key(),
      row<&GeneratedWorkload::models>(
          "workload.generate.models", models_codec(),
          "what the jobs train: entries of training or training profiles, chosen with equal probability"),
      row<&GeneratedWorkload::sizes>("workload.generate.sizes", sizes_codec(kMaxGpus, kMaxJobs),
                                     "number of jobs for each number of GPUs"),
      property<Interval>(
          "workload.generate.iterations",
          [](const Scenario& s) {
            return Interval{s.workload.generate.min_iterations, s.workload.generate.max_iterations};
          },
          [](Scenario& s, Interval value) {
            s.workload.generate.min_iterations = value.first;
            s.workload.generate.max_iterations = value.second;
          },
          interval_codec(1, kMaxIterations), "iterations of a job, uniform between these bounds, both included"),
      row<&GeneratedWorkload::arrival_window>(
          "workload.generate.arrivals", quantity_codec(Time::milliseconds(1), 3650 * kDay),
          "jobs arrive at whole milliseconds, uniform in [0, this time); 1ms: all at the start"),
  };
  for (ScenarioKey& key : keys) {
    if (key.displaces.empty()) key.displaces = {"workload.jobs", "workload.like"};
  }
  keys.push_back(scatter_penalty_key());
  for (ScenarioKey& key : throughput_keys()) keys.push_back(std::move(key));
  std::vector<ScenarioKey> like = like_keys();
  keys.insert(keys.begin() + 1, std::make_move_iterator(like.begin()), std::make_move_iterator(like.end()));
  return keys;
}

std::vector<ScenarioKey> training_keys() {
  return {row<&Scenario::training>(
      "training", training_codec(),
      "how jobs train, by names that job lists and workload.generate.models give: a network, its device, how its "
      "gradients are merged and compressed; the entry `default` holds for all others")};
}

std::vector<ScenarioKey> engine_keys() {
  return {
      row<&Scenario::Engine::leap>(
          "engine.leap", bool_codec(),
          "skip whole periods when the state of the simulation recurs; results are the same either way"),
      row<&Scenario::Engine::until>("engine.until",
                                    optional_codec(quantity_codec(Time::nanoseconds(1), 36'500 * kDay), "none"),
                                    "stop the simulation at this time"),
  };
}

std::vector<ScenarioKey> measure_keys() {
  return {
      row<&MeasureSetup::from>(
          "measure.from", quantity_codec(Time{}, 36'500 * kDay),
          "figures are about jobs that are submitted from this time on; jobs before them only fill the cluster"),
      row<&MeasureSetup::until>(
          "measure.until", optional_codec(quantity_codec(Time::nanoseconds(1), 36'500 * kDay), "none"),
          "figures are about jobs that are submitted before this time; the run ends when these have ended, and jobs "
          "after them keep the cluster busy until then"),
  };
}

std::vector<ScenarioKey> expectation_keys() {
  return {row<&Scenario::expect>(
      "expect", expectations_codec(),
      "bounds that figures of the run must meet, as means over replicas; if one is missed, `run`, `compare` and "
      "`sweep` (for any of its points) exit with 1")};
}

}  // namespace

const std::vector<ScenarioKey>& scenario_keys() {
  static const std::vector<ScenarioKey> keys = [] {
    auto all =
        table_of<ScenarioKey>({run_keys, cluster_keys, host_keys, network_keys, policy_keys, scheduling_keys,
                               sharing_keys, failure_keys, loan_keys, checkpoint_keys, training_keys, workload_keys,
                               study_keys, engine_keys, measure_keys, expectation_keys, sweep_keys});
    for (ScenarioKey& key : all) key = for_its_study(std::move(key));
    return all;
  }();
  return keys;
}

const Scenario& default_scenario() {
  static const Scenario defaults = [] {
    Scenario scenario;
    scenario.network.nic = ByteRate{1.25e9};
    scenario.scheduling = default_policy(policy_kind("scheduling"), "srsf");
    scenario.placement = default_policy(policy_kind("placement"), "lwf");
    scenario.communication = default_policy(policy_kind("communication"), "srsf");
    return scenario;
  }();
  return defaults;
}

void reset(const ScenarioKey& key, Scenario& scenario) {
  static const Scenario kWithoutValues;
  key.io->copy(key.io->is_optional ? kWithoutValues : default_scenario(), scenario);
}

bool is_set(const ScenarioKey& key, const Scenario& scenario) {
  const std::string text = key.io->print(scenario);
  return !text.empty() && text != key.io->unset;
}

bool applies(const ScenarioKey& key, const Scenario& scenario) {
  return std::all_of(key.conditions.begin(), key.conditions.end(), [&](KeyCondition holds) { return holds(scenario); });
}

bool displaces(const ScenarioKey& key, const ScenarioKey& other) {
  const auto is_below = [](std::string_view path, std::string_view name) {
    return path.starts_with(name) && path[name.size()] == '.';
  };
  return std::any_of(key.displaces.begin(), key.displaces.end(), [&](std::string_view name) {
    // A key that displaces the whole that it is a part of leaves the other parts alone.
    return other.path == name || (is_below(other.path, name) && !is_below(key.path, name));
  });
}

}  // namespace contend
