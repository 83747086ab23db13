#include "scenarios/graph_codec.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace contend {
namespace {

using Kind = YamlNode::Kind;

// A graph of this size, printed, fits into a file that is read back.
constexpr std::size_t kMaxNodes = 2'000;
constexpr std::size_t kMaxLinks = 4'000;
constexpr std::size_t kMaxSites = 100;
constexpr std::size_t kMaxNameBytes = 64;
constexpr std::string_view kAws = "aws";
constexpr std::string_view kNone = "none";

/// Names of nodes and sites; `->` and `#` are for links.
Codec<std::string> name_codec() {
  Codec<std::string> codec = text_codec();
  codec.type = "name";
  codec.schema = [](JsonWriter& json) {
    json.member("type", "string").member("pattern", fmt::format("^[A-Za-z0-9_./-]{{1,{}}}$", kMaxNameBytes));
  };
  codec.read = [](const YamlNode& node, const Reading& reading, std::string& value) {
    const auto is_allowed = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == '/';
    };
    if (node.kind != Kind::scalar || node.text.empty() || node.text.size() > kMaxNameBytes ||
        !std::all_of(node.text.begin(), node.text.end(), is_allowed)) {
      return reading.expected(fmt::format("a name of 1 to {} letters, digits and _ - . /", kMaxNameBytes), node);
    }
    value = node.text;
  };
  return codec;
}

/// One member of a map.
template <class T>
struct Field {
  std::string_view name;
  bool required;
  std::function<void(JsonWriter&)> schema;
  std::function<void(const YamlNode&, const Reading&, T&)> read;
  std::function<std::string(const T&)> print;  ///< empty: as if it weren't given
};

template <class T, class Value>
Field<T> field(std::string_view name, Value T::*member, const Codec<Value>& codec, bool required = false) {
  return {name, required, codec.schema,
          [codec, member](const YamlNode& node, const Reading& reading, T& value) {
            codec.read(node, reading, value.*member);
          },
          [codec, member, required](const T& value) {
            return !required && value.*member == T{}.*member ? std::string{} : codec.print(value.*member);
          }};
}

template <class T>
void read_fields(const std::vector<Field<T>>& fields, const YamlNode& map, const Reading& reading, T& value) {
  std::vector<std::string> names;
  for (const auto& each : fields) names.emplace_back(each.name);
  for (const YamlNode::Entry& entry : map.entries) {
    const std::string key = reading.key + "." + entry.key;
    const Reading inner{reading.source, key, reading.complaints, reading.files};
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.name == entry.key; });
    if (found == fields.end())
      inner.complain(entry.place, "unknown key", did_you_mean(entry.key, names));
    else
      found->read(entry.value, inner, value);
  }
  for (const auto& each : fields) {
    const auto is_this = [&](const YamlNode::Entry& entry) { return entry.key == each.name; };
    if (each.required && std::none_of(map.entries.begin(), map.entries.end(), is_this))
      reading.complain(map.place, fmt::format("{} is missing", each.name));
  }
}

/// A map with these members.
template <class T>
Codec<T> map_codec(std::vector<Field<T>> fields, std::string_view example) {
  Codec<T> codec;
  codec.type = "map";
  codec.schema = [fields](JsonWriter& json) {
    json.member("type", "object").member("additionalProperties", false);
    json.key("required").begin_array();
    for (const auto& each : fields)
      if (each.required) json.value(each.name);
    json.end_array().key("properties").begin_object();
    for (const auto& each : fields) {
      json.key(each.name).begin_object();
      each.schema(json);
      json.end_object();
    }
    json.end_object();
  };
  codec.read = [fields, example](const YamlNode& node, const Reading& reading, T& value) {
    if (node.kind != Kind::map) return reading.expected(fmt::format("a map such as {}", example), node);
    const std::size_t complaints = reading.complaints.size();
    T read;
    read_fields(fields, node, reading, read);
    if (reading.complaints.size() == complaints) value = std::move(read);
  };
  codec.print = [fields](const T& value) {
    std::vector<std::string> entries;
    for (const auto& each : fields) {
      const std::string text = each.print(value);
      if (!text.empty()) entries.push_back(fmt::format("{}: {}", each.name, text));
    }
    return fmt::format("{{{}}}", join(entries));
  };
  return codec;
}

/// `inner`, which may also stand in a file that is named instead.
template <class T>
Codec<T> or_file(Codec<T> inner) {
  Codec<T> codec = inner;
  codec.type = fmt::format("{} or path", inner.type);
  codec.schema = [inner](JsonWriter& json) {
    json.key("anyOf").begin_array().begin_object();
    inner.schema(json);
    json.end_object().begin_object();
    path_codec().schema(json);
    json.end_object().end_array();
  };
  codec.read = [inner](const YamlNode& node, const Reading& reading, T& value) {
    if (node.kind != Kind::scalar) return inner.read(node, reading, value);
    std::string path;
    const std::size_t complaints = reading.complaints.size();
    path_codec().read(node, reading, path);
    if (reading.complaints.size() != complaints) return;
    const bool can_read = reading.files != nullptr && *reading.files;
    const FileText file = can_read ? (*reading.files)(path) : FileText{std::nullopt, "no files can be read here"};
    if (!file.text) return reading.complain(node.place, fmt::format("can't read {}: {}", quote(path), file.reason));
    const SourceText source{path, *file.text};
    const std::optional<YamlNode> root = parse_yaml(source.text(), source, 1, reading.complaints);
    if (root) inner.read(*root, Reading{source, reading.key, reading.complaints, reading.files}, value);
  };
  return codec;
}

/// A list of maps or names, each with its number in the key of complaints.
template <class T>
Codec<std::vector<T>> numbered_list(Codec<T> item, std::string_view word, std::size_t maximum) {
  Codec<std::vector<T>> codec = list_codec(item, word);
  codec.read = [item, word, maximum](const YamlNode& node, const Reading& reading, std::vector<T>& value) {
    if (node.kind != Kind::sequence) return reading.expected(fmt::format("a list of {}", word), node);
    if (node.items.size() > maximum) return reading.expected(fmt::format("at most {} {}", maximum, word), node);
    value.resize(node.items.size());
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string key = fmt::format("{}[{}]", reading.key, i);
      item.read(node.items[i], Reading{reading.source, key, reading.complaints, reading.files}, value[i]);
    }
  };
  return codec;
}

Codec<GraphLink> link_codec() {
  const Codec<std::string> name = name_codec();
  return map_codec<GraphLink>({field("from", &GraphLink::from, name, true), field("to", &GraphLink::to, name, true),
                               field("bandwidth", &GraphLink::bandwidth, optional_codec(link_rate_codec(), "auto")),
                               field("latency", &GraphLink::latency, optional_codec(link_latency_codec(), "auto")),
                               field("both_ways", &GraphLink::both_ways, bool_codec()),
                               field("count", &GraphLink::count, integer_codec<std::size_t>(1, 4096))},
                              "{from: leaf0, to: spine0}");
}

/// A plain switch, by its name.
Codec<GraphNode> node_codec() {
  const Codec<std::string> name = name_codec();
  Codec<GraphNode> codec;
  codec.type = name.type;
  codec.schema = name.schema;
  codec.read = [name](const YamlNode& node, const Reading& reading, GraphNode& value) {
    name.read(node, reading, value.name);
  };
  codec.print = [name](const GraphNode& value) { return name.print(value.name); };
  return codec;
}

/// What a matrix holds of one kind, row by row; its diagonal is `none`.
template <class T>
Codec<std::vector<T>> matrix_codec(const Codec<T>& entry) {
  // The diagonal is no value of T, so rows are read as lists of optional ones.
  const auto rows = list_codec(list_codec(optional_codec(entry, kNone), "entries"), "rows");
  Codec<std::vector<T>> codec;
  codec.type = "matrix";
  codec.schema = rows.schema;
  codec.read = [rows](const YamlNode& node, const Reading& reading, std::vector<T>& value) {
    std::vector<std::vector<std::optional<T>>> matrix;
    const std::size_t complaints = reading.complaints.size();
    rows.read(node, reading, matrix);
    if (reading.complaints.size() != complaints) return;
    value.clear();
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      const YamlNode& row = node.items[i];
      if (matrix[i].size() != matrix.size()) {
        reading.complain(row.place, fmt::format("expected {} entries in row {}, one a row, got {}", matrix.size(),
                                                i + 1, matrix[i].size()));
        continue;
      }
      for (std::size_t j = 0; j < matrix.size(); ++j) {
        if (matrix[i][j].has_value() == (i == j))
          reading.complain(row.items[j].place, i == j ? "expected none on the diagonal" : "expected a value, got none");
        value.push_back(matrix[i][j].value_or(T{}));
      }
    }
  };
  codec.print = [rows](const std::vector<T>& value) {
    std::size_t side = 0;
    while (side * side < value.size()) ++side;
    std::vector<std::vector<std::optional<T>>> matrix(side);
    for (std::size_t i = 0; i < value.size(); ++i)
      matrix[i / side].push_back(i / side == i % side ? std::nullopt : std::optional{value[i]});
    return rows.print(matrix);
  };
  return codec;
}

}  // namespace

Codec<ByteRate> link_rate_codec() {
  return quantity_codec(ByteRate{125}, ByteRate{1.25e14});
}

Codec<Time> link_latency_codec() {
  return quantity_codec(Time{}, Time::seconds(3600));
}

Codec<GraphSpec> graph_codec() {
  return or_file(map_codec<GraphSpec>(
      {field("nodes", &GraphSpec::nodes, numbered_list(node_codec(), "names of switches", kMaxNodes), true),
       field("links", &GraphSpec::links, numbered_list(link_codec(), "links", kMaxLinks), true)},
      "{nodes: [core], links: [{from: server0, to: core}]}"));
}

Codec<WanMatrix> wan_codec() {
  const Codec<WanMatrix> inner = or_file(
      map_codec<WanMatrix>({field("sites", &WanMatrix::sites, numbered_list(name_codec(), "names", kMaxSites), true),
                            field("bandwidth", &WanMatrix::bandwidth, matrix_codec(link_rate_codec()), true),
                            field("latency", &WanMatrix::latency, matrix_codec(link_latency_codec()), true)},
                           "{sites: [a, b], bandwidth: [[none, 1Gbps], [1Gbps, none]], latency: ...}"));
  Codec<WanMatrix> codec = inner;
  codec.type = fmt::format("{} or {}", inner.type, kAws);
  codec.read = [inner](const YamlNode& node, const Reading& reading, WanMatrix& value) {
    if (node.kind == Kind::scalar && node.text == kAws)
      value = {};
    else
      inner.read(node, reading, value);
  };
  codec.print = [inner](const WanMatrix& value) {
    return value.sites.empty() ? std::string{kAws} : inner.print(value);
  };
  return codec;
}

}  // namespace contend
