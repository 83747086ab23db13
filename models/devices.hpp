#pragma once
// A Device is a GPU as a cost model sees it: peak rates, memory and links. Its numbers are the numbers of the maker's
// data sheets, per GPU as a program sees it (one of the two dies of a K80), dense (without structured sparsity) and at
// boost clock. scenarios/yaml/device_sheet.hpp reads them from sheets.

#include "sim/units.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace contend {

/// Number formats of matrix products. tf32 and the accumulation of fp16 and bf16 products work on 4-byte results.
enum class DataType { fp64, fp32, tf32, fp16, bf16, fp8, int8, fp4 };
inline constexpr std::array kDataTypes = {DataType::fp64, DataType::fp32, DataType::tf32, DataType::fp16,
                                          DataType::bf16, DataType::fp8,  DataType::int8, DataType::fp4};

[[nodiscard]] std::string_view to_string(DataType type);
/// Bytes of one number in memory, rounded up.
[[nodiscard]] int bytes_of(DataType type);
/// True for formats of the operands of products alone, into which casts bring what has 16 bits elsewhere.
[[nodiscard]] constexpr bool is_narrow(DataType type) {
  return type == DataType::fp8 || type == DataType::fp4;
}

/// What products of one format reach: a kernel computes its result in tiles, one a unit at a time, in waves over all
/// units. A tile of a x b takes 2 a b (k + fill) flops at `share` of the peak, longer by `edge` x (1/a + 1/b) than one
/// of 256 x 128; the library takes the tile that ends first. Where that draws more than the power limit, the clock
/// falls (sheet_share() of models/cost_model.cpp).
struct ProductShare {
  double share = 0;            ///< of the peak, of the largest tile; 0 if unknown
  double fill = 0;             ///< steps of k that a tile takes to begin and to end
  double edge = 0;             ///< >= 0
  double tflop_per_joule = 0;  ///< at the clock of the peak, by all of the power limit; 0: that never lowers the clock

  bool operator==(const ProductShare&) const = default;
};

/// Attention with its scores in memory, or in one kernel: the newest that the device has, or a generation of
/// FlashAttention and of the kernels that are as fast.
enum class AttentionKernel { plain, flash, flash_1, flash_2, flash_3, flash_4 };
inline constexpr std::array<std::string_view, 4> kFlashKernels{"flash-1", "flash-2", "flash-3", "flash-4"};

/// What attention in one kernel reaches forward: share x d / (d + width) x l / (l + length) for heads of d numbers and
/// l keys.
struct AttentionShare {
  double share = 0, width = 0, length = 0;  ///< share: 0 if unknown
  double tflop_per_joule = 0;               ///< as ProductShare::tflop_per_joule; 0: of products

  bool operator==(const AttentionShare&) const = default;
};

/// What kernels reach of a device's peaks, as measured.
struct KernelShares {
  std::string source;  ///< of the figures; empty if there are none
  Time start;          ///< from one kernel to the next
  double memory = 0;   ///< share of the memory's bandwidth
  std::array<ProductShare, kDataTypes.size()> products{};
  std::array<AttentionShare, kFlashKernels.size()> attention{};  ///< by generation

  /// The share of a kernel; nullptr if it is unknown.
  [[nodiscard]] const AttentionShare* of(AttentionKernel kernel) const;

  bool operator==(const KernelShares&) const = default;
};

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
  int units = 0;               ///< that compute tiles side by side (streaming multiprocessors); 0 if unknown
  double watts = 0;            ///< power limit; 0 if unknown
  KernelShares kernels;

  bool operator==(const Device&) const = default;
  [[nodiscard]] bool supports(DataType type) const { return tflops[static_cast<std::size_t>(type)] > 0; }
  /// Peak flops per second.
  [[nodiscard]] double peak(DataType type) const { return tflops[static_cast<std::size_t>(type)] * 1e12; }
  [[nodiscard]] bool uses_matrix_unit(DataType type) const { return matrix_unit[static_cast<std::size_t>(type)]; }
  /// The shares of products of the type; the shares of bf16 stand for other formats of matrix units without their own.
  /// nullptr: unknown.
  [[nodiscard]] const ProductShare* product_share(DataType type) const;
};

/// Checks a device that a user describes. Throws InputError if it has no name, no peak, no memory or no memory
/// bandwidth, or if a rate is negative or not finite.
void validate(const Device& device);

}  // namespace contend
