#pragma once
// The member `parallel` of an entry of `training`.

#include "scenarios/scenario.hpp"
#include "scenarios/yaml/codecs.hpp"
#include "scenarios/yaml/map_codec.hpp"

#include <optional>
#include <vector>

namespace contend {

/// A later layer replaces single members.
[[nodiscard]] Codec<std::optional<ParallelSetup>> parallel_codec();

/// Sizes of a model of one's own.
[[nodiscard]] Codec<TransformerSizes> transformer_codec();

[[nodiscard]] Codec<std::optional<Adapter>> adapter_codec();
[[nodiscard]] Codec<FrozenSetup> frozen_codec();

/// The members, for the reference.
[[nodiscard]] std::vector<MemberText> parallel_members();

}  // namespace contend
