#pragma once
// Devices as data: sheets of GPUs and other accelerators, which ship with the program or which a user writes
// (docs/reference/device-sheet.md).

#include "models/devices.hpp"
#include "scenarios/spec/device_choice.hpp"
#include "scenarios/yaml/codecs.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// A device as the map of a sheet. A device that the codec reads is valid (validate() of models/devices.hpp).
[[nodiscard]] Codec<Device> device_sheet_codec();
/// Reads a sheet from text, which messages call `name`. Throws InputError with every fault and its place.
[[nodiscard]] Device parse_device_sheet(std::string_view text, const std::string& name);

/// The text of the sheets that ship, models/sheets/*.yaml, one after the other. Each begins with a line `---`.
[[nodiscard]] std::string_view device_sheets();
/// The device of that name, or nullptr. Reads its sheet if nobody has asked for the device before.
[[nodiscard]] const Device* find_device(std::string_view name);
/// The names of all devices that ship, in the order of their sheets.
[[nodiscard]] std::vector<std::string> device_names();
/// All devices that ship, in the order of their sheets.
[[nodiscard]] std::vector<Device> devices();
/// The device of a choice without a profile.
[[nodiscard]] const Device& sheet_of(const DeviceChoice& choice);

}  // namespace contend
