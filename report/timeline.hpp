#pragma once
// The timeline of a run as a report shows it: a lane a GPU, a network interface and a link of the fabric, with what
// was done there and when.

#include "sim/ids.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace contend {

/// What a span is: one operation of one job. In a lane of summaries, all operations of a job together.
struct SpanKind {
  JobId job;       ///< none for the utilisation of a link
  std::string op;  ///< empty in summaries
  bool transfer = false;
  Bytes bytes{};    ///< of a transfer
  int ranks = 0;    ///< of a transfer
  int servers = 0;  ///< that a transfer touches
};

/// Exact: one operation from `start` to `end`, with its iteration. Summary: bins from `start` to `end`, over which the
/// job was busy `share` of the time with `count` operations that ended there.
struct TimelineSpan {
  Time start, end;
  std::uint32_t kind = 0;   ///< index into Timeline::kinds
  std::int64_t number = 0;  ///< iteration, or count
  double share = 1;
};

struct TimelineLane {
  enum class Group : std::uint8_t { gpu, nic, inside, link };
  std::string name;
  Group group = Group::gpu;
  std::size_t server = 0;           ///< of no meaning for a link
  Time bin;                         ///< width of the bins of its summaries; 0: every span is exact
  std::vector<TimelineSpan> spans;  ///< by start; exact ones don't overlap, summaries of one bin follow each other
};

struct Timeline {
  std::vector<SpanKind> kinds;
  std::vector<TimelineLane> lanes;
  std::uint64_t recorded = 0;  ///< spans that were seen; more than are in the lanes if they are summaries
};

}  // namespace contend
