#pragma once
// The member `recording` of an entry of `training`.

#include "scenarios/scenario.hpp"
#include "scenarios/yaml/codecs.hpp"
#include "scenarios/yaml/map_codec.hpp"

#include <optional>
#include <vector>

namespace contend {

/// A path, or a map with one. A later layer replaces single members.
[[nodiscard]] Codec<std::optional<RecordingSetup>> recording_codec();

/// The members, for the reference.
[[nodiscard]] std::vector<MemberText> recording_members();

}  // namespace contend
