#include "policies/pipeline/orders.hpp"

#include "sim/check.hpp"
#include "sim/complaints.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace contend {

void check_shape(const ShapeRule& rule, const PipelineShape& shape) {
  constexpr int kMostRanks = 1 << 12, kMostBatches = 1 << 20;
  constexpr std::int64_t kMostPlaces = 10'000'000;  // an order of a gigabyte
  Complaints complaints;
  if (shape.ranks < 1 || shape.ranks > kMostRanks)
    complaints.add("pipeline", fmt::format("a pipeline of {} ranks", shape.ranks), fmt::format("1 to {}", kMostRanks));
  if (shape.micro_batches < 1 || shape.micro_batches > kMostBatches)
    complaints.add("micro_batches", fmt::format("{} micro-batches", shape.micro_batches),
                   fmt::format("1 to {}", kMostBatches));
  if (shape.chunks < 0 || (rule.chunks > 0 && shape.chunks > 0 && shape.chunks != rule.chunks)) {
    complaints.add("virtual",
                   fmt::format("the schedule {} can't hold {} stages on each rank", rule.schedule, shape.chunks),
                   rule.chunks > 0 ? fmt::format("it holds {}", rule.chunks) : "1 or more");
  }
  complaints.throw_if_any();
  const int chunks = rule.chunks > 0 ? rule.chunks : chunks_of(shape, 1);
  if (std::int64_t{shape.ranks} * shape.micro_batches > kMostPlaces / chunks) {
    complaints.add("micro_batches",
                   fmt::format("{} micro-batches through {} stages on each of {} ranks are too many",
                               shape.micro_batches, chunks, shape.ranks),
                   fmt::format("a product of at most {}", kMostPlaces));
  }
  if (rule.fills_pipeline && shape.micro_batches < shape.ranks) {
    complaints.add("micro_batches",
                   fmt::format("the schedule {} needs as many micro-batches as ranks, {}, and there are {}",
                               rule.schedule, shape.ranks, shape.micro_batches),
                   "smaller micro-batches, a larger batch, or fewer ranks");
  }
  complaints.throw_if_any();
}

int chunks_of(const PipelineShape& shape, int usual) {
  return shape.chunks > 0 ? shape.chunks : usual;
}

namespace {

PipelinePlan plan_along(const PipelineShape& shape, int chunks, const auto& stage_of) {
  PipelinePlan plan;
  plan.stages = shape.ranks * chunks;
  plan.micro_batches = shape.micro_batches;
  plan.order.resize(static_cast<std::size_t>(shape.ranks));
  plan.paths.emplace_back(static_cast<std::size_t>(plan.stages));
  plan.path_of.assign(static_cast<std::size_t>(shape.micro_batches), 0);
  for (int rank = 0; rank < shape.ranks; ++rank) {
    auto& held = plan.stage_of.emplace_back();
    for (int chunk = 0; chunk < chunks; ++chunk) {
      held.push_back(stage_of(rank, chunk));
      plan.paths[0][static_cast<std::size_t>(held.back())] = {rank, chunk};
    }
  }
  return plan;
}

}  // namespace

PipelinePlan looped_plan(const PipelineShape& shape, int chunks) {
  return plan_along(shape, chunks, [&](int rank, int chunk) { return chunk * shape.ranks + rank; });
}

PipelinePlan v_plan(const PipelineShape& shape) {
  return plan_along(shape, 2, [&](int rank, int chunk) { return chunk == 0 ? rank : 2 * shape.ranks - 1 - rank; });
}

void RankOrder::weight() {
  CONTEND_CHECK(!pending_.empty(), "a gradient of weights follows one of inputs");
  weight(pending_.front().chunk);
}

void RankOrder::weight(int chunk) {
  const auto oldest =
      std::find_if(pending_.begin(), pending_.end(), [&](const PipelinePass& pass) { return pass.chunk == chunk; });
  CONTEND_CHECK(oldest != pending_.end(), "a gradient of weights follows one of inputs of its chunk");
  add({PassKind::backward_weight, chunk, oldest->micro_batch});
  pending_.erase(oldest);
}

std::size_t RankOrder::pending(int chunk) const {
  return static_cast<std::size_t>(
      std::count_if(pending_.begin(), pending_.end(), [&](const PipelinePass& pass) { return pass.chunk == chunk; }));
}

void RankOrder::merged(int forward_chunk, int backward_chunk) {
  steps_.push_back({{PipelinePass{PassKind::forward, forward_chunk, next(next_forward_, forward_chunk)},
                     PipelinePass{PassKind::backward, backward_chunk, next(next_backward_, backward_chunk)}},
                    true});
}

}  // namespace contend
