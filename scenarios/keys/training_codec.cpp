#include "scenarios/keys/training_codec.hpp"

#include "models/catalogue/catalogue.hpp"
#include "models/overlap/optimizers.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "models/training_profile.hpp"
#include "scenarios/keys/data_codec.hpp"
#include "scenarios/keys/device_codec.hpp"
#include "scenarios/keys/key_rows.hpp"
#include "scenarios/keys/parallel_codec.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/keys/recording_codec.hpp"
#include "scenarios/keys/setup_codecs.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "scenarios/yaml/host_table.hpp"
#include "traces/layers/layer_table_csv.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

const TrainingEntry& usual_entry() {
  static const TrainingEntry usual = [] {
    TrainingEntry entry;
    entry.fusion = default_policy(policy_kind("fusion"), "ddp");
    entry.compression = default_policy(policy_kind("compression"), "none");
    return entry;
  }();
  return usual;
}

using Member = MapMember<TrainingEntry>;

Codec<const Optimizer*> optimizer_codec() {
  std::vector<std::pair<std::string, const Optimizer*>> choices{{"none", nullptr}};
  for (const Optimizer& each : optimizers()) choices.emplace_back(each.name, &each);
  return choice_codec<const Optimizer*>(std::move(choices));
}

Codec<StateFormat> state_format_codec() {
  std::vector<std::pair<std::string, StateFormat>> choices;
  for (const StateFormat each : kStateFormats) choices.emplace_back(to_string(each), each);
  return choice_codec<StateFormat>(std::move(choices));
}

/// `12 (sgd), 20 (momentum)` and so on.
std::string moved_by_optimizers() {
  std::string all;
  for (const Optimizer& each : optimizers())
    all += fmt::format("{}{:g} ({})", all.empty() ? "" : ", ", each.moved(), each.name);
  return all;
}

/// The networks of the catalogue, the transformers that are spread over GPUs, and the published profiles.
std::vector<std::string> network_names() {
  std::vector<std::string> names = model_names();
  for (const std::string& each : transformer_names())
    if (std::ranges::find(names, each) == names.end()) names.push_back(each);
  for (const TrainingProfile& each : training_profiles()) names.push_back(fmt::format("{}{}", kPublished, each.name));
  return names;
}

constexpr std::string_view kListedNetworks =
    "names of `contend list networks` and `contend list transformers`, and `published-` with those of `contend list "
    "models`";

/// A network that has a name, or the table of its layers.
Codec<std::string> model_codec() {
  const Codec<std::string> name = name_codec(network_names(), kListedNetworks), path = path_codec();
  const auto is_table = [](const YamlNode& node) {
    return node.kind == YamlNode::Kind::scalar && names_layer_table(node.text);
  };
  Codec<std::string> codec = name;
  codec.type = "name or path of a table (*.csv)";
  codec.schema = [name](JsonWriter& json) {
    any_of_schema(json, name.schema,
                  [](JsonWriter& inner) { inner.member("type", "string").member("pattern", "\\.csv$"); });
  };
  codec.read = [name, path, is_table](const YamlNode& node, const Reading& reading, std::string& value) {
    (is_table(node) ? path : name).read(node, reading, value);
  };
  codec.print = [name, path](const std::string& value) {
    return (names_layer_table(value) ? path : name).print(value);
  };
  codec.paths = [](std::string& value, const PathVisitor& visit) {
    if (names_layer_table(value)) visit(value);
  };
  return codec;
}

using E = TrainingEntry;

std::vector<Member> source_members() {
  return {
      map_member<E>("model", &E::model, optional_codec(model_codec(), "")),
      map_member<E>("layers", &E::layers, optional_codec(path_codec(), "")),
      map_member<E>("select", &E::select, text_codec()),
      map_member<E>("device", &E::device, device_codec()),
      map_member<E>("dtype", &E::type, data_type_codec({DataType::fp8, DataType::fp4})),
      map_member<E>("batch", &E::batch, optional_codec(integer_codec<int>(1, 1'000'000), "auto")),
      map_member<E>("sequence", &E::sequence, optional_codec(integer_codec<int>(1, 10'000'000), "auto")),
      map_member<E>("single_worker", &E::single_worker,
                    optional_codec(quantity_codec(Time::nanoseconds(1000), Time::seconds(86'400)), "auto")),
      map_member<E>("granularity", &E::granularity,
                    choice_codec<Granularity>({{"tensor", Granularity::tensor}, {"layer", Granularity::layer}})),
  };
}

std::vector<Member> exchange_members() {
  return {
      map_member<E>("fusion", &E::fusion, policy_codec(policy_kind("fusion"))),
      map_member<E>("compression", &E::compression, policy_codec(policy_kind("compression"))),
      map_member<E>("exchange", &E::exchange, exchange_codec()),
      map_member<E>("servers", &E::servers, optional_codec(integer_codec<int>(1, 1'000'000), "auto")),
      map_member<E>("colocated", &E::colocated, bool_codec()),
      map_member<E>("hosts", &E::hosts, list_codec(integer_codec<int>(0, 999'999), "integers")),
      map_member<E>("collective", &E::collective, route_codec()),
      map_member<E>("kernel_factor", &E::kernel_factor, number_codec(0.01, 1000)),
      map_member<E>("framework", &E::framework, framework_codec()),
      map_member<E>("host_ns_per_value", &E::host_ns_per_value, number_codec(0, 1e6)),
      map_member<E>("staging", &E::staging, optional_codec(quantity_codec(ByteRate{125}, ByteRate{1.25e14}), "none")),
      map_member<E>("mixed_precision", &E::mixed_precision, bool_codec()),
  };
}

std::vector<Member> batch_members() {
  return {
      map_member<E>("accumulate", &E::accumulate, integer_codec<int>(1, 1'000'000)),
      map_member<E>("backup_workers", &E::backup, integer_codec<int>(0, 1'000'000)),
      map_member<E>("gradient_coding", &E::coded, coded_steps_codec()),
      map_member<E>("global_batch", &E::global_batch, optional_codec(integer_codec<int>(1, 1'000'000'000), "auto")),
      map_member<E>("parallel", &E::parallel, parallel_codec()),
      map_member<E>("recording", &E::recording, recording_codec()),
      map_member<E>("config", &E::config, optional_codec(path_codec(), "")),
      map_member<E>("config_as", &E::config_as, optional_codec(text_codec(), "")),
      map_member<E>("transformer", &E::transformer, transformer_codec()),
  };
}

std::vector<Member> execution_members() {
  return {
      map_member<E>("recompute", &E::recompute, recompute_codec()),
      map_member<E>("runtime", &E::runtime,
                    choice_codec<Runtime>({{"plain", Runtime::plain}, {"fsdp2", Runtime::fsdp2}})),
      map_member<E>("efficiency", &E::efficiency, efficiency_codec()),
      map_member<E>("loss", &E::loss, optional_codec(loss_codec(), "auto")),
      map_member<E>("pointwise", &E::pointwise,
                    choice_codec<PointwiseKernels>({{"fused", PointwiseKernels::fused},
                                                    {"compiled", PointwiseKernels::compiled},
                                                    {"eager", PointwiseKernels::eager}})),
      map_member<E>("attention_efficiency", &E::attention_efficiency, optional_codec(number_codec(0.01, 1), "auto")),
      map_member<E>("attention", &E::attention, attention_codec()),
      map_member<E>(
          "optimizer", &E::optimizer, optimizer_codec(),
          fmt::format(
              "what updates the weights, with so many bytes of GPU memory moved for each parameter beside products: "
              "{}; none: the update takes no time and keeps nothing",
              moved_by_optimizers())),
      map_member<E>("optimizer_states", &E::optimizer_states, state_format_codec()),
      map_member<E>("master_weights", &E::master_weights, optional_codec(bool_codec(), "auto")),
      map_member<E>("adapter", &E::adapter, adapter_codec()),
      map_member<E>("frozen", &E::frozen, frozen_codec()),
      map_member<E>("update", &E::update_in_backward, choice_codec<bool>({{"behind", false}, {"in-backward", true}})),
      map_member<E>("update_per_tensor", &E::update_per_tensor, quantity_codec(Time{}, Time::seconds(1))),
      map_member<E>("input", &E::input, quantity_codec(Time{}, Time::seconds(3600))),
      map_member<E>("data", &E::data, data_codec()),
      map_member<E>("launch", &E::launch, quantity_codec(Time{}, Time::seconds(1))),
      map_member<E>("host", &E::host, host_codec()),
      map_member<E>("memory", &E::memory,
                    optional_codec(quantity_codec(Bytes{1}, Bytes{std::int64_t{1} << 50}), "auto")),
  };
}

std::span<const Member> members() {
  static const std::vector<Member> all = key_rows::with_texts(
      "training.*", table_of<Member>({source_members, exchange_members, batch_members, execution_members}));
  return all;
}

/// The reason why an entry can't have that name, or an empty text.
std::string why_not_named(const std::string& name) {
  const std::string reason = why_no_entry_name(name);
  return reason.empty() && find_training_profile(name) != nullptr ? "a training profile has this name" : reason;
}

}  // namespace

Codec<std::vector<TrainingEntry>> training_codec() {
  return entries_codec<TrainingEntry>({.members = members,
                                       .usual = usual_entry,
                                       .why_not_named = why_not_named,
                                       .example = "{resnet: {model: resnet50, device: V100-SXM2, batch: 64}}",
                                       .entry_example = "{model: resnet50, batch: 64}",
                                       .most = kMaxItems});
}

namespace {

/// True if the entry gives another member that answers the same question, so that the default entry's answer has no
/// place beside it.
bool gives_instead(const TrainingEntry& entry, std::string_view name) {
  static const std::vector<std::vector<std::string_view>> kQuestions = {
      {"accumulate", "global_batch"}, {"backup_workers", "gradient_coding"}, {"model", "config", "transformer"}};
  const auto gives = [&](std::string_view member) {
    const bool is_open = member == "global_batch" && !entry.global_batch;  // auto: it follows from accumulate
    return entry.given.contains(member) && !is_open;
  };
  return std::ranges::any_of(kQuestions, [&](const std::vector<std::string_view>& answers) {
    return std::ranges::find(answers, name) != answers.end() && std::ranges::any_of(answers, gives);
  });
}

void take_usual_type(TrainingEntry& entry) {
  if (entry.as_framework) entry.type = framework_type(entry);
}

/// Gives the entry the members of the default entry that it doesn't give itself.
void inherit(const TrainingEntry& usual, TrainingEntry& entry) {
  for (const std::string& name : usual.given) {
    if (entry.given.contains(name) || gives_instead(entry, name)) continue;
    find_member(members(), name)->io->copy(usual, entry);
    entry.inherited.insert(name);
  }
}

}  // namespace

DataType framework_type(const TrainingEntry& entry) {
  if (!entry.parallel || entry.device.calibrated || entry.says("dtype")) return entry.type;
  const Device& device = sheet_of(entry.device);
  for (const DataType type : {DataType::bf16, DataType::fp16})
    if (device.uses_matrix_unit(type)) return type;
  return entry.type;
}

void take_defaults(std::vector<TrainingEntry>& entries) {
  const auto usual = std::ranges::find(entries, kDefaultEntry, &TrainingEntry::name);
  for (TrainingEntry& entry : entries) {
    if (usual != entries.end()) inherit(*usual, entry);
    take_usual_type(entry);
  }
}

TrainingEntry variant_entry(const TrainingEntry& base, std::string_view model) {
  TrainingEntry entry = base;
  const std::string_view own = model.substr(base_of(model).size());
  if (own.empty()) return entry;
  const SourceText source{"", std::string{own}};
  const std::string key = "training." + base.name;
  std::vector<Complaint> complaints;
  const std::optional<YamlNode> node = parse_yaml(source.text(), source, 1, complaints);
  entry.given.clear();
  if (node) read_members(members(), *node, Reading{source, key, complaints}, entry, entry.given);
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  // An entry leaves out answers of the default entry beside its own, and so does a variant with answers of its entry.
  std::set<std::string, std::less<>> kept;
  for (const auto* const names : {&base.given, &base.inherited}) {
    for (const std::string& name : *names) {
      if (entry.given.contains(name)) {
        entry.inherited.erase(name);
      } else if (gives_instead(entry, name)) {
        find_member(members(), name)->io->copy(usual_entry(), entry);
        entry.inherited.erase(name);
      } else if (names == &base.given) {
        kept.insert(name);
      }
    }
  }
  entry.given.merge(kept);
  take_usual_type(entry);
  return entry;
}

std::vector<MemberText> training_members() {
  return member_texts(members(), usual_entry());
}

}  // namespace contend
