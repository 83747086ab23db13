#pragma once
// A Device is a GPU as a cost model sees it: peak rates, memory and links. Its numbers are those of the maker's data
// sheets, per GPU as a program sees it (one of the two dies of a K80), dense (without structured sparsity) and at boost
// clock. scenarios/yaml/device_sheet.hpp reads them from sheets.

#include "sim/units.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace contend {

/// Number formats of matrix products. tf32 and the accumulation of fp16 and bf16 products work on 4-byte results.
enum class DataType { fp64, fp32, tf32, fp16, bf16, fp8, int8 };
inline constexpr std::array kDataTypes = {DataType::fp64, DataType::fp32, DataType::tf32, DataType::fp16,
                                          DataType::bf16, DataType::fp8,  DataType::int8};

[[nodiscard]] std::string_view to_string(DataType type);
/// Bytes of one number in memory.
[[nodiscard]] int bytes_of(DataType type);

/// A type of GPU.
struct Device {
  std::string name;
  std::string source;                                 ///< data sheet or white paper
  std::array<double, kDataTypes.size()> tflops{};     ///< peak of matrix products by DataType; 0 if not supported
  std::array<bool, kDataTypes.size()> matrix_unit{};  ///< true if that peak is one of tensor cores
  ByteRate memory_bandwidth;
  Bytes memory;
  ByteRate pcie;               ///< to the host, one direction, after line coding
  ByteRate links;              ///< to other devices, all links together, one direction; 0 if the device has none
  double fused_attention = 0;  ///< share of the peak that attention in one kernel reaches; 0 if unknown

  bool operator==(const Device&) const = default;
  [[nodiscard]] bool supports(DataType type) const { return tflops[static_cast<std::size_t>(type)] > 0; }
  /// Peak flops per second.
  [[nodiscard]] double peak(DataType type) const { return tflops[static_cast<std::size_t>(type)] * 1e12; }
  [[nodiscard]] bool uses_matrix_unit(DataType type) const { return matrix_unit[static_cast<std::size_t>(type)]; }
};

/// Checks a device that a user describes. Throws InputError if it has no name, no peak, no memory or no memory
/// bandwidth, or if a rate is negative or not finite.
void validate(const Device& device);

}  // namespace contend
