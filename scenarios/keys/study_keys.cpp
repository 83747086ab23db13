#include "scenarios/keys/study_keys.hpp"

#include "models/catalogue/catalogue.hpp"
#include "scenarios/keys/device_codec.hpp"
#include "scenarios/keys/key_rows.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/keys/target_codec.hpp"
#include "scenarios/yaml/map_codec.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace contend {

namespace {

using Kind = YamlNode::Kind;
using key_rows::displacing;
using key_rows::row;

constexpr int kMaxWorkers = 1 << 20;

std::vector<ScenarioKey> model_rows() {
  return {
      row(
          "overlap.model", [](auto& s) -> auto& { return s.overlap.model; },
          optional_codec(name_codec(model_names(), "names of `contend list networks`"), ""),
          "network of the catalogue to study"),
      row(
          "overlap.layers", [](auto& s) -> auto& { return s.overlap.layers; }, optional_codec(path_codec(), ""),
          "file of layer times, relative to the file with this key; overlap.model then only supplies sizes that it "
          "lacks"),
      row(
          "overlap.select", [](auto& s) -> auto& { return s.overlap.select; }, text_codec(),
          "name of the model if that file holds several"),
      row(
          "overlap.device", [](auto& s) -> auto& { return s.overlap.device; }, device_codec(),
          "source of layer times: the roofline of a device, or a profile of `contend calibrate`, relative to the file "
          "with this key"),
      row(
          "overlap.dtype", [](auto& s) -> auto& { return s.overlap.type; }, data_type_codec(),
          "number format of matrix products and activations; gradients have the same width"),
      row(
          "overlap.batch", [](auto& s) -> auto& { return s.overlap.batch; },
          optional_codec(integer_codec<int>(1, 1'000'000), "auto"),
          "samples per worker and iteration; auto: that of the file, else 32"),
      row(
          "overlap.sequence", [](auto& s) -> auto& { return s.overlap.sequence; },
          optional_codec(integer_codec<int>(1, 10'000'000), "auto"), "sequence length; auto: that of the model"),
      row(
          "overlap.attention", [](auto& s) -> auto& { return s.overlap.flash_attention; }, attention_codec(),
          "attention in one kernel (flash), or with its scores in memory (plain); auto: as the catalogue has the "
          "network"),
      row(
          "overlap.single_worker", [](auto& s) -> auto& { return s.overlap.single_worker; },
          optional_codec(quantity_codec(Time::nanoseconds(1000), Time::seconds(86'400)), "auto"),
          "measured iteration time of one worker, to which all layer times are scaled; auto: no scaling"),
      row(
          "overlap.granularity", [](auto& s) -> auto& { return s.overlap.granularity; },
          choice_codec<Granularity>({{"tensor", Granularity::tensor}, {"layer", Granularity::layer}}),
          "unit of parameters whose gradients become ready together"),
  };
}

std::vector<ScenarioKey> exchange_rows() {
  return {
      row(
          "overlap.workers", [](auto& s) -> auto& { return s.overlap.workers; },
          distinct_list_codec<int>(integer_codec<int>(1, kMaxWorkers), 1, "integers"),
          "numbers of workers to study; with network.sites the first that many sites, by default all"),
      row(
          "overlap.fusion", [](auto& s) -> auto& { return s.overlap.fusion; },
          distinct_list_codec<PolicyChoice>(policy_codec(policy_kind("fusion")),
                                            default_policy(policy_kind("fusion"), "bsp"), "policies"),
          "fusion policies to compare"),
      row(
          "overlap.compression", [](auto& s) -> auto& { return s.overlap.compression; },
          distinct_list_codec<PolicyChoice>(policy_codec(policy_kind("compression")),
                                            default_policy(policy_kind("compression"), "none"), "policies"),
          "compression methods to compare, each with every fusion policy"),
      row(
          "overlap.collective", [](auto& s) -> auto& { return s.overlap.collective; }, route_codec(),
          "collective that adds up compressed messages; auto: that of each method's paper; scatter-gather: an "
          "all-to-all of chunks and an all-gather of their sums; uncompressed messages are all-reduced"),
      row(
          "overlap.iterations_to_target", [](auto& s) -> auto& { return s.overlap.iterations_to_target; },
          targets_codec(),
          "iterations that a method needs to reach a target, relative to training without compression, and the source "
          "of that factor, because convergence is not simulated. A map gives factors to methods with any parameters "
          "and may name methods that are not studied; a list gives them to exactly these policies; empty: unknown"),
      row(
          "overlap.kernel_factor", [](auto& s) -> auto& { return s.overlap.kernel_factor; }, number_codec(0.01, 1000),
          "factor on the kernel times of compression that overlap.device gives"),
      row(
          "overlap.framework", [](auto& s) -> auto& { return s.overlap.framework; }, framework_codec(),
          "what the framework does to gradients around each message: its name, or the bytes that it moves in the "
          "memory "
          "of the GPU for 4 bytes of gradient, which are one value in fp32, and kernels for each tensor"),
      row(
          "overlap.host_ns_per_value", [](auto& s) -> auto& { return s.overlap.host_ns_per_value; },
          number_codec(0, 1e6),
          "time of the host on each value of the gradient before a message is sent, in ns, one message after the "
          "other; "
          "54.2 fits the sparse methods of gTop-k's first release, which copied dense gradients to the host"),
      row(
          "overlap.executor", [](auto& s) -> auto& { return s.overlap.engine; },
          choice_codec<bool>({{"fast", false}, {"engine", true}}),
          "fast: the executor that planners use; engine: also executes each iteration on the engine and stops with an "
          "error if the two differ by a nanosecond"),
  };
}

}  // namespace

Codec<DataType> data_type_codec(std::optional<DataType> also) {
  std::vector<std::pair<std::string, DataType>> choices;
  for (const DataType type : {DataType::fp32, DataType::tf32, DataType::fp16, DataType::bf16}) {
    choices.emplace_back(std::string{to_string(type)}, type);
  }
  if (also) choices.emplace_back(std::string{to_string(*also)}, *also);
  return choice_codec<DataType>(std::move(choices));
}

Codec<std::optional<bool>> attention_codec() {
  return optional_codec(choice_codec<bool>({{"flash", true}, {"plain", false}}), "auto");
}

Codec<ExchangeKind> exchange_codec() {
  return choice_codec<ExchangeKind>(
      {{"all-reduce", ExchangeKind::all_reduce}, {"parameter-server", ExchangeKind::parameter_server}});
}

Codec<FrameworkCosts> framework_codec() {
  std::vector<std::string> names;
  for (const NamedFramework& each : frameworks()) names.emplace_back(each.name);
  const Codec<std::string> name = name_codec(names);
  const Codec<double> bytes = number_codec(0, 1000);
  const Codec<FrameworkCosts> parts =
      map_codec<FrameworkCosts>({field("bytes_before", &FrameworkCosts::bytes_before, bytes),
                                 field("bytes_after", &FrameworkCosts::bytes_after, bytes),
                                 field("launches", &FrameworkCosts::launches, integer_codec<int>(0, 1000))},
                                "{bytes_before: 8, bytes_after: 8, launches: 1}");
  Codec<FrameworkCosts> codec;
  codec.type = "name or map";
  codec.range = name.range;
  codec.schema = [name, parts](JsonWriter& json) { any_of_schema(json, name.schema, parts.schema); };
  codec.read = [name, parts](const YamlNode& node, const Reading& reading, FrameworkCosts& value) {
    if (node.kind == Kind::map) return parts.read(node, reading, value);
    const std::size_t before = reading.complaints.size();
    std::string named;
    name.read(node, reading, named);
    if (reading.complaints.size() == before)
      value = std::ranges::find(frameworks(), named, &NamedFramework::name)->costs;
  };
  codec.print = [parts](const FrameworkCosts& value) {
    const auto known = std::ranges::find(frameworks(), value, &NamedFramework::costs);
    return known == frameworks().end() ? parts.print(value) : std::string{known->name};
  };
  return codec;
}

Codec<MessageRoute> route_codec() {
  return choice_codec<MessageRoute>({{"auto", MessageRoute::usual},
                                     {"all-reduce", MessageRoute::all_reduce},
                                     {"all-gather", MessageRoute::all_gather},
                                     {"scatter-gather", MessageRoute::scatter_gather}});
}

/// The setup of a study, which a training entry gives instead.
constexpr std::string_view kOfSetup[] = {"overlap.model",         "overlap.layers",
                                         "overlap.select",        "overlap.device",
                                         "overlap.dtype",         "overlap.batch",
                                         "overlap.sequence",      "overlap.attention",
                                         "overlap.single_worker", "overlap.granularity",
                                         "overlap.collective",    "overlap.kernel_factor",
                                         "overlap.framework",     "overlap.host_ns_per_value"};

bool names_no_entry(const Scenario& scenario) {
  return !scenario.overlap.training;
}

ScenarioKey entry_row() {
  return displacing(
      {std::begin(kOfSetup), std::end(kOfSetup)},
      row(
          "overlap.training", [](auto& s) -> auto& { return s.overlap.training; }, optional_codec(title_codec(), ""),
          "entry of training to study, instead of a model or layers; overlap.fusion and compression are "
          "then those of the entry unless the study lists others"));
}

std::vector<ScenarioKey> study_keys() {
  std::vector<ScenarioKey> keys = model_rows();
  for (ScenarioKey& key : keys) {
    if (key.path == "overlap.model" || key.path == "overlap.layers") key.displaces.push_back("overlap.training");
  }
  keys.insert(keys.begin(), entry_row());
  for (ScenarioKey& key : exchange_rows()) keys.push_back(std::move(key));
  for (ScenarioKey& key : keys) {
    if (std::ranges::find(kOfSetup, key.path) != std::end(kOfSetup)) {
      key.needs = "no overlap.training";
      key.conditions = {names_no_entry};
    }
  }
  return keys;
}

std::vector<PolicyChoice> default_fusion() {
  std::vector<PolicyChoice> choices;
  for (const PolicyInfo& policy : policy_kind("fusion").policies) {
    choices.push_back(default_policy(policy_kind("fusion"), policy.name));
  }
  return choices;
}

}  // namespace contend
