#include "policies/scheduling/ordered_queue.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <utility>

namespace contend {

namespace {

/// The finaliser of MurmurHash3 makes every bit of the result depend on every bit of the argument.
std::uint32_t scatter(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x85ebca6bU;
  x ^= x >> 13;
  x *= 0xc2b2ae35U;
  return x ^ (x >> 16);
}

}  // namespace

void OrderedQueue::refresh(Index node) {
  Node& n = nodes_[node];
  n.least = n.demand;
  if (n.left != kNil) n.least = std::min(n.least, nodes_[n.left].least);
  if (n.right != kNil) n.least = std::min(n.least, nodes_[n.right].least);
}

OrderedQueue::Index OrderedQueue::merge(Index left, Index right) {
  if (left == kNil) return right;
  if (right == kNil) return left;
  Index top = kNil;
  if (nodes_[left].priority > nodes_[right].priority) {
    top = left;
    nodes_[top].right = merge(nodes_[top].right, right);
  } else {
    top = right;
    nodes_[top].left = merge(left, nodes_[top].left);
  }
  refresh(top);
  return top;
}

void OrderedQueue::split(Index node, const Place& place, Index& before, Index& rest) {
  if (node == kNil) {
    before = rest = kNil;
    return;
  }
  if (nodes_[node].place < place) {
    split(nodes_[node].right, place, nodes_[node].right, rest);
    before = node;
  } else {
    split(nodes_[node].left, place, before, nodes_[node].left);
    rest = node;
  }
  refresh(node);
}

void OrderedQueue::insert(const Place& place, int demand) {
  CONTEND_CHECK(!contains(place.job), "a job queues once");
  Index node = static_cast<Index>(nodes_.size());
  if (free_.empty()) {
    nodes_.emplace_back();
  } else {
    node = free_.back();
    free_.pop_back();
  }
  if (place.job.index() >= node_of_.size()) node_of_.resize(place.job.index() + 1, kNil);
  node_of_[place.job.index()] = node;
  ++size_;
  // Descend to the place that the priority calls for; then split the subtree there between the two children.
  const std::uint32_t priority = scatter(place.job.value());
  Index parent = kNil;
  Index at = root_;
  while (at != kNil && nodes_[at].priority >= priority) {
    nodes_[at].least = std::min(nodes_[at].least, demand);
    parent = at;
    at = place < nodes_[at].place ? nodes_[at].left : nodes_[at].right;
  }
  Index left = kNil, right = kNil;
  split(at, place, left, right);
  nodes_[node] = {place, priority, demand, demand, left, right};
  refresh(node);
  if (parent == kNil) {
    root_ = node;
  } else {
    (place < nodes_[parent].place ? nodes_[parent].left : nodes_[parent].right) = node;
  }
}

void OrderedQueue::erase(JobId job) {
  CONTEND_CHECK(contains(job), "a job that leaves the queue is in it");
  const Index node = std::exchange(node_of_[job.index()], kNil);
  const Place place = nodes_[node].place;
  path_.clear();
  for (Index at = root_; at != node; at = place < nodes_[at].place ? nodes_[at].left : nodes_[at].right) {
    path_.push_back(at);
  }
  const Index rest = merge(nodes_[node].left, nodes_[node].right);
  if (path_.empty()) {
    root_ = rest;
  } else {
    Node& parent = nodes_[path_.back()];
    (parent.left == node ? parent.left : parent.right) = rest;
  }
  for (; !path_.empty(); path_.pop_back()) refresh(path_.back());
  free_.push_back(node);
  --size_;
}

OrderedQueue::Index OrderedQueue::first_in(Index node, int gpus) const {
  if (node == kNil || nodes_[node].least > gpus) return kNil;
  for (;;) {
    const Node& n = nodes_[node];
    if (n.left != kNil && nodes_[n.left].least <= gpus) {
      node = n.left;
    } else if (n.demand <= gpus) {
      return node;
    } else {
      node = n.right;
    }
  }
}

std::optional<OrderedQueue::Place> OrderedQueue::first(int gpus) const {
  const Index found = first_in(root_, gpus);
  return found == kNil ? std::nullopt : std::optional{nodes_[found].place};
}

std::optional<OrderedQueue::Place> OrderedQueue::next(const Place& place, int gpus) const {
  // On the way down, remember the last node behind `place` that has a fitting job in itself or in its right subtree.
  Index best = kNil;
  for (Index at = root_; at != kNil && nodes_[at].least <= gpus;) {
    const Node& n = nodes_[at];
    if (n.place <= place) {
      at = n.right;
      continue;
    }
    if (n.demand <= gpus || (n.right != kNil && nodes_[n.right].least <= gpus)) best = at;
    at = n.left;
  }
  if (best == kNil) return std::nullopt;
  const Node& n = nodes_[best];
  return nodes_[n.demand <= gpus ? best : first_in(n.right, gpus)].place;
}

OrderedQueue::Place OrderedQueue::front() const {
  Index node = root_;
  while (nodes_[node].left != kNil) node = nodes_[node].left;
  return nodes_[node].place;
}

}  // namespace contend
