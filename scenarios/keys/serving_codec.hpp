#pragma once
// The value of the key `serving`: a map of names to entries, which jobs name as what they serve.

#include "scenarios/scenario.hpp"
#include "scenarios/yaml/codecs.hpp"
#include "scenarios/yaml/map_codec.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

[[nodiscard]] Codec<std::vector<ServingEntry>> serving_codec();

/// A law of lengths, such as {mean: 1000, cv: 1, cap: 8000}.
[[nodiscard]] Codec<LengthSetup> length_codec();

/// Takes a complaint about a member: the member, the reason, and what would be right.
using AddComplaint = std::function<void(std::string_view member, std::string reason, std::string hint)>;
/// Adds complaints about a law of lengths, the value of `member`.
void check_length(const LengthSetup& length, std::string_view member, const AddComplaint& add);

/// Complaints about members that are missing, or that can't stand together.
[[nodiscard]] std::vector<Complaint> serving_complaints(const TrainingSystem& system);

/// The members of an entry, and of its maps, for the reference.
[[nodiscard]] std::vector<MemberText> serving_members();

}  // namespace contend
