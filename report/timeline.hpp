#pragma once
// The timeline of a run as a report shows it: one lane for each GPU, network interface and fabric link, with the
// operations that ran there.

#include "sim/ids.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace contend {

/// The kind of a span: one operation of one job, or in a lane of summaries all operations of a job or of all jobs.
struct SpanKind {
  JobId job;       ///< none for the utilisation of a link and for a summary of all jobs
  std::string op;  ///< empty in summaries
  bool transfer = false;
  Bytes bytes{};    ///< of a transfer
  int ranks = 0;    ///< of a transfer
  int servers = 0;  ///< servers that a transfer touches
};

/// An exact span is one operation from `start` to `end` with its iteration. A summary covers the bins from `start` to
/// `end`, in which the job was busy for `share` of the time and `count` of its operations ended.
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
  std::size_t server = 0;           ///< ignored for a link
  Time bin;                         ///< bin width of summaries; 0 if every span is exact
  std::vector<TimelineSpan> spans;  ///< by start; exact ones do not overlap, summaries of one bin follow each other
};

struct Timeline {
  std::vector<SpanKind> kinds;
  std::vector<TimelineLane> lanes;
  std::uint64_t recorded = 0;  ///< spans of the run; more than the lanes hold if they hold summaries
};

}  // namespace contend
