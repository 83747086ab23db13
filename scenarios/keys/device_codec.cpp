#include "scenarios/keys/device_codec.hpp"

#include "calibration/calibrated_device.hpp"
#include "models/devices.hpp"
#include "scenarios/study/profile_reader.hpp"
#include "scenarios/yaml/map_codec.hpp"
#include "scenarios/yaml/shipped.hpp"
#include "sim/error.hpp"

#include <utility>

namespace contend {
namespace {

using Kind = YamlNode::Kind;

/// The path in a map {profile: PATH}; reports any other node and returns nothing.
std::optional<std::string> read_path(const YamlNode& node, const Reading& reading) {
  struct Named {
    std::string profile;
  };
  Codec<std::string> beside = path_codec();
  beside.read = [read = beside.read](const YamlNode& value, const Reading& inner, std::string& path) {
    const std::size_t before = inner.complaints.size();
    read(value, inner, path);
    if (inner.complaints.size() == before) path = shipped_path_beside(inner.source.folder(), value.text);
  };
  const Codec<Named> codec = map_codec<Named>({field("profile", &Named::profile, beside, true)}, "{profile: gpu.yaml}");
  const std::size_t before = reading.complaints.size();
  Named named;
  codec.read(node, reading, named);
  return reading.complaints.size() == before ? std::optional{std::move(named.profile)} : std::nullopt;
}

void read_profile_choice(const YamlNode& node, const Reading& reading, DeviceChoice& value) {
  std::optional<std::string> path = read_path(node, reading);
  if (!path) return;
  const Place place = node.entries.front().value.place;
  const bool can_read = reading.files != nullptr && *reading.files;
  const FileText file = can_read ? (*reading.files)(*path) : FileText{std::nullopt, "no files can be read here"};
  if (!file.text) return reading.complain(place, fmt::format("can't read {}: {}", quote(*path), file.reason));
  try {
    value.calibrated = std::make_shared<const CalibratedDevice>(parse_profile(*file.text, *path));
    value.profile = std::move(path);
  } catch (const InputError& error) {
    for (const Complaint& each : error.complaints()) reading.complaints.push_back(each);
  }
}

void profile_choice_schema(JsonWriter& json) {
  json.member("type", "object").member("additionalProperties", false);
  json.key("required").begin_array().value("profile").end_array();
  json.key("properties").begin_object().key("profile").begin_object();
  path_codec().schema(json);
  json.end_object().end_object();
}

}  // namespace

Codec<DeviceChoice> device_codec() {
  const Codec<std::string> name = name_codec(device_names(), "names of `contend list devices`");
  Codec<DeviceChoice> codec;
  codec.type = "name or {profile: path}";
  codec.range = name.range;
  codec.schema = [name](JsonWriter& json) { any_of_schema(json, name.schema, profile_choice_schema); };
  codec.read = [name](const YamlNode& node, const Reading& reading, DeviceChoice& value) {
    if (node.kind == Kind::map) return read_profile_choice(node, reading, value);
    DeviceChoice named;
    const std::size_t before = reading.complaints.size();
    name.read(node, reading, named.name);
    if (reading.complaints.size() == before) value = std::move(named);
  };
  codec.print = [](const DeviceChoice& value) {
    return value.profile ? fmt::format("{{profile: {}}}", quote(*value.profile)) : value.name;
  };
  codec.paths = [](DeviceChoice& value, const PathVisitor& visit) {
    if (value.profile) visit(*value.profile);
  };
  codec.part = [](const DeviceChoice& value, std::string_view part) -> std::optional<PlainValue> {
    if (part != "profile" || !value.profile) return std::nullopt;
    return PlainValue{*value.profile, std::nullopt};
  };
  return codec;
}

}  // namespace contend
