#pragma once
// RankTree keeps jobs in order and answers questions on sums and minima of their values. Policies use it to examine
// many jobs at once. It is a treap whose priorities come from a counter, so that its shape is the same in every run.

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
  std::int32_t tier = 0;
  std::int64_t label = 0;
  JobId job;
  constexpr auto operator<=>(const Rank&) const = default;
};

/// A set of ranks, each with a value. Every operation is O(log n).
class RankTree {
 public:
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
  /// Returns the first rank for which `holds(rank, sum of the values up to and including it)`. It must hold for all
  /// ranks behind one for which it holds.
  template <class Predicate>
  [[nodiscard]] std::optional<Rank> first_from(const Predicate& holds) const {
    std::optional<Rank> found;
    std::int64_t before = 0;
    for (Index node = root_; node != kNone;) {
      const Node& here = nodes_[node];
      const std::int64_t through = before + (here.left != kNone ? nodes_[here.left].sum : 0) + here.value;
      if (holds(here.rank, through)) {
        found = here.rank;
        node = here.left;
      } else {
        before = through;
        node = here.right;
      }
    }
    return found;
  }
  /// Returns the first rank whose value is at most `limit`.
  [[nodiscard]] std::optional<Rank> first_at_most(std::int64_t limit) const;

 private:
  using Index = std::uint32_t;
  static constexpr Index kNone = UINT32_MAX;
  struct Node {
    Rank rank;
    std::int64_t value = 0, sum = 0, minimum = 0;
    std::uint64_t priority = 0;
    Index left = kNone, right = kNone;
  };

  [[nodiscard]] Index make(const Rank& rank, std::int64_t value);
  void update(Index node);
  void split(Index node, const Rank& rank, Index& before, Index& from);  // `from` gets the ranks not before `rank`
  [[nodiscard]] Index merge(Index before, Index after);
  [[nodiscard]] Index insert_at(Index node, Index added);
  [[nodiscard]] Index erase_at(Index node, const Rank& rank);

  std::vector<Node> nodes_;
  std::vector<Index> free_;
  Index root_ = kNone;
  std::size_t size_ = 0;
  std::uint64_t made_ = 0;
};

}  // namespace contend
