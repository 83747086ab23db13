#include "models/parallel/pipeline_walk.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace contend {

PipelineWalk::PipelineWalk(const PipelinePlan& plan, const PipelineCosts* costs)
    : plan_{plan},
      costs_{costs},
      ranks_(plan.ranks()),
      forward_(static_cast<std::size_t>(plan.stages) * static_cast<std::size_t>(plan.micro_batches), Time::never()),
      gradient_{forward_} {}

Time PipelineWalk::latency(int micro_batch, int lower_stage) const {
  if (costs_ == nullptr || costs_->latency.empty()) return {};
  const int path = plan_.path_of[static_cast<std::size_t>(micro_batch)];
  return costs_->latency[static_cast<std::size_t>(path)][static_cast<std::size_t>(lower_stage)];
}

std::optional<PipelineWalk::Need> PipelineWalk::need(std::size_t rank, const PipelinePass& pass) const {
  const int stage = plan_.stage(rank, pass);
  const auto of = [&](PassKind kind, int other) {
    const StagePlace from = plan_.place(pass.micro_batch, other);
    const bool is_here = static_cast<std::size_t>(from.rank) == rank;
    const Time wait = is_here ? Time{} : latency(pass.micro_batch, std::min(stage, other));
    return Need{{kind, from.chunk, pass.micro_batch}, from, wait};
  };
  if (pass.kind == PassKind::backward_weight) return of(PassKind::backward_input, stage);
  if (pass.kind != PassKind::forward)
    return stage + 1 == plan_.stages ? of(PassKind::forward, stage) : of(PassKind::backward_input, stage + 1);
  if (stage == 0) return std::nullopt;
  return of(PassKind::forward, stage - 1);
}

std::optional<Time> PipelineWalk::ready_at(std::size_t rank, const PipelineStep& step) const {
  Time ready = ranks_[rank].free;
  for (const PipelinePass& pass : step.passes()) {
    const std::optional<Need> needed = need(rank, pass);
    if (!needed) continue;
    if (!is_there(*needed)) return std::nullopt;
    ready = std::max(ready, end_of(*needed) + needed->latency);
  }
  return ready;
}

void PipelineWalk::finish(std::size_t rank, const PipelinePass& pass, Time end) {
  if (pass.kind == PassKind::backward_weight) return;
  const int stage = plan_.stage(rank, pass);
  const bool is_forward = pass.kind == PassKind::forward;
  (is_forward ? forward_ : gradient_)[index(stage, pass.micro_batch)] = end;
  const int next = is_forward ? stage + 1 : stage - 1;
  if (next < 0 || next == plan_.stages) return;
  const auto waits = static_cast<std::size_t>(plan_.place(pass.micro_batch, next).rank);
  if (waits != rank) awake_.push_back(waits);
}

std::vector<Complaint> PipelineWalk::stuck() const {
  // Each rank that has a next step waits for one other, or for itself. Whoever follows them ends in a circle.
  const auto is_left = [&](std::size_t rank) { return ranks_[rank].next < plan_.order[rank].size(); };
  std::size_t at = 0;
  while (at < ranks_.size() && !is_left(at)) ++at;
  if (at == ranks_.size()) return {};
  std::vector<Complaint> complaints;
  std::vector<std::size_t> seen;
  while (std::find(seen.begin(), seen.end(), at) == seen.end()) {
    seen.push_back(at);
    const PipelineStep& step = plan_.order[at][ranks_[at].next];
    std::optional<Need> missing;
    for (const PipelinePass& pass : step.passes()) {
      const std::optional<Need> needed = need(at, pass);
      if (needed && !is_there(*needed)) missing = needed;
    }
    const auto from = static_cast<std::size_t>(missing->from.rank);
    const bool is_gradient = missing->pass.kind != PassKind::forward;
    std::string reason = fmt::format("{} waits for {} of micro-batch {} from chunk {} of rank {}",
                                     step_name(plan_, at, step), is_gradient ? "the gradient" : "the forward pass",
                                     missing->pass.micro_batch, missing->from.chunk, from);
    reason += is_left(from)
                  ? fmt::format(", which comes there at or after step {}, and that waits, too", ranks_[from].next)
                  : ", which never computes it";
    complaints.push_back({.key = fmt::format("rank {}, step {}", at, ranks_[at].next),
                          .reason = std::move(reason),
                          .hint = "a rank executes its steps strictly in their order"});
    if (!is_left(from)) return complaints;
    at = from;
  }
  // Those before the circle wait for it, but aren't its cause.
  const auto begin = std::find(seen.begin(), seen.end(), at) - seen.begin();
  complaints.erase(complaints.begin(), complaints.begin() + begin);
  return complaints;
}

}  // namespace contend
