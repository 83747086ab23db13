#include "scenarios/keys/recording_codec.hpp"

#include "scenarios/keys/key_rows.hpp"
#include "scenarios/keys/setup_codecs.hpp"
#include "scenarios/yaml/device_sheet.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

using Kind = YamlNode::Kind;
using RecordingRow = MapMember<RecordingSetup>;
using KernelFactors = std::map<std::string, double>;

constexpr std::int64_t kMostRecordedRanks = 1'000'000;

/// A map of texts to factors.
Codec<KernelFactors> kernel_factors_codec() {
  const Codec<double> factor = number_codec(0, 1000);
  Codec<KernelFactors> codec;
  codec.type = "map of texts to numbers";
  codec.range = factor.range;
  codec.schema = [factor](JsonWriter& json) {
    json.member("type", "object").key("additionalProperties").begin_object();
    factor.schema(json);
    json.end_object();
  };
  codec.read = [factor](const YamlNode& node, const Reading& reading, KernelFactors& value) {
    if (node.kind != Kind::map) return reading.expected("a map such as {gemm: 0.5}", node);
    const std::size_t before = reading.complaints.size();
    KernelFactors read;
    for (const YamlNode::Entry& each : node.entries) {
      const std::string key = reading.key + "." + each.key;
      const Reading inner{reading.source, key, reading.complaints, reading.files};
      if (each.key.empty()) inner.complain(each.place, "a part of the names of kernels is needed");
      factor.read(each.value, inner, read[each.key]);
    }
    if (reading.complaints.size() == before) value = std::move(read);
  };
  codec.print = [factor](const KernelFactors& value) {
    std::vector<std::string> parts;
    for (const auto& [part, number] : value) parts.push_back(fmt::format("{}: {}", quote(part), factor.print(number)));
    return fmt::format("{{{}}}", join(parts));
  };
  codec.part = [factor](const KernelFactors& value, std::string_view name) -> std::optional<PlainValue> {
    const auto found = value.find(std::string{name});
    if (found == value.end()) return std::nullopt;
    return plain_value(factor, found->second);
  };
  return codec;
}

Codec<RecordedDevice> recorded_device_codec() {
  const Codec<std::string> name = name_codec(device_names(), "names of `contend list devices`");
  const Codec<RecordedDevice> parts = map_codec<RecordedDevice>(
      {field("from", &RecordedDevice::from, name, true), field("to", &RecordedDevice::to, name, true),
       field("dtype", &RecordedDevice::type, data_type_codec())},
      "{from: A100-80GB, to: H100-SXM, dtype: bf16}");
  static constexpr std::string_view kRecorded = "recorded";
  Codec<RecordedDevice> codec = parts;
  codec.type = fmt::format("map or {}", kRecorded);
  codec.schema = [parts](JsonWriter& json) { any_of_schema(json, parts.schema, word_schema(kRecorded)); };
  codec.read = [parts](const YamlNode& node, const Reading& reading, RecordedDevice& value) {
    if (node.kind == Kind::scalar && node.text == kRecorded)
      value = {};
    else
      parts.read(node, reading, value);
  };
  codec.print = [parts](const RecordedDevice& value) {
    return value.to.empty() ? std::string{kRecorded} : parts.print(value);
  };
  return codec;
}

std::span<const RecordingRow> recording_rows() {
  using S = RecordingSetup;
  static const std::vector<RecordingRow> all = key_rows::with_texts(
      "training.*.recording",
      std::vector<RecordingRow>{
          map_member<S>("path", &S::path, optional_codec(path_codec(), "")),
          map_member<S>("copy", &S::copy, optional_codec(integer_codec<std::int64_t>(0, kMostRecordedRanks), "none")),
          map_member<S>("ranks", &S::ranks, optional_codec(integer_codec<int>(1, kMostRecordedRanks), "recorded")),
          map_member<S>("spread", &S::spread, list_codec(text_codec(), "texts")),
          map_member<S>("iteration", &S::iteration,
                        optional_codec(integer_codec<std::int64_t>(0, std::int64_t{1} << 50), "auto")),
          map_member<S>("communication", &S::recorded_communication,
                        choice_codec<bool>({{"network", false}, {"recorded", true}})),
          map_member<S>("host", &S::host, choice_codec<bool>({{"recorded", true}, {"none", false}})),
          map_member<S>("kernels", &S::kernels, kernel_factors_codec()),
          map_member<S>("device", &S::device, recorded_device_codec()),
          map_member<S>("balanced", &S::balanced, bool_codec())});
  return all;
}

/// What the member is if it has only a path.
bool has_path_only(const RecordingSetup& setup) {
  RecordingSetup bare;
  bare.path = setup.path;
  return setup.path && bare == setup;
}

}  // namespace

Codec<std::optional<RecordingSetup>> recording_codec() {
  using Setup = std::optional<RecordingSetup>;
  const Codec<std::string> path = path_codec();
  Codec<Setup> codec;
  codec.type = "path or map";
  codec.range = "members below";
  codec.is_optional = true;
  codec.schema = [path](JsonWriter& json) {
    any_of_schema(json, path.schema, [](JsonWriter& inner) { write_schema(recording_rows(), inner); });
  };
  codec.read = [path](const YamlNode& node, const Reading& reading, Setup& value) {
    const std::size_t before = reading.complaints.size();
    RecordingSetup setup;
    if (node.kind == Kind::map) {
      if (value) setup = *value;
      GivenNames given;
      read_members(recording_rows(), node, reading, setup, given);
    } else {
      path.read(node, reading, setup.path.emplace());
    }
    if (reading.complaints.size() == before) value = std::move(setup);
  };
  codec.print = [](const Setup& value) {
    if (!value) return std::string{};
    if (has_path_only(*value)) return quote(*value->path);
    const RecordingSetup usual;
    return print_members(recording_rows(), *value,
                         [&](const RecordingRow& each) { return each.io->print(*value) != each.io->print(usual); });
  };
  codec.paths = [](Setup& value, const PathVisitor& visit) {
    if (value) visit_paths(recording_rows(), *value, visit);
  };
  codec.part = [](const Setup& value, std::string_view name) {
    return value ? member_part(recording_rows(), *value, name) : std::optional<PlainValue>{};
  };
  return codec;
}

std::vector<MemberText> recording_members() {
  return member_texts(recording_rows(), RecordingSetup{});
}

}  // namespace contend
