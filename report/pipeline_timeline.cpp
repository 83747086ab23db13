#include "report/pipeline_timeline.hpp"

#include "models/parallel/pass_names.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

/// The passes that each kind of span is.
using PassesByKind = std::vector<std::vector<NamedPass>>;

PassesByKind passes_by_kind(const Timeline& timeline, JobId job) {
  PassesByKind passes;
  for (const SpanKind& kind : timeline.kinds)
    passes.push_back(kind.job == job && !kind.transfer ? passes_of_name(kind.op) : std::vector<NamedPass>{});
  return passes;
}

/// A GPU lane of the job: the stages that it has.
struct RankLane {
  const TimelineLane* lane = nullptr;
  std::set<int> stages;
};

/// One lane for each set of stages.
std::vector<RankLane> rank_lanes(const Timeline& timeline, const PassesByKind& passes) {
  std::vector<RankLane> ranks;
  for (const TimelineLane& lane : timeline.lanes) {
    if (lane.group != TimelineLane::Group::gpu || lane.bin != Time{}) continue;
    RankLane rank{&lane, {}};
    for (const TimelineSpan& span : lane.spans)
      for (const NamedPass& pass : passes[span.kind]) rank.stages.insert(pass.stage);
    const bool is_known = std::ranges::any_of(ranks, [&](const RankLane& each) { return each.stages == rank.stages; });
    if (!rank.stages.empty() && !is_known) ranks.push_back(std::move(rank));
  }
  std::ranges::sort(ranks, {}, [](const RankLane& rank) { return *rank.stages.begin(); });
  return ranks;
}

/// The second iteration, or the first if there are fewer than three: the last one may have been cut off.
std::optional<std::int64_t> drawn_iteration(const std::vector<RankLane>& ranks, const PassesByKind& passes) {
  std::set<std::int64_t> iterations;
  for (const RankLane& rank : ranks)
    for (const TimelineSpan& span : rank.lane->spans)
      if (!passes[span.kind].empty()) iterations.insert(span.number);
  if (iterations.empty()) return {};
  return iterations.size() < 3 ? *iterations.begin() : *std::next(iterations.begin());
}

/// The passes of a lane in the iteration. Consecutive spans of one pass are its parts.
PassLane boxes_of(const RankLane& rank, const PassesByKind& passes, std::int64_t iteration, Time& first) {
  PassLane lane;
  std::vector<PipelinePass> before;  // the passes of the last span
  for (const TimelineSpan& span : rank.lane->spans) {
    const std::vector<NamedPass>& here = passes[span.kind];
    if (here.empty() || span.number != iteration) continue;
    first = std::min(first, span.start);
    std::vector<PipelinePass> now;
    for (const NamedPass& each : here) now.push_back(each.pass);
    if (now == before) {
      for (std::size_t i = 0; i < here.size(); ++i) lane.boxes[lane.boxes.size() - 1 - i].end = span.end;
      continue;
    }
    before = std::move(now);
    int part = 0;
    for (const NamedPass& each : here)
      lane.boxes.push_back({each.pass, each.stage, span.start, span.end, part++, static_cast<int>(here.size())});
  }
  return lane;
}

}  // namespace

std::optional<PassLanes> pipeline_of(const Timeline& timeline, JobId job) {
  const PassesByKind passes = passes_by_kind(timeline, job);
  const std::vector<RankLane> ranks = rank_lanes(timeline, passes);
  const std::optional<std::int64_t> iteration = drawn_iteration(ranks, passes);
  if (ranks.size() < 2 || !iteration) return {};
  PassLanes drawing;
  Time first = Time::never();
  std::size_t boxes = 0;
  for (const RankLane& rank : ranks) {
    drawing.lanes.push_back(boxes_of(rank, passes, *iteration, first));
    drawing.lanes.back().name = fmt::format("rank {}", drawing.lanes.size() - 1);
    boxes += drawing.lanes.back().boxes.size();
  }
  if (boxes > kMostPassesDrawn) return {};
  for (PassLane& lane : drawing.lanes) {
    for (PassBox& box : lane.boxes) {
      box.start -= first;
      box.end -= first;
    }
  }
  drawing.title = fmt::format("iteration {}", *iteration);
  return drawing;
}

}  // namespace contend
