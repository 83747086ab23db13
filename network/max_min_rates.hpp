#pragma once
// MaxMinRates shares link capacities among flows that come and go: strictly by priority, and among flows of one
// priority by weighted max-min fairness.
//
// Priority is lexicographic, as a switch serves its queues: the flows of priority 0 share the links as if there were no
// others, the flows of priority 1 share what these leave, and so on. A flow gets nothing where higher ones leave
// nothing. No weight stands for a priority: a weight of a millionth would have to be told apart from rounding, and
// eight such levels span more digits than a double has.
//
// Within a priority, flow f has a weight w_f and a cap c_f, and crosses link l with share a_lf. Its level is rate_f /
// w_f. An allocation is max-min fair if no level can grow without lowering one that is not larger (Bertsekas and
// Gallager, Data Networks, 6.5.2). Equivalently, every flow is at its cap or has a bottleneck: a saturated link on
// which no flow of its priority has a larger level, and none of a lower priority sends.

#include "network/max_min_sweep.hpp"
#include "network/routing.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace contend {

/// The capacity of a link as a function of the number of flows on it.
struct LinkEfficiency {
  /// The factor of the capacity with 1, 2, ... flows; the last one holds for more flows. Empty: 1.
  std::vector<double> factors;
  /// The penalty of k-way contention, eta / beta of arXiv 2002.10105: each of k equal flows takes k beta + (k-1) eta
  /// for a byte, so the link carries k / (k + (k-1) penalty) of its capacity.
  double penalty = 0;

  /// The factor of the capacity with this many flows.
  [[nodiscard]] double at(std::size_t flows) const;
};

/// The rates of flows on a fixed set of links. Rates and capacities are in one unit of the caller's choice. They depend
/// only on the sequence of calls. After every `solve` no link carries more than its capacity by more than 1e-9 of it.
/// A link of which higher priorities leave less than MaxMinSweep::kClear is full.
class MaxMinRates {
 public:
  /// Takes the capacities by link, finite and >= 0.
  explicit MaxMinRates(std::span<const double> capacities);

  /// Adds a flow; `links` has each link once. `weight` > 0; `cap` 0: none; `priority` >= 0, and 0 goes first. The rate
  /// of the flow is 0 until `solve`. Ids of removed flows are used again.
  FlowId add(std::span<const LinkShare> links, double weight = 1, double cap = 0, int priority = 0);
  void remove(FlowId flow);
  void set_capacity(LinkId link, double capacity);
  void set_efficiency(LinkId link, LinkEfficiency efficiency);

  /// Makes all rates right again. Returns the existing flows whose rates have changed since the last call; the span is
  /// valid until the next call of a non-const member.
  std::span<const FlowId> solve();
  /// Does the same as `solve` by filling from empty. Tests and benchmarks compare `solve` with it.
  std::span<const FlowId> solve_all();

  [[nodiscard]] double rate(FlowId flow) const { return class_of(flow).rate(flow); }
  /// The link that limits the flow; none() if its cap does.
  [[nodiscard]] LinkId bottleneck(FlowId flow) const { return class_of(flow).bottleneck(flow); }
  [[nodiscard]] std::span<const LinkShare> links(FlowId flow) const { return class_of(flow).links(flow); }
  /// Number of flows that cross the link.
  [[nodiscard]] std::size_t flows_on(LinkId link) const;
  /// They are in order of their priorities.
  [[nodiscard]] FlowId flow_on(LinkId link, std::size_t i) const;
  /// The capacity with the efficiency at the present number of flows.
  [[nodiscard]] double capacity(LinkId link) const;
  /// The sum of the rates on the link, times their shares.
  [[nodiscard]] double load(LinkId link) const;

  /// Counts of the work done so far, over all priorities.
  using Work = MaxMinSweep::Work;
  [[nodiscard]] Work work() const;

 private:
  [[nodiscard]] const MaxMinSweep& class_of(FlowId flow) const { return classes_[priority_[flow.index()]]; }
  [[nodiscard]] double left_for(std::size_t priority, LinkId link) const;
  void mark(LinkId link);
  void mark_load(std::span<const LinkShare> links);
  void mark_efficiency(std::span<const LinkShare> links);
  void pass_on(std::size_t priority);
  template <class Solve>
  std::span<const FlowId> solve_by_priority(const Solve& solve);

  std::vector<double> capacities_;                           // by link
  std::vector<std::unique_ptr<LinkEfficiency>> efficiency_;  // by link; empty if no link has one
  std::vector<MaxMinSweep> classes_;                         // by priority
  std::vector<std::uint8_t> priority_;                       // by flow
  std::vector<FlowId> free_;
  std::vector<LinkId> marked_;           // what they leave to some priority may have changed since `solve`
  std::vector<std::uint8_t> is_marked_;  // by link
  std::vector<FlowId> changed_;
};

}  // namespace contend
