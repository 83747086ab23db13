#include "scenarios/keys/graph_codec.hpp"

#include "scenarios/yaml/map_codec.hpp"

#include <algorithm>
#include <cctype>

namespace contend {
namespace {

using Kind = YamlNode::Kind;

// Limits with which a printed graph fits into a file that can be read back.
constexpr std::size_t kMaxNodes = 2'000;
constexpr std::size_t kMaxLinks = 3'000;
constexpr std::size_t kMaxSites = 100;
constexpr std::size_t kMaxNameBytes = 32;
constexpr std::string_view kAws = "aws";
constexpr std::string_view kNone = "none";

/// The codec `inner`, extended by the path of a file that contains the value.
template <class T>
Codec<T> or_file(Codec<T> inner) {
  Codec<T> codec = inner;
  codec.type = fmt::format("{} or path", inner.type);
  codec.schema = [inner](JsonWriter& json) { any_of_schema(json, inner.schema, path_codec().schema); };
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

Codec<GraphLink> link_codec() {
  const Codec<std::string> name = node_name_codec();
  return map_codec<GraphLink>({field("from", &GraphLink::from, name, true), field("to", &GraphLink::to, name, true),
                               field("bandwidth", &GraphLink::bandwidth, optional_codec(link_rate_codec(), "auto")),
                               field("latency", &GraphLink::latency, optional_codec(link_latency_codec(), "auto")),
                               field("both_ways", &GraphLink::both_ways, bool_codec()),
                               field("count", &GraphLink::count, integer_codec<std::size_t>(1, 4096))},
                              "{from: leaf0, to: spine0}");
}

/// A plain switch, written as its name.
Codec<GraphNode> node_codec() {
  const Codec<std::string> name = node_name_codec();
  Codec<GraphNode> codec;
  codec.type = name.type;
  codec.schema = name.schema;
  codec.read = [name](const YamlNode& node, const Reading& reading, GraphNode& value) {
    name.read(node, reading, value.name);
  };
  codec.print = [name](const GraphNode& value) { return name.print(value.name); };
  return codec;
}

/// The matrix of one quantity, row by row; its diagonal is `none`.
template <class T>
Codec<std::vector<T>> matrix_codec(const Codec<T>& entry) {
  // `none` on the diagonal is no value of T, so rows are read as lists of optional values.
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

Codec<std::string> node_name_codec() {
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

Codec<ByteRate> link_rate_codec() {
  Codec<ByteRate> codec = quantity_codec(ByteRate{125}, ByteRate{1.25e14});
  codec.print = print_link_rate;
  codec.plain = [](const ByteRate& value, PartNames) { return PlainValue{print_link_rate(value), value}; };
  return codec;
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
  const Codec<WanMatrix> inner = or_file(map_codec<WanMatrix>(
      {field("sites", &WanMatrix::sites, numbered_list(node_name_codec(), "names", kMaxSites), true),
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
