#include "scenarios/training/training_check.hpp"

#include "scenarios/run/make_policy.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/training/setup_check.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "scenarios/yaml/codecs.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

void check_entry(const TrainingEntry& entry, std::vector<Complaint>& complaints) {
  const std::string key = "training." + entry.name;
  const auto complain = [&](std::string_view member, std::string reason, std::string hint) {
    complaints.push_back({.key = fmt::format("{}{}{}", key, member.empty() ? "" : ".", member),
                          .reason = std::move(reason),
                          .hint = std::move(hint)});
  };
  if (!entry.model && !entry.layers)
    return complain("", "says no network",
                    "give a model of the catalogue (`contend list networks`) or a file of layers");
  if (entry.fusion.name == "horovod")
    complain("fusion", "horovod has a background thread, which jobs of a cluster can't have yet",
             "a study of one iteration (overlap.fusion) covers it; {policy: threshold, mib: 64} has the same buffers");
  const bool compresses = entry.compression.name != "none";
  std::vector<Complaint> found = setup_complaints(entry, key, compresses);
  complaints.insert(complaints.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  if (!compresses) {
    const TrainingEntry usual;
    if (entry.kernel_factor != usual.kernel_factor)
      complain("kernel_factor", "has no effect without a compression", "");
    if (entry.collective != usual.collective) complain("collective", "has no effect without a compression", "");
    return;
  }
  const auto method = make_policy(compression_policies(), entry.compression, {});
  if (const auto refusal = method->refusal(entry.collective))
    complain("collective", fmt::format("{} can't be summed that way: {}", entry.compression.name, refusal->reason),
             "auto");
}

}  // namespace

std::vector<Complaint> training_complaints(const Scenario& scenario) {
  std::vector<Complaint> complaints;
  if (scenario.overlap.given()) return complaints;
  for (const TrainingEntry& each : scenario.training) {
    if (each.name != kDefaultEntry) check_entry(each, complaints);
  }
  const std::vector<std::string> names = trainable_names(scenario);
  const bool generates = !scenario.workload.jobs && !scenario.workload.like;
  for (const std::string& model : scenario.workload.generate.models) {
    if (!generates || std::ranges::find(names, model) != names.end()) continue;
    complaints.push_back(
        {.key = "workload.generate.models",
         .reason = fmt::format("{} is neither an entry of training nor a training profile", quote(model)),
         .hint = did_you_mean(model, names)});
  }
  const Scenario::Network& network = scenario.network;
  if (network.fidelity == Fidelity::flow) return complaints;
  if (network.formula == CostFormula::measured && !network.beta)
    complaints.push_back({.key = "network.formula",
                          .reason = "measured costs are those of a whole all-reduce, and network.nic is the rate of a "
                                    "link",
                          .hint = "give network.beta, or network.formula: ring"});
  if (network.inside.given() && cost_formula(scenario) != CostFormula::ring)
    complaints.push_back({.key = network.formula == CostFormula::automatic ? "network.inside" : "network.formula",
                          .reason = "inside servers there are costs of rings only, and alpha and beta are those of a "
                                    "whole all-reduce",
                          .hint = "network.formula: ring"});
  return complaints;
}

}  // namespace contend
