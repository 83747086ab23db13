#include "scenarios/keys/device_codec.hpp"

#include "calibration/calibrated_device.hpp"
#include "scenarios/study/profile_reader.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "scenarios/yaml/map_codec.hpp"
#include "scenarios/yaml/shipped.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace contend {
namespace {

using Kind = YamlNode::Kind;

/// A choice by the path of a file, as a scenario writes it.
struct FileChoice {
  std::optional<std::string> sheet, profile;
};

Codec<FileChoice> file_choice_codec() {
  Codec<std::string> shipped = path_codec();
  shipped.read = [read = shipped.read](const YamlNode& value, const Reading& inner, std::string& path) {
    const std::size_t before = inner.complaints.size();
    read(value, inner, path);
    if (inner.complaints.size() != before) return;
    path = shipped_path_beside(inner.source.folder(), value.text);
    inner.source.note_path(value.place, path);
  };
  return map_codec<FileChoice>({field("sheet", &FileChoice::sheet, optional_codec(shipped, {})),
                                field("profile", &FileChoice::profile, optional_codec(shipped, {}))},
                               "{sheet: gpu.yaml} or {profile: gpu.yaml}");
}

/// What `parse` makes of the file of this path; nothing, with complaints, if it can't.
template <class T>
std::shared_ptr<const T> read_file_of(const std::string& path, Place place, const Reading& reading,
                                      T (*parse)(std::string_view text, const std::string& name)) {
  const bool can_read = reading.files != nullptr && *reading.files;
  const FileText file = can_read ? (*reading.files)(path) : FileText{std::nullopt, "no files can be read here"};
  if (!file.text) {
    reading.complain(place, fmt::format("can't read {}: {}", quote(path), file.reason));
    return nullptr;
  }
  try {
    return std::make_shared<const T>(parse(*file.text, path));
  } catch (const InputError& error) {
    for (const Complaint& each : error.complaints()) reading.complaints.push_back(each);
    return nullptr;
  }
}

CalibratedDevice parse_calibrated(std::string_view text, const std::string& name) {
  return CalibratedDevice{parse_profile(text, name)};
}

void read_file_choice(const YamlNode& node, const Reading& reading, DeviceChoice& value) {
  const std::size_t before = reading.complaints.size();
  FileChoice file;
  file_choice_codec().read(node, reading, file);
  if (reading.complaints.size() != before) return;
  if (node.entries.size() != 1) return reading.expected("either {sheet: gpu.yaml} or {profile: gpu.yaml}", node);
  const Place place = node.entries.front().value.place;
  DeviceChoice read;
  if (file.profile) {
    read.profile = file.profile;
    read.calibrated = read_file_of(*file.profile, place, reading, parse_calibrated);
  } else {
    read.sheet = file.sheet;
    read.described = read_file_of(*file.sheet, place, reading, parse_device_sheet);
    if (read.described) read.name = read.described->name;
  }
  if (read.calibrated || read.described) value = std::move(read);
}

/// A sheet that stands in the scenario itself.
void read_inline(const YamlNode& node, const Reading& reading, DeviceChoice& value) {
  const std::size_t before = reading.complaints.size();
  Device device;
  device_sheet_codec().read(node, reading, device);
  if (reading.complaints.size() == before) value = DeviceChoice::of(device);
}

}  // namespace

Codec<DeviceChoice> device_codec() {
  const Codec<std::string> name = name_codec(device_names(), "names of `contend list devices`");
  const Codec<Device> sheet = device_sheet_codec();
  Codec<DeviceChoice> codec;
  codec.type = "name, {sheet: path}, {profile: path} or a sheet";
  codec.range = name.range;
  codec.schema = [name, sheet, file = file_choice_codec()](JsonWriter& json) {
    any_of_schema(json, name.schema, file.schema, sheet.schema);
  };
  codec.read = [name](const YamlNode& node, const Reading& reading, DeviceChoice& value) {
    const auto has = [&](std::string_view key) {
      return std::ranges::any_of(node.entries, [&](const YamlNode::Entry& each) { return each.key == key; });
    };
    if (node.kind == Kind::map && (node.entries.size() < 2 || has("sheet") || has("profile")))
      return read_file_choice(node, reading, value);
    if (node.kind == Kind::map) return read_inline(node, reading, value);
    DeviceChoice named;
    const std::size_t before = reading.complaints.size();
    name.read(node, reading, named.name);
    if (reading.complaints.size() == before) value = std::move(named);
  };
  codec.print = [sheet](const DeviceChoice& value) {
    if (value.profile) return fmt::format("{{profile: {}}}", quote(*value.profile));
    if (value.sheet) return fmt::format("{{sheet: {}}}", quote(*value.sheet));
    return value.described ? sheet.print(*value.described) : value.name;
  };
  codec.paths = [](DeviceChoice& value, const PathVisitor& visit) {
    if (value.profile) visit(*value.profile);
    if (value.sheet) visit(*value.sheet);
  };
  codec.part = [](const DeviceChoice& value, std::string_view part) -> std::optional<PlainValue> {
    const std::optional<std::string>& path = part == "sheet" ? value.sheet : value.profile;
    if ((part != "profile" && part != "sheet") || !path) return std::nullopt;
    return PlainValue{*path, std::nullopt};
  };
  return codec;
}

}  // namespace contend
