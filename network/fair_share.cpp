#include "network/fair_share.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace contend {

namespace {

// Levels closer than this are the same level: sums in another order differ by rounding, and that must not travel on.
constexpr double kSame = 1e-12;

bool differ(double a, double b) {
  if (a == b) return false;
  if (std::isinf(a) || std::isinf(b)) return true;
  return std::abs(a - b) > kSame * std::max(std::abs(a), std::abs(b));
}

}  // namespace

double LinkEfficiency::at(std::size_t flows) const {
  if (flows == 0) return 1;
  const double k = static_cast<double>(flows);
  const double factor = factors.empty() ? 1.0 : factors[std::min(flows, factors.size()) - 1];
  return factor * k / (k + (k - 1) * penalty);
}

std::vector<double> max_min_rates(std::span<const double> capacities, std::span<const FlowDemand> flows) {
  std::vector<double> rates(flows.size(), 0);
  std::vector<bool> fixed(flows.size(), false);
  for (std::size_t left = flows.size(); left > 0;) {
    std::vector<double> room(capacities.begin(), capacities.end());
    std::vector<double> per_level(capacities.size(), 0);
    double level = std::numeric_limits<double>::infinity();
    for (std::size_t f = 0; f < flows.size(); ++f) {
      for (const LinkShare& use : flows[f].links) {
        if (fixed[f]) {
          room[use.link.index()] -= use.share * rates[f];
        } else {
          per_level[use.link.index()] += use.share * flows[f].weight;
        }
      }
      if (!fixed[f] && flows[f].cap > 0) level = std::min(level, flows[f].cap / flows[f].weight);
    }
    std::vector<double> full(capacities.size(), std::numeric_limits<double>::infinity());
    for (std::size_t l = 0; l < capacities.size(); ++l) {
      if (per_level[l] > 0) full[l] = std::max(0.0, room[l]) / per_level[l];
      level = std::min(level, full[l]);
    }
    // The flows that reach a full link or their cap first stay at this level.
    const double reached = level * (1 + kSame);
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (fixed[f]) continue;
      const bool stops = (flows[f].cap > 0 && flows[f].cap / flows[f].weight <= reached) ||
                         std::any_of(flows[f].links.begin(), flows[f].links.end(),
                                     [&](const LinkShare& use) { return full[use.link.index()] <= reached; });
      if (!stops) continue;
      rates[f] = level * flows[f].weight;
      fixed[f] = true;
      --left;
    }
  }
  return rates;
}

FairShare::FairShare(std::span<const double> capacities) : links_(capacities.size()), efficiency_(capacities.size()) {
  for (std::size_t l = 0; l < capacities.size(); ++l) {
    CONTEND_CHECK(capacities[l] >= 0 && std::isfinite(capacities[l]), "a capacity is negative or not finite");
    links_[l].capacity = capacities[l];
  }
}

FlowId FairShare::add(std::span<const LinkShare> links, double weight, double cap) {
  CONTEND_CHECK(weight > 0 && cap >= 0 && (cap > 0 || !links.empty()),
                "a flow without limit, or with a bad weight or cap");
  std::uint32_t id = static_cast<std::uint32_t>(flows_.size());
  if (free_.empty()) {
    flows_.emplace_back();
    levels_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  Flow& flow = flows_[id];
  levels_[id] = {.level = 0, .cap_level = cap > 0 ? cap / weight : kUnlimited, .alive = true};
  flow.weight = weight;
  flow.links.assign(links.begin(), links.end());
  flow.at.clear();
  for (std::size_t i = 0; i < links.size(); ++i) {
    LinkState& link = links_[links[i].link.index()];
    CONTEND_DCHECK(links[i].share > 0, "a share is not positive");
    flow.at.push_back(static_cast<std::uint32_t>(link.entries.size()));
    link.entries.push_back({id, static_cast<std::uint32_t>(i), links[i].share * weight});
    touch(links[i].link.value());
  }
  new_.push_back(id);
  return FlowId{id};
}

void FairShare::remove(FlowId id) {
  Flow& flow = flows_[id.index()];
  CONTEND_CHECK(levels_[id.index()].alive, "removed a flow that is not there");
  for (std::size_t i = 0; i < flow.links.size(); ++i) {
    const std::uint32_t l = flow.links[i].link.value();
    LinkState& link = links_[l];
    // A link that is not saturated limits nobody, and less so with one flow fewer.
    if (link.level != kUnlimited || link.has_efficiency) touch(l);
    const std::uint32_t hole = flow.at[i];
    const Entry last = link.entries.back();
    link.entries[hole] = last;
    link.entries.pop_back();
    if (last.flow != id.value()) flows_[last.flow].at[last.which] = hole;
  }
  levels_[id.index()].alive = false;
  free_.push_back(id.value());
}

void FairShare::set_capacity(LinkId link, double capacity) {
  CONTEND_CHECK(capacity >= 0 && std::isfinite(capacity), "a capacity is negative or not finite");
  links_[link.index()].capacity = capacity;
  touch(link.value());
}

void FairShare::set_efficiency(LinkId link, LinkEfficiency efficiency) {
  efficiency_[link.index()] = std::make_unique<LinkEfficiency>(std::move(efficiency));
  links_[link.index()].has_efficiency = true;
  touch(link.value());
}

double FairShare::capacity(LinkId link) const {
  const LinkState& state = links_[link.index()];
  return state.has_efficiency ? state.capacity * efficiency_[link.index()]->at(state.entries.size()) : state.capacity;
}

double FairShare::load(LinkId link) const {
  double sum = 0;
  for (const Entry& entry : links_[link.index()].entries) sum += entry.per_level * levels_[entry.flow].level;
  return sum;
}

LinkId FairShare::bottleneck(FlowId flow) const {
  const std::uint32_t b = levels_[flow.index()].bottleneck;
  return b < links_.size() ? LinkId{b} : LinkId::none();
}

void FairShare::touch(std::uint32_t link) {
  if (links_[link].dirty) return;
  links_[link].dirty = true;
  dirty_.push_back(link);
}

void FairShare::touch_links_of(std::uint32_t flow, std::uint32_t except) {
  for (const LinkShare& use : flows_[flow].links) {
    if (use.link.value() != except) touch(use.link.value());
  }
}

// The level of a flow is open again: all its links have to be asked.
void FairShare::loosen(std::uint32_t id, std::uint32_t except) {
  Level& flow = levels_[id];
  flow.bottleneck = kLoose;
  touch_links_of(id, except);
  if (flow.cap_level != kUnlimited) place(static_cast<std::uint32_t>(links_.size()) + id, flow.cap_level);
}

bool FairShare::set_level(std::uint32_t id, double level) {
  Level& flow = levels_[id];
  if (!differ(flow.level, level)) return false;
  flow.level = level;
  if (!flow.changed) {
    flow.changed = true;
    changed_.push_back(FlowId{id});
  }
  return true;
}

void FairShare::settle(std::uint32_t id, double level, std::uint32_t bottleneck) {
  Level& flow = levels_[id];
  ++work_.flows;
  const bool was_loose = flow.bottleneck == kLoose;
  flow.bottleneck = bottleneck;
  const bool moved = set_level(id, level);
  if (moved || was_loose) touch_links_of(id, bottleneck);
}

// The level at which the link is full: the root of sum over its flows of per_level x min(ceiling, level) = capacity.
// A flow that another link limits has its level as ceiling; one that this link limits, or that nothing limits yet, its
// cap. The sum is concave in the level, so Newton's steps come from below and end after at most as many as there are
// different ceilings; mostly two or three.
double FairShare::level_of(std::uint32_t l, bool& has_loose) {
  const LinkState& link = links_[l];
  const double full = capacity(LinkId{l});
  has_loose = false;
  double open = 0;  // load of the flows with ceilings above `level`, for one unit of level
  ceilings_.clear();
  for (const Entry& entry : link.entries) {
    const Level& flow = levels_[entry.flow];
    const bool loose = flow.bottleneck == kLoose;
    has_loose = has_loose || loose;
    ceilings_.emplace_back(loose || flow.bottleneck == l ? flow.cap_level : flow.level, entry.per_level);
    open += entry.per_level;
  }
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

void FairShare::place(std::uint32_t item, double key) {
  heap_.push_back({key, item});
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
}

FairShare::Place FairShare::take_next() {
  std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
  const Place next = heap_.back();
  heap_.pop_back();
  return next;
}

// A link whose level falls has its turn at the new level, one whose level rises at the old one: from there on the flows
// that it limits may move.
void FairShare::place_dirty_links() {
  for (const std::uint32_t l : dirty_) {
    LinkState& link = links_[l];
    link.dirty = false;
    bool has_loose = false;
    const double level = level_of(l, has_loose);
    ++work_.links;
    if (!has_loose && !differ(level, link.level)) {
      link.waiting = false;
      continue;
    }
    link.next_level = level;
    const double key = std::min(level, link.level);
    if (link.waiting && link.key == key) continue;
    link.waiting = key != kUnlimited;
    link.key = key;
    if (link.waiting) place(l, key);
  }
  dirty_.clear();
}

// The link will be full later than it was, or not at all.
void FairShare::raise(std::uint32_t l) {
  links_[l].level = kUnlimited;
  for (const Entry& entry : links_[l].entries) {
    if (levels_[entry.flow].bottleneck == l) loosen(entry.flow, l);
  }
  touch(l);
}

// The link is full at this level: it limits all flows that would go beyond it.
void FairShare::fix(std::uint32_t l, double level) {
  links_[l].level = level;
  for (const Entry& entry : links_[l].entries) {
    const Level& flow = levels_[entry.flow];
    const bool here = flow.bottleneck == l || flow.bottleneck == kLoose;
    if (here && flow.cap_level <= level) {
      settle(entry.flow, flow.cap_level, kCapped);
    } else if (here || (flow.level > level && differ(flow.level, level))) {
      settle(entry.flow, level, l);
    }
  }
}

void FairShare::begin_solve() {
  ++work_.solves;
  for (const FlowId flow : changed_) levels_[flow.index()].changed = false;
  changed_.clear();
}

std::span<const FlowId> FairShare::solve() {
  begin_solve();
  for (const std::uint32_t id : new_) {
    const Level& flow = levels_[id];
    if (flow.alive && flow.bottleneck == kLoose && flow.cap_level != kUnlimited) {
      place(static_cast<std::uint32_t>(links_.size()) + id, flow.cap_level);
    }
  }
  new_.clear();
  place_dirty_links();
  while (!heap_.empty()) {
    const Place next = take_next();
    if (next.item >= links_.size()) {
      const std::uint32_t flow = next.item - static_cast<std::uint32_t>(links_.size());
      if (levels_[flow].bottleneck == kLoose) settle(flow, levels_[flow].cap_level, kCapped);
    } else {
      LinkState& link = links_[next.item];
      if (!link.waiting || link.key != next.key) continue;
      link.waiting = false;
      if (link.next_level > link.level && differ(link.next_level, link.level)) {
        raise(next.item);
      } else {
        fix(next.item, link.next_level);
      }
    }
    place_dirty_links();
  }
  return changed_;
}

std::span<const FlowId> FairShare::solve_all() {
  begin_solve();
  for (const std::uint32_t l : dirty_) links_[l].dirty = false;
  dirty_.clear();
  new_.clear();
  std::vector<double> room(links_.size(), 0);
  std::vector<double> open(links_.size(), 0);
  for (std::uint32_t l = 0; l < links_.size(); ++l) {
    links_[l].level = kUnlimited;
    if (links_[l].entries.empty()) continue;
    room[l] = capacity(LinkId{l});
    for (const Entry& entry : links_[l].entries) open[l] += entry.per_level;
    place(l, room[l] / open[l]);
  }
  for (std::uint32_t id = 0; id < levels_.size(); ++id) {
    if (!levels_[id].alive) continue;
    levels_[id].bottleneck = kLoose;
    if (levels_[id].cap_level != kUnlimited)
      place(static_cast<std::uint32_t>(links_.size()) + id, levels_[id].cap_level);
  }
  const auto stop = [&](std::uint32_t id, double level, std::uint32_t bottleneck) {
    set_level(id, level);
    levels_[id].bottleneck = bottleneck;
    for (const LinkShare& use : flows_[id].links) {
      const double per_level = use.share * flows_[id].weight;
      room[use.link.index()] -= per_level * level;
      open[use.link.index()] -= per_level;
    }
  };
  double water = 0;
  while (!heap_.empty()) {
    const Place next = take_next();
    if (next.item >= links_.size()) {
      const std::uint32_t id = next.item - static_cast<std::uint32_t>(links_.size());
      if (levels_[id].bottleneck == kLoose) stop(id, next.key, kCapped);
      continue;
    }
    const std::uint32_t l = next.item;
    if (std::none_of(links_[l].entries.begin(), links_[l].entries.end(),
                     [this](const Entry& entry) { return levels_[entry.flow].bottleneck == kLoose; })) {
      continue;
    }
    // Flows that stopped elsewhere have left more for the others: the link fills later.
    const double level = std::max(water, room[l] / open[l]);
    if (level > next.key * (1 + kSame)) {
      place(l, level);
      continue;
    }
    water = links_[l].level = level;
    for (const Entry& entry : links_[l].entries) {
      if (levels_[entry.flow].bottleneck == kLoose) stop(entry.flow, level, l);
    }
  }
  return changed_;
}

}  // namespace contend
