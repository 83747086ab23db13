#pragma once
// The value of the key `serving`: a map of names to entries, which jobs name as what they serve.

#include "scenarios/scenario.hpp"
#include "scenarios/yaml/codecs.hpp"
#include "scenarios/yaml/map_codec.hpp"

#include <vector>

namespace contend {

[[nodiscard]] Codec<std::vector<ServingEntry>> serving_codec();

/// A law of lengths, such as {mean: 1000, cv: 1, cap: 8000}.
[[nodiscard]] Codec<LengthSetup> length_codec();

/// What is missing in the entries, or can't be together.
[[nodiscard]] std::vector<Complaint> serving_complaints(const TrainingSystem& system);

/// The members of an entry, and of its maps, for the reference.
[[nodiscard]] std::vector<MemberText> serving_members();

}  // namespace contend
