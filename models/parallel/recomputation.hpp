#pragma once
// What a backward pass computes again instead of reading what the forward pass kept (Korthikanti et al., arXiv
// 2205.05198, section 5).

#include <cstdint>
#include <string_view>

namespace contend {

enum class Recomputation : std::uint8_t {
  none,
  selective,  ///< attention scores and what follows from them up to the context, as fused attention does anyway
  full,       ///< all of a layer but its input
};

[[nodiscard]] constexpr std::string_view to_string(Recomputation mode) {
  switch (mode) {
    case Recomputation::none:
      return "none";
    case Recomputation::selective:
      return "selective";
    case Recomputation::full:
      return "full";
  }
  return "unknown";
}

}  // namespace contend
