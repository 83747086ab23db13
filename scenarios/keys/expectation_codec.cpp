#include "scenarios/keys/expectation_codec.hpp"

#include "sim/fields.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace contend {
namespace {

using Kind = YamlNode::Kind;

std::string example(const Metric& metric) {
  if (metric.unit == "s") return "\"< 2h\" or [10min, 2h]";
  if (metric.unit == "share") return "\">= 60%\" or [60%, 90%]";
  return "160, \">= 150\" or [150, 160]";
}

std::optional<MetricLevel> read_level(const Metric& metric, std::string_view text, const YamlNode& node,
                                      const Reading& reading) {
  Parsed<MetricLevel> level = parse_level(metric, text);
  if (!level.value) {
    reading.complain(node.place, fmt::format("expected {}, got {}", level.expected, found_text(node)),
                     level.hint.empty() ? fmt::format("write {}", example(metric)) : level.hint);
  }
  return std::move(level.value);
}

std::optional<Expectation> read_interval(const Metric& metric, const YamlNode& node, const Reading& reading) {
  const auto is_scalar = [](const YamlNode& item) { return item.kind == Kind::scalar; };
  if (node.items.size() != 2 || !std::all_of(node.items.begin(), node.items.end(), is_scalar)) {
    reading.expected("[lowest, highest]", node);
    return std::nullopt;
  }
  auto low = read_level(metric, node.items[0].text, node.items[0], reading);
  auto high = read_level(metric, node.items[1].text, node.items[1], reading);
  if (!low || !high) return std::nullopt;
  if (low->value > high->value) {
    reading.complain(node.place, fmt::format("the lower end {} lies above the upper {}", low->text, high->text));
    return std::nullopt;
  }
  return Expectation{std::string{metric.name}, Relation::equal, *std::move(low), std::move(high)};
}

std::optional<Expectation> read_bound(const Metric& metric, const YamlNode& node, const Reading& reading) {
  if (node.kind == Kind::sequence) return read_interval(metric, node, reading);
  if (node.kind != Kind::scalar) {
    reading.expected(fmt::format("a bound such as {}", example(metric)), node);
    return std::nullopt;
  }
  const std::string_view text = trimmed(node.text);
  const auto [relation, length] = leading_relation(text).value_or(std::pair{Relation::equal, std::size_t{0}});
  auto level = read_level(metric, trimmed(text.substr(length)), node, reading);
  if (!level) return std::nullopt;
  return Expectation{std::string{metric.name}, relation, *std::move(level), std::nullopt};
}

void read_expectations(const YamlNode& node, const Reading& reading, std::vector<Expectation>& value) {
  if (node.kind != Kind::map) return reading.expected("a map such as {avg_jct: \"< 2h\"}", node);
  const std::size_t complaints = reading.complaints.size();
  std::vector<Expectation> read;
  for (const YamlNode::Entry& entry : node.entries) {
    const std::string key = reading.key + "." + entry.key;
    const Reading inner{reading.source, key, reading.complaints, reading.files};
    const Metric* metric = find_metric(entry.key);
    if (metric == nullptr) {
      inner.complain(entry.place, "unknown metric", metric_hint(entry.key));
      continue;
    }
    if (std::any_of(read.begin(), read.end(), [&](const Expectation& e) { return e.metric == metric->name; })) {
      inner.complain(entry.place, fmt::format("{} has a bound already", short_name(*metric)),
                     "write an interval [lowest, highest]");
      continue;
    }
    if (auto bound = read_bound(*metric, entry.value, inner)) read.push_back(*std::move(bound));
  }
  if (reading.complaints.size() == complaints) value = std::move(read);
}

PlainValue plain_bound(const Expectation& each) {
  if (each.upper) return {fmt::format("[{}, {}]", each.level.text, each.upper->text), std::nullopt};
  // A level keeps the text that it was read from: a share may be 95% or 0.95.
  if (each.relation == Relation::equal) return {each.level.text, parse_magnitude(each.level.text)};
  return {fmt::format("{} {}", to_string(each.relation), each.level.text), std::nullopt};
}

std::string print_bound(const Expectation& each) {
  const std::string text = plain_bound(each).text;
  return each.upper || each.relation == Relation::equal ? text : fmt::format("\"{}\"", text);
}

std::optional<PlainValue> bound_of(const std::vector<Expectation>& expectations, std::string_view name) {
  for (const Expectation& each : expectations)
    if (each.metric == name || short_name(contend::metric(each.metric)) == name) return plain_bound(each);
  return std::nullopt;
}

void bound_schema(JsonWriter& json, const Metric& metric) {
  json.begin_object().key("anyOf").begin_array();
  json.begin_object().member("type", "string").end_object();
  json.begin_object().member("type", "number").end_object();
  json.begin_object().member("type", "array").member("minItems", 2).member("maxItems", 2).end_object();
  json.end_array().member("description", fmt::format("{}: {}", metric.text, example(metric))).end_object();
}

void expectations_schema(JsonWriter& json) {
  json.member("type", "object").member("additionalProperties", false).key("properties").begin_object();
  for (const Metric& metric : metrics()) {
    json.key(short_name(metric));
    bound_schema(json, metric);
    if (short_name(metric) == metric.name) continue;
    json.key(metric.name);
    bound_schema(json, metric);
  }
  json.end_object();
}

}  // namespace

Codec<std::vector<Expectation>> expectations_codec() {
  Codec<std::vector<Expectation>> codec;
  codec.type = "map of metrics to bounds";
  codec.range = "`\"< 2h\"`, `160` or `[10min, 3h]`";
  codec.schema = expectations_schema;
  codec.read = read_expectations;
  codec.print = [](const std::vector<Expectation>& value) {
    std::vector<std::string> entries;
    for (const Expectation& each : value)
      entries.push_back(fmt::format("{}: {}", short_name(contend::metric(each.metric)), print_bound(each)));
    return entries.empty() ? std::string{} : fmt::format("{{{}}}", join(entries));
  };
  codec.part = bound_of;
  return codec;
}

}  // namespace contend
