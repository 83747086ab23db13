#include "scenarios/yaml/codecs.hpp"

#include "models/training_profile.hpp"
#include "text/decimal.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <set>

namespace contend {
namespace {

using Kind = YamlNode::Kind;

// The limit with which a printed scenario fits into a file that can be read back.
constexpr std::size_t kMaxTextBytes = 10'000;

/// A whole number within its limits; reports any other value.
std::optional<std::int64_t> read_integer(const YamlNode& node, const Reading& reading, std::int64_t minimum,
                                         std::int64_t maximum) {
  ScaledDecimal read{0, DecimalError::not_a_number};
  if (node.kind == Kind::scalar && !node.quoted) read = parse_integer(node.text);
  const bool overflow = read.error == DecimalError::overflow;
  const bool too_large = overflow ? node.text.front() != '-' : read.value > maximum;
  if (read.error == DecimalError::none && read.value >= minimum && read.value <= maximum) return read.value;
  reading.expected(too_large ? fmt::format("an integer <= {}", maximum) : fmt::format("an integer >= {}", minimum),
                   node);
  return std::nullopt;
}

std::string interval_text(std::int64_t minimum, std::int64_t maximum) {
  return fmt::format("{} to {}", minimum, maximum);
}

void integer_schema(JsonWriter& json, std::int64_t minimum, std::int64_t maximum) {
  json.member("type", "integer").member("minimum", minimum).member("maximum", maximum);
}

}  // namespace

void Reading::complain(Place place, std::string reason, std::string hint) const {
  complaints.push_back(source.complaint(place, key, std::move(reason), std::move(hint)));
}

void Reading::expected(std::string_view what, const YamlNode& found, std::string hint) const {
  complain(found.place, fmt::format("expected {}, got {}", what, found_text(found)), std::move(hint));
}

void Reading::expected_one_of(const std::vector<std::string>& names, const YamlNode& found, std::string hint,
                              std::string_view listed) const {
  constexpr std::size_t kMany = 12;
  if (hint.empty() && found.kind == Kind::scalar) hint = did_you_mean(found.text, names);
  const bool shortens = !listed.empty() && names.size() > kMany;
  expected(shortens ? fmt::format("one of the {} {}", names.size(), listed) : "one of " + join(names), found,
           std::move(hint));
}

void names_schema(JsonWriter& json, const std::vector<std::string>& names) {
  json.member("type", "string").key("enum").begin_array();
  for (const std::string& name : names) json.value(name);
  json.end_array();
}

std::string quote(std::string_view text) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == '/';
  };
  // Words that other YAML readers take for a bool or null.
  static const std::set<std::string, std::less<>> kWords{"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
  std::string lower{text};
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool plain = !text.empty() && text.front() >= 'A' && is_plain(text.front()) &&
                     std::all_of(text.begin(), text.end(), is_plain) && !kWords.contains(lower);
  if (plain) return std::string{text};
  std::string quoted;
  append_json_string(quoted, text);
  // JSON allows this one control character unescaped; YAML does not.
  for (std::size_t at; (at = quoted.find('\x7f')) != std::string::npos;) quoted.replace(at, 1, "\\u007f");
  return quoted;
}

Codec<std::string> text_codec() {
  Codec<std::string> codec;
  codec.type = "text";
  codec.schema = [](JsonWriter& json) { json.member("type", "string"); };
  codec.read = [](const YamlNode& node, const Reading& reading, std::string& value) {
    if (node.kind != Kind::scalar) return reading.expected("text", node);
    if (node.text.size() > kMaxTextBytes) return reading.expected(fmt::format("at most {} bytes", kMaxTextBytes), node);
    value = node.text;
  };
  codec.print = [](const std::string& value) { return quote(value); };
  codec.plain = [](const std::string& value, PartNames) { return PlainValue{value, std::nullopt}; };
  return codec;
}

Codec<std::string> title_codec() {
  Codec<std::string> codec = text_codec();
  codec.read = [read = codec.read](const YamlNode& node, const Reading& reading, std::string& value) {
    const std::string reason = node.kind == Kind::scalar && !node.text.empty() ? why_not_printable(node.text) : "";
    if (!reason.empty()) return reading.expected("a name of printable UTF-8 text (" + reason + ")", node);
    read(node, reading, value);
  };
  return codec;
}

Codec<std::string> path_codec() {
  Codec<std::string> codec = text_codec();
  codec.type = "path";
  codec.schema = [](JsonWriter& json) { json.member("type", "string").member("minLength", 1); };
  codec.read = [](const YamlNode& node, const Reading& reading, std::string& value) {
    // The operating system would cut a path at a NUL.
    if (node.kind != Kind::scalar || node.text.empty() || node.text.find('\0') != std::string::npos ||
        node.text.size() > kMaxTextBytes) {
      return reading.expected("a path", node);
    }
    value = (std::filesystem::path{reading.source.folder()} / node.text).lexically_normal().string();
    reading.source.note_path(node.place, value);
  };
  codec.paths = [](std::string& value, const PathVisitor& visit) { visit(value); };
  return codec;
}

Codec<bool> bool_codec() {
  Codec<bool> codec;
  codec.type = "bool";
  codec.range = "true or false";
  codec.schema = [](JsonWriter& json) { json.member("type", "boolean"); };
  codec.read = [](const YamlNode& node, const Reading& reading, bool& value) {
    const bool plain = node.kind == Kind::scalar && !node.quoted;
    if (!plain || (node.text != "true" && node.text != "false")) return reading.expected("true or false", node);
    value = node.text == "true";
  };
  codec.print = [](const bool& value) { return value ? "true" : "false"; };
  return codec;
}

template <class Int>
Codec<Int> integer_codec(std::int64_t minimum, std::int64_t maximum) {
  Codec<Int> codec;
  codec.type = "integer";
  codec.range = interval_text(minimum, maximum);
  codec.schema = [=](JsonWriter& json) { integer_schema(json, minimum, maximum); };
  codec.read = [=](const YamlNode& node, const Reading& reading, Int& value) {
    if (const auto read = read_integer(node, reading, minimum, maximum)) value = static_cast<Int>(*read);
  };
  codec.print = [](const Int& value) { return std::to_string(value); };
  codec.plain = [](const Int& value, PartNames) {
    return PlainValue{std::to_string(value), static_cast<std::int64_t>(value)};
  };
  return codec;
}
template Codec<int> integer_codec(std::int64_t, std::int64_t);
template Codec<std::int64_t> integer_codec(std::int64_t, std::int64_t);
template Codec<std::uint64_t> integer_codec(std::int64_t, std::int64_t);

Codec<double> number_codec(double minimum, double maximum) {
  Codec<double> codec;
  codec.type = "number";
  codec.range = fmt::format("{} to {}", minimum, maximum);
  codec.schema = [=](JsonWriter& json) {
    json.member("type", "number").member("minimum", minimum).member("maximum", maximum);
  };
  codec.read = [=](const YamlNode& node, const Reading& reading, double& value) {
    double read = 0;
    const char* const last = node.text.data() + node.text.size();
    const auto [end, error] = std::from_chars(node.text.data(), last, read);
    const bool plain = node.kind == Kind::scalar && !node.quoted && error == std::errc{} && end == last;
    if (!plain || !std::isfinite(read)) return reading.expected("a number", node);
    if (read < minimum) return reading.expected(fmt::format("a number >= {}", minimum), node);
    if (read > maximum) return reading.expected(fmt::format("a number <= {}", maximum), node);
    value = read;
  };
  codec.print = [](const double& value) { return fmt::format("{}", value); };
  codec.plain = [](const double& value, PartNames) {
    return PlainValue{fmt::format("{}", value), magnitude_of(value)};
  };
  return codec;
}

Codec<std::string> name_codec(const std::vector<std::string>& names, std::string_view listed) {
  Codec<std::string> codec;
  codec.type = "name";
  codec.range = join(names, " or ");
  codec.schema = [names](JsonWriter& json) { names_schema(json, names); };
  codec.read = [names, listed](const YamlNode& node, const Reading& reading, std::string& value) {
    const bool known = node.kind == Kind::scalar && std::find(names.begin(), names.end(), node.text) != names.end();
    if (!known) return reading.expected_one_of(names, node, {}, listed);
    value = node.text;
  };
  codec.print = [](const std::string& value) { return value; };
  return codec;
}

template <class T>
Codec<T> quantity_codec(T minimum, T maximum) {
  const QuantityInfo& info = quantity_info<T>();
  Codec<T> codec;
  codec.type = info.word;
  codec.range = fmt::format("{} to {}", print_quantity(minimum), print_quantity(maximum));
  codec.schema = [&info](JsonWriter& json) { json.member("type", "string").member("pattern", info.pattern); };
  codec.read = [=, &info](const YamlNode& node, const Reading& reading, T& value) {
    if (node.kind != Kind::scalar) return reading.expected(fmt::format("{} such as {}", info.noun, info.example), node);
    const Parsed<T> parsed = parse_quantity<T>(node.text);
    if (!parsed.value) return reading.expected(parsed.expected, node, parsed.hint);
    if (*parsed.value < minimum)
      return reading.expected(fmt::format("{} >= {}", info.noun, print_quantity(minimum)), node);
    if (*parsed.value > maximum)
      return reading.expected(fmt::format("{} <= {}", info.noun, print_quantity(maximum)), node);
    value = *parsed.value;
  };
  codec.print = [](const T& value) { return print_quantity(value); };
  codec.plain = [](const T& value, PartNames) { return PlainValue{print_quantity(value), value}; };
  return codec;
}
template Codec<Time> quantity_codec(Time, Time);
template Codec<Bytes> quantity_codec(Bytes, Bytes);
template Codec<ByteRate> quantity_codec(ByteRate, ByteRate);
template Codec<TimePerByte> quantity_codec(TimePerByte, TimePerByte);

Codec<std::vector<std::string>> models_codec() {
  std::vector<std::string> known;
  for (const TrainingProfile& profile : training_profiles()) known.emplace_back(profile.name);
  Codec<std::vector<std::string>> codec;
  codec.type = "list of names";
  codec.range = "entries of training and training profiles";
  codec.schema = [known](JsonWriter& json) {
    json.member("type", "array").member("minItems", 1).key("items").begin_object();
    json.member("type", "string").key("examples").begin_array();
    for (const std::string& each : known) json.value(each);
    json.end_array().end_object();
  };
  codec.read = [](const YamlNode& node, const Reading& reading, std::vector<std::string>& value) {
    const std::string what = "a list of names of training entries or training profiles";
    if (node.kind != Kind::sequence) return reading.expected(what, node);
    if (node.items.empty()) return reading.complain(node.place, fmt::format("expected {}, got an empty one", what));
    if (node.items.size() > kMaxItems) return reading.expected(fmt::format("at most {} names", kMaxItems), node);
    std::vector<std::string> names;
    for (const YamlNode& item : node.items) {
      if (item.kind != Kind::scalar) return reading.expected("a name", item);
      names.push_back(item.text);
    }
    value = std::move(names);
  };
  codec.print = [](const std::vector<std::string>& value) { return fmt::format("[{}]", join(value)); };
  codec.plain = [print = codec.print](const std::vector<std::string>& value, PartNames) {
    return PlainValue{value.size() == 1 ? value.front() : print(value), std::nullopt};
  };
  return codec;
}

Codec<std::vector<std::pair<int, int>>> sizes_codec(int max_gpus, int max_jobs) {
  Codec<std::vector<std::pair<int, int>>> codec;
  codec.type = "map of GPUs to jobs";
  codec.range = fmt::format("1 to {} GPUs, 1 to {} jobs", max_gpus, max_jobs);
  codec.schema = [=](JsonWriter& json) {
    json.member("type", "object").member("minProperties", 1);
    json.key("propertyNames").begin_object().member("pattern", "^[0-9]+$").end_object();
    json.key("additionalProperties").begin_object();
    integer_schema(json, 1, max_jobs);
    json.end_object();
  };
  codec.read = [=](const YamlNode& node, const Reading& reading, std::vector<std::pair<int, int>>& value) {
    if (node.kind != Kind::map || node.entries.empty())
      return reading.expected("a map of GPUs to jobs such as {1: 80, 2: 14}", node);
    if (node.entries.size() > kMaxItems) return reading.expected(fmt::format("at most {} sizes", kMaxItems), node);
    std::vector<std::pair<int, int>> sizes;
    std::set<std::int64_t> seen;
    for (const YamlNode::Entry& entry : node.entries) {
      YamlNode key;
      key.kind = Kind::scalar;
      key.place = entry.place;
      key.text = entry.key;
      const auto gpus = read_integer(key, reading, 1, max_gpus);
      const auto jobs = read_integer(entry.value, reading, 1, max_jobs);
      if (!gpus || !jobs) continue;
      // The tree compares keys by their text, but 4 and 04 are the same size.
      if (!seen.insert(*gpus).second) reading.complain(entry.place, fmt::format("the size {} is given twice", *gpus));
      sizes.emplace_back(static_cast<int>(*gpus), static_cast<int>(*jobs));
    }
    if (sizes.size() == node.entries.size() && seen.size() == sizes.size()) value = std::move(sizes);
  };
  codec.print = [](const std::vector<std::pair<int, int>>& value) {
    std::vector<std::string> entries;
    for (const auto& [gpus, jobs] : value) entries.push_back(fmt::format("{}: {}", gpus, jobs));
    return fmt::format("{{{}}}", join(entries));
  };
  codec.part = [](const std::vector<std::pair<int, int>>& value, std::string_view name) {
    std::optional<PlainValue> part;
    for (const auto& [gpus, jobs] : value)
      if (std::to_string(gpus) == name) part = PlainValue{std::to_string(jobs), std::int64_t{jobs}};
    return part;
  };
  return codec;
}

Codec<std::pair<std::int64_t, std::int64_t>> interval_codec(std::int64_t minimum, std::int64_t maximum) {
  Codec<std::pair<std::int64_t, std::int64_t>> codec;
  codec.type = "[min, max]";
  codec.range = interval_text(minimum, maximum);
  codec.schema = [=](JsonWriter& json) {
    json.member("type", "array").member("minItems", 2).member("maxItems", 2).key("items").begin_object();
    integer_schema(json, minimum, maximum);
    json.end_object();
  };
  codec.read = [=](const YamlNode& node, const Reading& reading, std::pair<std::int64_t, std::int64_t>& value) {
    if (node.kind != Kind::sequence || node.items.size() != 2) return reading.expected("a list [min, max]", node);
    const auto low = read_integer(node.items[0], reading, minimum, maximum);
    const auto high = read_integer(node.items[1], reading, minimum, maximum);
    if (!low || !high) return;
    if (*low > *high)
      return reading.complain(node.place, fmt::format("expected min <= max, got [{}, {}]", *low, *high));
    value = {*low, *high};
  };
  codec.print = [](const std::pair<std::int64_t, std::int64_t>& value) {
    return fmt::format("[{}, {}]", value.first, value.second);
  };
  return codec;
}

bool is_list_of(const Reading& reading, const YamlNode& node, std::string_view word, std::size_t most) {
  if (node.kind != YamlNode::Kind::sequence)
    reading.expected(fmt::format("a list of {}", word), node);
  else if (node.items.size() > most)
    reading.expected(fmt::format("at most {} {}", most, word), node);
  return node.kind == YamlNode::Kind::sequence && node.items.size() <= most;
}

std::string print_list(const std::vector<std::string>& values) {
  return fmt::format("[{}]", join(values));
}

std::string why_no_entry_name(const std::string& name) {
  if (name.empty()) return "a name is needed";
  if (const std::string reason = why_not_printable(name); !reason.empty()) return reason;
  if (name.find_first_of("., \t") != std::string::npos) return "a name has no points, commas or spaces";
  return {};
}

}  // namespace contend
