#include "scenarios/yaml/device_sheet.hpp"

#include "scenarios/yaml/map_codec.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <iterator>
#include <mutex>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr double kMostTflops = 1e9;
constexpr ByteRate kMostRate{1e18};

/// The peaks of one kind of unit.
struct Peaks {
  std::array<double, kDataTypes.size()> tflops{};

  bool operator==(const Peaks&) const = default;
};

template <DataType kType>
MapMember<Peaks> peak_member() {
  return {to_string(kType),
          part_io<Peaks>(member_access<Peaks, double>(
                             [](auto& peaks) -> auto& { return peaks.tflops[static_cast<std::size_t>(kType)]; }),
                         number_codec(0, kMostTflops)),
          false,
          {}};
}

Codec<Peaks> peaks_codec() {
  using enum DataType;
  return map_codec<Peaks>({peak_member<fp64>(), peak_member<fp32>(), peak_member<tf32>(), peak_member<fp16>(),
                           peak_member<bf16>(), peak_member<fp8>(), peak_member<int8>()},
                          "{fp32: 19.5, bf16: 312}");
}

/// A sheet as it is written: in place of the device's own peaks it has the peaks of each kind of unit.
struct Sheet : Device {
  Peaks matrix, vector;
};

Sheet as_written(const Device& device) {
  Sheet sheet{device, {}, {}};
  for (std::size_t i = 0; i < kDataTypes.size(); ++i)
    (device.matrix_unit[i] ? sheet.matrix : sheet.vector).tflops[i] = device.tflops[i];
  return sheet;
}

/// The device of a sheet, or complaints.
Device device_of(const Sheet& sheet, Place place, const Reading& reading) {
  Device device = sheet;
  for (std::size_t i = 0; i < kDataTypes.size(); ++i) {
    device.matrix_unit[i] = sheet.matrix.tflops[i] > 0;
    device.tflops[i] = device.matrix_unit[i] ? sheet.matrix.tflops[i] : sheet.vector.tflops[i];
    if (device.matrix_unit[i] && sheet.vector.tflops[i] > 0)
      reading.complain(place,
                       fmt::format("{} has a peak in both matrix_tflops and vector_tflops", to_string(kDataTypes[i])),
                       "give the larger one: the units that reach it compute the products");
  }
  try {
    validate(device);
  } catch (const InputError& error) {
    for (const Complaint& each : error.complaints()) reading.complain(place, each.reason);
  }
  return device;
}

/// The link to the host: a rate, or a generation of PCI Express and a number of lanes.
struct Pcie {
  int generation = 0;
  int lanes = 16;
};

constexpr int kWidths[] = {1, 2, 4, 8, 12, 16, 32};  // of links (PCI Express Base Specification 5.0, section 1.2)

// Rate of one direction: transfers per second times lanes, less the line code (8b/10b up to generation 2, 128b/130b up
// to generation 5; generation 6 loses 8 bytes of 256 to its code and 6 to checks).
ByteRate rate_of(const Pcie& pcie) {
  const double giga_transfers = 2.5 * std::pow(2, pcie.generation - 1) * (pcie.generation >= 3 ? 0.8 : 1.0);
  const double code = pcie.generation >= 6 ? 242.0 / 256.0 : pcie.generation >= 3 ? 128.0 / 130.0 : 0.8;
  return ByteRate{giga_transfers * 1e9 * pcie.lanes * code / 8};
}

Codec<ByteRate> host_link_codec() {
  Codec<ByteRate> codec = quantity_codec<ByteRate>({}, kMostRate);
  const Codec<Pcie> pcie = map_codec<Pcie>({field("generation", &Pcie::generation, integer_codec<int>(1, 6), true),
                                            field("lanes", &Pcie::lanes, integer_codec<int>(1, 32))},
                                           "{generation: 5, lanes: 16}");
  codec.type = "rate or {generation, lanes}";
  codec.schema = [rate = codec.schema, pcie](JsonWriter& json) { any_of_schema(json, rate, pcie.schema); };
  codec.read = [rate = codec.read, pcie](const YamlNode& node, const Reading& reading, ByteRate& value) {
    if (node.kind != YamlNode::Kind::map) return rate(node, reading, value);
    const std::size_t before = reading.complaints.size();
    Pcie link;
    pcie.read(node, reading, link);
    if (std::ranges::find(kWidths, link.lanes) == std::end(kWidths))
      reading.complain(node.place, fmt::format("no link of PCI Express has {} lanes", link.lanes),
                       "1, 2, 4, 8, 12, 16 or 32 lanes");
    if (reading.complaints.size() == before) value = rate_of(link);
  };
  return codec;
}

std::vector<MapMember<Sheet>> sheet_members() {
  const auto required = [](MapMember<Sheet> member) {
    member.required = true;
    return member;
  };
  const Codec<ByteRate> rate = quantity_codec<ByteRate>({}, kMostRate);
  return {
      required(map_member<Sheet>("name", &Device::name, title_codec(), "what `contend` calls the device")),
      required(map_member<Sheet>("source", &Device::source, text_codec(), "where the figures come from")),
      map_member<Sheet>("matrix_tflops", &Sheet::matrix, peaks_codec(),
                        "peaks of matrix units such as tensor cores, by format, dense, in TFLOP/s"),
      map_member<Sheet>("vector_tflops", &Sheet::vector, peaks_codec(),
                        "peaks of the formats that other units compute"),
      required(map_member<Sheet>("memory", &Device::memory, quantity_codec<Bytes>(Bytes{1}, Bytes::mebibytes(1 << 30)),
                                 "memory of the device")),
      required(map_member<Sheet>("memory_bandwidth", &Device::memory_bandwidth, rate, "peak rate of that memory")),
      map_member<Sheet>("pcie", &Device::pcie, host_link_codec(), "rate of the link to the host, one direction"),
      map_member<Sheet>("links", &Device::links, rate,
                        "rate of all links to other devices together, one direction; 0 without such links"),
      map_member<Sheet>("fused_attention", &Device::fused_attention, number_codec(0, 1),
                        "share of the peak that attention in one kernel reaches; 0 if unknown"),
  };
}

}  // namespace

Codec<Device> device_sheet_codec() {
  const Codec<Sheet> sheet = map_codec<Sheet>(
      sheet_members(), "{name: N, source: S, vector_tflops: {fp32: 19.5}, memory: 40GiB, memory_bandwidth: 1555GB/s}");
  Codec<Device> codec;
  codec.type = sheet.type;
  codec.schema = sheet.schema;
  codec.read = [read = sheet.read](const YamlNode& node, const Reading& reading, Device& value) {
    const std::size_t before = reading.complaints.size();
    Sheet written;
    read(node, reading, written);
    if (reading.complaints.size() != before) return;
    Device device = device_of(written, node.place, reading);
    if (reading.complaints.size() == before) value = std::move(device);
  };
  codec.print = [print = sheet.print](const Device& value) { return print(as_written(value)); };
  return codec;
}

Device parse_device_sheet(std::string_view text, const std::string& name) {
  const SourceText source{name, std::string{text}};
  std::vector<Complaint> complaints;
  const std::string key;
  Device device;
  static const Codec<Device> kCodec = device_sheet_codec();
  if (const auto root = parse_yaml(source.text(), source, 1, complaints); root)
    kCodec.read(*root, Reading{source, key, complaints}, device);
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  return device;
}

namespace {

/// A sheet that ships. It is read when somebody asks for its device, so that a run doesn't read the others.
class ShippedSheet {
 public:
  /// `text` begins with the lines `---` and `name: NAME`.
  explicit ShippedSheet(std::string_view text) : text_{text}, name_{text} {
    constexpr std::string_view kHead = "---\nname: ";
    CONTEND_CHECK(text.starts_with(kHead), "a sheet that ships begins with its name");
    name_ = text.substr(kHead.size(), text.find('\n', kHead.size()) - kHead.size());
  }
  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] const Device& device() const {
    std::call_once(is_read_, [this] { device_ = parse_device_sheet(text_, "models/sheets"); });
    return device_;
  }

 private:
  std::string_view text_, name_;
  mutable std::once_flag is_read_;
  mutable Device device_;
};

const std::deque<ShippedSheet>& shipped_sheets() {
  static const std::deque<ShippedSheet> kSheets = [] {
    constexpr std::string_view kStart = "---\n";
    std::deque<ShippedSheet> sheets;
    for (std::string_view rest = device_sheets(); !rest.empty();) {
      const std::size_t end = rest.find(kStart, kStart.size());
      sheets.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end, rest.size()));
    }
    return sheets;
  }();
  return kSheets;
}

}  // namespace

const Device* find_device(std::string_view name) {
  const auto found = std::ranges::find(shipped_sheets(), name, &ShippedSheet::name);
  return found == shipped_sheets().end() ? nullptr : &found->device();
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const ShippedSheet& sheet : shipped_sheets()) names.emplace_back(sheet.name());
  return names;
}

std::vector<Device> devices() {
  std::vector<Device> all;
  for (const ShippedSheet& sheet : shipped_sheets()) all.push_back(sheet.device());
  return all;
}

const Device& sheet_of(const DeviceChoice& choice) {
  if (choice.described) return *choice.described;
  const Device* const device = find_device(choice.name);
  CONTEND_CHECK(device != nullptr, "a scenario names devices that there are");
  return *device;
}

}  // namespace contend
