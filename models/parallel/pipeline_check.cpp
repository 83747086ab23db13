// Whether a pipeline plan can be executed at all.

#include "models/parallel/pipeline_plan.hpp"
#include "models/parallel/pipeline_walk.hpp"
#include "sim/complaints.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::size_t kMostComplaints = 20;  // a plan that is wrong in one place is often wrong in thousands

/// Complains about the sizes and indices of everything but the passes.
void check_places(const PipelinePlan& plan, Complaints& complaints) {
  if (plan.stages < 1) complaints.add("stages", "a pipeline has at least one stage");
  if (plan.micro_batches < 1) complaints.add("micro-batches", "a pipeline has at least one micro-batch");
  if (plan.order.empty()) complaints.add("ranks", "a pipeline has at least one rank");
  if (plan.stage_of.size() != plan.order.size())
    complaints.add("ranks",
                   fmt::format("{} ranks hold stages, but {} have an order", plan.stage_of.size(), plan.order.size()));
  if (plan.path_of.size() != static_cast<std::size_t>(std::max(plan.micro_batches, 0)))
    complaints.add("paths", fmt::format("{} of {} micro-batches have a path", plan.path_of.size(), plan.micro_batches));
  complaints.throw_if_any();
  for (std::size_t rank = 0; rank < plan.ranks(); ++rank) {
    if (plan.stage_of[rank].empty()) complaints.add(fmt::format("rank {}", rank), "it holds no stage");
  }
  for (std::size_t path = 0; path < plan.paths.size(); ++path) {
    const std::string key = fmt::format("path {}", path);
    if (plan.paths[path].size() != static_cast<std::size_t>(plan.stages)) {
      complaints.add(key, fmt::format("it has {} places for {} stages", plan.paths[path].size(), plan.stages));
      continue;
    }
    for (int stage = 0; stage < plan.stages; ++stage) {
      const StagePlace at = plan.paths[path][static_cast<std::size_t>(stage)];
      const bool is_rank = at.rank >= 0 && static_cast<std::size_t>(at.rank) < plan.ranks();
      const auto held = is_rank ? std::span{plan.stage_of[static_cast<std::size_t>(at.rank)]} : std::span<const int>{};
      if (at.chunk < 0 || static_cast<std::size_t>(at.chunk) >= held.size() ||
          held[static_cast<std::size_t>(at.chunk)] != stage)
        complaints.add(key, fmt::format("chunk {} of rank {} doesn't hold stage {}", at.chunk, at.rank, stage));
    }
  }
  for (std::size_t i = 0; i < plan.path_of.size(); ++i) {
    if (plan.path_of[i] < 0 || static_cast<std::size_t>(plan.path_of[i]) >= plan.paths.size())
      complaints.add(fmt::format("micro-batch {}", i), fmt::format("there is no path {}", plan.path_of[i]));
  }
  complaints.throw_if_any();
}

/// What has been found of the passes of one micro-batch through one stage.
struct FoundPasses {
  bool forward = false, input = false, weight = false;
};

class PassCheck {
 public:
  PassCheck(const PipelinePlan& plan, Complaints& complaints)
      : plan_{plan},
        complaints_{complaints},
        found_(static_cast<std::size_t>(plan.stages) * static_cast<std::size_t>(plan.micro_batches)) {}

  void check_all() {
    for (std::size_t rank = 0; rank < plan_.ranks(); ++rank) {
      for (std::size_t step = 0; step < plan_.order[rank].size(); ++step) check_step(rank, step);
    }
    for (int stage = 0; stage < plan_.stages; ++stage) {
      for (int each = 0; each < plan_.micro_batches; ++each) check_complete(stage, each);
    }
  }

 private:
  void complain(const std::string& key, std::string reason, std::string hint = {}) {
    if (count_++ < kMostComplaints) complaints_.add(key, std::move(reason), std::move(hint));
  }
  FoundPasses& found(int stage, int micro_batch) {
    return found_[static_cast<std::size_t>(stage) * static_cast<std::size_t>(plan_.micro_batches) +
                  static_cast<std::size_t>(micro_batch)];
  }

  void check_step(std::size_t rank, std::size_t at) {
    const PipelineStep& step = plan_.order[rank][at];
    if (step.is_merged && (step.pass[0].kind != PassKind::forward || step.pass[1].kind != PassKind::backward))
      complain(step_key(rank, at),
               fmt::format("{} and {} can't be merged", pass_name(step.pass[0]), pass_name(step.pass[1])),
               "a forward pass and a whole backward pass can");
    for (const PipelinePass& pass : step.passes()) check_pass(rank, at, pass);
  }

  static std::string step_key(std::size_t rank, std::size_t at) { return fmt::format("rank {}, step {}", rank, at); }

  void check_pass(std::size_t rank, std::size_t at, const PipelinePass& pass) {
    const auto fault = [&](std::string_view what, std::string hint = {}) {
      complain(step_key(rank, at), fmt::format("{}{}", pass_name(pass), what), std::move(hint));
    };
    if (pass.chunk < 0 || static_cast<std::size_t>(pass.chunk) >= plan_.stage_of[rank].size())
      return fault(fmt::format(": the rank has no chunk {}", pass.chunk),
                   fmt::format("its chunks are 0 to {}", plan_.stage_of[rank].size() - 1));
    if (pass.micro_batch < 0 || pass.micro_batch >= plan_.micro_batches)
      return fault(fmt::format(": there is no micro-batch {}", pass.micro_batch),
                   fmt::format("they are 0 to {}", plan_.micro_batches - 1));
    const int stage = plan_.stage(rank, pass);
    // A stage that no path leads to may be any number.
    const bool is_stage = stage >= 0 && stage < plan_.stages;
    const StagePlace place = is_stage ? plan_.place(pass.micro_batch, stage) : StagePlace{-1, -1};
    if (place != StagePlace{static_cast<int>(rank), pass.chunk})
      return fault(fmt::format(": micro-batch {} doesn't pass chunk {} of this rank", pass.micro_batch, pass.chunk),
                   is_stage ? fmt::format("chunk {} of rank {}", place.chunk, place.rank) : std::string{});
    FoundPasses& seen = found(stage, pass.micro_batch);
    const bool is_forward = pass.kind == PassKind::forward;
    const bool is_input = pass.kind == PassKind::backward || pass.kind == PassKind::backward_input;
    const bool is_weight = pass.kind == PassKind::backward || pass.kind == PassKind::backward_weight;
    const auto at_stage = [&](std::string_view what) { return fmt::format(" stage {} {}", stage, what); };
    if ((is_forward && seen.forward) || (is_input && seen.input) || (is_weight && seen.weight))
      return fault(at_stage("is computed twice"), "each pass is there once");
    if (!is_forward && !seen.forward) fault(at_stage("comes before its forward pass"));
    if (pass.kind == PassKind::backward_weight && !seen.input)
      fault(at_stage("comes before the gradient of its inputs"));
    seen.forward |= is_forward;
    seen.input |= is_input;
    seen.weight |= is_weight;
  }

  void check_complete(int stage, int micro_batch) {
    const FoundPasses& seen = found(stage, micro_batch);
    if (seen.forward && seen.input && seen.weight) return;
    const StagePlace place = plan_.place(micro_batch, stage);
    const auto lacks = [&](bool is_there, PassKind kind) {
      if (!is_there)
        complain(fmt::format("rank {}", place.rank),
                 fmt::format("{} stage {} is missing", pass_name({kind, place.chunk, micro_batch}), stage),
                 "each pass is there once");
    };
    lacks(seen.forward, PassKind::forward);
    lacks(seen.input || seen.weight, PassKind::backward);
    if (seen.input != seen.weight) lacks(false, seen.input ? PassKind::backward_weight : PassKind::backward_input);
  }

  const PipelinePlan& plan_;
  Complaints& complaints_;
  std::vector<FoundPasses> found_;
  std::size_t count_ = 0;
};

}  // namespace

void validate(const PipelinePlan& plan) {
  Complaints complaints;
  check_places(plan, complaints);
  PassCheck{plan, complaints}.check_all();
  complaints.throw_if_any();
  PipelineWalk walk{plan, nullptr};
  walk.run([](std::size_t, Time, Time) {});
  if (const std::vector<Complaint> stuck = walk.stuck(); !stuck.empty()) throw InputError{stuck};
}

}  // namespace contend
