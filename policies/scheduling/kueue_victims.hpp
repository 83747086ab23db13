#pragma once
// Which workloads Kueue v0.19 preempts for another (pkg/scheduler/preemption: preemption.go, classical/, fairsharing/).

#include "policies/account_tree.hpp"
#include "policies/scheduling/queue_tree.hpp"
#include "sim/ids.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

namespace contend {

/// A workload of a queue.
struct KueueJob {
  JobId id;
  std::size_t queue = 0;
  std::int64_t gpus = 0, priority = 0;
  Time created{};
  std::uint64_t admitted = 0;  ///< larger: later
};

/// True if the rule lets the one workload preempt the other.
[[nodiscard]] bool kueue_allows(PreemptionRule rule, const KueueJob& preemptor, const KueueJob& other);

class KueueVictims {
 public:
  /// Appends the admitted workloads of a queue.
  using Admitted = std::function<void(std::size_t queue, std::vector<KueueJob>&)>;

  /// The way in which victims are found: classical, or by shares, where a queue within its quota may always win.
  struct Way {
    bool is_fair = false, within_nominal_wins = true;
  };
  /// Simulates in `tree`, and leaves it as it was.
  KueueVictims(QueueTree& tree, const AccountTree& accounts, Way way, Admitted admitted)
      : tree_{tree}, accounts_{accounts}, way_{way}, admitted_{std::move(admitted)} {}

  /// The workloads without which the quota suffices for this one; empty if none may go or they don't suffice.
  [[nodiscard]] std::vector<KueueJob> find(const KueueJob& preemptor);

 private:
  struct Candidate {
    KueueJob job;
    int kind = 0;              // 0: of a subtree outside of one with enough quota; 1: else; 2: its own queue
    std::size_t ancestor = 0;  // the lowest one of both queues
    bool only_without_borrowing = false;
  };
  using Queues = std::vector<std::vector<KueueJob>>;  // candidates by queue, the first goes first

  [[nodiscard]] const QueueRules& rules_of(std::size_t queue) const;
  [[nodiscard]] bool fits(bool may_borrow) const;
  [[nodiscard]] bool fits_beside_itself();
  void collect_own(std::vector<Candidate>& all) const;
  void collect_others(std::vector<Candidate>& all) const;
  void collect_below(std::size_t node, std::size_t ancestor, std::size_t skipped, bool has_advantage,
                     std::vector<Candidate>& all) const;
  [[nodiscard]] bool is_valid(const Candidate& candidate, bool may_borrow) const;
  [[nodiscard]] std::vector<KueueJob> classical();
  [[nodiscard]] std::vector<KueueJob> try_classical(const std::vector<Candidate>& all, bool may_borrow);
  void fill_back(std::vector<KueueJob>& targets, bool may_borrow);
  void restore(const std::vector<KueueJob>& targets);

  [[nodiscard]] Queues fair_candidates() const;
  [[nodiscard]] std::vector<KueueJob> fair();
  bool run_first(Queues& queues, Queues& again, std::vector<KueueJob>& targets);
  bool run_second(Queues& queues, std::vector<KueueJob>& targets);
  /// The queue from which the next victim comes; kNone if there is none in this subtree.
  [[nodiscard]] std::size_t next_queue(std::size_t cohort, const Queues& queues, std::set<std::size_t>& pruned) const;
  [[nodiscard]] std::size_t next_queue_of_tree(const Queues& queues, std::set<std::size_t>& pruned) const;
  /// The nodes below the lowest common ancestor on the ways to the preemptor and to the queue.
  [[nodiscard]] std::pair<std::size_t, std::size_t> below_ancestor(std::size_t queue) const;

  QueueTree& tree_;
  const AccountTree& accounts_;
  Way way_;
  Admitted admitted_;
  KueueJob preemptor_;
};

}  // namespace contend
