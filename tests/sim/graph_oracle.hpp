#pragma once
// A slow and obvious execution of an iteration graph, for tests of the engine: the job is alone, each rank has a server
// of its own, a transfer takes a nanosecond a byte, and nothing is folded, counted down or skipped. Every instant looks
// at every rank's part of every operation of every iteration. Channels, phases, late ranks, repeated collectives and
// counters of several jobs are not for it.

#include "sim/graph.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend::test {

class GraphOracle {
 public:
  GraphOracle(const IterationGraph& graph, std::int64_t iterations) : graph_{graph}, iterations_{iterations} {
    int first = 0;
    for (const Role& role : graph.roles()) {
      first_rank_.push_back(first);
      first += role.ranks;
    }
    for (std::int64_t k = 0; k < iterations; ++k) {
      for (std::size_t i = 0; i < graph.ops().size(); ++i) {
        const Op& op = graph.ops()[i];
        const int parts = op.per_rank() ? graph.roles()[op.role.index()].ranks : 1;
        for (int r = 0; r < parts; ++r) all_.push_back({k, OpId{i}, r, {}, {}});
      }
    }
  }

  /// Lines `operation#iteration rank start-end`, sorted; of what is no task, rank - or the rank of the sender.
  [[nodiscard]] std::vector<std::string> run() {
    std::int64_t now = 0;
    while (true) {
      settle(now);
      std::int64_t next = INT64_MAX;
      for (const Part& part : all_)
        if (is_under_way(part)) next = std::min(next, *part.end);
      if (next == INT64_MAX) break;
      now = next;
    }
    std::vector<std::string> lines;
    for (const Part& part : all_) {
      const Op& op = graph_.ops()[part.op.index()];
      if (op.kind == OpKind::timer || op.counts() || (op.is_traffic() && !is_carried(op))) continue;
      const bool has_rank = op.runs_on_lane();
      const std::string rank = has_rank ? fmt::format("{}", rank_of(part)) : "-";
      lines.push_back(
          fmt::format("{}#{} {} {}-{}", op.name, part.iteration, rank, part.start.value_or(-1), part.end.value_or(-1)));
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }

 private:
  struct Part {
    std::int64_t iteration;
    OpId op;
    int rank;  ///< in its role
    std::optional<std::int64_t> start, end;
    bool done = false;
  };

  static bool is_under_way(const Part& part) { return part.end && !part.done; }
  /// True for an await that has begun and that the counter has reached.
  [[nodiscard]] bool may_go_on(const Part& part) const {
    const Op& op = graph_.ops()[part.op.index()];
    return op.kind == OpKind::await && part.start && !part.done && is_reached(part);
  }
  [[nodiscard]] bool is_reached(const Part& part) const {
    const Op& op = graph_.ops()[part.op.index()];
    std::int64_t value = 0;
    for (const Part& other : all_) {
      const Op& post = graph_.ops()[other.op.index()];
      if (post.kind == OpKind::post && post.counter == op.counter && other.done) value += post.amount;
    }
    return value >= op.amount * (part.iteration + 1 - op.bound);
  }
  [[nodiscard]] int rank_of(const Part& part) const {
    return first_rank_[graph_.ops()[part.op.index()].role.index()] + part.rank;
  }
  /// A role of one rank sends nothing to itself, and neither do lists of one rank each.
  [[nodiscard]] bool is_carried(const Op& op) const {
    if (op.kind == OpKind::message) return op.role != op.peer;
    if (op.groups.lists) {
      const std::vector<std::vector<int>>& lists = op.groups.lists->groups();
      return std::any_of(lists.begin(), lists.end(), [](const std::vector<int>& ranks) { return ranks.size() > 1; });
    }
    return graph_.ranks_of(op) > 1;
  }

  [[nodiscard]] bool is_ready(const Part& part, std::int64_t oldest) const {
    if (part.start || part.iteration >= oldest + graph_.in_flight()) return false;
    const Op& after = graph_.ops()[part.op.index()];
    for (const Dependency& each : graph_.dependencies()) {
      if (each.after != part.op || part.iteration < each.lag) continue;
      const Op& before = graph_.ops()[each.before.index()];
      for (const Part& other : all_) {
        if (other.op != each.before || other.iteration != part.iteration - each.lag) continue;
        if (before.per_rank() && after.per_rank() && other.rank != part.rank) continue;
        if (!other.done) return false;
      }
    }
    return true;
  }

  /// The first iteration with a part that has not ended.
  [[nodiscard]] std::int64_t oldest() const {
    std::int64_t first = iterations_;
    for (const Part& part : all_)
      if (!part.done) first = std::min(first, part.iteration);
    return first;
  }

  void settle(std::int64_t now) {
    for (bool again = true; again;) {
      for (Part& part : all_)
        if ((is_under_way(part) && *part.end <= now) || may_go_on(part)) part.done = true;
      // What takes no lane begins as soon as it is ready. What the network doesn't carry ends at once, and more may be
      // ready then.
      for (bool changed = true; changed;) {
        changed = false;
        for (Part& part : all_) {
          const Op& op = graph_.ops()[part.op.index()];
          if (op.runs_on_lane() || !is_ready(part, oldest())) continue;
          if (op.kind == OpKind::await) {
            part.start = now;
            if (is_reached(part)) part.done = changed = true;
            continue;
          }
          const bool is_timer = op.kind == OpKind::timer;
          const std::int64_t takes = is_timer                            ? op.duration.ns()
                                     : op.is_traffic() && is_carried(op) ? op.bytes.count()
                                                                         : 0;
          part.start = now;
          part.end = now + takes;
          if (!is_timer && (op.counts() || !is_carried(op))) part.done = changed = true;
        }
      }
      start_on_lanes(now);
      again = std::any_of(all_.begin(), all_.end(), [&](const Part& part) {
        return (is_under_way(part) && *part.end <= now) || may_go_on(part);
      });
    }
  }

  void start_on_lanes(std::int64_t now) {
    std::set<std::pair<int, Lane>> busy;
    for (const Part& part : all_) {
      const Op& op = graph_.ops()[part.op.index()];
      if (op.runs_on_lane() && is_under_way(part)) busy.emplace(rank_of(part), op.lane);
    }
    const auto place = [&](const Part* part) {
      return std::tuple{part->iteration, graph_.ops()[part->op.index()].priority, part->op};
    };
    const std::int64_t first = oldest();
    std::vector<Part*> ready;
    for (Part& part : all_)
      if (graph_.ops()[part.op.index()].runs_on_lane() && is_ready(part, first)) ready.push_back(&part);
    std::sort(ready.begin(), ready.end(), [&](const Part* a, const Part* b) { return place(a) < place(b); });
    for (Part* part : ready) {
      const Op& op = graph_.ops()[part->op.index()];
      if (!busy.emplace(rank_of(*part), op.lane).second) continue;
      part->start = now;
      part->end = now + op.duration.ns();
    }
  }

  const IterationGraph& graph_;
  std::int64_t iterations_;
  std::vector<int> first_rank_;
  std::vector<Part> all_;
};

}  // namespace contend::test
