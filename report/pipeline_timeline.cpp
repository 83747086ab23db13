#include "report/pipeline_timeline.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace contend {

Pipelines::Pipelines(const Timeline& timeline) {
  for (const SpanKind& kind : timeline.kinds)
    passes_.push_back(kind.transfer ? std::vector<NamedPass>{} : passes_of_name(kind.op));
  std::map<JobId, Rank> spans;
  for (const TimelineLane& lane : timeline.lanes) {
    if (lane.group != TimelineLane::Group::gpu || lane.bin != Time{}) continue;
    spans.clear();
    for (const TimelineSpan& span : lane.spans) {
      ++looks_;
      if (!passes_[span.kind].empty()) spans[timeline.kinds[span.kind].job].push_back(&span);
    }
    for (auto& [job, rank] : spans) lanes_[job].push_back(std::move(rank));
  }
}

/// One lane for each set of stages, by its first stage.
std::vector<const Pipelines::Rank*> Pipelines::ranks_of(const std::vector<Rank>& lanes) {
  std::vector<std::pair<std::set<int>, const Rank*>> ranks;
  for (const Rank& lane : lanes) {
    std::set<int> stages;
    for (const TimelineSpan* span : lane) {
      ++looks_;
      for (const NamedPass& pass : passes_[span->kind]) stages.insert(pass.stage);
    }
    if (std::ranges::find(ranks, stages, &std::pair<std::set<int>, const Rank*>::first) == ranks.end())
      ranks.emplace_back(std::move(stages), &lane);
  }
  std::ranges::sort(ranks, {}, [](const auto& rank) { return *rank.first.begin(); });
  std::vector<const Rank*> sorted;
  for (const auto& rank : ranks) sorted.push_back(rank.second);
  return sorted;
}

/// The second iteration, or the first if there are fewer than three: the last one may have been cut off.
std::optional<std::int64_t> Pipelines::drawn_iteration(const std::vector<const Rank*>& ranks) {
  std::set<std::int64_t> iterations;
  for (const Rank* rank : ranks) {
    for (const TimelineSpan* span : *rank) {
      ++looks_;
      iterations.insert(span->number);
    }
  }
  if (iterations.empty()) return {};
  return iterations.size() < 3 ? *iterations.begin() : *std::next(iterations.begin());
}

/// The passes of a lane in the iteration. Consecutive spans of one pass are its parts.
PassLane Pipelines::boxes_of(const Rank& rank, std::int64_t iteration, Time& first) {
  PassLane lane;
  std::vector<PipelinePass> before;  // the passes of the last span
  for (const TimelineSpan* span : rank) {
    ++looks_;
    if (span->number != iteration) continue;
    const std::vector<NamedPass>& here = passes_[span->kind];
    first = std::min(first, span->start);
    std::vector<PipelinePass> now;
    for (const NamedPass& each : here) now.push_back(each.pass);
    if (now == before) {
      for (std::size_t i = 0; i < here.size(); ++i) lane.boxes[lane.boxes.size() - 1 - i].end = span->end;
      continue;
    }
    before = std::move(now);
    int part = 0;
    for (const NamedPass& each : here)
      lane.boxes.push_back({each.pass, each.stage, span->start, span->end, part++, static_cast<int>(here.size())});
  }
  return lane;
}

std::optional<PassLanes> Pipelines::of(JobId job) {
  const auto lanes = lanes_.find(job);
  if (lanes == lanes_.end()) return {};
  const std::vector<const Rank*> ranks = ranks_of(lanes->second);
  const std::optional<std::int64_t> iteration = drawn_iteration(ranks);
  if (ranks.size() < 2 || !iteration) return {};
  PassLanes drawing;
  Time first = Time::never();
  std::size_t boxes = 0;
  for (const Rank* rank : ranks) {
    drawing.lanes.push_back(boxes_of(*rank, *iteration, first));
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
