#include "network/max_min_sweep.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace contend {

namespace {

constexpr double kSame = MaxMinSweep::kSame;

}  // namespace

bool MaxMinSweep::differ(double a, double b) {
  if (a == b) return false;
  if (std::isinf(a) || std::isinf(b)) return true;
  return std::abs(a - b) > kSame * std::max(std::abs(a), std::abs(b));
}

MaxMinSweep::MaxMinSweep(std::span<const double> capacities) : links_(capacities.size()), entries_(capacities.size()) {
  for (std::size_t l = 0; l < capacities.size(); ++l) {
    CONTEND_CHECK(capacities[l] >= 0 && std::isfinite(capacities[l]), "a capacity is negative or not finite");
    links_[l].capacity = capacities[l];
  }
}

void MaxMinSweep::add(FlowId flow_id, std::span<const LinkShare> links, double weight, double cap) {
  CONTEND_CHECK(weight > 0 && cap >= 0 && (cap > 0 || !links.empty()),
                "a flow without limit, or with a bad weight or cap");
  const std::uint32_t id = flow_id.value();
  if (flows_.size() <= id) {
    flows_.resize(id + std::size_t{1});
    levels_.resize(id + std::size_t{1});
  }
  CONTEND_CHECK(!levels_[id].alive, "two flows with one id");
  Flow& flow = flows_[id];
  levels_[id] = {.level = 0, .cap_level = cap > 0 ? cap / weight : kUnlimited, .alive = true};
  flow.weight = weight;
  flow.links.assign(links.begin(), links.end());
  flow.hops.clear();
  flow.shared = 0;
  for (const LinkShare& use : links) {
    CONTEND_DCHECK(use.share > 0, "a share is not positive");
    const std::uint32_t l = use.link.value();
    LinkState& link = links_[l];
    if (link.flows == 1) share_link(l);
    const double per_level = use.share * weight;
    const auto which = static_cast<std::uint32_t>(flow.hops.size());
    flow.hops.push_back({l, link.flows, per_level});
    entries_[l].push_back({id, which, per_level});
    ++link.flows;
    if (link.flows == 1) {
      link.level = kUnlimited;
      continue;
    }
    swap_hops(id, which, flow.shared++);
    link.add_open(per_level, true);
    link.scanned = false;
    touch(l);
  }
  disorder(id);
  ++alive_;
  ++loose_flows_;
  new_.push_back(id);
  hops_ += links.size();
  if (filling_) fill_->add(id, links, weight, levels_[id].cap_level);
}

void MaxMinSweep::remove(FlowId id) {
  Flow& flow = flows_[id.index()];
  Level& gone = levels_[id.index()];
  CONTEND_CHECK(gone.alive, "removed a flow that is not there");
  for (const Hop& hop : flow.hops) {
    LinkState& link = links_[hop.link];
    // A link that is not saturated limits no flow, and it stays so with one flow fewer.
    if (link.flows > 1 && link.level != kUnlimited) touch(hop.link);
    std::vector<Entry>& entries = entries_[hop.link];
    if (link.flows > 1) drop(link, hop.per_level, gone, hop.link);
    const Entry last = entries.back();
    entries[hop.at] = last;
    entries.pop_back();
    --link.flows;
    if (last.flow != id.value()) flows_[last.flow].hops[last.which].at = hop.at;
    if (link.open == link.flows) link.held_load = link.held_peak = 0;
    if (link.flows == 1) leave_alone(hop.link);
  }
  if (gone.bottleneck == kLoose) --loose_flows_;
  hops_ -= flow.links.size();
  if (filling_) fill_->remove(id.value(), entries_);
  flow.hops.clear();
  flow.shared = 0;
  gone.alive = false;
  --alive_;
}

void MaxMinSweep::set_capacity(LinkId link, double capacity) {
  CONTEND_CHECK(capacity >= 0 && std::isfinite(capacity), "a capacity is negative or not finite");
  LinkState& state = links_[link.index()];
  state.capacity = capacity;
  state.scanned = false;
  fill_is_old_ = true;
  if (state.flows == 1) disorder(entries_[link.index()].front().flow);
  touch(link.value());
}

double MaxMinSweep::load(LinkId link) const {
  double sum = 0;
  for (const Entry& entry : entries_[link.index()]) sum += entry.per_level * levels_[entry.flow].level;
  return sum;
}

LinkId MaxMinSweep::bottleneck(FlowId flow) const {
  const std::uint32_t b = levels_[flow.index()].bottleneck;
  return b < links_.size() ? LinkId{b} : LinkId::none();
}

void MaxMinSweep::touch(std::uint32_t link) {
  if (links_[link].dirty) return;
  links_[link].dirty = true;
  dirty_.push_back(link);
}

void MaxMinSweep::swap_hops(std::uint32_t flow, std::uint32_t a, std::uint32_t b) {
  std::vector<Hop>& hops = flows_[flow].hops;
  std::swap(hops[a], hops[b]);
  entries_[hops[a].link][hops[a].at].which = a;
  entries_[hops[b].link][hops[b].at].which = b;
}

// A link that one flow has alone is about to get a second one.
void MaxMinSweep::share_link(std::uint32_t l) {
  LinkState& link = links_[l];
  const Entry& entry = entries_[l].front();
  const Level& flow = levels_[entry.flow];
  link.updates = kStale;
  link.scanned = false;
  link.level = flow.bottleneck == l ? flow.level : kUnlimited;
  const std::uint32_t which = entry.which, id = entry.flow, first = flows_[id].shared++;
  swap_hops(id, which, first);
  if (which == first)
    disorder(id);
  else  // what was the tightest still is
    swap_hops(id, which, first + 1);
}

// One flow has the link alone from now on.
void MaxMinSweep::leave_alone(std::uint32_t l) {
  const Entry& entry = entries_[l].front();
  const std::uint32_t id = entry.flow;
  Flow& flow = flows_[id];
  swap_hops(id, entry.which, --flow.shared);
  const std::uint32_t first = flow.shared;
  if (flow.unordered || levels_[id].bottleneck == kLoose)
    disorder(id);
  else if (first + 1 < flow.hops.size() && level_of_hop(flow.hops[first + 1]) <= level_of_hop(flow.hops[first]))
    swap_hops(id, first, first + 1);
}

double MaxMinSweep::level_of_hop(const Hop& hop) const {
  return capacity(LinkId{hop.link}) / hop.per_level;
}

void MaxMinSweep::disorder(std::uint32_t flow) {
  if (flows_[flow].unordered) return;
  flows_[flow].unordered = true;
  unordered_.push_back(flow);
}

// Finds the tightest of the links that a flow has alone, where they have changed, and marks it if the flow is loose.
void MaxMinSweep::order_hops() {
  for (const std::uint32_t id : unordered_) {
    Flow& flow = flows_[id];
    flow.unordered = false;
    if (flow.shared == flow.hops.size()) continue;
    std::uint32_t tightest = flow.shared;
    double lowest = kUnlimited;
    for (std::uint32_t i = flow.shared; i < flow.hops.size(); ++i) {
      const double level = level_of_hop(flow.hops[i]);
      if (level >= lowest) continue;
      lowest = level;
      tightest = i;
    }
    if (tightest != flow.shared) swap_hops(id, tightest, flow.shared);
    if (levels_[id].bottleneck == kLoose) touch(flow.hops[flow.shared].link);
  }
  unordered_.clear();
}

// Removes the flow from the sums of its link l.
void MaxMinSweep::drop(LinkState& link, double per_level, const Level& flow, std::uint32_t l) {
  const bool loose = flow.bottleneck == kLoose;
  if (loose || flow.bottleneck == l) {
    link.open_per_level = --link.open == 0 ? 0 : link.open_per_level - per_level;
    if (link.open == 0) link.open_peak = 0;
    link.loose -= loose ? 1U : 0U;
  } else {
    link.held_load -= per_level * flow.level;
  }
  link.scanned = false;
  if (link.updates < kStale) ++link.updates;
}

// Moves the flow to this bottleneck and level, and marks its links for the sweep, but for one and for those that it has
// alone and that can't limit it.
void MaxMinSweep::move(std::uint32_t id, std::uint32_t bottleneck, double level, std::uint32_t except) {
  Level& flow = levels_[id];
  const bool loose = bottleneck == kLoose;
  const std::span<const Hop> hops = flows_[id].hops;
  const std::size_t shared = flows_[id].shared;
  hops_moved_ += shared;
  for (const Hop& hop : hops.first(shared)) {
    LinkState& link = links_[hop.link];
    drop(link, hop.per_level, flow, hop.link);
    if (loose || bottleneck == hop.link) {
      link.add_open(hop.per_level, loose);
    } else {
      link.add_held(hop.per_level * level, level);
    }
    if (hop.link != except) touch(hop.link);
  }
  if (shared < hops.size() && hops[shared].link != except) touch(hops[shared].link);
  loose_flows_ += (loose ? 1U : 0U);
  loose_flows_ -= (flow.bottleneck == kLoose ? 1U : 0U);
  flow.bottleneck = bottleneck;
  flow.level = level;
}

// Makes the level of a flow unknown again and marks all its links but one for the sweep.
void MaxMinSweep::loosen(std::uint32_t id, std::uint32_t except) {
  const Level& flow = levels_[id];
  move(id, kLoose, flow.level, except);
  if (flow.cap_level != kUnlimited) place(static_cast<std::uint32_t>(links_.size()) + id, flow.cap_level);
}

void MaxMinSweep::note_change(std::uint32_t id) {
  Level& flow = levels_[id];
  if (flow.changed) return;
  flow.changed = true;
  changed_.push_back(FlowId{id});
}

void MaxMinSweep::settle(std::uint32_t id, double level, std::uint32_t bottleneck) {
  const Level& flow = levels_[id];
  ++work_.flows;
  if (differ(flow.level, level)) {
    note_change(id);
  } else {
    if (flow.bottleneck == bottleneck) return;
    level = flow.level;
  }
  move(id, bottleneck, level, bottleneck);
}

// The level at which the link is full: the root of sum over its flows of per_level x min(ceiling, level) = capacity.
// The ceiling of a held flow is its level, the ceiling of an open flow its cap. The sum is concave in the level, so
// Newton's method converges from below, in at most as many steps as there are different ceilings; usually two or three.
// It also recomputes the sums of the link.
double MaxMinSweep::scan(std::uint32_t l) {
  LinkState& link = links_[l];
  ++work_.scans;
  double open = 0;  // load of the flows with ceilings above `level`, for one unit of level
  link.held_load = link.open_per_level = link.top = 0;
  link.held_peak = link.open_peak = 0;
  link.open = link.loose = link.updates = 0;
  ceilings_.clear();
  for (const Entry& entry : entries_[l]) {
    const Level& flow = levels_[entry.flow];
    const bool loose = flow.bottleneck == kLoose;
    const bool is_open = loose || flow.bottleneck == l;
    ceilings_.emplace_back(is_open ? flow.cap_level : flow.level, entry.per_level);
    open += entry.per_level;
    if (is_open) {
      link.add_open(entry.per_level, loose);
    } else {
      link.add_held(entry.per_level * flow.level, flow.level);
    }
  }
  link.scanned = true;
  return link.exact = full_level(capacity(LinkId{l}), open);
}

// The root over the ceilings_, whose loads for one unit of level sum up to `open`.
double MaxMinSweep::full_level(double full, double open) const {
  double level = 0;
  for (double below = 0; open > 0;) {  // load of the flows with ceilings up to `level`
    const double next = std::max(0.0, (full - below) / open);
    if (next <= level * (1 + kSame) && below > 0) return std::max(next, level);
    level = next;
    const double before = open;
    below = open = 0;
    for (const auto& [ceiling, per_level] : ceilings_)
      (ceiling <= level ? below : open) += per_level * (ceiling <= level ? ceiling : 1);
    if (open == before) return level;
  }
  return kUnlimited;
}

// The level at which the only flow on a link fills it; unlimited if the flow doesn't reach it.
double MaxMinSweep::level_alone(std::uint32_t l) const {
  const Entry& entry = entries_[l].front();
  const Level& flow = levels_[entry.flow];
  const bool is_open = flow.bottleneck == kLoose || flow.bottleneck == l;
  const double level = capacity(LinkId{l}) / entry.per_level;
  return (is_open ? flow.cap_level : flow.level) <= level ? kUnlimited : level;
}

// A lower bound of the level at which the link is full, from its sums: held flows count in full, open flows as if they
// had no caps. If no flow is loose, the bound is that level: held flows have smaller levels, and the caps of the flows
// that the link limits lie above it. If the sums do not decide that, it scans the flows.
double MaxMinSweep::estimate(std::uint32_t l) {
  LinkState& link = links_[l];
  if (link.flows == 0) return link.exact = kUnlimited;
  if (link.flows == 1) return link.exact = level_alone(l);
  if (link.scanned) return link.exact;
  if (link.is_worn()) return scan(l);
  const double full = link.capacity;
  if (link.open == 0) return link.held_load <= full * (1 - kClear) ? kUnlimited : scan(l);
  const double room = full - link.held_load;
  if (room < MaxMinFill::kRemnant * full) return scan(l);
  const double level = room / link.open_per_level;
  return link.loose == 0 && link.top > level ? scan(l) : level;
}

void MaxMinSweep::place(std::uint32_t item, double key) {
  heap_.push_back({key, item});
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
}

MaxMinSweep::Place MaxMinSweep::take_next() {
  std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
  const Place next = heap_.back();
  heap_.pop_back();
  return next;
}

// True if the link limits the same flows as before at the same level, so nothing is to be done. A held flow whose share
// is tiny may have risen above that level without changing it, and is to be limited, too.
bool MaxMinSweep::rests(std::uint32_t l, double level) const {
  const LinkState& link = links_[l];
  if (differ(level, link.level)) return false;
  if (link.flows == 1) return levels_[entries_[l].front().flow].bottleneck != kLoose;
  return link.flows == 0 || (link.loose == 0 && !(link.top > level && differ(link.top, level)));
}

// A link whose level falls is visited at the new level, one whose level rises at the old one: from there on the flows
// that it limits may move. A visit that comes too early is postponed when it comes.
void MaxMinSweep::place_dirty_links() {
  for (const std::uint32_t l : dirty_) {
    LinkState& link = links_[l];
    link.dirty = false;
    ++work_.links;
    const double level = estimate(l);
    const double key = rests(l, level) ? kUnlimited : std::min(level, link.level);
    if (key == kUnlimited) {
      waiting_links_ -= link.waiting ? 1U : 0U;
      link.waiting = false;
    } else if (!link.waiting || key < link.key) {
      wait(l, key);
    }
  }
  dirty_.clear();
}

void MaxMinSweep::wait(std::uint32_t l, double key) {
  LinkState& link = links_[l];
  waiting_links_ += link.waiting ? 0U : 1U;
  link.waiting = true;
  link.key = key;
  place(l, key);
}

// Handles a link when the sweep has reached its key. The sums only determine when; its flows determine what happens.
void MaxMinSweep::take_turn(std::uint32_t l) {
  LinkState& link = links_[l];
  link.waiting = false;
  --waiting_links_;
  for (const bool exactly : {false, true}) {
    const double level = exactly && link.flows > 1 && !link.scanned ? scan(l) : estimate(l);
    if (rests(l, level)) return;
    const double key = std::min(level, link.level);
    if (key > link.key) {
      if (key != kUnlimited) wait(l, key);
      return;
    }
  }
  if (link.exact > link.level && differ(link.exact, link.level)) {
    raise(l);
  } else {
    fix(l, link.exact);
  }
}

// The link becomes full at a higher level than before, or not at all.
void MaxMinSweep::raise(std::uint32_t l) {
  links_[l].level = kUnlimited;
  for (const Entry& entry : entries_[l]) {
    if (levels_[entry.flow].bottleneck == l) loosen(entry.flow, l);
  }
  touch(l);
}

// The link is full at this level and limits all flows that would exceed it.
void MaxMinSweep::fix(std::uint32_t l, double level) {
  links_[l].level = level;
  for (const Entry& entry : entries_[l]) {
    const Level& flow = levels_[entry.flow];
    const bool here = flow.bottleneck == l || flow.bottleneck == kLoose;
    if (here && flow.cap_level <= level) {
      settle(entry.flow, flow.cap_level, kCapped);
    } else if (here || (flow.level > level && differ(flow.level, level))) {
      settle(entry.flow, level, l);
    }
  }
}

void MaxMinSweep::begin_solve() {
  ++work_.solves;
  for (const FlowId flow : changed_) levels_[flow.index()].changed = false;
  changed_.clear();
}

std::span<const FlowId> MaxMinSweep::solve() {
  begin_solve();
  if (!filling_ && most_are_new()) {
    fill();
    end_fill();  // that most levels move for once says nothing about the next change
  } else if (filling_ || !sweep()) {
    fill();
    weigh_fill();
  }
  return changed_;
}

/// False if it has given up, because filling is cheaper.
bool MaxMinSweep::sweep() {
  const std::uint64_t links_before = work_.links;
  const std::uint64_t most = may_fill() ? 2 * (hops_ + links_.size()) : UINT64_MAX;
  hops_moved_ = 0;
  for (const std::uint32_t id : new_) {
    const Level& flow = levels_[id];
    if (flow.alive && flow.bottleneck == kLoose && flow.cap_level != kUnlimited) {
      place(static_cast<std::uint32_t>(links_.size()) + id, flow.cap_level);
    }
  }
  new_.clear();
  order_hops();
  place_dirty_links();
  while (waiting_links_ > 0 || loose_flows_ > 0) {
    CONTEND_CHECK(!heap_.empty(), "a loose flow has neither a cap nor a link");
    const Place next = take_next();
    if (next.item >= links_.size()) {
      const std::uint32_t flow = next.item - static_cast<std::uint32_t>(links_.size());
      if (levels_[flow].bottleneck == kLoose) settle(flow, levels_[flow].cap_level, kCapped);
    } else if (links_[next.item].waiting && links_[next.item].key == next.key) {
      take_turn(next.item);
    }
    place_dirty_links();
    if (hops_moved_ + (work_.links - links_before) > most) {
      abandon_sweep();
      return false;
    }
  }
  heap_.clear();
  weigh_sweep(work_.links - links_before);
  return true;
}

std::span<const FlowId> MaxMinSweep::solve_all() {
  begin_solve();
  fill_is_old_ = true;
  fill();
  end_fill();
  return changed_;
}

}  // namespace contend
