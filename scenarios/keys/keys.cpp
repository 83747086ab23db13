#include "scenarios/keys/keys.hpp"

#include "network/catalogue.hpp"
#include "scenarios/keys/expectation_codec.hpp"
#include "scenarios/keys/federated_codec.hpp"
#include "scenarios/keys/key_rows.hpp"
#include "scenarios/keys/key_tables.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/keys/power_row_codec.hpp"
#include "scenarios/keys/rl_codec.hpp"
#include "scenarios/keys/serving_codec.hpp"
#include "scenarios/keys/training_codec.hpp"
#include "scenarios/sweep/sweep_keys.hpp"
#include "sim/fields.hpp"

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
  constexpr std::string_view kOfJobs[] = {"cluster.", "policies.", "scheduling.", "workload.",    "engine.",
                                          "measure.", "failures.", "loans.",      "checkpoints.", "meter."};
  const auto add = [&](KeyCondition condition, std::string_view needs) {
    key.conditions.push_back(condition);
    if (key.needs.empty()) key.needs = needs;
  };
  if (key.path == "cluster.gpus_per_server") return key;  // studies have servers, too, as many as their workers fill
  if (std::any_of(std::begin(kOfJobs), std::end(kOfJobs),
                  [&](std::string_view group) { return key.path.starts_with(group); }) ||
      key.path == "serving" || key.path == "rl" || key.path == "federated" || key.path == "power_rows") {
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
  ScenarioKey key = row<&Scenario::schema_version>("schema_version", integer_codec<int>(1, kSchemaVersion));
  key.role = KeyRole::schema_version;
  return key;
}

ScenarioKey include_key() {
  ScenarioKey key = key_rows::key_of("include", std::make_unique<const IncludeIo>());
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
      row<&NetworkSetup::machine>("machine", optional_codec(name_codec(machine_names()), "")),
      row<&Scenario::name>("name", title_codec()),
      row<&Scenario::description>("description", text_codec()),
      row<&Scenario::seed>("seed", integer_codec<std::uint64_t>(0, INT64_MAX)),
      row<&Scenario::repeat>("repeat", integer_codec<int>(1, 100'000)),
  };
}

std::vector<ScenarioKey> cluster_keys() {
  std::vector<ScenarioKey> keys{
      row<&ClusterSetup::servers>("cluster.servers", integer_codec<int>(1, 1'000'000)),
      row<&ClusterSetup::gpus_per_server>("cluster.gpus_per_server", integer_codec<int>(1, 1024)),
      row<&ClusterSetup::gpu_memory>("cluster.gpu_memory", quantity_codec(Bytes{1}, Bytes{std::int64_t{1} << 50})),
  };
  for (ScenarioKey& key : keys) {  // with types they follow from these
    key.conditions = {[](const Scenario& scenario) { return scenario.cluster.types.empty(); }};
  }
  keys.push_back(types_key());
  return keys;
}

std::vector<ScenarioKey> policy_keys() {
  return {
      row<&Scenario::scheduling>("policies.scheduling", policy_codec(policy_kind("scheduling"))),
      row<&Scenario::placement>("policies.placement", policy_codec(policy_kind("placement"))),
      row<&Scenario::communication>("policies.communication", policy_codec(policy_kind("communication"))),
  };
}

std::vector<ScenarioKey> workload_keys() {
  using Interval = std::pair<std::int64_t, std::int64_t>;
  std::vector<ScenarioKey> keys{
      jobs_key(),
      row<&GeneratedWorkload::models>("workload.generate.models", models_codec()),
      row<&GeneratedWorkload::sizes>("workload.generate.sizes", sizes_codec(kMaxGpus, kMaxJobs)),
      property<Interval>(
          "workload.generate.iterations",
          [](const Scenario& s) {
            return Interval{s.workload.generate.min_iterations, s.workload.generate.max_iterations};
          },
          [](Scenario& s, Interval value) {
            s.workload.generate.min_iterations = value.first;
            s.workload.generate.max_iterations = value.second;
          },
          interval_codec(1, kMaxIterations)),
      row<&GeneratedWorkload::arrival_window>("workload.generate.arrivals",
                                              quantity_codec(Time::milliseconds(1), 3650 * kDay)),
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
  return {row<&Scenario::training>("training", training_codec()), row<&Scenario::serving>("serving", serving_codec()),
          row<&Scenario::rl>("rl", rl_codec()), row<&Scenario::federated>("federated", federated_codec()),
          row<&Scenario::power_rows>("power_rows", power_rows_codec())};
}

std::vector<ScenarioKey> engine_keys() {
  return {
      row<&Scenario::Engine::leap>("engine.leap", bool_codec()),
      row<&Scenario::Engine::until>("engine.until",
                                    optional_codec(quantity_codec(Time::nanoseconds(1), 36'500 * kDay), "none")),
  };
}

std::vector<ScenarioKey> measure_keys() {
  return {
      row<&MeasureSetup::from>("measure.from", quantity_codec(Time{}, 36'500 * kDay)),
      row<&MeasureSetup::until>("measure.until",
                                optional_codec(quantity_codec(Time::nanoseconds(1), 36'500 * kDay), "none")),
  };
}

std::vector<ScenarioKey> expectation_keys() {
  return {row<&Scenario::expect>("expect", expectations_codec())};
}

}  // namespace

std::string_view key_text(std::string_view path) {
  static const NamedTexts kTexts{key_texts()};
  return kTexts.of(path);
}

const std::vector<ScenarioKey>& scenario_keys() {
  static const std::vector<ScenarioKey> keys = [] {
    auto all = table_of<ScenarioKey>({run_keys,     cluster_keys,    host_keys,       level_keys,       meter_keys,
                                      network_keys, policy_keys,     scheduling_keys, sharing_keys,     failure_keys,
                                      loan_keys,    checkpoint_keys, training_keys,   workload_keys,    level_wish_keys,
                                      study_keys,   engine_keys,     measure_keys,    expectation_keys, sweep_keys});
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
