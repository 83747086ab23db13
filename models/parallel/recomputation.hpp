#pragma once
// What a backward pass computes again instead of reading what the forward pass kept (Korthikanti et al., arXiv
// 2205.05198, section 5).

#include <cstdint>
#include <string_view>

namespace contend {

enum class Recomputation : std::uint8_t {
  none,
  selective,  ///< attention scores and what follows from them up to the context, as fused attention does anyway
  /// All but attention and every second product, counted from the first: of queries, keys, values, output, gate, up and
  /// down each by itself, keys, output and up (torchtitan, `selective_ac_option = "op"`: its list of operators whose
  /// outputs are kept).
  operators,
  full,  ///< all of a layer but its input
};

/// True if the tensors of a whole layer are there again while its backward pass runs.
[[nodiscard]] constexpr bool computes_layers_again(Recomputation mode) {
  return mode == Recomputation::operators || mode == Recomputation::full;
}

[[nodiscard]] constexpr std::string_view to_string(Recomputation mode) {
  switch (mode) {
    case Recomputation::none:
      return "none";
    case Recomputation::selective:
      return "selective";
    case Recomputation::operators:
      return "operators";
    case Recomputation::full:
      return "full";
  }
  return "unknown";
}

}  // namespace contend
