#include "scenarios/keys/topology_codec.hpp"

#include "network/topologies/machines.hpp"
#include "scenarios/keys/graph_codec.hpp"
#include "sim/check.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>

namespace contend {
namespace {

using Kind = YamlNode::Kind;

// The type of a parameter's field determines its codec.
template <class Spec>
using Row = TopologyParameter<Spec>;

template <class Spec>
Codec<std::size_t> codec_of(const Row<Spec>& row, std::size_t Spec::*) {
  return integer_codec<std::size_t>(static_cast<std::int64_t>(row.minimum), static_cast<std::int64_t>(row.maximum));
}
template <class Spec>
Codec<double> codec_of(const Row<Spec>& row, double Spec::*) {
  return number_codec(row.minimum, row.maximum);
}
template <class Spec>
Codec<bool> codec_of(const Row<Spec>&, bool Spec::*) {
  return bool_codec();
}
template <class Spec>
Codec<ByteRate> codec_of(const Row<Spec>&, ByteRate Spec::*) {
  return link_rate_codec();
}
template <class Spec>
Codec<std::optional<ByteRate>> codec_of(const Row<Spec>&, std::optional<ByteRate> Spec::*) {
  return optional_codec(link_rate_codec(), "auto");
}
template <class Spec>
Codec<Time> codec_of(const Row<Spec>&, Time Spec::*) {
  return link_latency_codec();
}
template <class Spec>
Codec<std::vector<std::size_t>> codec_of(const Row<Spec>& row, std::vector<std::size_t> Spec::*) {
  return list_codec(
      integer_codec<std::size_t>(static_cast<std::int64_t>(row.minimum), static_cast<std::int64_t>(row.maximum)),
      "integers");
}
template <class Spec>
Codec<std::vector<std::string>> codec_of(const Row<Spec>&, std::vector<std::string> Spec::*) {
  return list_codec(node_name_codec(), "names");
}
template <class Spec>
Codec<WanMatrix> codec_of(const Row<Spec>&, WanMatrix Spec::*) {
  return wan_codec();
}
template <class Spec>
Codec<GraphSpec> codec_of(const Row<Spec>&, GraphSpec Spec::*) {
  return graph_codec();
}

/// Calls `use` with the codec and the field of the parameter.
template <class Spec, class Use>
auto with_codec(const Row<Spec>& row, Use use) {
  return std::visit([&](auto field) { return use(codec_of(row, field), field); }, row.field);
}

/// A table of kinds and the word of its key.
template <class Spec>
struct Table {
  std::string_view word;  ///< `fabric`
  const std::vector<TopologyKind<Spec>>& kinds;

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& kind : kinds) all.emplace_back(kind.name);
    return all;
  }
  [[nodiscard]] const TopologyKind<Spec>* find(std::string_view name) const {
    const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.name == name; });
    return kind == kinds.end() ? nullptr : &*kind;
  }
};

/// What a scenario starts from when it names a kind.
template <class Spec>
Spec default_spec(std::string_view kind) {
  if constexpr (std::is_same_v<Spec, ServerSpec>) {
    return default_server(kind);
  } else {
    Spec spec;
    spec.kind = kind;
    return spec;
  }
}

bool is_key(const Row<FabricSpec>&) {
  return true;
}
bool is_key(const Row<ServerSpec>& row) {
  const auto* const rate = std::get_if<ByteRate ServerSpec::*>(&row.field);
  return rate == nullptr || *rate != &ServerSpec::nic_bandwidth;
}

template <class Spec>
const Row<Spec>* find_parameter(const TopologyKind<Spec>& kind, std::string_view name) {
  const auto row = std::find_if(kind.parameters.begin(), kind.parameters.end(),
                                [&](const Row<Spec>& r) { return r.name == name && is_key(r); });
  return row == kind.parameters.end() ? nullptr : &*row;
}

/// Counts without a useful default start below their minimum, which marks them as missing.
template <class Spec>
bool is_missing(const Row<Spec>& row, const Spec& spec) {
  const auto* const count = std::get_if<std::size_t Spec::*>(&row.field);
  return count != nullptr && static_cast<double>(spec.**count) < row.minimum;
}

template <class Spec>
std::string print_parameter(const Row<Spec>& row, const Spec& spec) {
  if (is_missing(row, spec)) return {};
  return with_codec(row, [&](const auto& codec, auto field) { return codec.print(spec.*field); });
}

template <class Spec>
std::optional<PlainValue> parameter_part(const Row<Spec>& row, const Spec& spec) {
  if (is_missing(row, spec)) return std::nullopt;
  return with_codec(row, [&](const auto& codec, auto field) { return plain_value(codec, spec.*field); });
}

template <class Spec>
std::string hint_for(const Table<Spec>& table, const TopologyKind<Spec>& kind, const std::string& name) {
  if (std::is_same_v<Spec, ServerSpec> && name == "nic_bandwidth") return "it is the key `network.nic`";
  std::vector<std::string> owners;
  for (const auto& other : table.kinds) {
    if (find_parameter(other, name) != nullptr) owners.emplace_back(other.name);
  }
  if (!owners.empty()) return fmt::format("kinds that have it: {}", join(owners));
  std::vector<std::string> names{"kind"};
  for (const Row<Spec>& row : kind.parameters)
    if (is_key(row)) names.emplace_back(row.name);
  return did_you_mean(name, names);
}

/// Switches to the kind that `node` names, unless it is the current one. Reports an unknown name.
template <class Spec>
bool read_kind(const Table<Spec>& table, const YamlNode& node, const Reading& reading, Spec& spec) {
  if (node.kind != Kind::scalar || table.find(node.text) == nullptr) {
    reading.expected_one_of(table.names(), node);
    return false;
  }
  if (node.text != spec.kind) spec = default_spec<Spec>(node.text);
  return true;
}

template <class Spec>
void read_parameters(const Table<Spec>& table, const YamlNode& map, const Reading& reading, Spec& spec) {
  const TopologyKind<Spec>* kind = table.find(spec.kind);
  CONTEND_CHECK(kind != nullptr, "a spec that is read has a known kind");
  for (const YamlNode::Entry& entry : map.entries) {
    if (entry.key == "kind") continue;
    const std::string key = reading.key + "." + entry.key;
    const Reading inner{reading.source, key, reading.complaints, reading.files};
    const Row<Spec>* row = find_parameter(*kind, entry.key);
    if (row == nullptr) {
      inner.complain(entry.place, fmt::format("the {} {} has no such parameter", table.word, kind->name),
                     hint_for(table, *kind, entry.key));
      continue;
    }
    with_codec(*row, [&](const auto& codec, auto field) { codec.read(entry.value, inner, spec.*field); });
  }
}

template <class Spec>
void write_kind_schema(JsonWriter& json, const TopologyKind<Spec>& kind) {
  const Spec defaults = default_spec<Spec>(kind.name);
  json.begin_object().member("type", "object").member("additionalProperties", false).key("properties").begin_object();
  json.key("kind").begin_object();
  json.member("const", kind.name).member("description", kind.summary).end_object();
  for (const Row<Spec>& row : kind.parameters) {
    if (!is_key(row)) continue;
    json.key(row.name).begin_object();
    with_codec(row, [&](const auto& codec, auto) { codec.schema(json); });
    const std::string usual = print_parameter(row, defaults);
    json.member("description",
                usual.empty() ? std::string{row.text} : fmt::format("{} (default: {})", row.text, usual));
    json.end_object();
  }
  json.end_object().end_object();
}

template <class Spec>
Codec<Spec> spec_codec(const Table<Spec>& table) {
  Codec<Spec> codec;
  codec.type = std::string{table.word};
  codec.range = join(table.names(), " or ");
  codec.schema = [table](JsonWriter& json) {
    json.key("anyOf").begin_array().begin_object();
    names_schema(json, table.names());
    json.end_object();
    for (const auto& kind : table.kinds) write_kind_schema(json, kind);
    json.end_array();
  };
  codec.read = [table](const YamlNode& node, const Reading& reading, Spec& spec) {
    if (node.kind != Kind::map) {
      read_kind(table, node, reading, spec);
      return;
    }
    const auto kind =
        std::find_if(node.entries.begin(), node.entries.end(), [](const auto& e) { return e.key == "kind"; });
    if (kind != node.entries.end() && !read_kind(table, kind->value, reading, spec)) return;
    read_parameters(table, node, reading, spec);
  };
  codec.print = [table](const Spec& spec) {
    std::string text = "{kind: " + spec.kind;
    const TopologyKind<Spec>* kind = table.find(spec.kind);
    CONTEND_CHECK(kind != nullptr, "a spec that is printed has a known kind");
    for (const Row<Spec>& row : kind->parameters) {
      const std::string value = is_key(row) ? print_parameter(row, spec) : std::string{};
      if (!value.empty()) text += fmt::format(", {}: {}", row.name, value);
    }
    return text + "}";
  };
  codec.part = [table](const Spec& spec, std::string_view name) -> std::optional<PlainValue> {
    if (name == "kind") return PlainValue{spec.kind, std::nullopt};
    const TopologyKind<Spec>* kind = table.find(spec.kind);
    CONTEND_CHECK(kind != nullptr, "a spec that is shown has a known kind");
    const Row<Spec>* row = find_parameter(*kind, name);
    return row == nullptr ? std::nullopt : parameter_part(*row, spec);
  };
  return codec;
}

template <class Spec>
std::vector<TopologyKindInfo> infos(const std::vector<TopologyKind<Spec>>& kinds) {
  std::vector<TopologyKindInfo> all;
  for (const auto& kind : kinds) {
    const auto defaults = default_spec<Spec>(kind.name);
    TopologyKindInfo info{kind.name, kind.summary, kind.source, {}};
    for (const Row<Spec>& row : kind.parameters) {
      if (!is_key(row)) continue;
      with_codec(row, [&](const auto& codec, auto) {
        info.parameters.push_back({row.name, codec.type, codec.range, print_parameter(row, defaults), row.text});
      });
    }
    all.push_back(std::move(info));
  }
  return all;
}

}  // namespace

Codec<FabricSpec> fabric_codec() {
  return spec_codec(Table<FabricSpec>{"fabric", fabric_kinds()});
}

Codec<ServerSpec> server_codec() {
  return spec_codec(Table<ServerSpec>{"server", server_kinds()});
}

std::vector<TopologyKindInfo> fabric_infos() {
  return infos(fabric_kinds());
}

std::vector<TopologyKindInfo> server_infos() {
  return infos(server_kinds());
}

std::vector<std::string> missing_parameters(const FabricSpec& spec) {
  std::vector<std::string> names;
  for (const auto& kind : fabric_kinds()) {
    if (kind.name != spec.kind) continue;
    for (const auto& row : kind.parameters)
      if (is_missing(row, spec)) names.emplace_back(row.name);
  }
  return names;
}

}  // namespace contend
