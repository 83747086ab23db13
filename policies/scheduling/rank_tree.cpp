#include "policies/scheduling/rank_tree.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <utility>

namespace contend {

namespace {

/// The priority of the node with this index in the treap. The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014)
/// is a bijection of 64 bits that scatters neighbours.
std::uint64_t priority(std::uint64_t n) {
  n = (n + 1) * 0x9e3779b97f4a7c15U;
  n = (n ^ (n >> 30U)) * 0xbf58476d1ce4e5b9U;
  n = (n ^ (n >> 27U)) * 0x94d049bb133111ebU;
  return n ^ (n >> 31U);
}

}  // namespace

RankTree::Index RankTree::make(const Rank& rank, std::int64_t value) {
  Index index = static_cast<Index>(nodes_.size());
  if (free_.empty()) {
    nodes_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  nodes_[index] = {rank, value, value, value, kNone, kNone};
  return index;
}

void RankTree::update(Index index) {
  Node& node = nodes_[index];
  node.sum = node.minimum = node.value;
  for (const Index child : {node.left, node.right}) {
    if (child == kNone) continue;
    node.sum += nodes_[child].sum;
    node.minimum = std::min(node.minimum, nodes_[child].minimum);
  }
}

void RankTree::split(Index node, const Rank& rank, Index& before, Index& from) {
  if (node == kNone) {
    before = from = kNone;
  } else if (nodes_[node].rank < rank) {
    Index right = kNone;
    split(nodes_[node].right, rank, right, from);
    nodes_[node].right = right;
    before = node;
    update(node);
  } else {
    Index left = kNone;
    split(nodes_[node].left, rank, before, left);
    nodes_[node].left = left;
    from = node;
    update(node);
  }
}

RankTree::Index RankTree::merge(Index before, Index after) {
  if (before == kNone) return after;
  if (after == kNone) return before;
  if (priority(before) > priority(after)) {
    nodes_[before].right = merge(nodes_[before].right, after);
    update(before);
    return before;
  }
  nodes_[after].left = merge(before, nodes_[after].left);
  update(after);
  return after;
}

void RankTree::insert(const Rank& rank, std::int64_t value) {
  const Index added = make(rank, value);
  ++size_;
  Index* link = &root_;
  while (*link != kNone && priority(*link) > priority(added)) {
    Node& above = nodes_[*link];
    above.sum += value;
    above.minimum = std::min(above.minimum, value);
    link = rank < above.rank ? &above.left : &above.right;
  }
  split(std::exchange(*link, added), rank, nodes_[added].left, nodes_[added].right);
  update(added);
}

void RankTree::erase(const Rank& rank) {
  above_.clear();
  Index* link = &root_;
  for (;;) {
    CONTEND_CHECK(*link != kNone, "the rank is in the tree");
    Node& node = nodes_[*link];
    if (node.rank == rank) break;
    above_.push_back(*link);
    link = rank < node.rank ? &node.left : &node.right;
  }
  const Index gone = *link;
  const std::int64_t value = nodes_[gone].value;
  *link = merge(nodes_[gone].left, nodes_[gone].right);
  free_.push_back(gone);
  --size_;
  bool may_be_minimum = true;
  for (auto index = above_.rbegin(); index != above_.rend(); ++index) {
    Node& node = nodes_[*index];
    if (may_be_minimum && node.minimum == value) {
      update(*index);
      may_be_minimum = node.minimum != value;
    } else {
      node.sum -= value;
      may_be_minimum = false;
    }
  }
}

std::int64_t RankTree::sum_before(const Rank& rank) const {
  std::int64_t sum = 0;
  for (Index node = root_; node != kNone;) {
    if (nodes_[node].rank < rank) {
      sum += nodes_[node].value;
      if (nodes_[node].left != kNone) sum += nodes_[nodes_[node].left].sum;
      node = nodes_[node].right;
    } else {
      node = nodes_[node].left;
    }
  }
  return sum;
}

std::optional<Rank> RankTree::first() const {
  if (empty()) return std::nullopt;
  Index node = root_;
  while (nodes_[node].left != kNone) node = nodes_[node].left;
  return nodes_[node].rank;
}

std::optional<Rank> RankTree::last() const {
  if (empty()) return std::nullopt;
  Index node = root_;
  while (nodes_[node].right != kNone) node = nodes_[node].right;
  return nodes_[node].rank;
}

std::optional<Rank> RankTree::last_before(const Rank& rank) const {
  std::optional<Rank> best;
  for (Index node = root_; node != kNone;) {
    const bool is_before = nodes_[node].rank < rank;
    if (is_before) best = nodes_[node].rank;
    node = is_before ? nodes_[node].right : nodes_[node].left;
  }
  return best;
}

std::optional<Rank> RankTree::first_with_sum(std::int64_t sum) const {
  std::optional<Rank> found;
  for (Index node = root_; node != kNone;) {
    const Index left = nodes_[node].left;
    const std::int64_t through = (left == kNone ? 0 : nodes_[left].sum) + nodes_[node].value;
    if (through >= sum) found = nodes_[node].rank;
    if (left != kNone && nodes_[left].sum >= sum) {
      node = left;
    } else if (through >= sum) {
      break;
    } else {
      sum -= through;
      node = nodes_[node].right;
    }
  }
  return found;
}

std::optional<Rank> RankTree::first_at_most(std::int64_t limit) const {
  Index node = root_;
  while (node != kNone && nodes_[node].minimum <= limit) {
    const Index left = nodes_[node].left;
    if (left != kNone && nodes_[left].minimum <= limit) {
      node = left;
    } else if (nodes_[node].value <= limit) {
      return nodes_[node].rank;
    } else {
      node = nodes_[node].right;
    }
  }
  return std::nullopt;
}

}  // namespace contend
