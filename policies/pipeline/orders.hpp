#pragma once
// Parts of pipeline schedules: plans without an order, the order of one rank as it grows, and checks of shapes.

#include "policies/pipeline/pipeline_schedule.hpp"

#include <cstddef>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// Checks ranks, micro-batches and chunks against what a schedule can do; throws InputError with all faults at once.
struct ShapeRule {
  std::string_view schedule;    ///< its name
  int chunks = 1;               ///< a rank has so many; 0: any number >= 1
  bool fills_pipeline = false;  ///< it needs as many micro-batches as ranks
};
void check_shape(const ShapeRule& rule, const PipelineShape& shape);
/// The chunks of a rank: those asked for, or `usual`.
[[nodiscard]] int chunks_of(const PipelineShape& shape, int usual);

/// Chunk c of rank r holds stage c p + r: one stage a rank, or Megatron's interleaved stages (arXiv 2104.04473,
/// section 2.2). The orders are empty.
[[nodiscard]] PipelinePlan looped_plan(const PipelineShape& shape, int chunks);
/// Two chunks: stages r and 2p-1-r, so that a micro-batch goes down the ranks and up again (arXiv 2405.15362).
[[nodiscard]] PipelinePlan v_plan(const PipelineShape& shape);

/// The order of one rank. Each call appends the next micro-batch of that kind and chunk, counted from the first one;
/// weight passes follow the input passes in the order of those.
class RankOrder {
 public:
  /// `first[chunk]`: the first micro-batch of the chunk.
  explicit RankOrder(std::vector<int> first) : next_forward_{first}, next_backward_{std::move(first)} {}
  void forward(int chunk) { add({PassKind::forward, chunk, next(next_forward_, chunk)}); }
  void backward(int chunk) { add({PassKind::backward, chunk, next(next_backward_, chunk)}); }
  void input(int chunk) {
    const PipelinePass pass{PassKind::backward_input, chunk, next(next_backward_, chunk)};
    add(pass);
    pending_.push_back(pass);
  }
  /// The gradient of the weights that has waited longest, of any chunk; it must exist.
  void weight();
  /// The pass of this chunk that has waited longest; it must exist.
  void weight(int chunk);
  /// A forward pass and a backward pass at once.
  void merged(int forward_chunk, int backward_chunk);
  /// Gradients of weights that are still to come: in all, and of a chunk.
  [[nodiscard]] std::size_t pending() const { return pending_.size(); }
  [[nodiscard]] std::size_t pending(int chunk) const;
  [[nodiscard]] std::vector<PipelineStep> take() { return std::move(steps_); }

 private:
  void add(const PipelinePass& pass) { steps_.push_back({{pass, {}}, false}); }
  static int next(std::vector<int>& of_chunk, int chunk) { return of_chunk[static_cast<std::size_t>(chunk)]++; }

  std::vector<int> next_forward_, next_backward_;
  std::deque<PipelinePass> pending_;
  std::vector<PipelineStep> steps_;
};

}  // namespace contend
