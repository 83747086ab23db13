// Arbitrary bytes as a scenario: either an InputError, or a scenario whose text reads back as the same text. The first
// line may hold an override: `#set network.nic=25Gbps`. The disk is never touched.

#include "scenarios/keys/print.hpp"
#include "scenarios/keys/reader.hpp"
#include "sim/check.hpp"
#include "tests/fuzz/target.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace {

constexpr std::string_view kSet = "#set ";

/// Two small files to include, one that is sound and one that includes itself, and a graph.
contend::FileText read_included(const std::string& path) {
  if (path == "base.yaml") return {"schema_version: 1\ncluster: {servers: 2}\nnetwork: {beta: 1ns/B}\n", {}};
  if (path == "loop.yaml") return {"schema_version: 1\ninclude: loop.yaml\n", {}};
  if (path == "graph.yaml") return {"nodes: [a]\nlinks: [{from: server0, to: a}]\n", {}};
  return {std::nullopt, "there is no such file"};
}

void run_scenario_text(std::string_view text) {
  contend::LoadOptions options;
  if (text.starts_with(kSet)) {
    options.overrides.emplace_back(text.substr(kSet.size(), text.substr(kSet.size()).find('\n')));
  }
  const std::string printed = contend::to_yaml(contend::parse_scenario(text, "fuzz.yaml", options, read_included));
  const contend::Scenario again =
      contend::fuzz::must_accept([&] { return contend::parse_scenario(printed, "fuzz.yaml"); });
  CONTEND_CHECK(contend::to_yaml(again) == printed, "a printed scenario reads back as itself");
}

const contend::fuzz::Target kScenario{"scenario", run_scenario_text};

}  // namespace
