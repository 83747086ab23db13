#pragma once
// Collectives as the messages that carry them, for formats that know messages alone.

#include "traces/recording/recording.hpp"

namespace contend {

/// Ranks without starts, with each collective replaced by the messages of a ring (of an all-to-all: pairwise), between
/// two tasks without duration in its place on its lane. A rank sends the messages of a step when it has sent and got
/// its earlier ones. Adding up takes no time. What follows the other on a lane is found by a replay, as the order in
/// which lanes take tasks. Throws InputError if the ranks contradict each other or wait for ever, or if nobody has
/// recorded kind or bytes of a collective.
[[nodiscard]] Recording with_messages(const Recording& recording);

}  // namespace contend
