#pragma once
// The value of the key `federated`: a map of names to entries, which jobs name as their training with clients.

#include "scenarios/scenario.hpp"
#include "scenarios/yaml/codecs.hpp"
#include "scenarios/yaml/map_codec.hpp"

#include <vector>

namespace contend {

[[nodiscard]] Codec<std::vector<FederatedEntry>> federated_codec();

/// Complaints about members that are missing, or that can't stand together.
[[nodiscard]] std::vector<Complaint> federated_complaints(const TrainingSystem& system);

/// The members of an entry, and of its maps, for the reference.
[[nodiscard]] std::vector<MemberText> federated_members();

}  // namespace contend
