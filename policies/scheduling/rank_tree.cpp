#include "policies/scheduling/rank_tree.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace contend {

namespace {

/// Returns how many of the `count` sorted ranks are before `rank`. No step has a branch, because no predictor guesses
/// how a search goes.
std::size_t count_before(const Rank* ranks, std::size_t count, const Rank& rank) {
  if (count == 0) return 0;
  const Rank* base = ranks;
  while (count > 1) {
    const std::size_t half = count / 2;
    base += base[half - 1] < rank ? half : 0;
    count -= half;
  }
  return static_cast<std::size_t>(base - ranks) + (*base < rank ? 1 : 0);
}

}  // namespace

std::size_t RankTree::block_of(const Rank& rank) const {
  const std::size_t before = count_before(firsts_.data(), firsts_.size(), rank);
  return before < firsts_.size() && firsts_[before] == rank ? before : before - (before > 0 ? 1 : 0);
}

std::size_t RankTree::place_in(const Block& block, const Rank& rank) const {
  return count_before(block.ranks.data(), block.size, rank);
}

RankTree::Totals RankTree::totals_of(const Block& block) {
  const auto end = block.values.begin() + static_cast<std::ptrdiff_t>(block.size);
  return {std::accumulate(block.values.begin(), end, std::int64_t{0}), *std::min_element(block.values.begin(), end)};
}

/// Adds up the totals of the two nodes below.
void RankTree::join(std::size_t node) {
  const Totals& left = totals_[2 * node];
  const Totals& right = totals_[2 * node + 1];
  totals_[node] = {left.sum + right.sum, std::min(left.minimum, right.minimum)};
}

/// Gives a block these totals, and brings those above it up to date.
void RankTree::set_totals(std::size_t block, const Totals& totals) {
  std::size_t node = leaves_ + block;
  totals_[node] = totals;
  while ((node /= 2) > 0) join(node);
}

/// Builds the tree over the blocks. Blocks have come or gone between `from` and `to`; those outside have kept their
/// totals.
void RankTree::rebuild(std::size_t from, std::size_t to) {
  const auto first = totals_.begin() + static_cast<std::ptrdiff_t>(leaves_);
  const auto end = first + static_cast<std::ptrdiff_t>(count_);
  spare_.assign(first, first + static_cast<std::ptrdiff_t>(from));
  for (std::size_t block = from; block < to; ++block) spare_.push_back(totals_of(*blocks_[block]));
  spare_.insert(spare_.end(), end - static_cast<std::ptrdiff_t>(blocks_.size() - to), end);
  count_ = blocks_.size();
  leaves_ = std::bit_ceil(count_);
  totals_.assign(2 * leaves_, {});
  std::copy(spare_.begin(), spare_.end(), totals_.begin() + static_cast<std::ptrdiff_t>(leaves_));
  for (std::size_t node = leaves_; --node > 0;) join(node);
}

/// Moves the second half of a full block into a new one.
void RankTree::split(std::size_t block) {
  auto added = std::make_unique<Block>();
  Block& full = *blocks_[block];
  constexpr std::size_t kHalf = kMost / 2;
  std::copy(full.ranks.begin() + kHalf, full.ranks.end(), added->ranks.begin());
  std::copy(full.values.begin() + kHalf, full.values.end(), added->values.begin());
  added->size = kMost - kHalf;
  full.size = kHalf;
  const auto behind = static_cast<std::ptrdiff_t>(block + 1);
  firsts_.insert(firsts_.begin() + behind, added->ranks[0]);
  blocks_.insert(blocks_.begin() + behind, std::move(added));
  rebuild(block, block + 2);
}

void RankTree::insert(const Rank& rank, std::int64_t value) {
  if (blocks_.empty()) {
    blocks_.push_back(std::make_unique<Block>());
    firsts_.push_back(rank);
    leaves_ = count_ = 1;
    totals_.assign(2, {});
  }
  std::size_t at_block = block_of(rank);
  if (blocks_[at_block]->size == kMost) {
    split(at_block);
    at_block = block_of(rank);
  }
  Block& block = *blocks_[at_block];
  const std::size_t at = place_in(block, rank);
  std::move_backward(block.ranks.begin() + static_cast<std::ptrdiff_t>(at),
                     block.ranks.begin() + static_cast<std::ptrdiff_t>(block.size),
                     block.ranks.begin() + static_cast<std::ptrdiff_t>(block.size + 1));
  std::move_backward(block.values.begin() + static_cast<std::ptrdiff_t>(at),
                     block.values.begin() + static_cast<std::ptrdiff_t>(block.size),
                     block.values.begin() + static_cast<std::ptrdiff_t>(block.size + 1));
  block.ranks[at] = rank;
  block.values[at] = value;
  ++block.size;
  ++size_;
  if (at == 0) firsts_[at_block] = rank;
  const Totals totals = totals_[leaves_ + at_block];
  set_totals(at_block, {totals.sum + value, std::min(totals.minimum, value)});
}

void RankTree::erase(const Rank& rank) {
  CONTEND_CHECK(!empty(), "the rank is in the tree");
  const std::size_t at_block = block_of(rank);
  Block& block = *blocks_[at_block];
  const std::size_t at = place_in(block, rank);
  CONTEND_CHECK(at < block.size && block.ranks[at] == rank, "the rank is in the tree");
  const std::int64_t value = block.values[at];
  std::move(block.ranks.begin() + static_cast<std::ptrdiff_t>(at + 1),
            block.ranks.begin() + static_cast<std::ptrdiff_t>(block.size),
            block.ranks.begin() + static_cast<std::ptrdiff_t>(at));
  std::move(block.values.begin() + static_cast<std::ptrdiff_t>(at + 1),
            block.values.begin() + static_cast<std::ptrdiff_t>(block.size),
            block.values.begin() + static_cast<std::ptrdiff_t>(at));
  --block.size;
  --size_;
  const auto gone = static_cast<std::ptrdiff_t>(at_block);
  if (block.size == 0) {
    blocks_.erase(blocks_.begin() + gone);
    firsts_.erase(firsts_.begin() + gone);
    if (!blocks_.empty()) rebuild(at_block, at_block);
    return;
  }
  if (at == 0) firsts_[at_block] = block.ranks[0];
  // Two blocks that fill half of one become one.
  if (at_block + 1 < blocks_.size() && block.size + blocks_[at_block + 1]->size <= kMost / 2) {
    const Block& other = *blocks_[at_block + 1];
    std::copy_n(other.ranks.begin(), other.size, block.ranks.begin() + static_cast<std::ptrdiff_t>(block.size));
    std::copy_n(other.values.begin(), other.size, block.values.begin() + static_cast<std::ptrdiff_t>(block.size));
    block.size += other.size;
    blocks_.erase(blocks_.begin() + gone + 1);
    firsts_.erase(firsts_.begin() + gone + 1);
    rebuild(at_block, at_block + 1);
    return;
  }
  const Totals totals = totals_[leaves_ + at_block];
  set_totals(at_block, totals.minimum < value ? Totals{totals.sum - value, totals.minimum} : totals_of(block));
}

std::int64_t RankTree::sum_before_block(std::size_t block) const {
  std::int64_t sum = 0;
  for (std::size_t node = leaves_ + block; node > 1; node /= 2) {
    if (node % 2 == 1) sum += totals_[node - 1].sum;
  }
  return sum;
}

RankTree::Cut RankTree::cut_at(std::size_t block, std::size_t at) const {
  const auto& values = blocks_[block]->values;
  const std::int64_t before =
      std::accumulate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), sum_before_block(block));
  return at == blocks_[block]->size ? Cut{block + 1, 0, before} : Cut{block, at, before};
}

RankTree::Cut RankTree::middle(const Cut& from, const Cut& to) const {
  const std::size_t last = to.at > 0 ? to.block : to.block - 1;  // the block with the last rank of the range
  const std::size_t block = from.block + (last - from.block + 1) / 2;
  if (block > from.block) return cut_at(block, block == last ? to.at / 2 : 0);
  const std::size_t end = to.block == from.block ? to.at : blocks_[from.block]->size;
  return cut_at(from.block, from.at + (end - from.at) / 2);
}

RankTree::Cut RankTree::next(const Cut& cut) const {
  const Block& block = *blocks_[cut.block];
  const std::int64_t before = cut.before + block.values[cut.at];
  return cut.at + 1 == block.size ? Cut{cut.block + 1, 0, before} : Cut{cut.block, cut.at + 1, before};
}

std::int64_t RankTree::sum_before(const Rank& rank) const {
  if (empty()) return 0;
  const std::size_t block = block_of(rank);
  return cut_at(block, place_in(*blocks_[block], rank)).before;
}

std::optional<Rank> RankTree::first() const {
  if (empty()) return std::nullopt;
  return firsts_.front();
}

std::optional<Rank> RankTree::last() const {
  if (empty()) return std::nullopt;
  return blocks_.back()->ranks[blocks_.back()->size - 1];
}

std::optional<Rank> RankTree::last_before(const Rank& rank) const {
  if (empty()) return std::nullopt;
  const std::size_t block = block_of(rank), at = place_in(*blocks_[block], rank);
  if (at > 0) return blocks_[block]->ranks[at - 1];
  if (block == 0) return std::nullopt;
  return blocks_[block - 1]->ranks[blocks_[block - 1]->size - 1];
}

std::optional<Rank> RankTree::first_with_sum(std::int64_t sum) const {
  if (empty()) return std::nullopt;
  if (sum <= 0) return first();
  if (totals_[1].sum < sum) return std::nullopt;
  std::size_t node = 1;
  while (node < leaves_) {
    node *= 2;
    if (totals_[node].sum >= sum) continue;
    sum -= totals_[node].sum;
    ++node;
  }
  const Block& block = *blocks_[node - leaves_];
  std::size_t at = 0;
  while (block.values[at] < sum) sum -= block.values[at++];
  return block.ranks[at];
}

std::optional<Rank> RankTree::first_at_most(std::int64_t limit) const {
  if (empty() || totals_[1].minimum > limit) return std::nullopt;
  std::size_t node = 1;
  while (node < leaves_) {
    node *= 2;
    if (totals_[node].minimum > limit) ++node;
  }
  const Block& block = *blocks_[node - leaves_];
  std::size_t at = 0;
  while (block.values[at] > limit) ++at;
  return block.ranks[at];
}

}  // namespace contend
