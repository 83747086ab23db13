#include "scenarios/study/study_assumptions.hpp"

#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/run/network_costs.hpp"
#include "scenarios/study/study_places.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

StudyAssumption collectives(const NetworkSetup& network) {
  const AlphaBeta cost = network_cost(network);
  const std::string line =
      fmt::format("alpha {:.5g} us, beta {:.5g} ns/B", cost.alpha.to_seconds() * 1e6, cost.beta.ns_per_byte());
  const CostFormula& formula = cost_formula(network);
  switch (formula.basis) {
    case CostBasis::library:
      return {"collectives", fmt::format("NCCL {} on {}", print_version(nccl_version(network)), *network.nccl.machine),
              network.nccl.measured ? "contend list machines, between" : "NVIDIA/nccl, src/graph/tuning.cc"};
    case CostBasis::whole:
      return {"collectives", line + " of a whole all-reduce", "network.alpha, beta"};
    case CostBasis::store:
      return {"collectives", line + " of a request to a store", "network.alpha, beta"};
    case CostBasis::sites:
      return {"collectives", "rings and trees over the links between sites", "network.sites"};
    case CostBasis::link:
    case CostBasis::servers:
      break;
  }
  return {"collectives", fmt::format("{} of a link, by the algorithm `{}`", line, formula.name), "network.alpha, beta"};
}

StudyAssumption many_senders(const NetworkSetup& network) {
  const auto& many = network.many_senders;
  if (!many.free) return {"many senders", "don't disturb each other", "network.many_senders"};
  return {"many senders",
          fmt::format("bytes x (servers / {})^{} from {} servers on", *many.free, many.exponent, *many.free),
          "network.many_senders"};
}

StudyAssumption interference(const NetworkSetup& network, const IterationStudy& study,
                             const std::vector<TrainingEntry>& training, TransferPath path) {
  const std::string what = path == TransferPath::inside ? "interference in a server" : "interference";
  const Interference both = interference_of(network, study, training, path);
  if (both.none()) return {what, "none: overlapping is free", "network.interference"};
  std::string source = "network.interference";
  if (const auto& choice = network.interference.both; choice && choice->usual) {
    const std::vector<const UsualInterference*> rows = usual_interferences_of(study, training, path);
    source = fmt::format("auto, {}: {}", rows.front()->gpu, rows.front()->source);
  }
  constexpr double kMillion = 1e6;
  return {
      what,
      fmt::format("computing x {:g}, bytes x {:g} beside each other", 1 + static_cast<double>(both.compute) / kMillion,
                  1 + static_cast<double>(both.network) / kMillion),
      std::move(source)};
}

StudyAssumption framework(const IterationStudy& study) {
  const FrameworkCosts& costs = study.entry.framework;
  std::string key = entry_key(study, "framework");
  if (costs.none()) return {"framework", "no copies around messages", std::move(key)};
  const auto named = std::ranges::find(frameworks(), costs, &NamedFramework::costs);
  return {"framework",
          fmt::format("{:g} bytes for 4 of gradient before a message, {:g} after it, {} launches a tensor",
                      costs.bytes_before, costs.bytes_after, 2 * costs.launches),
          named == frameworks().end() ? std::move(key) : std::string{named->source}};
}

StudyAssumption host(const IterationStudy& study) {
  const double ns = study.entry.host_ns_per_value;
  return {"host", ns == 0 ? "no work on gradients" : fmt::format("{:g} ns a value before a message", ns),
          entry_key(study, "host_ns_per_value")};
}

StudyAssumption update(const IterationStudy& study) {
  const TrainingEntry& entry = study.entry;
  if (entry.optimizer == nullptr) return {"update", "takes no time", entry_key(study, "optimizer")};
  std::string line = fmt::format("{:g} bytes a weight", entry.optimizer->moved());
  if (entry.update_per_tensor == Time{}) return {"update", std::move(line), entry_key(study, "optimizer")};
  line += fmt::format(", at least {:.5g} us a tensor", entry.update_per_tensor.to_seconds() * 1e6);
  return {"update", std::move(line), entry_key(study, "update_per_tensor")};
}

StudyAssumption staging(const IterationStudy& study) {
  const std::optional<ByteRate>& rate = study.entry.staging;
  return {"staging",
          rate ? fmt::format("copies to the host and back at {:g} GB/s", rate->bytes_per_second() / 1e9)
               : "the network reads and writes the memory of GPUs",
          entry_key(study, "staging")};
}

StudyAssumption casts(const IterationStudy& study) {
  return {"casts",
          study.entry.mixed_precision ? "6 bytes a weight before the forward pass, and as many after the backward pass"
                                      : "none: weights and gradients have the dtype",
          entry_key(study, "mixed_precision")};
}

/// Every parameter of a fusion policy; nothing if it has none.
std::optional<StudyAssumption> parameters_of(const PolicyChoice& fusion) {
  std::string text;
  for (const auto& [name, value] : fusion.parameters.values())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, print_parameter(value));
  if (text.empty()) return std::nullopt;
  return StudyAssumption{fusion.name, std::move(text), "overlap.fusion"};
}

StudyAssumption kernels(const TrainingSetup& setup) {
  const std::string device = setup.device.profile ? *setup.device.profile : setup.device.name;
  return {
      "kernels that compress", fmt::format("{} x {:g}", device, setup.kernel_factor),
      setup.device.profile ? "measured operators" : "bytes, flops and launches of each at the rates of the data sheet"};
}

}  // namespace

std::vector<StudyAssumption> study_assumptions(const ClusterSetup& cluster, const NetworkSetup& network,
                                               const IterationStudy& study,
                                               const std::vector<TrainingEntry>& training) {
  std::vector<StudyAssumption> all{collectives(network)};
  if (!network.sites) all.push_back(many_senders(network));
  const auto lies = [&](bool inside) {
    return std::ranges::any_of(
        study.workers, [&](int workers) { return workers > 1 && (workers <= cluster.gpus_per_server) == inside; });
  };
  if (lies(true)) all.push_back(interference(network, study, training, TransferPath::inside));
  if (lies(false)) all.push_back(interference(network, study, training, TransferPath::between));
  all.push_back(framework(study));
  all.push_back(host(study));
  all.push_back(update(study));
  all.push_back(staging(study));
  all.push_back(casts(study));
  if (std::ranges::any_of(study.compression, [](const PolicyChoice& choice) { return choice.name != "none"; }))
    all.push_back(kernels(study.entry));
  for (const PolicyChoice& fusion : study.fusion)
    if (std::optional<StudyAssumption> parameters = parameters_of(fusion)) all.push_back(*std::move(parameters));
  return all;
}

}  // namespace contend
