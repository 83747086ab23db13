#include "policies/scheduling/queue_tree.hpp"

#include <algorithm>

namespace contend {

QueueTree::QueueTree(const AccountTree& tree) : nodes_(tree.accounts.size() + 1) {
  for (std::size_t n = 0; n < tree.accounts.size(); ++n) {
    const Account& account = tree.accounts[n];
    nodes_[n].weight = account.weight.value_or(1);
    if (account.has_servers) continue;
    if (account.parent >= 0) nodes_[n].parent = static_cast<std::size_t>(account.parent);
    // A queue with a quota that it may not exceed borrows nothing; without a quota nothing is its own.
    if (account.gpus && !account.borrows && account.parent >= 0) nodes_[n].borrowing_limit = 0;
    if (account.rules.borrowing_limit) nodes_[n].borrowing_limit = *account.rules.borrowing_limit;
  }
  for (std::size_t n = 0; n < unmanaged(); ++n)
    if (has_parent(n)) nodes_[nodes_[n].parent].children.push_back(n);
  // A cohort with a quota of its own and no word on borrowing borrows without a limit.
  for (std::size_t n = 0; n < unmanaged(); ++n)
    if (!nodes_[n].children.empty() && !tree.accounts[n].rules.borrowing_limit) nodes_[n].borrowing_limit = kAnyGpus;
  for (std::size_t n = 0; n < size(); ++n)
    if (!has_parent(n)) count_quota(n, tree);
}

void QueueTree::count_quota(std::size_t n, const AccountTree& tree) {
  Node& node = nodes_[n];
  const bool is_alone = n == unmanaged() || tree.accounts[n].has_servers ||
                        (!has_parent(n) && node.children.empty() && !tree.accounts[n].gpus);
  node.nominal = is_alone ? kAnyGpus : tree.accounts[n].gpus.value_or(0);
  node.subtree = node.nominal;
  for (const std::size_t child : node.children) {
    count_quota(child, tree);
    node.height = std::max(node.height, nodes_[child].height + 1);
    node.subtree += nodes_[child].subtree - nodes_[child].local;
  }
  const bool limits = !is_alone && tree.accounts[n].rules.lending_limit;
  node.local = limits ? std::max<std::int64_t>(0, node.subtree - *tree.accounts[n].rules.lending_limit) : 0;
}

std::size_t QueueTree::root(std::size_t n) const {
  while (has_parent(n)) n = nodes_[n].parent;
  return n;
}

bool QueueTree::is_within(std::size_t n, std::size_t above) const {
  while (n != above && has_parent(n)) n = nodes_[n].parent;
  return n == above;
}

std::int64_t QueueTree::local_left(std::size_t n) const {
  return std::max<std::int64_t>(0, nodes_[n].local - nodes_[n].usage);
}

std::int64_t QueueTree::available(std::size_t n) const {
  const Node& node = nodes_[n];
  if (!has_parent(n)) return node.subtree - node.usage;
  std::int64_t from_parent = available(node.parent);
  if (node.borrowing_limit < kAnyGpus) {
    const std::int64_t used_there = std::max<std::int64_t>(0, node.usage - node.local);
    from_parent = std::min(from_parent, node.subtree - node.local - used_there + node.borrowing_limit);
  }
  return local_left(n) + from_parent;
}

std::int64_t QueueTree::potential(std::size_t n) const {
  const Node& node = nodes_[n];
  if (!has_parent(n)) return node.subtree;
  const std::int64_t all = node.local + potential(node.parent);
  return node.borrowing_limit < kAnyGpus ? std::min(all, node.subtree + node.borrowing_limit) : all;
}

void QueueTree::add(std::size_t n, std::int64_t gpus) {
  const std::int64_t left = local_left(n);
  nodes_[n].usage += gpus;
  if (has_parent(n) && gpus > left) add(nodes_[n].parent, gpus - left);
}

void QueueTree::remove(std::size_t n, std::int64_t gpus) {
  const std::int64_t in_parent = nodes_[n].usage - nodes_[n].local;
  nodes_[n].usage -= gpus;
  if (has_parent(n) && in_parent > 0) remove(nodes_[n].parent, std::min(gpus, in_parent));
}

QueueTree::Fit QueueTree::lowest_fit(std::size_t n, std::int64_t gpus) const {
  if (!borrows(n, gpus) || !has_parent(n)) return {0, has_parent(n)};
  std::int64_t rest = gpus - local_left(n);
  std::size_t at = n;
  while (has_parent(at)) {
    at = nodes_[at].parent;
    if (!borrows(at, rest)) return {nodes_[at].height, has_parent(at)};
    rest -= local_left(at);
  }
  return {nodes_[at].height, false};
}

double QueueTree::share(std::size_t n) const {
  if (!has_parent(n) || !borrows(n)) return 0;
  const std::int64_t whole = potential(nodes_[n].parent);
  if (whole <= 0) return 0;
  const auto borrowed = static_cast<double>(nodes_[n].usage - nodes_[n].subtree);
  return 1000 * borrowed / static_cast<double>(whole) / nodes_[n].weight;
}

}  // namespace contend
