#include "scenarios/keys/training_codec.hpp"

#include "models/catalogue/catalogue.hpp"
#include "models/overlap/optimizers.hpp"
#include "models/parallel/transformer_catalogue.hpp"
#include "models/training_profile.hpp"
#include "scenarios/keys/device_codec.hpp"
#include "scenarios/keys/parallel_codec.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/keys/setup_codecs.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "scenarios/yaml/host_table.hpp"

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

using Kind = YamlNode::Kind;

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

/// `12, 20 or 28`.
std::string moved_by_optimizers() {
  std::string all;
  for (const Optimizer& each : optimizers()) {
    const bool is_last = &each == &optimizers().back();
    all += fmt::format("{}{}", all.empty() ? "" : is_last ? " or " : ", ", each.moved());
  }
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

using E = TrainingEntry;

std::vector<Member> source_members() {
  return {
      map_member<E>(
          "model", &E::model, optional_codec(name_codec(network_names(), kListedNetworks), ""),
          "network of the catalogue, or a training profile under its name with `published-` in front, whose times, "
          "gradient and memory were measured as a whole"),
      map_member<E>(
          "layers", &E::layers, optional_codec(path_codec(), ""),
          "file of layer times, relative to the file with this entry; `model` then only supplies sizes that it lacks"),
      map_member<E>("select", &E::select, text_codec(), "name of the model if that file has several"),
      map_member<E>(
          "device", &E::device, device_codec(),
          "source of layer times: the roofline of a device that ships or that a sheet describes, or a profile of "
          "`contend calibrate`"),
      map_member<E>(
          "dtype", &E::type, data_type_codec({DataType::fp8, DataType::fp4}),
          "number format of matrix products and activations; gradients have the same width. From schema_version 2 on "
          "entries with parallel have bf16, or fp16, if the device has tensor cores for it. fp8, fp4 (with parallel): "
          "products of weights, all else has two bytes"),
      map_member<E>("batch", &E::batch, optional_codec(integer_codec<int>(1, 1'000'000), "auto"),
                    "samples of a worker in each micro-batch; auto: that of the file, else 32"),
      map_member<E>("sequence", &E::sequence, optional_codec(integer_codec<int>(1, 10'000'000), "auto"),
                    "sequence length; auto: that of the model"),
      map_member<E>("single_worker", &E::single_worker,
                    optional_codec(quantity_codec(Time::nanoseconds(1000), Time::seconds(86'400)), "auto"),
                    "measured forward and backward time of one worker, to which all layer times are scaled"),
      map_member<E>("granularity", &E::granularity,
                    choice_codec<Granularity>({{"tensor", Granularity::tensor}, {"layer", Granularity::layer}}),
                    "unit of parameters whose gradients become ready together"),
  };
}

std::vector<Member> exchange_members() {
  return {
      map_member<E>("fusion", &E::fusion, policy_codec(policy_kind("fusion")),
                    "when the gradients are sent, and together with which others"),
      map_member<E>("compression", &E::compression, policy_codec(policy_kind("compression")),
                    "how they are compressed"),
      map_member<E>("exchange", &E::exchange, exchange_codec(),
                    "how workers exchange gradients; to and from parameter servers each worker sends by itself"),
      map_member<E>("servers", &E::servers, optional_codec(integer_codec<int>(1, 1'000'000), "auto"),
                    "parameter servers; auto: as many as workers"),
      map_member<E>(
          "colocated", &E::colocated, bool_codec(),
          "whether parameter servers run on the servers of the job and share their interfaces, or elsewhere: on "
          "machines of their own, which at fidelity flow are servers of the cluster (hosts)"),
      map_member<E>(
          "hosts", &E::hosts, list_codec(integer_codec<int>(0, 999'999), "integers"),
          "at fidelity flow: numbers of the servers on which parameter servers run, in turn; []: those after the last "
          "server of the job that have none of its GPUs, or its own if it is on all"),
      map_member<E>("collective", &E::collective, route_codec(),
                    "collective that adds up compressed messages; auto: that of the method's paper"),
      map_member<E>("kernel_factor", &E::kernel_factor, number_codec(0.01, 1000),
                    "factor on the times of the kernels that compress"),
      map_member<E>(
          "framework", &E::framework, framework_codec(),
          "what the framework does to gradients around each message: its name, or the bytes that it moves in the "
          "memory of the GPU for 4 bytes of gradient, which are one value in fp32, and kernels for each tensor"),
      map_member<E>(
          "host_ns_per_value", &E::host_ns_per_value, number_codec(0, 1e6),
          "time of the host on each value of the gradient before a message is sent, in ns, such as copies and searches "
          "of sparse methods; one message after the other"),
      map_member<E>(
          "staging", &E::staging, optional_codec(quantity_codec(ByteRate{125}, ByteRate{1.25e14}), "none"),
          "rate at which messages are copied to the memory of the host before they are sent and back when they have "
          "arrived, such as 12GB/s over PCIe 3; none: the network reads and writes the memory of GPUs (GPUDirect)"),
      map_member<E>(
          "mixed_precision", &E::mixed_precision, bool_codec(),
          "with dtype fp16 or bf16: weights, gradients and messages are fp32, and each layer casts its weights before "
          "its forward pass and their gradients after its backward pass, as PyTorch's autocast does; false: all have "
          "that dtype"),
  };
}

std::vector<Member> batch_members() {
  return {
      map_member<E>("accumulate", &E::accumulate, integer_codec<int>(1, 100'000),
                    "micro-batches between two exchanges; only the last one sends gradients"),
      map_member<E>(
          "backup_workers", &E::backup, integer_codec<int>(0, 1'000'000),
          "workers of a job whose gradients a step does without if they are the last to have them; it drops what these "
          "still compute"),
      map_member<E>(
          "gradient_coding", &E::coded, coded_steps_codec(),
          "workers that a step does without likewise, but with nothing lost, as each worker also computes parts of "
          "others: a number s, parts of one more than s workers (GC); or {code: gc, sr-sgc or m-sgc, stragglers: "
          "of a step, or of `window` steps in a row, burst: steps in which one may be late without a break, window, "
          "tolerance: by how much longer than the fastest a late worker takes}"),
      map_member<E>("global_batch", &E::global_batch, optional_codec(integer_codec<int>(1, 1'000'000'000), "auto"),
                    "samples of all GPUs between two exchanges, from which accumulate follows"),
      map_member<E>("parallel", &E::parallel, parallel_codec(), "how the model is spread over the GPUs of a job"),
      map_member<E>("config", &E::config, optional_codec(path_codec(), ""),
                    "with parallel, instead of model: config.json of a transformer, as Hugging Face publishes it"),
      map_member<E>(
          "transformer", &E::transformer, transformer_codec(),
          "with parallel, instead of model: sizes of a decoder with rotary positions and without biases, or what "
          "differs from a model of the catalogue, such as {like: deepseek-v2, layers: 4}. "
          "`key_value_heads` and `head_size` follow from heads and hidden where they are 0; `gated` feed-forwards have "
          "three matrices; of `experts` a token goes to `top_k`; the first `dense_layers` have none"),
  };
}

std::vector<Member> execution_members() {
  return {
      map_member<E>(
          "recompute", &E::recompute,
          choice_codec<Recomputation>({{"none", Recomputation::none},
                                       {"selective", Recomputation::selective},
                                       {"operators", Recomputation::operators},
                                       {"full", Recomputation::full}}),
          "with parallel: what the backward pass computes again instead of keeping it: nothing; scores of attention; "
          "all but attention and every second product (torchtitan's list of operators); layers in full"),
      map_member<E>(
          "runtime", &E::runtime, choice_codec<Runtime>({{"plain", Runtime::plain}, {"fsdp2", Runtime::fsdp2}}),
          "with parallel: memory that counts: plain: tensors, each as long as it is needed; fsdp2: what PyTorch's "
          "allocator has reserved with FSDP2"),
      map_member<E>(
          "efficiency", &E::efficiency, efficiency_codec(),
          "share of the device's peak that kernels reach: as the device's sheet says (sheet), by format and shape; a "
          "number for large products on every device; flat: 0.664 on tensor cores, and 0.755 on others, as measured "
          "on a V100; auto: flat with schema_version 1, else sheet, and flat for devices without figures"),
      map_member<E>("loss", &E::loss, optional_codec(loss_codec(), "auto"),
                    "with parallel: softmax and loss in one kernel each way, or in the kernels of PyTorch, which keep "
                    "more, or of Megatron-LM; auto: as the host's framework has them, fused without a host"),
      map_member<E>(
          "pointwise", &E::eager, choice_codec<bool>({{"fused", false}, {"eager", true}}),
          "with parallel: RMS norms, rotary positions and gated activations in one kernel each, or in those of single "
          "operations, as PyTorch without a compiler runs them"),
      map_member<E>(
          "attention_efficiency", &E::attention_efficiency, optional_codec(number_codec(0.01, 1), "auto"),
          "with parallel: share of the peak that attention in one kernel reaches; auto: as the sheet says where "
          "efficiency is from it, else on tensor cores 0.615 on Ampere, 0.35 on Hopper (FlashAttention-2); else as "
          "products"),
      map_member<E>(
          "attention", &E::attention, attention_codec(),
          "attention in one kernel (flash: the fastest that the device's sheet has; or one by its generation), or with "
          "its scores in memory (plain); auto: as the catalogue has the network, and with parallel flash"),
      map_member<E>(
          "optimizer", &E::optimizer, optimizer_codec(),
          fmt::format("what updates the weights: {} bytes of GPU memory are moved for each parameter; none: the update "
                      "takes no time and keeps nothing",
                      moved_by_optimizers())),
      map_member<E>(
          "update_per_tensor", &E::update_per_tensor, quantity_codec(Time{}, Time::seconds(1)),
          "time of the host for the update of each tensor, where an optimizer launches its kernels tensor by tensor, "
          "as PyTorch's do without `fused` and `foreach`; the update takes at least as long"),
      map_member<E>("input", &E::input, quantity_codec(Time{}, Time::seconds(3600)),
                    "time for which each iteration waits for its data"),
      map_member<E>(
          "launch", &E::launch, quantity_codec(Time{}, Time::seconds(1)),
          "time of the host to launch each operation of the device, such as a pass of a layer or a collective. A host "
          "launches one after the other, ahead of its device, which waits where its operations are shorter"),
      map_member<E>(
          "host", &E::host, host_codec(),
          "what the host takes to launch the kernels of each operation: a framework of models/hosts.yaml, or costs of "
          "one's own, such as {like: megatron, graphs: true}; none: nothing; auto: none with schema_version 1, else "
          "torch, or megatron with tensor, pipeline or expert degrees above 1. Measured times include the host"),
      map_member<E>("memory", &E::memory,
                    optional_codec(quantity_codec(Bytes{1}, Bytes{std::int64_t{1} << 50}), "auto"),
                    "memory on each GPU; auto: weights, gradients, state of the optimizer and outputs of all layers"),
  };
}

std::span<const Member> members() {
  static const std::vector<Member> all =
      table_of<Member>({source_members, exchange_members, batch_members, execution_members});
  return all;
}

std::string print_given(const TrainingEntry& entry) {
  return print_members(members(), entry, [&](const Member& each) { return entry.given.contains(each.name); });
}

/// The reason why an entry can't have that name, or an empty text.
std::string why_not_named(const std::string& name) {
  if (name.empty()) return "a name is needed";
  if (const std::string reason = why_not_printable(name); !reason.empty()) return reason;
  if (name.find_first_of("., \t") != std::string::npos) return "a name has no points, commas or spaces";
  if (find_training_profile(name) != nullptr) return "a training profile has this name";
  return {};
}

}  // namespace

Codec<std::vector<TrainingEntry>> training_codec() {
  using Entries = std::vector<TrainingEntry>;
  Codec<Entries> codec;
  codec.type = "map of names to entries";
  codec.schema = [](JsonWriter& json) {
    json.member("type", "object").key("additionalProperties").begin_object();
    write_schema(members(), json);
    json.end_object();
  };
  codec.read = [](const YamlNode& node, const Reading& reading, Entries& value) {
    if (node.kind != Kind::map)
      return reading.expected("a map such as {resnet: {model: resnet50, device: V100-SXM2, batch: 64}}", node);
    if (value.size() + node.entries.size() > kMaxItems)
      return reading.expected(fmt::format("at most {} entries", kMaxItems), node);
    // With complaints the scenario is refused; the entries without any are kept, so that they can be checked as well.
    Entries entries = value;
    for (const YamlNode::Entry& each : node.entries) {
      const std::string key = reading.key + "." + each.key;
      const Reading inner{reading.source, key, reading.complaints, reading.files};
      if (const std::string reason = why_not_named(each.key); !reason.empty()) {
        inner.complain(each.place, "can't be the name of an entry: " + reason);
        continue;
      }
      if (each.value.kind != Kind::map) {
        inner.expected("a map such as {model: resnet50, batch: 64}", each.value);
        continue;
      }
      auto entry = std::ranges::find(entries, each.key, &TrainingEntry::name);
      if (entry == entries.end()) {
        entry = entries.insert(entry, usual_entry());
        entry->name = each.key;
      }
      read_members(members(), each.value, inner, *entry, entry->given);
    }
    value = std::move(entries);
  };
  codec.print = [](const Entries& value) {
    if (value.empty()) return std::string{};
    std::vector<std::string> entries;
    for (const TrainingEntry& each : value) entries.push_back(fmt::format("{}: {}", each.name, print_given(each)));
    return fmt::format("{{{}}}", join(entries));
  };
  codec.paths = [](Entries& value, const PathVisitor& visit) {
    for (TrainingEntry& each : value) visit_paths(members(), each, visit);
  };
  codec.part = [](const Entries& value, std::string_view name) -> std::optional<PlainValue> {
    const std::size_t point = std::min(name.find('.'), name.size());
    const auto entry = std::ranges::find(value, name.substr(0, point), &TrainingEntry::name);
    if (entry == value.end()) return std::nullopt;
    const std::string_view rest = name.substr(std::min(point + 1, name.size()));
    if (rest.empty()) return PlainValue{print_given(*entry), std::nullopt};
    return member_part(members(), *entry, rest);
  };
  return codec;
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
