#pragma once
// GOAL, the text of LogGOPSim, ATLAHS and htsim (Hoefler, Schneider, Lumsdaine, HPDC 2010; txt2bin.re): operations of
// ranks that compute, send or receive, and their dependencies. One file holds all ranks.

#include "text/byte_source.hpp"
#include "traces/recording/recording.hpp"

#include <string>
#include <vector>

namespace contend {

/// The ranks of a file. `calc` is computing on the stream with the number of its cpu; a label is a name. `a irequires
/// b` lets a begin with b, so that a gets what b waits for. Throws InputError that names the line, also for a receive
/// from any rank or of any tag, as only a run of the network says which message such a receive takes.
[[nodiscard]] std::vector<RecordedRank> read_goal(ByteSource& source, const std::string& file);

/// The file of all ranks. GOAL knows messages but no collectives: with_messages() comes first. Throws InputError if a
/// rank between 0 and the last has no file, or if nobody has recorded the bytes of a message.
[[nodiscard]] std::string goal_file(const Recording& recording);

/// The parts of the ranks for which GOAL has no place, in words, each once.
[[nodiscard]] std::vector<std::string> lost_in_goal(const Recording& recording);

}  // namespace contend
