#pragma once
// Rounds of an iteration whose graph leaves rounds out, prepared for execution.
//
// The graph has the first and the last rounds of an iteration and some between them. A round is steady if it is the
// round before, a round later: its operations are of the same kind, length and size, and what waits for them waits for
// operations of the round before, a round earlier. When the state of a job relative to the rounds that it has ended
// recurs while it is in steady rounds only, each further round takes it as long as the one observed, and the leaper
// adds the rounds left out at once (sim/leaper.hpp). An iteration that ends without that can't be executed with this
// graph.

#include "sim/graph.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

namespace contend {

struct Plan;

/// Thrown by a run that can't leap over the rounds that a graph leaves out, at once or when an iteration has ended: a
/// graph with more rounds is needed.
class UnleaptRounds final : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "the rounds of an iteration did not recur"; }
};

struct PlannedRounds {
  PlannedRounds(const Plan& plan, const RoundsLeftOut& rounds);

  std::int64_t left_out = 0;
  std::vector<std::vector<OpId>> ops;    ///< by round, ascending
  std::vector<std::uint32_t> place;      ///< by operation of a round: its index in that round
  std::vector<std::int32_t> instances;   ///< by round, as of Plan::instances
  std::size_t first = 0, last = 0;       ///< rounds first + 1 to last - 1 are steady; if equal, none are
  std::vector<std::int32_t> from_round;  ///< by operation of no round: ends in a steady round that it waits for
  std::size_t widest = 0;                ///< operations of the largest round
  std::int64_t events = 0;               ///< of a steady round: tasks and timers

 private:
  [[nodiscard]] bool is_steady(const Plan& plan, std::size_t round, std::vector<std::int64_t>& priority_steps) const;
  void find_steady(const Plan& plan, std::size_t like);
};

}  // namespace contend
