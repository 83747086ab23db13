#pragma once
// QueueTree counts the GPUs that queues of a tree may use of their own quotas and borrow from others, by the rules of
// Kueue v0.19 (pkg/cache/scheduler/resource_node.go, fair_sharing.go): queues and cohorts, which may lie in each other,
// have quotas, and what a queue does not lend stays with it.

#include "policies/account_tree.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// More GPUs than anybody has.
inline constexpr std::int64_t kAnyGpus = std::int64_t{1} << 40;

class QueueTree {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;

  /// The nodes are the accounts, with their indices, and one more for jobs without an account (`unmanaged()`), which
  /// has any number of GPUs. So has an account with servers of its own, which is no part of the tree.
  explicit QueueTree(const AccountTree& tree);

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] std::size_t unmanaged() const { return nodes_.size() - 1; }
  /// The node of a job's virtual cluster.
  [[nodiscard]] std::size_t node_of(std::int32_t vc) const {
    return vc >= 0 && static_cast<std::size_t>(vc) < unmanaged() ? static_cast<std::size_t>(vc) : unmanaged();
  }
  [[nodiscard]] std::size_t parent(std::size_t n) const { return nodes_[n].parent; }
  [[nodiscard]] bool has_parent(std::size_t n) const { return nodes_[n].parent != kNone; }
  [[nodiscard]] std::size_t root(std::size_t n) const;
  [[nodiscard]] std::span<const std::size_t> children(std::size_t n) const { return nodes_[n].children; }
  /// Levels below the node: 0 for a queue.
  [[nodiscard]] int height(std::size_t n) const { return nodes_[n].height; }
  [[nodiscard]] bool is_within(std::size_t n, std::size_t above) const;

  [[nodiscard]] std::int64_t nominal(std::size_t n) const { return nodes_[n].nominal; }
  /// GPUs that it may use beyond its own; kAnyGpus: no limit.
  [[nodiscard]] std::int64_t borrowing_limit(std::size_t n) const { return nodes_[n].borrowing_limit; }
  /// The quota of the node and what those below it lend.
  [[nodiscard]] std::int64_t subtree(std::size_t n) const { return nodes_[n].subtree; }
  [[nodiscard]] std::int64_t usage(std::size_t n) const { return nodes_[n].usage; }
  /// GPUs that the node can use now. What others have borrowed can make it negative.
  [[nodiscard]] std::int64_t available(std::size_t n) const;
  /// GPUs that the node could use if nobody used any.
  [[nodiscard]] std::int64_t potential(std::size_t n) const;
  /// What is left of the part of its quota that it does not lend.
  [[nodiscard]] std::int64_t local_left(std::size_t n) const;
  /// True if it uses more than its own with so many GPUs more.
  [[nodiscard]] bool borrows(std::size_t n, std::int64_t more = 0) const {
    return nodes_[n].usage + more > nodes_[n].subtree;
  }
  /// A queue uses so many GPUs more, or less; what exceeds the part that it does not lend counts in its cohort.
  void use(std::size_t n, std::int64_t gpus) { gpus >= 0 ? add(n, gpus) : remove(n, -gpus); }

  /// The height of the lowest subtree around the queue whose quota has room for so many GPUs more, and whether that
  /// subtree can take more from elsewhere: whether others may have to give back what is theirs.
  struct Fit {
    int height = 0;
    bool may_reclaim = false;
  };
  [[nodiscard]] Fit lowest_fit(std::size_t n, std::int64_t gpus) const;

  /// The dominant resource share: thousandths of what its cohort could use that the node borrows, divided by its
  /// weight. 0 for a node without a cohort.
  [[nodiscard]] double share(std::size_t n) const;

 private:
  struct Node {
    std::size_t parent = kNone;
    std::vector<std::size_t> children{};
    int height = 0;
    std::int64_t nominal = 0, local = 0, subtree = 0, usage = 0;
    std::int64_t borrowing_limit = kAnyGpus;
    double weight = 1;
  };
  void add(std::size_t n, std::int64_t gpus);
  void remove(std::size_t n, std::int64_t gpus);
  void count_quota(std::size_t n, const AccountTree& tree);

  std::vector<Node> nodes_;
};

}  // namespace contend
