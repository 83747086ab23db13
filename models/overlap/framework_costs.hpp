#pragma once
// What a framework does to gradients around each message: it copies them into a buffer and back, and may work on them
// on the host. The kernels of a compression method come on top (policies/compression/kernels.hpp).

#include "models/overlap/kernel_costs.hpp"
#include "sim/units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace contend {

/// The work for 4 bytes of the uncompressed gradient, one value in fp32; all 0: messages come and go for free.
struct FrameworkCosts {
  double bytes_before = 0;  ///< read and written in the memory of the GPU before a message is sent, for 4 bytes of it
  double bytes_after = 0;   ///< read and written when it has arrived
  int launches = 0;         ///< kernels for each tensor before, and again after
  Time tensor_before{};     ///< for each tensor before a message is sent, such as a cast to fp16

  [[nodiscard]] bool none() const { return *this == FrameworkCosts{}; }
  friend bool operator==(const FrameworkCosts&, const FrameworkCosts&) = default;

  /// The kernels before and after a message of 4 x `values` bytes in `tensors` >= 1.
  [[nodiscard]] KernelWork before(std::int64_t values, std::size_t tensors) const {
    return {bytes_before * static_cast<double>(values), 0, launches_of(tensors)};
  }
  [[nodiscard]] KernelWork after(std::int64_t values, std::size_t tensors) const {
    return {bytes_after * static_cast<double>(values), 0, launches_of(tensors)};
  }

 private:
  [[nodiscard]] int launches_of(std::size_t tensors) const { return std::max(1, launches * static_cast<int>(tensors)); }
};

/// A framework whose work is known.
struct NamedFramework {
  std::string_view name;
  FrameworkCosts costs;
  std::string_view source;
};
[[nodiscard]] std::span<const NamedFramework> frameworks();

}  // namespace contend
