#pragma once
// What a backward pass computes again instead of reading what the forward pass kept (Korthikanti et al., arXiv
// 2205.05198, section 5; modules: Megatron-Core, transformer_config.py, `recompute_modules`).

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace contend {

/// A set of modules of a layer, or torchtitan's list of operators.
enum class Recomputation : std::uint16_t {
  none = 0,
  core_attn = 1 << 0,  ///< scores and what follows from them up to the context, as fused attention does anyway
  layernorm = 1 << 1,  ///< the norms before attention and before the feed-forward; only their inputs are kept
  /// Of latent attention: queries, keys and values out of the short vectors, and their rotary positions.
  mla_up_proj = 1 << 2,
  mlp = 1 << 3,             ///< the feed-forward of a dense layer, without its norm
  moe = 1 << 4,             ///< the feed-forward of a layer with experts, with its router and messages
  moe_act = 1 << 5,         ///< the activations of routed experts
  shared_experts = 1 << 6,  ///< of a layer with experts
  rest = 1 << 7,            ///< what is in no module, fused attention too; only together with all of them
  full = (1 << 8) - 1,      ///< all of a layer but its input
  /// All but attention and every second product, counted from the first: of queries, keys, values, output, gate, up and
  /// down each by itself, keys, output and up (torchtitan, `selective_ac_option = "op"`: its list of operators whose
  /// outputs are kept).
  operators = 1 << 8,
};

[[nodiscard]] constexpr Recomputation operator|(Recomputation one, Recomputation other) {
  return static_cast<Recomputation>(static_cast<std::uint16_t>(one) | static_cast<std::uint16_t>(other));
}
[[nodiscard]] constexpr Recomputation operator&(Recomputation one, Recomputation other) {
  return static_cast<Recomputation>(static_cast<std::uint16_t>(one) & static_cast<std::uint16_t>(other));
}

/// What is in `one` and not in `other`.
[[nodiscard]] constexpr Recomputation operator-(Recomputation one, Recomputation other) {
  return static_cast<Recomputation>(static_cast<std::uint16_t>(one) & ~static_cast<unsigned>(other));
}

/// The modules that a list can have, by the names of Megatron-Core.
inline constexpr std::array<std::pair<std::string_view, Recomputation>, 7> kRecomputedModules = {
    {{"core_attn", Recomputation::core_attn},
     {"layernorm", Recomputation::layernorm},
     {"mla_up_proj", Recomputation::mla_up_proj},
     {"mlp", Recomputation::mlp},
     {"moe", Recomputation::moe},
     {"moe_act", Recomputation::moe_act},
     {"shared_experts", Recomputation::shared_experts}}};

/// True if one of these modules is computed again.
[[nodiscard]] constexpr bool repeats(Recomputation mode, Recomputation modules) {
  return (mode & modules) != Recomputation::none;
}

/// True if the tensors of a whole layer are there again while its backward pass runs.
[[nodiscard]] constexpr bool computes_layers_again(Recomputation mode) {
  return mode == Recomputation::operators || mode == Recomputation::full;
}

}  // namespace contend
