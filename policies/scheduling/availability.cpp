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

Time Availability::next_begin(Index node, Time time) const {
  Time next = Time::never();
  while (node != kNone) {
    const Node& n = nodes_[node];
    if (n.begin > time) next = n.begin;
    node = n.begin > time ? n.left : n.right;
  }
  return next;
}

Time Availability::next_change(Time time) const {
  return next_begin(root_, time);
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

bool Availability::reaches(Search& search, Time begin, bool has_enough) {
  if (search.start != Time::never() && begin - search.start >= search.length) return true;
  if (!has_enough) {
    search.start = Time::never();
  } else if (search.start == Time::never()) {
    search.start = begin;
  }
  return false;
}

bool Availability::finds(Search& search, Index node, std::int64_t added) const {
  if (node == kNone) return false;
  const Node& n = nodes_[node];
  const bool all_enough = n.smallest + added >= search.width;
  if (all_enough || n.largest + added < search.width) {
    const bool is_open = search.start != Time::never();
    if (is_open == all_enough) return false;
    const Time begin = next_begin(node, search.from);
    return begin != Time::never() && reaches(search, begin, all_enough);
  }
  if (n.begin > search.from) {
    if (finds(search, n.left, added + n.to_add)) return true;
    if (reaches(search, n.begin, n.amount + added >= search.width)) return true;
  }
  return finds(search, n.right, added + n.to_add);
}

Time Availability::earliest(Time from, Time length, std::int64_t width) const {
  Search search{from, length, width, at(from) >= width ? from : Time::never()};
  (void)finds(search, root_, 0);
  return search.start;  // a gap that is open at the end never closes
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
