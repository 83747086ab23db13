#pragma once
// What makes a set of recorded ranks no job that could have run.

#include "traces/recording/recording.hpp"

#include <string_view>
#include <vector>

namespace contend {

/// The end of the reason of a fault about a rank of a group.
inline constexpr std::string_view kHasNoFile = "has no file";

/// What the ranks of a recording contradict each other in: two files of one rank, and groups of one name that share
/// ranks and are not equal; and in traces without times, which hold all of a program: a rank of a used group without a
/// file, the collectives of a group in different orders, kinds or sizes, and messages without their other end. A
/// profile begins and ends at any instant, so its collectives and messages aren't compared; of one file alone nothing
/// is.
[[nodiscard]] std::vector<Complaint> contradictions(const Recording& recording);

/// The ranks of a group as far as they are known: its list, or else all ranks of the recording.
[[nodiscard]] std::vector<std::int64_t> members_of(const Recording& recording, const RecordedRank& rank,
                                                   const RecordedTransfer& transfer);

/// Indices of the tasks in order of their node.
[[nodiscard]] std::vector<std::uint32_t> in_node_order(const RecordedRank& rank);

}  // namespace contend
