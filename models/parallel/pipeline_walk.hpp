#pragma once
// Walks through the steps of a pipeline plan in an order in which everything that a step needs has happened before it.
// A rank executes steps until one needs what another rank hasn't computed yet; each result wakes the one rank that may
// wait for it, so a walk takes time linear in the number of passes.

#include "models/parallel/pipeline_plan.hpp"
#include "sim/error.hpp"

#include <optional>
#include <vector>

namespace contend {

class PipelineWalk {
 public:
  /// Without costs all passes and transfers take no time. Both must outlive the walk. The plan's indices must be valid.
  PipelineWalk(const PipelinePlan& plan, const PipelineCosts* costs);

  /// Calls `visit(rank, start, end)` for every step that can be executed, the steps of a rank in their order.
  template <class Visit>
  void run(const Visit& visit) {
    for (std::size_t rank = ranks_.size(); rank-- > 0;) awake_.push_back(rank);
    while (!awake_.empty()) {
      const std::size_t rank = awake_.back();
      awake_.pop_back();
      for (Rank& at = ranks_[rank]; at.next < plan_.order[rank].size(); ++at.next) {
        const PipelineStep& step = plan_.order[rank][at.next];
        const std::optional<Time> ready = ready_at(rank, step);
        if (!ready) break;
        const Time end = *ready + (costs_ == nullptr ? Time{} : step_duration(plan_, *costs_, rank, step));
        visit(rank, *ready, end);
        at.free = end;
        for (const PipelinePass& pass : step.passes()) finish(rank, pass, end);
      }
    }
  }

  /// What is wrong if the walk has left steps out: a complaint for each rank of a circle that wait for each other.
  [[nodiscard]] std::vector<Complaint> stuck() const;

 private:
  struct Rank {
    std::size_t next = 0;  ///< index of its next step
    Time free;             ///< end of the step before
  };
  /// The result of a pass that another needs, and where it comes from.
  struct Need {
    PipelinePass pass;
    StagePlace from;
    Time latency;
  };
  [[nodiscard]] std::optional<Need> need(std::size_t rank, const PipelinePass& pass) const;
  [[nodiscard]] std::optional<Time> ready_at(std::size_t rank, const PipelineStep& step) const;
  void finish(std::size_t rank, const PipelinePass& pass, Time end);
  [[nodiscard]] std::size_t index(int stage, int micro_batch) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(plan_.micro_batches) +
           static_cast<std::size_t>(micro_batch);
  }
  [[nodiscard]] bool is_there(const Need& need) const { return end_of(need) != Time::never(); }
  [[nodiscard]] Time end_of(const Need& need) const {
    const std::size_t at =
        index(plan_.stage(static_cast<std::size_t>(need.from.rank), need.pass), need.pass.micro_batch);
    return need.pass.kind == PassKind::forward ? forward_[at] : gradient_[at];
  }
  [[nodiscard]] Time latency(int micro_batch, int lower_stage) const;

  const PipelinePlan& plan_;
  const PipelineCosts* costs_;
  std::vector<Rank> ranks_;
  std::vector<std::size_t> awake_;
  std::vector<Time> forward_, gradient_;  ///< ends by stage and micro-batch; Time::never() until they are known
};

}  // namespace contend
