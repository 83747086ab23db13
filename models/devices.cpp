#include "models/devices.hpp"

#include "sim/complaints.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {

// Peaks in TFLOPS, in the order of a data sheet's table. `vector` formats run on the ordinary cores, `matrix` formats
// on tensor cores.
struct Peak {
  DataType type;
  double tflops;
  bool matrix_unit;
};
constexpr Peak vector_unit(DataType type, double tflops) {
  return {type, tflops, false};
}
constexpr Peak matrix_unit(DataType type, double tflops) {
  return {type, tflops, true};
}

struct Sheet {
  const char* name;
  const char* source;
  std::vector<Peak> peaks;
  double memory_gb_per_s;
  std::int64_t memory_gib;
  ByteRate pcie;
  double nvlink_gb_per_s;  ///< both directions together, as data sheets count
  double fused_attention = 0;
};

// Shares of the peak that attention in one kernel reaches: FlashAttention-2 50 to 73% on an A100 (Dao, arXiv
// 2307.08691, abstract; the middle is taken, for all of its generation), and 35% on an H100 (Shah et al., arXiv
// 2407.08608, abstract).
constexpr double kAttentionAmpere = (0.50 + 0.73) / 2;
constexpr double kAttentionHopper = 0.35;

// Rate of one direction: transfers per second times lanes, less the line code (8b/10b up to generation 2, then
// 128b/130b).
ByteRate pcie(int generation, int lanes) {
  const double giga_transfers = 2.5 * std::pow(2, generation - 1) * (generation >= 3 ? 0.8 : 1.0);
  const double code = generation >= 3 ? 128.0 / 130.0 : 0.8;
  return ByteRate{giga_transfers * 1e9 * lanes * code / 8};
}

Device device_of(const Sheet& sheet) {
  Device device;
  device.name = sheet.name;
  device.source = sheet.source;
  for (const Peak& peak : sheet.peaks) {
    device.tflops[static_cast<std::size_t>(peak.type)] = peak.tflops;
    device.matrix_unit[static_cast<std::size_t>(peak.type)] = peak.matrix_unit;
  }
  device.memory_bandwidth = ByteRate{sheet.memory_gb_per_s * 1e9};
  device.memory = Bytes::mebibytes(sheet.memory_gib * 1024);
  device.pcie = sheet.pcie;
  device.nvlink = ByteRate{sheet.nvlink_gb_per_s * 1e9 / 2};
  device.fused_attention = sheet.fused_attention;
  return device;
}

constexpr auto fp64 = DataType::fp64, fp32 = DataType::fp32, tf32 = DataType::tf32, fp16 = DataType::fp16,
               bf16 = DataType::bf16, fp8 = DataType::fp8, int8 = DataType::int8;

std::vector<Peak> a100_peaks() {
  return {matrix_unit(fp64, 19.5), vector_unit(fp32, 19.5), matrix_unit(tf32, 156),
          matrix_unit(fp16, 312),  matrix_unit(bf16, 312),  matrix_unit(int8, 624)};
}

// The data sheet prints the tensor-core rates with sparsity, twice these.
std::vector<Peak> h100_sxm_peaks() {
  return {matrix_unit(fp64, 67),    vector_unit(fp32, 67),    matrix_unit(tf32, 494.5), matrix_unit(fp16, 989.5),
          matrix_unit(bf16, 989.5), matrix_unit(fp8, 1979.0), matrix_unit(int8, 1979.0)};
}

std::vector<Sheet> before_ampere() {
  return {
      {"K80",
       "NVIDIA Tesla K80 data sheet (2014), half a board, GPU Boost",
       {vector_unit(fp64, 1.455), vector_unit(fp32, 4.365)},
       240,
       12,
       pcie(3, 16),
       0},
      {"P100-PCIe",
       "NVIDIA Tesla P100 PCIe data sheet (2016), 16 GB",
       {vector_unit(fp64, 4.7), vector_unit(fp32, 9.3), vector_unit(fp16, 18.7)},
       732,
       16,
       pcie(3, 16),
       0},
      {"P100-SXM2",
       "NVIDIA Tesla P100 data sheet (2016), NVLink, 16 GB",
       {vector_unit(fp64, 5.3), vector_unit(fp32, 10.6), vector_unit(fp16, 21.2)},
       732,
       16,
       pcie(3, 16),
       160},
      {"P102-100",
       "no data sheet of the maker; TechPowerUp GPU database: 3200 cores at 1683 MHz, PCIe 1.0 x4",
       {vector_unit(fp64, 0.3366), vector_unit(fp32, 10.77), vector_unit(fp16, 0.1683)},
       440.3,
       5,
       pcie(1, 4),
       0},
      {"V100-PCIe",
       "NVIDIA V100 data sheet (2020), PCIe, 32 GB",
       {vector_unit(fp64, 7), vector_unit(fp32, 14), matrix_unit(fp16, 112)},
       900,
       32,
       pcie(3, 16),
       0},
      {"V100-SXM2",
       "NVIDIA V100 data sheet (2020), SXM2, 32 GB",
       {vector_unit(fp64, 7.8), vector_unit(fp32, 15.7), matrix_unit(fp16, 125)},
       900,
       32,
       pcie(3, 16),
       300},
      {"RTX2080Ti",
       "NVIDIA Turing architecture white paper (2018), TU102 reference card, fp32 accumulation",
       {vector_unit(fp64, 0.42), vector_unit(fp32, 13.4), matrix_unit(fp16, 53.8), matrix_unit(int8, 215.2)},
       616,
       11,
       pcie(3, 16),
       100},
  };
}

std::vector<Sheet> since_ampere() {
  return {
      {"RTX3090",
       "NVIDIA GA102 architecture white paper (2020), GeForce RTX 3090, fp32 accumulation",
       {vector_unit(fp64, 0.556), vector_unit(fp32, 35.6), matrix_unit(tf32, 35.6), matrix_unit(fp16, 71),
        matrix_unit(bf16, 71), matrix_unit(int8, 284)},
       936,
       24,
       pcie(4, 16),
       112.5,
       kAttentionAmpere},
      {"A6000",
       "NVIDIA GA102 architecture white paper (2020), RTX A6000",
       {vector_unit(fp64, 0.605), vector_unit(fp32, 38.7), matrix_unit(tf32, 77.4), matrix_unit(fp16, 154.8),
        matrix_unit(bf16, 154.8), matrix_unit(int8, 309.7)},
       768,
       48,
       pcie(4, 16),
       112.5,
       kAttentionAmpere},
      {"A100-40GB", "NVIDIA A100 data sheet (2021), SXM4, 40 GB", a100_peaks(), 1555, 40, pcie(4, 16), 600,
       kAttentionAmpere},
      {"A100-80GB", "NVIDIA A100 data sheet (2021), SXM4, 80 GB", a100_peaks(), 2039, 80, pcie(4, 16), 600,
       kAttentionAmpere},
      {"A800", "NVIDIA A800 data sheet (2022), SXM4, 80 GB: an A100 with 8 of 12 links", a100_peaks(), 2039, 80,
       pcie(4, 16), 400, kAttentionAmpere},
      {"H100-PCIe",
       "NVIDIA H100 data sheet (2023), PCIe, 80 GB, half of the rates printed with sparsity",
       {matrix_unit(fp64, 51), vector_unit(fp32, 51), matrix_unit(tf32, 378), matrix_unit(fp16, 756.5),
        matrix_unit(bf16, 756.5), matrix_unit(fp8, 1513), matrix_unit(int8, 1513)},
       2000,
       80,
       pcie(5, 16),
       600,
       kAttentionHopper},
      {"H100-SXM", "NVIDIA H100 data sheet (2023), SXM5, 80 GB, half of the rates printed with sparsity",
       h100_sxm_peaks(), 3350, 80, pcie(5, 16), 900, kAttentionHopper},
      {"H100-HBM2e",
       "docs/performance.md of torchtitan (2025), Grand Teton: SXM5 with 96 GB of HBM2e at 2.4 TB/s; rates of "
       "H100-SXM, "
       "which it doesn't reach at 500 W",
       h100_sxm_peaks(), 2400, 96, pcie(5, 16), 900, kAttentionHopper},
      {"H200", "NVIDIA H200 data sheet (2023), SXM5, 141 GB, half of the rates printed with sparsity", h100_sxm_peaks(),
       4800, 141, pcie(5, 16), 900, kAttentionHopper},
  };
}

std::vector<Device> make_devices() {
  std::vector<Device> made;
  for (const Sheet& sheet : before_ampere()) made.push_back(device_of(sheet));
  for (const Sheet& sheet : since_ampere()) made.push_back(device_of(sheet));
  return made;
}

}  // namespace

std::string_view to_string(DataType type) {
  switch (type) {
    case DataType::fp64:
      return "fp64";
    case DataType::fp32:
      return "fp32";
    case DataType::tf32:
      return "tf32";
    case DataType::fp16:
      return "fp16";
    case DataType::bf16:
      return "bf16";
    case DataType::fp8:
      return "fp8";
    case DataType::int8:
      return "int8";
  }
  return "unknown";
}

int bytes_of(DataType type) {
  switch (type) {
    case DataType::fp64:
      return 8;
    case DataType::fp32:
    case DataType::tf32:
      return 4;
    case DataType::fp16:
    case DataType::bf16:
      return 2;
    case DataType::fp8:
    case DataType::int8:
      return 1;
  }
  return 0;
}

std::span<const Device> devices() {
  static const std::vector<Device> kDevices = make_devices();
  return kDevices;
}

const Device* find_device(std::string_view name) {
  const std::span<const Device> all = devices();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Device& device) { return device.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const Device& device : devices()) names.push_back(device.name);
  return names;
}

void validate(const Device& device) {
  Complaints found;
  const auto complain = [&](std::string reason) {
    found.add(fmt::format("device `{}`", device.name), std::move(reason));
  };
  const auto check_rate = [&](const char* what, double rate, bool required) {
    if (!std::isfinite(rate) || rate < 0 || (required && rate == 0)) {
      complain(fmt::format("{} must be {} and finite, got {}", what, required ? "above 0" : "at least 0", rate));
    }
  };
  if (device.name.empty()) complain("a name is missing");
  for (const DataType type : kDataTypes) {
    check_rate(fmt::format("the {} peak", to_string(type)).c_str(), device.peak(type), false);
  }
  if (std::none_of(kDataTypes.begin(), kDataTypes.end(), [&](DataType type) { return device.supports(type); })) {
    complain("at least one peak is needed");
  }
  check_rate("the memory bandwidth", device.memory_bandwidth.bytes_per_second(), true);
  check_rate("the PCIe rate", device.pcie.bytes_per_second(), false);
  check_rate("the NVLink rate", device.nvlink.bytes_per_second(), false);
  if (device.memory <= Bytes{}) complain(fmt::format("expected memory, got {} bytes", device.memory.count()));
  found.throw_if_any();
}

}  // namespace contend
