#include "policies/scheduling/availability.hpp"

#include <algorithm>
#include <utility>

namespace contend {

namespace {

/// The output function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) makes a counter look random.
std::uint64_t scattered(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace

Availability::Index Availability::make(Time begin, std::int64_t amount) {
  Index node = static_cast<Index>(nodes_.size());
  if (unused_.empty()) {
    nodes_.emplace_back();
  } else {
    node = unused_.back();
    unused_.pop_back();
  }
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15U;
  nodes_[node] = {begin, amount, amount, amount, 0, scattered(++made_ * kGolden), kNone, kNone};
  return node;
}

void Availability::add(Index node, std::int64_t amount) {
  if (node == kNone) return;
  Node& n = nodes_[node];
  n.amount += amount;
  n.smallest += amount;
  n.largest += amount;
  n.to_add += amount;
}

void Availability::pass_on(Index node) {
  Node& n = nodes_[node];
  if (n.to_add == 0) return;
  const std::int64_t amount = std::exchange(n.to_add, 0);
  add(n.left, amount);
  add(n.right, amount);
}

void Availability::update(Index node) {
  Node& n = nodes_[node];
  n.smallest = n.largest = n.amount;
  for (const Index child : {n.left, n.right}) {
    if (child == kNone) continue;
    n.smallest = std::min(n.smallest, nodes_[child].smallest);
    n.largest = std::max(n.largest, nodes_[child].largest);
  }
}

void Availability::split(Index node, Time at, Index& before, Index& from) {
  if (node == kNone) {
    before = from = kNone;
    return;
  }
  pass_on(node);
  if (nodes_[node].begin < at) {
    split(nodes_[node].right, at, nodes_[node].right, from);
    before = node;
  } else {
    split(nodes_[node].left, at, before, nodes_[node].left);
    from = node;
  }
  update(node);
}

Availability::Index Availability::merge(Index before, Index after) {
  if (before == kNone) return after;
  if (after == kNone) return before;
  const Index top = nodes_[before].priority > nodes_[after].priority ? before : after;
  pass_on(top);
  if (top == before) {
    nodes_[top].right = merge(nodes_[top].right, after);
  } else {
    nodes_[top].left = merge(before, nodes_[top].left);
  }
  update(top);
  return top;
}

void Availability::drop(Index node) {
  if (node == kNone) return;
  drop(nodes_[node].left);
  drop(nodes_[node].right);
  unused_.push_back(node);
}

std::int64_t Availability::at(Time time) const {
  std::int64_t added = 0, amount = 0;
  for (Index node = root_; node != kNone;) {
    const Node& n = nodes_[node];
    if (n.begin <= time) amount = n.amount + added;
    added += n.to_add;
    node = n.begin <= time ? n.right : n.left;
  }
  return amount;
}

Time Availability::next_change(Time time) const {
  Time next = Time::never();
  for (Index node = root_; node != kNone;) {
    const Node& n = nodes_[node];
    if (n.begin > time) next = n.begin;
    node = n.begin > time ? n.left : n.right;
  }
  return next;
}

void Availability::begin_step(Time time) {
  if (begins_at(time)) return;
  const Index step = make(time, at(time));
  Index before = kNone, from = kNone;
  split(root_, time, before, from);
  root_ = merge(merge(before, step), from);
}

void Availability::join(Time time) {
  if (time == begin_ || at(time) != at(time - Time::nanoseconds(1))) return;
  Index before = kNone, from = kNone, step = kNone, later = kNone;
  split(root_, time, before, from);
  split(from, time + Time::nanoseconds(1), step, later);
  drop(step);
  root_ = merge(before, later);
}

void Availability::take(Time from, Time to, std::int64_t width) {
  if (from >= to) return;
  begin_step(from);
  if (to != Time::never()) begin_step(to);
  Index before = kNone, rest = kNone, between = kNone, behind = kNone;
  split(root_, from, before, rest);
  split(rest, to, between, behind);
  add(between, -width);
  root_ = merge(before, merge(between, behind));
  join(from);
  if (to != Time::never()) join(to);
}

Time Availability::first(Index node, Time from, Wanted wanted, std::int64_t width, std::int64_t added) const {
  if (node == kNone) return Time::never();
  const Node& n = nodes_[node];
  const bool has_any = wanted == Wanted::enough ? n.largest + added >= width : n.smallest + added < width;
  if (!has_any) return Time::never();
  if (n.begin >= from) {
    const Time left = first(n.left, from, wanted, width, added + n.to_add);
    if (left != Time::never()) return left;
    if ((n.amount + added >= width) == (wanted == Wanted::enough)) return n.begin;
  }
  return first(n.right, from, wanted, width, added + n.to_add);
}

Time Availability::earliest(Time from, Time length, std::int64_t width) const {
  Time start = from;
  if (at(from) < width) start = first(root_, from, Wanted::enough, width, 0);
  while (start != Time::never()) {
    const Time end = first(root_, start, Wanted::too_little, width, 0);
    if (end == Time::never() || end - start >= length) return start;
    start = first(root_, end, Wanted::enough, width, 0);
  }
  return start;
}

void Availability::forget(Time now) {
  begin_step(now);
  Index before = kNone, from = kNone;
  split(root_, now, before, from);
  drop(before);
  root_ = from;
  begin_ = now;
}

}  // namespace contend
