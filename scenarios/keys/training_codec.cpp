#include "scenarios/keys/training_codec.hpp"

#include "models/catalogue/catalogue.hpp"
#include "models/training_profile.hpp"
#include "scenarios/keys/device_codec.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/keys/study_keys.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

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

/// A member of an entry.
struct Member {
  std::string_view name, text;
  std::string type, range;
  std::function<void(JsonWriter&)> schema;
  std::function<void(const YamlNode&, const Reading&, TrainingEntry&)> read;
  std::function<std::string(const TrainingEntry&)> print;
  std::function<std::optional<PlainValue>(const TrainingEntry&, std::string_view part)> plain;
  std::function<void(const TrainingEntry& from, TrainingEntry& to)> copy;
};

template <class T, class Access>
Member member(std::string_view name, Access access, const Codec<T>& codec, std::string_view text) {
  Member made{name, text, codec.type, codec.range, codec.schema, {}, {}, {}, {}};
  made.read = [codec, access](const YamlNode& node, const Reading& reading, TrainingEntry& entry) {
    codec.read(node, reading, access(entry));
  };
  made.print = [codec, access](const TrainingEntry& entry) { return codec.print(access(entry)); };
  made.plain = [codec, access](const TrainingEntry& entry, std::string_view part) -> std::optional<PlainValue> {
    if (part.empty()) return plain_value(codec, access(entry));
    return codec.part ? codec.part(access(entry), part) : std::nullopt;
  };
  made.copy = [access](const TrainingEntry& from, TrainingEntry& to) { access(to) = access(from); };
  return made;
}

std::vector<Member> make_members() {
  return {
      member(
          "model", [](auto& e) -> auto& { return e.model; }, optional_codec(name_codec(model_names()), ""),
          "network of the catalogue"),
      member(
          "layers", [](auto& e) -> auto& { return e.layers; }, optional_codec(path_codec(), ""),
          "file of layer times, relative to the file with this entry; `model` then only supplies sizes that it lacks"),
      member(
          "select", [](auto& e) -> auto& { return e.select; }, text_codec(),
          "name of the model if that file has several"),
      member(
          "device", [](auto& e) -> auto& { return e.device; }, device_codec(),
          "source of layer times: the roofline of a device, or a profile of `contend calibrate`"),
      member(
          "dtype", [](auto& e) -> auto& { return e.type; }, data_type_codec(),
          "number format of matrix products and activations; gradients have the same width"),
      member(
          "batch", [](auto& e) -> auto& { return e.batch; }, optional_codec(integer_codec<int>(1, 1'000'000), "auto"),
          "samples of a worker in each micro-batch; auto: that of the file, else 32"),
      member(
          "sequence", [](auto& e) -> auto& { return e.sequence; },
          optional_codec(integer_codec<int>(1, 10'000'000), "auto"), "sequence length; auto: that of the model"),
      member(
          "single_worker", [](auto& e) -> auto& { return e.single_worker; },
          optional_codec(quantity_codec(Time::nanoseconds(1000), Time::seconds(86'400)), "auto"),
          "measured forward and backward time of one worker, to which all layer times are scaled"),
      member(
          "granularity", [](auto& e) -> auto& { return e.granularity; },
          choice_codec<Granularity>({{"tensor", Granularity::tensor}, {"layer", Granularity::layer}}),
          "unit of parameters whose gradients become ready together"),
      member(
          "fusion", [](auto& e) -> auto& { return e.fusion; }, policy_codec(policy_kind("fusion")),
          "when the gradients are sent, and together with which others"),
      member(
          "compression", [](auto& e) -> auto& { return e.compression; }, policy_codec(policy_kind("compression")),
          "how they are compressed"),
      member(
          "collective", [](auto& e) -> auto& { return e.collective; }, route_codec(),
          "collective that adds up compressed messages; auto: that of the method's paper"),
      member(
          "kernel_factor", [](auto& e) -> auto& { return e.kernel_factor; }, number_codec(0.01, 1000),
          "factor on the times of the kernels that compress"),
      member(
          "accumulate", [](auto& e) -> auto& { return e.accumulate; }, integer_codec<int>(1, 100'000),
          "micro-batches between two exchanges; only the last one sends gradients"),
      member(
          "optimizer", [](auto& e) -> auto& { return e.optimizer; },
          choice_codec<Optimizer>({{"none", Optimizer::none},
                                   {"sgd", Optimizer::sgd},
                                   {"momentum", Optimizer::momentum},
                                   {"adam", Optimizer::adam}}),
          "what updates the weights: 12, 20 or 28 bytes of GPU memory are moved for each parameter; none: the update "
          "takes no time and keeps nothing"),
      member(
          "input", [](auto& e) -> auto& { return e.input; }, quantity_codec(Time{}, Time::seconds(3600)),
          "time for which each iteration waits for its data"),
      member(
          "memory", [](auto& e) -> auto& { return e.memory; },
          optional_codec(quantity_codec(Bytes{1}, Bytes{std::int64_t{1} << 50}), "auto"),
          "memory on each GPU; auto: weights, gradients, state of the optimizer and outputs of all layers"),
  };
}

const std::vector<Member>& members() {
  static const std::vector<Member> all = make_members();
  return all;
}

const Member* find_member(std::string_view name) {
  const auto found = std::ranges::find(members(), name, &Member::name);
  return found == members().end() ? nullptr : &*found;
}

std::vector<std::string> member_names() {
  std::vector<std::string> names;
  for (const Member& each : members()) names.emplace_back(each.name);
  return names;
}

/// The reason why an entry can't have that name, or an empty text.
std::string why_not_named(const std::string& name) {
  if (name.empty()) return "a name is needed";
  if (const std::string reason = why_not_printable(name); !reason.empty()) return reason;
  if (name.find_first_of("., \t") != std::string::npos) return "a name has no points, commas or spaces";
  if (find_training_profile(name) != nullptr) return "a training profile has this name";
  return {};
}

void read_entry(const YamlNode& map, const Reading& reading, TrainingEntry& entry) {
  for (const YamlNode::Entry& each : map.entries) {
    const std::string key = reading.key + "." + each.key;
    const Reading inner{reading.source, key, reading.complaints, reading.files};
    if (const Member* found = find_member(each.key); found != nullptr) {
      found->read(each.value, inner, entry);
      entry.given.insert(each.key);
      continue;
    }
    inner.complain(each.place, "unknown key", did_you_mean(each.key, member_names()));
  }
}

std::string print_entry(const TrainingEntry& entry) {
  std::vector<std::string> parts;
  for (const Member& each : members()) {
    if (!entry.given.contains(each.name)) continue;
    const std::string text = each.print(entry);
    parts.push_back(fmt::format("{}: {}", each.name, text.empty() ? "\"\"" : text));
  }
  return fmt::format("{{{}}}", join(parts));
}

}  // namespace

Codec<std::vector<TrainingEntry>> training_codec() {
  using Entries = std::vector<TrainingEntry>;
  Codec<Entries> codec;
  codec.type = "map of names to entries";
  codec.schema = [](JsonWriter& json) {
    json.member("type", "object").key("additionalProperties").begin_object();
    json.member("type", "object").member("additionalProperties", false).key("properties").begin_object();
    for (const Member& each : members()) {
      json.key(each.name).begin_object();
      each.schema(json);
      json.member("description", each.text).end_object();
    }
    json.end_object().end_object();
  };
  codec.read = [](const YamlNode& node, const Reading& reading, Entries& value) {
    if (node.kind != Kind::map)
      return reading.expected("a map such as {resnet: {model: resnet50, device: V100-SXM2, batch: 64}}", node);
    if (value.size() + node.entries.size() > kMaxItems)
      return reading.expected(fmt::format("at most {} entries", kMaxItems), node);
    const std::size_t before = reading.complaints.size();
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
      read_entry(each.value, inner, *entry);
    }
    if (reading.complaints.size() == before) value = std::move(entries);
  };
  codec.print = [](const Entries& value) {
    if (value.empty()) return std::string{};
    std::vector<std::string> entries;
    for (const TrainingEntry& each : value) entries.push_back(fmt::format("{}: {}", each.name, print_entry(each)));
    return fmt::format("{{{}}}", join(entries));
  };
  codec.part = [](const Entries& value, std::string_view name) -> std::optional<PlainValue> {
    const std::size_t point = std::min(name.find('.'), name.size());
    const auto entry = std::ranges::find(value, name.substr(0, point), &TrainingEntry::name);
    if (entry == value.end()) return std::nullopt;
    const std::string_view rest = name.substr(std::min(point + 1, name.size()));
    if (rest.empty()) return PlainValue{print_entry(*entry), std::nullopt};
    const std::size_t inner = std::min(rest.find('.'), rest.size());
    const Member* found = find_member(rest.substr(0, inner));
    return found == nullptr ? std::nullopt : found->plain(*entry, rest.substr(std::min(inner + 1, rest.size())));
  };
  return codec;
}

void take_defaults(std::vector<TrainingEntry>& entries) {
  const auto usual = std::ranges::find(entries, kDefaultEntry, &TrainingEntry::name);
  if (usual == entries.end()) return;
  for (TrainingEntry& entry : entries) {
    for (const std::string& name : usual->given) {
      if (!entry.given.contains(name)) find_member(name)->copy(*usual, entry);
    }
  }
}

std::vector<TrainingMember> training_members() {
  std::vector<TrainingMember> all;
  for (const Member& each : members())
    all.push_back({std::string{each.name}, each.type, each.range, std::string{each.text}, each.print(usual_entry())});
  return all;
}

}  // namespace contend
