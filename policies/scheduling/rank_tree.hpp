#pragma once
// RankTree keeps jobs in order and answers questions on sums and minima of their values. Policies use it to examine
// many jobs at once. It is a treap whose priorities come from the indices of its nodes, so that its shape is the same
// in every run.

#include "sim/ids.hpp"
#include "sim/scheduling.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace contend {

/// The place of a job in an order; the smallest goes first. `tier` and `label` order jobs with equal keys.
struct Rank {
  PolicyKey key = 0;
  std::int64_t label = 0;
  std::int32_t tier = 0;
  JobId job;

  constexpr Rank() = default;
  constexpr Rank(PolicyKey key_, std::int32_t tier_, std::int64_t label_, JobId job_)
      : key{key_}, label{label_}, tier{tier_}, job{job_} {}
  bool operator==(const Rank&) const = default;
  constexpr std::strong_ordering operator<=>(const Rank& other) const {
    if (key != other.key) return key < other.key ? std::strong_ordering::less : std::strong_ordering::greater;
    if (tier != other.tier) return tier <=> other.tier;
    if (label != other.label) return label <=> other.label;
    return job <=> other.job;
  }
};
static_assert(sizeof(Rank) == 32, "a node of a RankTree fills a cache line, and so does a member of a GreedyWalk");

/// A set of ranks, each with a value. Every operation is O(log n).
class RankTree {
 public:
  class Part;

  void insert(const Rank& rank, std::int64_t value);
  void erase(const Rank& rank);  ///< the rank must be in the tree

  [[nodiscard]] bool empty() const { return root_ == kNone; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::int64_t sum() const { return empty() ? 0 : nodes_[root_].sum; }
  /// Returns the sum of the values of all ranks before `rank`.
  [[nodiscard]] std::int64_t sum_before(const Rank& rank) const;
  [[nodiscard]] std::optional<Rank> first() const;
  [[nodiscard]] std::optional<Rank> last() const;
  [[nodiscard]] std::optional<Rank> last_before(const Rank& rank) const;
  /// Returns the first rank up to and including which the values add up to at least `sum`. No value may be negative.
  [[nodiscard]] std::optional<Rank> first_with_sum(std::int64_t sum) const;
  /// Returns the first rank whose value is at most `limit`.
  [[nodiscard]] std::optional<Rank> first_at_most(std::int64_t limit) const;

 private:
  using Index = std::uint32_t;
  static constexpr Index kNone = UINT32_MAX;
  struct alignas(64) Node {  // a cache line, so that a step down the tree needs one
    Rank rank;
    std::int64_t value = 0, sum = 0, minimum = 0;
    Index left = kNone, right = kNone;
  };

  [[nodiscard]] Index make(const Rank& rank, std::int64_t value);
  void update(Index node);
  void split(Index node, const Rank& rank, Index& before, Index& from);  // `from` gets the ranks not before `rank`
  [[nodiscard]] Index merge(Index before, Index after);

  std::vector<Node> nodes_;
  std::vector<Index> free_;
  std::vector<Index> above_;  // scratch of erase(): the nodes from the root to the one that goes
  Index root_ = kNone;
  std::size_t size_ = 0;
};

/// The ranks of a tree among which a search still looks: those of a subtree. The tree must not change meanwhile.
/// `is_before(rank)` must be true for the first ranks of the tree and false for the others.
class RankTree::Part {
 public:
  explicit Part(const RankTree& tree) : nodes_{tree.nodes_.data()}, node_{tree.root_} {}

  [[nodiscard]] bool empty() const { return node_ == kNone; }
  /// Returns the rank at the root of the subtree, which must not be empty.
  [[nodiscard]] const Rank& root() const { return nodes_[node_].rank; }
  /// Returns the sum of the values in the subtree.
  [[nodiscard]] std::int64_t sum() const { return empty() ? 0 : nodes_[node_].sum; }

  /// Returns the sum of the values of all ranks of the tree up to and including the root of the subtree.
  [[nodiscard]] std::int64_t sum_through_root() const {
    Part rest = *this;
    rest.go(true);
    return rest.before_;
  }
  /// Returns the sum of the values of all ranks of the tree that `is_before` holds for.
  template <class IsBefore>
  [[nodiscard]] std::int64_t sum_while(const IsBefore& is_before) const {
    Part rest = *this;
    while (!rest.empty()) rest.go(is_before(rest.root()));
    return rest.before_;
  }
  /// Moves to the subtree of the ranks for which `is_after_first` and `is_before_last` hold. It may contain others, but
  /// not at its root.
  template <class IsAfterFirst, class IsBeforeLast>
  void narrow(const IsAfterFirst& is_after_first, const IsBeforeLast& is_before_last) {
    while (!empty()) {
      const bool is_after = is_after_first(root());
      if (is_after && is_before_last(root())) return;
      go(!is_after);
    }
  }

 private:
  void go(bool to_right) {
    const Node& node = nodes_[node_];
    if (to_right) before_ += node.value + (node.left == kNone ? 0 : nodes_[node.left].sum);
    node_ = to_right ? node.right : node.left;
  }

  const Node* nodes_;
  Index node_;
  std::int64_t before_ = 0;  // the values of the ranks in front of the subtree
};

}  // namespace contend
