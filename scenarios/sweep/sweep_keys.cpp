#include "scenarios/sweep/sweep_keys.hpp"

#include "scenarios/keys/key_rows.hpp"
#include "sim/error.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace contend {
namespace {

using Kind = YamlNode::Kind;
using key_rows::row;

constexpr std::size_t kMaxValues = 100'000;
constexpr int kMaxPoints = 1'000'000;

/// A node as YAML on one line.
std::string flow_text(const YamlNode& node) {
  constexpr std::string_view kSpecial = ",[]{}:#&*!|>'\"%@`";
  std::vector<std::string> parts;
  switch (node.kind) {
    case Kind::null:
      return "~";
    case Kind::scalar:
      return node.quoted || node.text.empty() || node.text.find_first_of(kSpecial) != std::string::npos
                 ? quote(node.text)
                 : node.text;
    case Kind::sequence:
      for (const YamlNode& item : node.items) parts.push_back(flow_text(item));
      return fmt::format("[{}]", join(parts));
    case Kind::map:
      for (const YamlNode::Entry& entry : node.entries)
        parts.push_back(fmt::format("{}: {}", quote(entry.key), flow_text(entry.value)));
      return fmt::format("{{{}}}", join(parts));
  }
  return {};
}

/// The values, by line and column, that are paths where `node` is the value of `path`, which is the key or a member of
/// it, and these paths from the working directory. Only the codec of the key knows, so it reads the value.
std::map<std::pair<int, int>, std::string> paths_in(const YamlNode& node, const Reading& reading,
                                                    const ScenarioKey& key, std::string_view path) {
  YamlNode value = node;
  for (std::size_t point; path != key.path; path = path.substr(0, point)) {
    point = path.rfind('.');
    YamlNode map;
    map.kind = Kind::map;
    map.place = node.place;
    map.entries.push_back({std::string{path.substr(point + 1)}, node.place, std::move(value)});
    value = std::move(map);
  }
  std::map<std::pair<int, int>, std::string> paths;
  const SourceText watched = reading.source.watched([&](Place place, const std::string& found) {
    paths[{place.line, place.column}] = found;
  });
  std::vector<Complaint> ignored;  // points are checked when they are made
  Scenario scratch = default_scenario();
  key.io->read(value, Reading{watched, reading.key, ignored}, scratch);
  return paths;
}

void replace(YamlNode& node, const std::map<std::pair<int, int>, std::string>& paths) {
  const auto found = paths.find({node.place.line, node.place.column});
  if (node.kind == Kind::scalar && found != paths.end()) {
    node.text = found->second;
    node.quoted = true;
  }
  for (YamlNode& item : node.items) replace(item, paths);
  for (YamlNode::Entry& entry : node.entries) replace(entry.value, paths);
}

/// The same node with paths made relative to the working directory: a setting, unlike a file, has no folder of its own.
YamlNode moved(YamlNode node, const Reading& reading, const ScenarioKey& key, std::string_view path) {
  replace(node, paths_in(node, reading, key, path));
  return node;
}

/// `path` is the key that the value is for, or a member of it.
SweepValue value_of(const YamlNode& node, const Reading& reading, const ScenarioKey* key, std::string_view path) {
  const Complaint here = reading.source.complaint(node.place, reading.key, {});
  const std::string text = flow_text(key == nullptr ? node : moved(node, reading, *key, path));
  return {text, {here.file, here.line, here.column, here.source_line}};
}

/// Shows the files that the value of the key names, and keeps what `visit` makes of their paths.
void visit_files(const std::string& key_path, SweepValue& value, const PathVisitor& visit) {
  const ScenarioKey* const key = sweepable_key(key_path);
  std::vector<Complaint> ignored;  // it has been read before
  const SourceText source{"sweep", value.text};
  std::optional<YamlNode> node = parse_yaml(value.text, source, 1, ignored);
  if (key == nullptr || !node) return;
  std::map<std::pair<int, int>, std::string> paths =
      paths_in(*node, Reading{source, key_path, ignored}, *key, key_path);
  if (paths.empty()) return;
  for (auto& [place, path] : paths) visit(path);
  replace(*node, paths);
  value = {flow_text(*node), value.place};
}
void visit_files(std::vector<SweepDimension>& dimensions, const PathVisitor& visit) {
  for (SweepDimension& each : dimensions)
    for (SweepValue& value : each.values) visit_files(each.key, value, visit);
}
void visit_files(std::vector<SweepSetting>& settings, const PathVisitor& visit) {
  for (SweepSetting& each : settings) visit_files(each.key, each.value, visit);
}
void visit_files(SweepSample& sample, const PathVisitor& visit) {
  visit_files(sample.keys, visit);
}
void visit_files(SweepRule& rule, const PathVisitor& visit) {
  visit_files(rule.keys, visit);
}

bool is_sweepable(const ScenarioKey& key) {
  constexpr std::string_view kFixed[] = {"name", "description", "seed", "repeat"};
  return key.role == KeyRole::value && !key.path.starts_with("sweep.") &&
         std::find(std::begin(kFixed), std::end(kFixed), key.path) == std::end(kFixed);
}

std::string hint_for(const std::string& path) {
  if (path == "seed" || path == "repeat") return "`sweep.repeat: 5` runs every point under five seeds";
  std::vector<std::string> names;
  for (const ScenarioKey& key : scenario_keys())
    if (is_sweepable(key)) names.emplace_back(key.path);
  return did_you_mean(path, names);
}

/// Reports a key that no sweep can vary.
const ScenarioKey* checked_key(const YamlNode::Entry& entry, const Reading& reading) {
  const ScenarioKey* key = sweepable_key(entry.key);
  if (key == nullptr)
    reading.complain(entry.place, fmt::format("{} is no key that a sweep can vary", quote(entry.key)),
                     hint_for(entry.key));
  return key;
}

std::vector<SweepValue> read_list(const YamlNode& node, const Reading& reading, const ScenarioKey* key,
                                  std::string_view path) {
  std::vector<SweepValue> values;
  if (node.items.size() > kMaxValues) {
    reading.expected(fmt::format("at most {} values", kMaxValues), node);
    return values;
  }
  for (const YamlNode& item : node.items) values.push_back(value_of(item, reading, key, path));
  return values;
}

/// A map with both ends is a range; no value of a key has both members.
bool is_range(const YamlNode& node) {
  return node.kind == Kind::map &&
         std::ranges::any_of(node.entries, [](const auto& each) { return each.key == "from" || each.key == "to"; });
}

/// `spaced` allows the number of values or their step, for ranges that are not drawn from.
SweepRange read_range(const YamlNode& node, const Reading& reading, bool spaced) {
  SweepRange range;
  for (const std::string_view end : {"from", "to"})
    if (std::ranges::find(node.entries, end, &YamlNode::Entry::key) == node.entries.end()) {
      reading.complain(node.place, fmt::format("a range has from and to, and {} is missing", end));
      return range;
    }
  for (const YamlNode::Entry& entry : node.entries) {
    const std::string path = reading.key + "." + entry.key;
    const Reading inner{reading.source, path, reading.complaints};
    const bool counts = entry.key == "points" || entry.key == "step";
    if (entry.key == "from" || entry.key == "to" || (spaced && entry.key == "step")) {
      if (entry.value.kind != Kind::scalar) {
        inner.expected("a number or quantity", entry.value);
        continue;
      }
      const SweepValue value = value_of(entry.value, inner, nullptr, {});
      if (entry.key == "step")
        range.step = value;
      else
        (entry.key == "from" ? range.from : range.to) = value;
    } else if (spaced && entry.key == "points") {
      int points = 2;
      integer_codec<int>(1, kMaxPoints).read(entry.value, inner, points);
      range.points = points;
    } else if (entry.key == "scale") {
      choice_codec<bool>({{"linear", false}, {"log", true}}).read(entry.value, inner, range.logarithmic);
    } else {
      inner.complain(entry.place, counts ? "has no meaning where values are drawn" : "unknown key",
                     counts ? "the design has the number of its points, beside its keys"
                            : did_you_mean(entry.key, {"from", "to", "points", "step", "scale"}));
    }
  }
  if (spaced && range.points.has_value() == range.step.has_value())
    reading.complain(node.place, "a range has either points or a step",
                     "{from: 1Gbps, to: 100Gbps, points: 5, scale: log}");
  if (range.step && range.logarithmic) reading.complain(node.place, "a logarithmic scale has points, not a step");
  return range;
}

SweepDimension read_dimension(const YamlNode::Entry& entry, const Reading& reading, bool spaced) {
  const std::string path = reading.key + "." + entry.key;
  const Reading inner{reading.source, path, reading.complaints};
  const ScenarioKey* key = checked_key(entry, inner);
  SweepDimension dimension{entry.key, {}, std::nullopt};
  if (entry.value.kind == Kind::sequence && !entry.value.items.empty())
    dimension.values = read_list(entry.value, inner, key, entry.key);
  else if (is_range(entry.value))
    dimension.range = read_range(entry.value, inner, spaced);
  else
    inner.expected(spaced ? "a list of values, or a range such as {from: 1, to: 8, points: 8}"
                          : "a list of values, or a range such as {from: 1, to: 8}",
                   entry.value);
  return dimension;
}

std::vector<SweepDimension> read_dimensions(const YamlNode& node, const Reading& reading, bool spaced) {
  std::vector<SweepDimension> dimensions;
  if (node.kind != Kind::map || node.entries.empty())
    reading.expected("a map of keys to values such as {network.nic: [10Gbps, 25Gbps]}", node);
  for (const YamlNode::Entry& entry : node.entries) dimensions.push_back(read_dimension(entry, reading, spaced));
  return dimensions;
}

std::vector<SweepSetting> read_settings(const YamlNode& node, const Reading& reading) {
  std::vector<SweepSetting> settings;
  if (node.kind != Kind::map || node.entries.empty())
    reading.expected("a map of keys to values such as {network.nic: 10Gbps}", node);
  for (const YamlNode::Entry& entry : node.entries) {
    const ScenarioKey* key = checked_key(entry, reading);
    settings.push_back({entry.key, value_of(entry.value, reading, key, entry.key)});
  }
  return settings;
}

/// Reads a single value, or a list of values of which one must match.
SweepRule read_rule(const YamlNode& node, const Reading& reading) {
  SweepRule rule;
  if (node.kind != Kind::map || node.entries.empty())
    reading.expected("a map of keys to values such as {network.nic: 10Gbps}", node);
  for (const YamlNode::Entry& entry : node.entries) {
    const ScenarioKey* key = checked_key(entry, reading);
    const bool list = entry.value.kind == Kind::sequence;
    rule.keys.push_back({entry.key,
                         list ? read_list(entry.value, reading, key, entry.key)
                              : std::vector{value_of(entry.value, reading, key, entry.key)},
                         std::nullopt});
  }
  return rule;
}

SweepSample read_sample(const YamlNode& node, const Reading& reading) {
  SweepSample sample;
  bool has_points = false, has_keys = false, knows_all = true;
  if (node.kind != Kind::map) reading.expected("a map such as {points: 100, keys: {...}}", node);
  for (const YamlNode::Entry& entry : node.entries) {
    const std::string path = reading.key + "." + entry.key;
    const Reading inner{reading.source, path, reading.complaints};
    has_points = has_points || entry.key == "points";
    has_keys = has_keys || entry.key == "keys";
    if (entry.key == "points")
      integer_codec<int>(1, kMaxPoints).read(entry.value, inner, sample.points);
    else if (entry.key == "seed")
      integer_codec<std::uint64_t>(0, INT64_MAX).read(entry.value, inner, sample.seed);
    else if (entry.key == "keys")
      sample.keys = read_dimensions(entry.value, inner, false);
    else
      inner.complain(entry.place, "unknown key",
                     sweepable_key(entry.key) != nullptr
                         ? fmt::format("the varied keys stand under `keys`: {{keys: {{{}: ...}}}}", entry.key)
                         : did_you_mean(entry.key, {"points", "seed", "keys"}));
    knows_all = knows_all && (entry.key == "points" || entry.key == "seed" || entry.key == "keys");
  }
  if (node.kind == Kind::map && !has_points && knows_all) reading.complain(node.place, "points is missing");
  if (node.kind == Kind::map && !has_keys && knows_all) reading.complain(node.place, "keys is missing");
  return sample;
}

std::string print_range(const SweepRange& range) {
  std::string text = fmt::format("{{from: {}, to: {}", range.from.text, range.to.text);
  if (range.points) text += fmt::format(", points: {}", *range.points);
  if (range.step) text += fmt::format(", step: {}", range.step->text);
  return text + (range.logarithmic ? ", scale: log}" : "}");
}

std::string print_dimensions(const std::vector<SweepDimension>& dimensions, bool lists = true) {
  std::vector<std::string> parts;
  for (const SweepDimension& each : dimensions) {
    std::vector<std::string> values;
    for (const SweepValue& value : each.values) values.push_back(value.text);
    const std::string all = lists || values.size() != 1 ? fmt::format("[{}]", join(values)) : values.front();
    parts.push_back(fmt::format("{}: {}", each.key, each.range ? print_range(*each.range) : all));
  }
  return fmt::format("{{{}}}", join(parts));
}

std::string print_settings(const std::vector<SweepSetting>& settings) {
  std::vector<std::string> parts;
  for (const SweepSetting& each : settings) parts.push_back(fmt::format("{}: {}", each.key, each.value.text));
  return fmt::format("{{{}}}", join(parts));
}

void any_value(JsonWriter& json) {
  json.begin_object().end_object();
}

/// The schema of a list of values or a range.
void dimension_schema(JsonWriter& json, bool spaced) {
  json.member("type", "object").member("minProperties", 1).key("additionalProperties").begin_object();
  json.key("anyOf").begin_array();
  json.begin_object().member("type", "array").member("minItems", 1).end_object();
  json.begin_object().member("type", "object").member("additionalProperties", false);
  json.key("required").begin_array().value("from").value("to").end_array().key("properties").begin_object();
  for (const std::string_view end : {"from", "to"}) {
    json.key(end);
    any_value(json);
  }
  if (spaced) {
    json.key("points").begin_object().member("type", "integer").member("minimum", 1).end_object().key("step");
    any_value(json);
  }
  json.key("scale").begin_object();
  names_schema(json, {"linear", "log"});
  json.end_object().end_object().end_object().end_array().end_object();
}

void settings_schema(JsonWriter& json) {
  json.member("type", "object").member("minProperties", 1);
}

template <class T>
using Read = T (*)(const YamlNode&, const Reading&);

/// A codec that stores the result of `read` unless it reported a complaint.
template <class T, class Print>
Codec<T> codec_of(const std::string& type, void (*schema)(JsonWriter&), Read<T> read, Print print) {
  Codec<T> codec;
  codec.type = type;
  codec.schema = schema;
  codec.read = [read](const YamlNode& node, const Reading& reading, T& value) {
    const std::size_t complaints = reading.complaints.size();
    T result = read(node, reading);
    if (reading.complaints.size() == complaints) value = std::move(result);
  };
  codec.print = print;
  codec.paths = [](T& value, const PathVisitor& visit) { visit_files(value, visit); };
  return codec;
}

/// An empty text omits the key.
template <class T>
Codec<std::vector<T>> list_of(std::string_view word, void (*schema)(JsonWriter&), Read<T> read,
                              std::string (*print)(const T&)) {
  Codec<std::vector<T>> codec;
  codec.type = fmt::format("list of {}", word);
  codec.schema = [schema](JsonWriter& json) {
    json.member("type", "array").key("items").begin_object();
    schema(json);
    json.end_object();
  };
  codec.read = [read, type = codec.type](const YamlNode& node, const Reading& reading, std::vector<T>& value) {
    if (node.kind != Kind::sequence || node.items.size() > kMaxValues) return reading.expected("a " + type, node);
    const std::size_t complaints = reading.complaints.size();
    std::vector<T> items;
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const std::string key = fmt::format("{}[{}]", reading.key, i);
      items.push_back(read(node.items[i], Reading{reading.source, key, reading.complaints}));
    }
    if (reading.complaints.size() == complaints) value = std::move(items);
  };
  codec.print = [print](const std::vector<T>& value) {
    std::vector<std::string> items;
    for (const T& each : value) items.push_back(print(each));
    return items.empty() ? std::string{} : fmt::format("[{}]", join(items));
  };
  codec.paths = [](std::vector<T>& value, const PathVisitor& visit) {
    for (T& each : value) visit_files(each, visit);
  };
  return codec;
}

Codec<std::vector<SweepDimension>> dimensions_codec() {
  return codec_of<std::vector<SweepDimension>>(
      "map of keys to values", [](JsonWriter& json) { dimension_schema(json, true); },
      [](const YamlNode& node, const Reading& reading) { return read_dimensions(node, reading, true); },
      [](const std::vector<SweepDimension>& all) { return all.empty() ? std::string{} : print_dimensions(all); });
}

Codec<std::optional<SweepSample>> sample_codec() {
  Codec<SweepSample> codec = codec_of<SweepSample>(
      "map of points, seed and keys",
      [](JsonWriter& json) {
        json.member("type", "object").member("additionalProperties", false);
        json.key("required").begin_array().value("points").value("keys").end_array().key("properties").begin_object();
        json.key("points").begin_object().member("type", "integer").member("minimum", 1).end_object();
        json.key("seed").begin_object().member("type", "integer").member("minimum", 0).end_object();
        json.key("keys").begin_object();
        dimension_schema(json, false);
        json.end_object().end_object();
      },
      read_sample,
      [](const SweepSample& sample) {
        return fmt::format("{{points: {}, seed: {}, keys: {}}}", sample.points, sample.seed,
                           print_dimensions(sample.keys));
      });
  return optional_codec(codec, "");
}

std::string print_rule(const SweepRule& rule) {
  return print_dimensions(rule.keys, false);
}

/// Splits `text` at the commas outside brackets and quotes.
std::vector<std::string> split_values(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  char quoted = '\0';
  for (const char c : text) {
    if (quoted != '\0')
      quoted = c == quoted ? '\0' : quoted;
    else if (c == '"' || c == '\'')
      quoted = c;
    else if (c == '[' || c == '{')
      ++depth;
    else if (c == ']' || c == '}')
      --depth;
    if (c == ',' && depth == 0 && quoted == '\0')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

}  // namespace

std::vector<ScenarioKey> sweep_keys() {
  const Codec<std::optional<int>> repeat = optional_codec(integer_codec<int>(1, 100'000), "");
  const auto settings = codec_of<std::vector<SweepSetting>>(
      "map of keys to values", settings_schema, read_settings,
      [](const std::vector<SweepSetting>& all) { return all.empty() ? std::string{} : print_settings(all); });
  return {
      row<&SweepSpec::list>("sweep.list", list_of<std::vector<SweepSetting>>("maps of keys to values", settings_schema,
                                                                             read_settings, print_settings)),
      row<&SweepSpec::zip>("sweep.zip", dimensions_codec()),
      row<&SweepSpec::random>("sweep.random", sample_codec()),
      row<&SweepSpec::latin_hypercube>("sweep.latin_hypercube", sample_codec()),
      row<&SweepSpec::sobol>("sweep.sobol", sample_codec()),
      row<&SweepSpec::grid>("sweep.grid", dimensions_codec()),
      row<&SweepSpec::exclude>("sweep.exclude",
                               list_of<SweepRule>("maps of keys to values", settings_schema, read_rule, print_rule)),
      row<&SweepSpec::repeat>("sweep.repeat", repeat),
      row<&SweepSpec::baseline>("sweep.baseline", settings),
  };
}

const ScenarioKey* sweepable_key(const std::string& path) {
  for (const ScenarioKey& key : scenario_keys()) {
    if (!is_sweepable(key)) continue;
    if (path == key.path || (path.starts_with(key.path) && path[key.path.size()] == '.')) return &key;
  }
  return nullptr;
}

SweepDimension parse_dimension(const std::string& assignment) {
  const SourceText source{"--set", assignment, true};
  std::vector<Complaint> complaints;
  const std::size_t equals = assignment.find('=');
  const std::string path = assignment.substr(0, equals);
  const Reading reading{source, path, complaints};
  SweepDimension dimension{path, {}, std::nullopt};
  if (equals == std::string::npos || path.empty()) {
    reading.complain({}, "expected key=value such as network.nic=10Gbps,25Gbps, got " + quote(assignment));
    throw InputError{std::move(complaints)};
  }
  const ScenarioKey* key = sweepable_key(path);
  if (key == nullptr) reading.complain({1, 1}, "is no key that a sweep can vary", hint_for(path));
  int column = static_cast<int>(equals) + 2;
  const std::vector<std::string> parts = split_values(assignment.substr(equals + 1));
  for (const std::string& part : parts) {
    const std::optional<YamlNode> node = parse_yaml(part, source, column, complaints);
    column += static_cast<int>(part.size()) + 1;
    if (!node) continue;
    if (parts.size() == 1 && is_range(*node))
      dimension.range = read_range(*node, reading, true);
    else if (node->kind == Kind::null)
      reading.expected("a value", *node);
    else
      dimension.values.push_back(value_of(*node, reading, key, path));
  }
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  return dimension;
}

std::vector<SweepSetting> parse_settings(const std::string& text) {
  std::vector<SweepSetting> settings;
  for (const std::string& part : split_values(text)) {
    const std::size_t start = std::min(part.find_first_not_of(' '), part.size());
    SweepDimension dimension = parse_dimension(part.substr(start));
    if (dimension.values.size() != 1) throw InputError{"expected key=value, got " + quote(part)};
    settings.push_back({dimension.key, std::move(dimension.values.front())});
  }
  return settings;
}

}  // namespace contend
