#include "policies/scheduling/fair_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace contend {

namespace {

class FairTree {
 public:
  explicit FairTree(std::span<const FairTreeNode> nodes)
      : nodes_{nodes}, ranks_(nodes.size()), usage_(nodes.size()), children_(nodes.size() + 1) {
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      children_of(nodes[n].parent).push_back(n);
      users_ += nodes[n].is_user ? 1 : 0;
    }
    left_ = last_ = users_;
  }

  std::vector<FairTreeRank> ranks() {
    double all = 0;
    for (const std::size_t child : children_of(-1)) all += count_usage(child);
    rank(-1, all, false);
    return std::move(ranks_);
  }

 private:
  [[nodiscard]] std::vector<std::size_t>& children_of(std::int32_t parent) {
    return children_[static_cast<std::size_t>(parent + 1)];
  }

  double count_usage(std::size_t n) {
    usage_[n] = nodes_[n].is_user ? nodes_[n].usage : 0;
    for (const std::size_t child : children_of(static_cast<std::int32_t>(n))) usage_[n] += count_usage(child);
    return usage_[n];
  }

  [[nodiscard]] double level(std::size_t n, double all_shares, double all_usage) const {
    const double share = all_shares > 0 ? nodes_[n].shares / all_shares : 0;
    if (share == 0) return 0;
    const double used = all_usage > 0 ? usage_[n] / all_usage : 0;
    return used == 0 ? std::numeric_limits<double>::infinity() : share / used;
  }

  void rank(std::int32_t parent, double all_usage, bool is_tied) {
    std::vector<std::size_t>& siblings = children_of(parent);
    double shares = 0;
    for (const std::size_t n : siblings) shares += nodes_[n].shares;
    for (const std::size_t n : siblings) ranks_[n].level = level(n, shares, all_usage);
    std::ranges::stable_sort(siblings, [&](std::size_t a, std::size_t b) {
      if (ranks_[a].level != ranks_[b].level) return ranks_[a].level > ranks_[b].level;
      return nodes_[a].is_user && !nodes_[b].is_user;
    });
    double before = -1;
    for (const std::size_t n : siblings) {
      if (before >= 0) is_tied = ranks_[n].level == before;
      before = ranks_[n].level;
      if (!nodes_[n].is_user) {
        rank(static_cast<std::int32_t>(n), usage_[n], is_tied);
        continue;
      }
      if (!is_tied) last_ = left_;
      ranks_[n].factor = static_cast<double>(last_) / static_cast<double>(users_);
      --left_;
    }
  }

  std::span<const FairTreeNode> nodes_;
  std::vector<FairTreeRank> ranks_;
  std::vector<double> usage_;                       // by node
  std::vector<std::vector<std::size_t>> children_;  // by node + 1; of the root first
  int users_ = 0;
  int left_ = 0;  // users without a rank
  int last_ = 0;  // the rank that was given last
};

}  // namespace

std::vector<FairTreeRank> fair_tree(std::span<const FairTreeNode> nodes) {
  return FairTree{nodes}.ranks();
}

}  // namespace contend
