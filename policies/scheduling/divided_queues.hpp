#pragma once
// DividedQueues is the base of the policies that divide the GPUs in service among the queues of a tree, level by level,
// and hold each queue to its share (KAI, Volcano).

#include "policies/registry.hpp"
#include "policies/scheduling/queue_policy.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace contend {

class DividedQueues : public QueuePolicy {
 protected:
  /// GPUs of a queue and of the queues below it.
  struct Node {
    std::int64_t held = 0;  ///< by running jobs
    double request = 0;     ///< by running and waiting jobs, at least its guarantee
    double share = 0;       ///< by the last division
  };
  using GpusOfNodes = std::map<std::size_t, std::int64_t>;

  explicit DividedQueues(const PolicyContext& context)
      : QueuePolicy{context.accounts ? context.accounts() : AccountTree{}, Time{}}, nodes_(tree().size()) {}

  void uses(const QueuedJob& job, std::int64_t gpus, Time now) override;
  [[nodiscard]] std::pair<Why, JobId> why(const QueuedJob& job, const ClusterView& cluster) override;

  /// The shares of queues with one parent, whose share is `total`.
  [[nodiscard]] virtual std::vector<double> shares_of(const std::vector<std::size_t>& siblings, double total) const = 0;
  /// Whether its queue and the queues above it may have the job's GPUs, too.
  [[nodiscard]] virtual bool may_have(const QueuedJob& job) const = 0;

  /// Counts requests and divides the GPUs in service. Queues that own servers, and the queue of jobs without a virtual
  /// cluster if there is no other, are not divided: their share is kAnyGpus.
  void divide(const ClusterView& cluster);
  [[nodiscard]] const Node& node(std::size_t n) const { return nodes_[n]; }

  [[nodiscard]] double quota(std::size_t n) const;  ///< kAnyGpus for a queue with servers of its own
  /// The most that a queue may have: its quota with all that it may borrow.
  [[nodiscard]] double limit(std::size_t n) const;
  [[nodiscard]] std::int32_t priority(std::size_t n) const {
    return n == tree().unmanaged() ? 1 : accounts().accounts[n].priority;
  }
  [[nodiscard]] double weight(std::size_t n) const {
    return n == tree().unmanaged() ? 1 : accounts().accounts[n].weight.value_or(1);
  }
  /// Of the paths from the root to two queues the nodes at the first level at which the paths differ.
  [[nodiscard]] std::pair<std::size_t, std::size_t> where_they_part(std::size_t a, std::size_t b) const;

  /// Adds GPUs to a queue and to all above it.
  void add(GpusOfNodes& gpus_of, std::size_t queue, std::int64_t gpus) const {
    for (std::size_t n = queue; n != QueueTree::kNone; n = tree().parent(n)) gpus_of[n] += gpus;
  }
  /// GPUs that a node holds without those that it has lost.
  [[nodiscard]] std::int64_t held_without(std::size_t n, const GpusOfNodes& lost) const {
    const auto gone = lost.find(n);
    return nodes_[n].held - (gone == lost.end() ? 0 : gone->second);
  }
  /// True if the queue of the job and each above it hold, with the job and without their losses, at most
  /// `most(node)` GPUs.
  template <class Most>
  [[nodiscard]] bool stays_within(const QueuedJob& job, const Most& most, const GpusOfNodes& lost = {}) const {
    for (std::size_t n = job.queue; n != QueueTree::kNone; n = tree().parent(n))
      if (static_cast<double>(held_without(n, lost) + job.view.gpus) > most(n) + 1e-9) return false;
    return true;
  }

 private:
  /// The request of a queue; counts the requests of all queues below it, too.
  double count_request(std::size_t n);
  void divide_below(std::span<const std::size_t> siblings, double total);

  std::vector<Node> nodes_;
};

}  // namespace contend
