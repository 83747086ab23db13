#pragma once
// The size of numbers in the formats of products alone.

#include "models/devices.hpp"

namespace contend {

/// Bytes of a number in a narrow format, with its part of a scale: in fp8 1, whose scales are of whole tensors, in fp4
/// half a byte and a scale of a byte for 16 numbers (NVIDIA, arXiv 2509.25149, section 2).
[[nodiscard]] constexpr double narrow_bytes(DataType type) {
  return type == DataType::fp4 ? 0.5 + 1.0 / 16 : 1;
}

}  // namespace contend
