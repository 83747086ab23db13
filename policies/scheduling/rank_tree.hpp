#pragma once
// RankTree keeps jobs in order and answers questions on sums and minima of their values. Policies use it to examine
// many jobs at once. The ranks lie in blocks, each a sorted array, so that a search touches few places in memory, and a
// tree over the blocks holds the sum and the minimum of each.

#include "sim/ids.hpp"
#include "sim/scheduling.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
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
  /// The same without branches, because no predictor guesses how a search goes.
  friend constexpr bool operator<(const Rank& a, const Rank& b) {
    const int by_key = static_cast<int>(a.key < b.key), is_tie = static_cast<int>(a.key == b.key);
    return (by_key | (is_tie & static_cast<int>(a.ties() < b.ties()))) != 0;
  }

 private:
  __extension__ using Wide = unsigned __int128;
  /// tier, label and job in one number.
  [[nodiscard]] constexpr Wide ties() const {
    constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
    const std::uint32_t above = static_cast<std::uint32_t>(tier) ^ static_cast<std::uint32_t>(kSign >> 32);
    return (Wide{above} << 96) | (Wide{static_cast<std::uint64_t>(label) ^ kSign} << 32) | Wide{job.value()};
  }
};
static_assert(sizeof(Rank) == 32, "two ranks fill a cache line");

/// A set of ranks, each with a value. A search takes O(log n); a change moves half a block on average, and now and then
/// the tree over the blocks is built again.
class RankTree {
 public:
  /// A place between two ranks, or in front of all or behind them. Changes of the tree make it meaningless.
  struct Cut {
    std::size_t block = 0, at = 0;  ///< the rank behind it
    std::int64_t before = 0;        ///< sum of the values in front of it
    bool operator==(const Cut&) const = default;
  };

  void insert(const Rank& rank, std::int64_t value);
  void erase(const Rank& rank);  ///< the rank must be in the tree

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::int64_t sum() const { return empty() ? 0 : totals_[1].sum; }
  /// Returns the sum of the values of all ranks before `rank`.
  [[nodiscard]] std::int64_t sum_before(const Rank& rank) const;
  [[nodiscard]] std::optional<Rank> first() const;
  [[nodiscard]] std::optional<Rank> last() const;
  [[nodiscard]] std::optional<Rank> last_before(const Rank& rank) const;
  /// Returns the first rank up to and including which the values add up to at least `sum`. No value may be negative.
  [[nodiscard]] std::optional<Rank> first_with_sum(std::int64_t sum) const;
  /// Returns the first rank whose value is at most `limit`.
  [[nodiscard]] std::optional<Rank> first_at_most(std::int64_t limit) const;

  // A search of one's own narrows a range of the ranks, which two cuts bound.

  [[nodiscard]] Cut front() const { return {}; }
  [[nodiscard]] Cut back() const { return {blocks_.size(), 0, sum()}; }
  [[nodiscard]] const Rank& behind(const Cut& cut) const { return blocks_[cut.block]->ranks[cut.at]; }
  /// Returns a cut in front of a rank in the middle of a range that is not empty.
  [[nodiscard]] Cut middle(const Cut& from, const Cut& to) const;
  /// Moves the cut behind the rank that is behind it.
  [[nodiscard]] Cut next(const Cut& cut) const;
  /// Returns the cut of the range behind the ranks for which `goes_before` holds, which must be the first ones.
  template <class GoesBefore>
  [[nodiscard]] Cut cut(const Cut& from, const Cut& to, const GoesBefore& goes_before) const {
    if (from == to) return from;
    std::size_t block = from.block, end = to.at > 0 ? to.block + 1 : to.block;  // the cut is in `block` or at its end
    while (end - block > 1) {
      const std::size_t half = block + (end - block) / 2;
      (goes_before(blocks_[half]->ranks[0]) ? block : end) = half;
    }
    std::size_t at = block == from.block ? from.at : 0, last = block == to.block ? to.at : blocks_[block]->size;
    while (at < last) {
      const std::size_t half = at + (last - at) / 2;
      if (goes_before(blocks_[block]->ranks[half])) {
        at = half + 1;
      } else {
        last = half;
      }
    }
    return cut_at(block, at);
  }

 private:
  static constexpr std::size_t kMost = 64;  // ranks of a block
  struct Block {
    std::size_t size = 0;  // > 0
    std::array<std::int64_t, kMost> values{};
    std::array<Rank, kMost> ranks{};
  };
  struct Totals {
    std::int64_t sum = 0, minimum = INT64_MAX;
  };

  [[nodiscard]] std::size_t block_of(const Rank& rank) const;  // the last that begins at or before it, or the first
  [[nodiscard]] std::size_t place_in(const Block& block, const Rank& rank) const;  // of the first rank not before it
  [[nodiscard]] std::int64_t sum_before_block(std::size_t block) const;
  [[nodiscard]] Cut cut_at(std::size_t block, std::size_t at) const;
  [[nodiscard]] static Totals totals_of(const Block& block);
  void join(std::size_t node);
  void set_totals(std::size_t block, const Totals& totals);
  void rebuild(std::size_t from, std::size_t to);
  void split(std::size_t block);

  std::vector<std::unique_ptr<Block>> blocks_;  // in order
  std::vector<Rank> firsts_;                    // by block: its first rank
  std::vector<Totals> totals_;                  // a heap whose leaves are the blocks: node i is above 2i and 2i + 1
  std::vector<Totals> spare_;                   // scratch of rebuild()
  std::size_t leaves_ = 0;                      // a power of two
  std::size_t count_ = 0;                       // of the blocks, when the tree over them was built
  std::size_t size_ = 0;
};

}  // namespace contend
