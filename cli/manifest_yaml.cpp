#include "cli/manifest_yaml.hpp"

#include "scenarios/yaml/yaml_tree.hpp"
#include "sim/error.hpp"
#include "text/decimal.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace contend {
namespace {

JsonValue json_value_of(const YamlNode& node) {
  JsonValue value;
  value.place = {node.place.line, node.place.column};
  switch (node.kind) {
    case YamlNode::Kind::null:
      break;
    case YamlNode::Kind::scalar:
      value.text = node.text;
      value.boolean = !node.quoted && node.text == "true";
      if (!node.quoted && (node.text == "true" || node.text == "false"))
        value.kind = JsonValue::Kind::boolean;
      else if (!node.quoted && parse_integer(node.text).error == DecimalError::none)
        value.kind = JsonValue::Kind::number;
      else
        value.kind = JsonValue::Kind::string;
      break;
    case YamlNode::Kind::sequence:
      value.kind = JsonValue::Kind::array;
      for (const YamlNode& item : node.items) value.items.push_back(json_value_of(item));
      break;
    case YamlNode::Kind::map:
      value.kind = JsonValue::Kind::object;
      for (const YamlNode::Entry& entry : node.entries) {
        value.names.push_back(entry.key);
        value.items.push_back(json_value_of(entry.value));
      }
      break;
  }
  return value;
}

/// The documents of a text, each behind as many empty lines as it has lines before it.
std::vector<std::string> documents_of(const std::string& text) {
  std::vector<std::string> documents(1);
  std::size_t lines = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    std::string line = text.substr(at, end - at);
    at = end;
    ++lines;
    if (line.starts_with("---") && line.find_first_not_of(" \t\r\n", 3) == std::string::npos)
      documents.emplace_back(lines, '\n');
    else
      documents.back() += line;
  }
  return documents;
}

}  // namespace

JsonValue read_manifests(const std::string& text, const std::string& file) {
  JsonValue list;
  list.kind = JsonValue::Kind::array;
  for (const std::string& document : documents_of(text)) {
    std::vector<Complaint> complaints;
    const SourceText source{file, document};
    const std::optional<YamlNode> node = parse_yaml(document, source, 1, complaints, kMaxProfileBytes);
    if (!complaints.empty()) throw InputError{std::move(complaints.front())};
    if (!node || node->kind == YamlNode::Kind::null) continue;
    if (node->kind != YamlNode::Kind::map)
      throw InputError{source.complaint(node->place, "", "expected an object of Kubernetes, got " + found_text(*node))};
    list.items.push_back(json_value_of(*node));
  }
  JsonValue all;
  all.kind = JsonValue::Kind::object;
  all.names.emplace_back("items");
  all.items.push_back(std::move(list));
  return all;
}

}  // namespace contend
