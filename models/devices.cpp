#include "models/devices.hpp"

#include "sim/complaints.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

namespace contend {

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
    case DataType::fp4:
      return "fp4";
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
    case DataType::fp4:
      return 1;
  }
  return 0;
}

const AttentionShare* KernelShares::of(AttentionKernel kernel) const {
  constexpr int kFirst = static_cast<int>(AttentionKernel::flash_1);
  for (int i = static_cast<int>(attention.size()) - 1; i >= 0; --i) {
    const bool fits = kernel == AttentionKernel::flash || static_cast<int>(kernel) == kFirst + i;
    if (const AttentionShare& found = attention[static_cast<std::size_t>(i)]; fits && found.share > 0) return &found;
  }
  return nullptr;
}

const ProductShare* Device::product_share(DataType type) const {
  if (!uses_matrix_unit(type)) return nullptr;
  for (const DataType each : {type, DataType::bf16})
    if (const ProductShare& found = kernels.products[static_cast<std::size_t>(each)]; found.share > 0) return &found;
  return nullptr;
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
  check_rate("the rate of the links", device.links.bytes_per_second(), false);
  if (!device.kernels.source.empty() && device.units < 1) complain("kernels need `units`, over which their tiles lie");
  if (device.memory <= Bytes{}) complain(fmt::format("expected memory, got {} bytes", device.memory.count()));
  found.throw_if_any();
}

}  // namespace contend
