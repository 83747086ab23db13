// The files that a scenario names: none is left out of manifests, hashes of sweeps and printed paths.

#include "scenarios/run/named_files.hpp"

#include "scenarios/keys/keys.hpp"
#include "scenarios/keys/parallel_codec.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/keys/training_codec.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"
#include "text/sha256.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace contend {
namespace {

std::vector<std::string> paths_in(Scenario scenario) {
  std::vector<std::string> paths;
  visit_paths(scenario, [&](const std::string& path) { paths.push_back(path); });
  return paths;
}

/// What the scenario names once this key has this value, which stands in a file of the folder `f`.
std::vector<std::string> named_by(const std::string& key, const std::string& value) {
  const SourceText source{"f/a.yaml", value};
  std::vector<Complaint> complaints;
  const std::optional<YamlNode> node = parse_yaml(source.text(), source, 1, complaints);
  const auto found = std::ranges::find(scenario_keys(), key, &ScenarioKey::path);
  REQUIRE(node.has_value());
  REQUIRE(found != scenario_keys().end());
  Scenario scenario = default_scenario();
  found->io->read(*node, Reading{source, key, complaints}, scenario);
  return complaints.empty() ? paths_in(scenario) : std::vector<std::string>{"(refused)"};
}

bool is_path(const std::string& type) {
  return type == "path" || type == "path or integer";
}

const std::vector<std::string> kThere{"f/there.csv"};

}  // namespace

TEST_CASE("every key and member of an entry that takes a path names its file") {
  int keys = 0;
  for (const ScenarioKey& key : scenario_keys()) {
    if (key.role != KeyRole::value || !is_path(key.io->type)) continue;
    INFO(key.path);
    CHECK(named_by(std::string{key.path}, "there.csv") == kThere);
    ++keys;
  }
  CHECK(keys >= 11);
  int members = 0;
  for (const MemberText& each : training_members()) {
    if (!is_path(each.type)) continue;
    INFO(each.name);
    CHECK(named_by("training", fmt::format("{{t: {{{}: there.csv}}}}", each.name)) == kThere);
    ++members;
  }
  for (const MemberText& each : parallel_members()) {
    if (!is_path(each.type)) continue;
    INFO(each.name);
    CHECK(named_by("training", fmt::format("{{t: {{parallel: {{{}: there.csv}}}}}}", each.name)) == kThere);
    ++members;
  }
  CHECK(members >= 3);
  // Inside of maps.
  CHECK(named_by("training", "{t: {parallel: {documents: {file: there.csv}}}}") == kThere);
  CHECK(named_by("training", "{t: {parallel: {expert_load: {counts: there.csv}}}}") == kThere);
  CHECK(named_by("training", "{t: {recording: there.csv}}") == kThere);
  CHECK(named_by("training", "{t: {recording: {path: there.csv}}}") == kThere);
  CHECK(named_by("workload.jobs", "7").empty());
  CHECK(paths_in(default_scenario()).empty());
}

TEST_CASE("a profile of a device is a file that the scenario names, of an entry and of a type of servers") {
  Scenario scenario;
  scenario.training.emplace_back();
  scenario.training.back().device.profile = "gpu.yaml";
  scenario.cluster.types.emplace_back();
  scenario.cluster.types.back().device.emplace().profile = "other.yaml";
  std::vector<std::string> paths = paths_in(scenario);
  std::ranges::sort(paths);
  CHECK(paths == std::vector<std::string>{"gpu.yaml", "other.yaml"});
}

TEST_CASE("a sweep names files in each of its parts, and a copy of it in another folder names the same ones") {
  const std::string text =
      "schema_version: 2\nworkload: {jobs: base.csv}\n"
      "sweep:\n"
      "  list: [{failures.events: down.csv, network.nic: 10Gbps}]\n"
      "  zip: {loans.events: [lent.csv, sub/lent.csv]}\n"
      "  random: {points: 1, keys: {network.events: [links.csv]}}\n"
      "  latin_hypercube: {points: 1, keys: {network.alpha: {from: 1us, to: 2us}}}\n"
      "  grid: {workload.jobs: [a.csv, 7, ../b.csv], training: [{t: {parallel: {documents: {file: d.csv}}}}]}\n"
      "  exclude: [{workload.jobs: a.csv, loans.events: [lent.csv]}]\n"
      "  baseline: {workload.jobs: a.csv}\n";
  const Scenario scenario = parse_scenario(text, "in/f/a.yaml", {}, read_text_file);
  std::vector<std::string> paths = paths_in(scenario);
  CHECK(paths == std::vector<std::string>{"in/f/base.csv", "in/f/down.csv", "in/f/lent.csv", "in/f/sub/lent.csv",
                                          "in/f/links.csv", "in/f/a.csv", "in/b.csv", "in/f/d.csv", "in/f/a.csv",
                                          "in/f/lent.csv", "in/f/a.csv"});
  const std::string copy = to_yaml(scenario, "out/results");
  CHECK(copy.find("../../in/f/sub/lent.csv") != std::string::npos);
  CHECK(to_yaml(parse_scenario(copy, "out/results/scenario.yaml", {}, read_text_file)) == to_yaml(scenario));
}

TEST_CASE("the files that a scenario names have the digests of what they hold, each once") {
  const TemporaryFolder folder;
  write_file(folder.path("jobs.csv"), "job_id,submit_s,gpus,duration_s\na,0,1,10\n");
  write_file(folder.path("down.csv"), "component,down_s,up_s\ngpu0,1,2\n");
  Scenario scenario;
  scenario.workload.jobs = folder.path("jobs.csv");
  scenario.failures.events = folder.path("down.csv");
  scenario.loans.events = folder.path("missing.csv");
  scenario.network.events = folder.path("down.csv");
  JobLists lists;
  std::vector<InputFile> inputs{{"s.yaml", "its own"}};
  add_named_files(scenario, lists, inputs);
  add_named_files(scenario, lists, inputs);
  REQUIRE(inputs.size() == 3);
  CHECK(inputs[0].path == "s.yaml");
  CHECK(inputs[1].path == folder.path("down.csv"));
  CHECK(inputs[1].sha256 == sha256_hex("component,down_s,up_s\ngpu0,1,2\n"));
  CHECK(inputs[2].path == folder.path("jobs.csv"));
  CHECK(inputs[2].sha256 == sha256_hex("job_id,submit_s,gpus,duration_s\na,0,1,10\n"));
}

TEST_CASE("the digest of a folder is of the names and digests of its files") {
  const TemporaryFolder folder;
  write_file(folder.path("rank1.json"), "b");
  write_file(folder.path("rank0.json"), "a");
  Scenario scenario;
  scenario.training.emplace_back();
  scenario.training.back().recording.emplace().path = folder.path("");
  JobLists lists;
  std::vector<InputFile> inputs;
  add_named_files(scenario, lists, inputs);
  REQUIRE(inputs.size() == 1);
  CHECK(inputs[0].sha256 == sha256_hex("rank0.json " + sha256_hex("a") + "\nrank1.json " + sha256_hex("b") + "\n"));
}

}  // namespace contend
