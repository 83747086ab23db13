// Interleaved 1F1B (Narayanan et al., SC 2021, arXiv 2104.04473, section 2.2; the order comes from Megatron-LM's
// schedules.py). Rank r of p holds v chunks, stages r, p + r, 2p + r, ... Micro-batches go in groups of G: all of a
// group through chunk 0, then all through chunk 1, and so on; backward passes go from the last chunk to the first. Rank
// r starts with 2(p-r-1) + (v-1)G forward passes. With one chunk it is 1F1B.

#include "policies/pipeline/orders.hpp"
#include "policies/registry.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

namespace contend {

namespace {

class Interleaved final : public PipelineSchedule {
 public:
  Interleaved(std::int64_t group, bool merge) : group_{static_cast<int>(group)}, merge_{merge} {}

  [[nodiscard]] PipelineTraits traits() const override { return {.needs_chunks = !merge_}; }
  [[nodiscard]] int round(const PipelineShape& shape) const override {
    if (chunks_of(shape, 1) == 1) return 1;
    return group_ > 0 ? group_ : shape.ranks;
  }
  [[nodiscard]] PipelinePlan plan(const PipelineShape& shape) const override {
    const int chunks = chunks_of(shape, 1), ranks = shape.ranks, count = shape.micro_batches;
    check_shape({.schedule = "interleaved", .chunks = 0, .fills_pipeline = chunks > 1}, shape);
    const int group = group_ > 0 ? group_ : ranks;
    if (chunks > 1) check_group(group, shape);
    // The passes through the chunks, as they come: the forward ones; the backward ones have the chunks reversed.
    std::vector<PipelinePass> table;
    for (int first = 0; first < count; first += group) {
      for (int chunk = 0; chunk < chunks; ++chunk) {
        for (int i = first; i < std::min(first + group, count); ++i) table.push_back({PassKind::forward, chunk, i});
      }
    }
    PipelinePlan plan = looped_plan(shape, chunks);
    for (int rank = 0; rank < ranks; ++rank) {
      const int behind = ranks - rank - 1;
      const std::int64_t wanted =
          (chunks == 1 && !merge_ ? behind : 2 * behind + std::int64_t{chunks - 1} * group) + (merge_ ? 1 : 0);
      const std::size_t warm_up = std::min(static_cast<std::size_t>(wanted), table.size());
      auto& steps = plan.order[static_cast<std::size_t>(rank)];
      const auto forward = [&](std::size_t i) { steps.push_back({{table[i], {}}, false}); };
      const auto backward_of = [&](std::size_t i) {
        return PipelinePass{PassKind::backward, chunks - 1 - table[i].chunk, table[i].micro_batch};
      };
      const auto backward = [&](std::size_t i) { steps.push_back({{backward_of(i), {}}, false}); };
      steps.reserve(2 * table.size());
      for (std::size_t i = 0; i < warm_up; ++i) forward(i);
      for (std::size_t i = warm_up; i < table.size(); ++i) {
        if (merge_) {
          steps.push_back({{table[i], backward_of(i - warm_up)}, true});
          continue;
        }
        forward(i);
        backward(i - warm_up);
      }
      for (std::size_t i = table.size() - warm_up; i < table.size(); ++i) backward(i);
    }
    return plan;
  }

 private:
  /// Megatron's conditions: otherwise ranks would wait for each other.
  static void check_group(int group, const PipelineShape& shape) {
    if (group < shape.ranks || group > shape.micro_batches) {
      throw InputError{{.key = "group",
                        .reason = fmt::format("groups of {} micro-batches don't suit {} ranks and {} micro-batches",
                                              group, shape.ranks, shape.micro_batches),
                        .hint = fmt::format("{} to {}", shape.ranks, shape.micro_batches)}};
    }
    const int rest = shape.micro_batches % group;
    if (rest == 0 || rest >= shape.ranks) return;
    throw InputError{
        {.key = "micro_batches",
         .reason = fmt::format("{} micro-batches in groups of {} leave a last group of {}, fewer than the {} ranks",
                               shape.micro_batches, group, rest, shape.ranks),
         .hint = fmt::format("{} or {} micro-batches", shape.micro_batches - rest,
                             shape.micro_batches - rest + shape.ranks)}};
  }

  int group_;
  bool merge_;
};

std::unique_ptr<PipelineSchedule> make_interleaved(const Parameters& parameters, const PolicyContext&) {
  return std::make_unique<Interleaved>(parameters.get<std::int64_t>("group"), parameters.get<bool>("merge"));
}

}  // namespace

PolicyRow<PipelineSchedule> interleaved_pipeline() {
  static constexpr ParameterInfo kParameters[] = {
      {"group", std::int64_t{0}, 0, 1'000'000,
       "micro-batches that pass a chunk before the next chunk's turn; 0: as many as ranks"},
      {"merge", false, 0, 0,
       "a forward pass and the backward pass of another micro-batch are one step, each behind the exchange with "
       "experts "
       "of the other"}};
  return {.name = "interleaved",
          .summary = "1f1b with v chunks of the model on each rank: a v-th of the bubble, v times the messages",
          .source = "Narayanan et al., SC 2021",
          .parameters = kParameters,
          .make = make_interleaved};
}

}  // namespace contend
