#include "scenarios/study/profile_reader.hpp"

#include "calibration/table_fit.hpp"
#include "scenarios/yaml/codecs.hpp"
#include "scenarios/yaml/map_codec.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <charconv>
#include <set>

namespace contend {
namespace {

using Kind = YamlNode::Kind;
using Tables = std::vector<OperatorTable>;
using Skipped = std::vector<SkippedOperation>;

constexpr std::int64_t kLargestDimension = 1'000'000'000'000;
constexpr double kLongestRun_s = 86'400;
constexpr double kLargestNumber = 1e15;
constexpr std::size_t kMaxSamples = 1'000'000;
constexpr std::size_t kMaxLists = 100'000;  ///< of warnings and skipped operations
constexpr std::size_t kMaxBadSamples = 20;  ///< of one table that are shown

template <class T>
MapMember<T> plain_field(std::string_view name, bool required,
                         SharedFunction<void(const YamlNode&, const Reading&, T&)> read) {
  Codec<T> whole;
  whole.read = std::move(read);
  return {name,
          member_io<T, T>(
              [](auto& value) -> auto& { return value; }, std::move(whole)),
          required,
          {}};
}

/// A number of a sample; nothing if the node is no number.
template <class Number>
std::optional<Number> number_of(const YamlNode& node) {
  Number value{};
  const char* const last = node.text.data() + node.text.size();
  const auto [end, error] = std::from_chars(node.text.data(), last, value);
  if (node.kind != Kind::scalar || node.quoted || error != std::errc{} || end != last) return std::nullopt;
  return value;
}

Codec<DataType> measured_type_codec() {
  std::vector<std::pair<std::string, DataType>> choices;
  for (const DataType type : kDataTypes) choices.emplace_back(std::string{to_string(type)}, type);
  return choice_codec<DataType>(std::move(choices));
}

void read_operator(const YamlNode& node, const Reading& reading, std::string& value) {
  if (node.kind == Kind::scalar && find_operator(node.text) != nullptr) {
    value = node.text;
    return;
  }
  std::vector<std::string> names;
  for (const OperatorInfo& each : operators()) names.emplace_back(each.name);
  reading.expected("the name of an operator", node, did_you_mean(node.text, names));
}

/// True for dimensions that may be zero, such as paddings.
bool may_be_zero(std::string_view dimension) {
  return dimension.starts_with("pad_");
}

/// The reason why the numbers are no shape of the operator; empty if they are one.
std::string shape_fault(const OperatorInfo& info, std::span<const std::int64_t> shape) {
  if (shape.size() != info.dimensions.size())
    return fmt::format("expected {} dimensions, got {}", info.dimensions.size(), shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const int least = may_be_zero(info.dimensions[i]) ? 0 : 1;
    if (shape[i] < least || shape[i] > kLargestDimension)
      return fmt::format("expected {} of {} to {}, got {}", info.dimensions[i], least, kLargestDimension, shape[i]);
  }
  if (info.group != OperatorGroup::convolution) return {};
  if (shape[5] > shape[2] + 2 * shape[8] || shape[6] > shape[3] + 2 * shape[9])
    return "the kernel is larger than the padded input";
  return {};
}

/// A table as it is written: its samples cannot be read before its operator is known.
struct RawTable {
  OperatorTable table;
  const YamlNode* dimensions = nullptr;
  const YamlNode* relevance = nullptr;
  const YamlNode* baseline = nullptr;
  const YamlNode* samples = nullptr;
};

const std::vector<MapMember<RawTable>>& table_fields() {
  const auto node_of = [](const YamlNode* RawTable::*member) {
    return [member](const YamlNode& node, const Reading& reading, RawTable& raw) {
      if (node.kind != Kind::sequence) return reading.expected("a list", node);
      raw.*member = &node;
    };
  };
  static const std::vector<MapMember<RawTable>> kFields{
      plain_field<RawTable>("op", true,
                            [](const YamlNode& node, const Reading& reading, RawTable& raw) {
                              read_operator(node, reading, raw.table.name);
                            }),
      plain_field<RawTable>(
          "type", true,
          [codec = measured_type_codec()](const YamlNode& node, const Reading& reading, RawTable& raw) {
            codec.read(node, reading, raw.table.type);
          }),
      plain_field<RawTable>(
          "cross_validation", false,
          [codec = number_codec(-1, kLargestNumber)](const YamlNode& node, const Reading& reading, RawTable& raw) {
            codec.read(node, reading, raw.table.cross_validation);
          }),
      plain_field<RawTable>("relevance", false, node_of(&RawTable::relevance)),
      plain_field<RawTable>("baseline", false,
                            [](const YamlNode& node, const Reading& reading, RawTable& raw) {
                              if (node.text != "copy" && node.text != "roofline")
                                return reading.expected("roofline or copy", node);
                              raw.table.from_copies = node.text == "copy";
                              raw.baseline = &node;
                            }),
      plain_field<RawTable>("dimensions", true, node_of(&RawTable::dimensions)),
      plain_field<RawTable>("samples", true, node_of(&RawTable::samples)),
  };
  return kFields;
}

class SampleReader {
 public:
  SampleReader(const OperatorInfo& info, const Reading& reading) : info_{info}, reading_{reading} {}

  void read(const YamlNode& list, std::vector<OperatorSample>& samples) {
    if (list.items.size() > kMaxSamples) return reading_.expected(fmt::format("at most {} samples", kMaxSamples), list);
    samples.reserve(list.items.size());
    std::size_t bad = 0;
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      OperatorSample sample;
      const std::string reason = fault(list.items[i], sample);
      if (reason.empty()) {
        samples.push_back(std::move(sample));
      } else if (++bad <= kMaxBadSamples) {
        const std::string key = fmt::format("{}.samples[{}]", reading_.key, i);
        Reading{reading_.source, key, reading_.complaints}.complain(list.items[i].place, reason);
      }
    }
    if (bad > kMaxBadSamples)
      reading_.complain(list.place, fmt::format("{} more samples are unsound", bad - kMaxBadSamples));
  }

 private:
  /// Reads one sample and returns its fault, or an empty string.
  std::string fault(const YamlNode& node, OperatorSample& sample) {
    const std::size_t dimensions = info_.dimensions.size();
    if (node.kind != Kind::sequence || node.items.size() != dimensions + 3) {
      return fmt::format("expected [{}, seconds, half_width, repetitions], got {}", fmt::join(info_.dimensions, ", "),
                         node.kind == Kind::sequence ? fmt::format("{} values", node.items.size()) : found_text(node));
    }
    for (std::size_t i = 0; i < dimensions; ++i) {
      const auto value = number_of<std::int64_t>(node.items[i]);
      if (!value)
        return fmt::format("expected an integer for {}, got {}", info_.dimensions[i], found_text(node.items[i]));
      sample.shape.push_back(*value);
    }
    if (std::string reason = shape_fault(info_, sample.shape); !reason.empty()) return reason;
    if (!shapes_.insert(sample.shape).second) return "this shape has a sample already";
    const auto seconds = number_of<double>(node.items[dimensions]);
    if (!seconds || !(*seconds > 0 && *seconds <= kLongestRun_s))
      return fmt::format("expected seconds above 0 and at most a day, got {}", found_text(node.items[dimensions]));
    const auto half_width = number_of<double>(node.items[dimensions + 1]);
    if (!half_width || !(*half_width >= 0 && *half_width <= kLargestNumber))
      return fmt::format("expected half_width, a share >= 0, got {}", found_text(node.items[dimensions + 1]));
    const auto repetitions = number_of<int>(node.items[dimensions + 2]);
    if (!repetitions || *repetitions < 1)
      return fmt::format("expected repetitions, an integer >= 1, got {}", found_text(node.items[dimensions + 2]));
    sample.seconds = *seconds;
    sample.half_width = *half_width;
    sample.repetitions = *repetitions;
    return {};
  }

  const OperatorInfo& info_;
  const Reading& reading_;
  std::set<OperatorShape> shapes_;
};

void check_dimensions(const OperatorInfo& info, const YamlNode& list, const Reading& reading) {
  std::vector<std::string> expected{info.dimensions.begin(), info.dimensions.end()};
  std::vector<std::string> found;
  for (const YamlNode& item : list.items) found.push_back(item.text);
  if (found != expected)
    reading.complain(list.place,
                     fmt::format("{} has the dimensions [{}], got [{}]", info.name, join(expected), join(found)),
                     "the file is of another version of the program: calibrate again");
}

void read_relevance(const OperatorInfo& info, const YamlNode& list, const Reading& reading, OperatorTable& table) {
  const std::vector<std::string_view> names = TableFit::feature_names(info, table.type);
  double most = 0;
  for (const YamlNode& item : list.items) {
    const auto value = number_of<double>(item);
    if (!value || !(*value >= 0 && *value <= 1)) return reading.expected("a relevance from 0 to 1", item);
    table.relevance.push_back(*value);
    most = std::max(most, *value);
  }
  if (table.relevance.size() != names.size() || most == 0)
    reading.complain(list.place, fmt::format("expected the relevance of {}, not all 0, got {} numbers",
                                             fmt::join(names, ", "), table.relevance.size()));
}

void check_type(const OperatorInfo& info, const RawTable& raw, const YamlNode& node, const Reading& reading) {
  if (std::find(info.types.begin(), info.types.end(), raw.table.type) != info.types.end()) return;
  std::vector<std::string> names;
  for (const DataType type : info.types) names.emplace_back(to_string(type));
  reading.complain(node.place, fmt::format("{} isn't measured in {}, only in {}", info.name, to_string(raw.table.type),
                                           join(names)));
}

/// A table that is made from copies needs them.
void check_baselines(const std::vector<std::pair<std::string, const YamlNode*>>& from_copies, const Reading& outer,
                     const CalibrationProfile& profile) {
  if (profile.has_samples(kCopies, DataType::fp32)) return;
  for (const auto& [key, node] : from_copies)
    Reading{outer.source, key, outer.complaints}.complain(node->place, "the profile has no samples of copies",
                                                          "without them, leave out this line");
}

void read_tables(const YamlNode& list, const Reading& outer, CalibrationProfile& profile) {
  if (list.kind != Kind::sequence) return outer.expected("a list of operators", list);
  std::set<std::pair<std::string, DataType>> seen;
  std::vector<std::pair<std::string, const YamlNode*>> from_copies;  // keys of their tables
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const std::string key = fmt::format("{}[{}]", outer.key, i);
    const Reading reading{outer.source, key, outer.complaints};
    const YamlNode& node = list.items[i];
    if (node.kind != Kind::map) {
      reading.expected("a map of op, type, dimensions and samples", node);
      continue;
    }
    const std::size_t before = reading.complaints.size();
    RawTable raw;
    GivenNames given;
    read_members<RawTable>(table_fields(), node, reading, raw, given);
    if (reading.complaints.size() > before) continue;
    if (!seen.emplace(raw.table.name, raw.table.type).second) {
      reading.complain(node.place,
                       fmt::format("{} in {} has a table already", raw.table.name, to_string(raw.table.type)));
      continue;
    }
    const OperatorInfo& info = *find_operator(raw.table.name);
    check_type(info, raw, node, reading);
    check_dimensions(info, *raw.dimensions, reading);
    if (raw.table.from_copies) {
      if (moves_like_copies(info))
        from_copies.emplace_back(key + ".baseline", raw.baseline);
      else
        reading.complain(raw.baseline->place, fmt::format("the baseline of {} is the roofline", info.name));
    }
    if (raw.relevance != nullptr && reading.complaints.size() == before)
      read_relevance(info, *raw.relevance, reading, raw.table);
    if (reading.complaints.size() == before) SampleReader{info, reading}.read(*raw.samples, raw.table.samples);
    profile.tables.push_back(std::move(raw.table));
  }
  check_baselines(from_copies, outer, profile);
}

void read_shape(const YamlNode& node, const Reading& reading, OperatorShape& shape) {
  if (node.kind != Kind::sequence) return reading.expected("a list of integers", node);
  for (const YamlNode& item : node.items) {
    const auto value = number_of<std::int64_t>(item);
    if (!value) return reading.expected("an integer", item);
    shape.push_back(*value);
  }
}

void read_skipped(const YamlNode& list, const Reading& reading, CalibrationProfile& profile) {
  using S = SkippedOperation;
  static const std::vector<MapMember<S>> kFields{
      plain_field<S>("op", true,
                     [](const YamlNode& node, const Reading& r, S& value) { read_operator(node, r, value.name); }),
      field("type", &S::type, measured_type_codec(), true),
      plain_field<S>("shape", true,
                     [](const YamlNode& node, const Reading& r, S& value) { read_shape(node, r, value.shape); }),
      field("reason", &S::reason, text_codec(), true),
  };
  numbered_list(map_codec(kFields, "{op: gemm, type: fp8, shape: [], reason: why}"), "skipped operations", kMaxLists)
      .read(list, reading, profile.skipped);
}

MapMember<CalibrationProfile> version_field() {
  return plain_field<CalibrationProfile>(
      "schema_version", true, [](const YamlNode& node, const Reading& reading, CalibrationProfile&) {
        if (number_of<int>(node) != kProfileSchemaVersion)
          reading.expected(fmt::format("{}, the version that this program reads", kProfileSchemaVersion), node);
      });
}

const std::vector<MapMember<CalibrationProfile>>& profile_fields() {
  using P = CalibrationProfile;
  const auto whole = integer_codec<int>(0, 1'000'000'000);
  const auto rate = number_codec(0, kLargestNumber);
  static const std::vector<MapMember<P>> kFields{
      version_field(),
      field("name", &P::name, text_codec(), true),
      field("backend", &P::backend, name_codec({"cuda", "cpu"}), true),
      field("device", &P::device, text_codec(), true),
      field("driver", &P::driver, text_codec(), true),
      field("runtime", &P::runtime, text_codec(), true),
      field("libraries", &P::libraries, text_codec(), true),
      field("date", &P::date, text_codec(), true),
      field("version", &P::version, text_codec(), true),
      field("mode", &P::mode, name_codec({"quick", "full"}), true),
      field("complete", &P::complete, bool_codec(), true),
      field("memory_bytes", &P::memory_bytes, integer_codec<std::int64_t>(0, std::int64_t{1} << 60), true),
      field("multiprocessors", &P::multiprocessors, whole, true),
      field("capability", &P::capability, whole, true),
      field("clock_mhz", &P::clock_mhz, rate, true),
      field("memory_clock_mhz", &P::memory_clock_mhz, rate, true),
      // Profiles of earlier versions lack these two.
      field("power_limited_s", &P::power_limited_s, number_codec(-1, kLargestNumber)),
      field("visited_twice", &P::visited_twice, whole),
      field("warnings", &P::warnings, numbered_list(text_codec(), "warnings", kMaxLists), true),
      plain_field<P>("operators", true, read_tables),
      plain_field<P>("skipped", true, read_skipped),
  };
  return kFields;
}

}  // namespace

CalibrationProfile parse_profile(std::string_view text, const std::string& name) {
  const SourceText source{name, std::string{text}};
  std::vector<Complaint> complaints;
  const std::optional<YamlNode> root = parse_yaml(source.text(), source, 1, complaints, kMaxProfileBytes);
  CalibrationProfile profile;
  const std::string key;
  const Reading reading{source, key, complaints};
  GivenNames given;
  if (root && root->kind == Kind::map)
    read_members<CalibrationProfile>(profile_fields(), *root, reading, profile, given);
  else if (root)
    reading.expected("the map of a calibration profile", *root, "`contend calibrate -o FILE` writes one");
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  return profile;
}

CalibrationProfile read_profile(const std::string& path) {
  const FileText file = read_text_file(path);
  if (!file.text) throw InputError{{SourceText{path, {}}.complaint({}, {}, "can't read it: " + file.reason)}};
  return parse_profile(*file.text, path);
}

}  // namespace contend
