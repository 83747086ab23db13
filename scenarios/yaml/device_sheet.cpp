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

template <class Value>
using ByFormat = std::array<Value, kDataTypes.size()>;

template <class Value, DataType kType>
MapMember<ByFormat<Value>> format_member(const Codec<Value>& codec) {
  return {to_string(kType),
          member_io<ByFormat<Value>, Value>(
              [](auto& values) -> auto& { return values[static_cast<std::size_t>(kType)]; }, codec),
          false,
          {}};
}

/// A map of formats.
template <class Value>
Codec<ByFormat<Value>> by_format_codec(const Codec<Value>& codec, std::string_view example) {
  return [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    return map_codec<ByFormat<Value>>({format_member<Value, kDataTypes[kIndex]>(codec)...}, example);
  }
  (std::make_index_sequence<kDataTypes.size()>());
}

/// A sheet as it is written: in place of the device's own peaks it has the peaks of each kind of unit.
struct Sheet : Device {
  ByFormat<double> matrix{}, vector{};
};

Sheet as_written(const Device& device) {
  Sheet sheet{device, {}, {}};
  for (std::size_t i = 0; i < kDataTypes.size(); ++i)
    (device.matrix_unit[i] ? sheet.matrix : sheet.vector)[i] = device.tflops[i];
  return sheet;
}

/// The device of a sheet, or complaints.
Device device_of(const Sheet& sheet, Place place, const Reading& reading) {
  Device device = sheet;
  for (std::size_t i = 0; i < kDataTypes.size(); ++i) {
    device.matrix_unit[i] = sheet.matrix[i] > 0;
    device.tflops[i] = device.matrix_unit[i] ? sheet.matrix[i] : sheet.vector[i];
    if (device.matrix_unit[i] && sheet.vector[i] > 0)
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

Codec<ProductShare> product_share_codec() {
  const Codec<double> factor = number_codec(0, 1e4);
  return map_codec<ProductShare>(
      {field("share", &ProductShare::share, number_codec(0.01, 1), true), field("fill", &ProductShare::fill, factor),
       field("edge", &ProductShare::edge, factor),
       field("tflop_per_joule", &ProductShare::tflop_per_joule, number_codec(0, 1e3))},
      "{share: 0.9, fill: 180}");
}

Codec<AttentionShare> attention_share_codec() {
  const Codec<double> factor = number_codec(0, 1e5);
  return map_codec<AttentionShare>(
      {field("share", &AttentionShare::share, number_codec(0.01, 1), true),
       field("width", &AttentionShare::width, factor), field("length", &AttentionShare::length, factor),
       field("tflop_per_joule", &AttentionShare::tflop_per_joule, number_codec(0, 1e3))},
      "{share: 0.6}");
}

/// Figures of kernels, or the name of a device that ships, whose figures they are.
Codec<KernelShares> kernels_codec() {
  const Codec<AttentionShare> attention = attention_share_codec();
  using Attention = decltype(KernelShares::attention);
  const auto generation = [&]<std::size_t kIndex>() {
    return MapMember<Attention>{kFlashKernels[kIndex],
                                member_io<Attention, AttentionShare>(
                                    [](auto& all) -> auto& { return all[kIndex]; }, attention),
                                false,
                                {}};
  };
  const Codec<KernelShares> figures = map_codec<KernelShares>(
      {field("source", &KernelShares::source, text_codec(), true),
       field("start", &KernelShares::start, quantity_codec(Time{}, Time::milliseconds(1)), true),
       field("memory", &KernelShares::memory, number_codec(0.01, 1), true),
       field("products", &KernelShares::products,
             by_format_codec(product_share_codec(), "{bf16: {share: 0.9, fill: 180}}"), true),
       field("attention", &KernelShares::attention,
             map_codec<Attention>({generation.template operator()<0>(), generation.template operator()<1>(),
                                   generation.template operator()<2>(), generation.template operator()<3>()},
                                  "{flash-2: {share: 0.6}}"))},
      "{source: S, start: 3us, memory: 0.8, products: {bf16: {share: 0.9}}}");
  Codec<KernelShares> codec = figures;
  codec.type = "map or device";
  codec.schema = [figures](JsonWriter& json) {
    any_of_schema(json, figures.schema, [](JsonWriter& name) { name.member("type", "string"); });
  };
  codec.read = [figures](const YamlNode& node, const Reading& reading, KernelShares& value) {
    if (node.kind != YamlNode::Kind::scalar) return figures.read(node, reading, value);
    const Device* const like = find_device(node.text);
    if (like == nullptr || like->kernels.source.empty())
      return reading.complain(node.place, fmt::format("no device `{}` with figures of kernels", node.text),
                              "`contend list devices` lists devices");
    value = like->kernels;
  };
  return codec;
}

std::vector<MapMember<Sheet>> sheet_members() {
  const auto required = [](MapMember<Sheet> member) {
    member.required = true;
    return member;
  };
  const Codec<ByteRate> rate = quantity_codec<ByteRate>({}, kMostRate);
  const Codec<ByFormat<double>> peaks = by_format_codec(number_codec(0, kMostTflops), "{fp32: 19.5, bf16: 312}");
  return {
      required(map_member<Sheet>("name", &Device::name, title_codec(), "what `contend` calls the device")),
      required(map_member<Sheet>("source", &Device::source, text_codec(), "where the figures come from")),
      map_member<Sheet>("matrix_tflops", &Sheet::matrix, peaks,
                        "peaks of matrix units such as tensor cores, by format, dense, in TFLOP/s"),
      map_member<Sheet>("vector_tflops", &Sheet::vector, peaks, "peaks of the formats that other units compute"),
      required(map_member<Sheet>("memory", &Device::memory, quantity_codec<Bytes>(Bytes{1}, Bytes::mebibytes(1 << 30)),
                                 "memory of the device")),
      required(map_member<Sheet>("memory_bandwidth", &Device::memory_bandwidth, rate, "peak rate of that memory")),
      map_member<Sheet>("pcie", &Device::pcie, host_link_codec(), "rate of the link to the host, one direction"),
      map_member<Sheet>("links", &Device::links, rate,
                        "rate of all links to other devices together, one direction; 0 without such links"),
      map_member<Sheet>("fused_attention", &Device::fused_attention, number_codec(0, 1),
                        "share of the peak that attention in one kernel reaches; 0 if unknown"),
      map_member<Sheet>("units", &Device::units, integer_codec<int>(0, 1'000'000),
                        "streaming multiprocessors or the like, which compute tiles side by side; 0 if unknown"),
      map_member<Sheet>("watts", &Device::watts, number_codec(0, 1e6), "power limit; 0 if unknown"),
      map_member<Sheet>("kernels", &Device::kernels, kernels_codec(),
                        "shares of the peaks that kernels reach: a map, or the device whose shares they are"),
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
