#include "network/max_min_fill.hpp"

#include "sim/check.hpp"

#include <algorithm>

namespace contend {

namespace {

// A level that is above another by less than this part may be so by rounding alone.
constexpr double kSameWater = 1e-12;

// A link with no more room than this part of its capacity is full: what is left may be rounding, and a flow with a tiny
// share would seem to fit.
constexpr double kFull = 1e-9;

// A checkpoint copies the slots, and saves filling again; so many slots cost about as much as one flow.
constexpr std::size_t kSlotsPerFlow = 8;
constexpr std::size_t kFewestBetween = 32;
constexpr std::size_t kMostCheckpoints = 16;

}  // namespace

void MaxMinFill::begin(std::vector<double> capacities) {
  capacities_ = std::move(capacities);
  slot_of_link_.assign(capacities_.size(), kNone);
  links_.clear();
  most_open_.clear();
  hops_.clear();
  paths_.clear();
  stopped_at_.clear();
  stops_.clear();
  new_.clear();
  if (checkpoints_.empty()) checkpoints_.emplace_back();
  checkpoints_.front().slots.clear();
  kept_ = 1;
  alive_ = changes_ = 0;
}

std::uint32_t MaxMinFill::slot_of(std::uint32_t link) {
  std::uint32_t& slot = slot_of_link_[link];
  if (slot == kNone) {
    slot = static_cast<std::uint32_t>(links_.size());
    links_.push_back(link);
    most_open_.push_back(0);
    for (std::size_t i = 0; i < kept_; ++i) checkpoints_[i].slots.push_back({capacities_[link], 0, 0});
  }
  return slot;
}

/// True if the flow, had it been there, would not have stopped before, and no other would have for its sake.
bool MaxMinFill::holds(const Checkpoint& state, const Path& path) const {
  const double above = state.water * (1 + kSameWater);
  if (!(path.cap_level > above)) return false;
  return std::all_of(hops_.begin() + path.first, hops_.begin() + path.first + path.hops, [&](const Hop& hop) {
    const Slot& slot = state.slots[hop.slot];
    const bool is_full = slot.room <= kFull * capacities_[links_[hop.slot]];
    return !is_full && slot.room > above * (slot.open_per_level + hop.per_level);
  });
}

void MaxMinFill::add(std::uint32_t flow, std::span<const LinkShare> links, double weight, double cap_level) {
  ++changes_;
  ++alive_;
  if (paths_.size() <= flow) {
    paths_.resize(flow + 1);
    stopped_at_.resize(flow + 1, kNone);
  }
  Path& path = paths_[flow];
  path = {static_cast<std::uint32_t>(hops_.size()), static_cast<std::uint32_t>(links.size()), cap_level, true};
  for (const LinkShare& use : links) hops_.push_back({use.share * weight, slot_of(use.link.value())});
  stopped_at_[flow] = kNone;
  new_.push_back(flow);
  while (kept_ > 1 && !holds(checkpoints_[kept_ - 1], path)) --kept_;
  for (std::size_t i = 0; i < kept_; ++i) {
    for (std::uint32_t h = path.first; h < path.first + path.hops; ++h) {
      Slot& slot = checkpoints_[i].slots[hops_[h].slot];
      slot.open_per_level += hops_[h].per_level;
      ++slot.open;
      if (i == 0) most_open_[hops_[h].slot] = std::max(most_open_[hops_[h].slot], slot.open_per_level);
    }
  }
}

void MaxMinFill::remove(std::uint32_t flow, const FlowsOnLinks& flows) {
  Path& path = paths_[flow];
  CONTEND_DCHECK(path.alive, "removed a flow that is not there");
  ++changes_;
  --alive_;
  path.alive = false;
  if (stopped_at_[flow] != kNone) {
    while (checkpoints_[kept_ - 1].stopped > stopped_at_[flow]) --kept_;
  }
  stopped_at_[flow] = kNone;
  // The first checkpoint comes last: it has the largest sums.
  for (std::size_t i = kept_; i-- > 0;) {
    for (std::uint32_t h = path.first; h < path.first + path.hops; ++h) {
      const std::uint32_t s = hops_[h].slot;
      Slot& slot = checkpoints_[i].slots[s];
      slot.open_per_level = --slot.open == 0 ? 0 : slot.open_per_level - hops_[h].per_level;
      if (slot.open == 0 || slot.open_per_level >= kRemnant * most_open_[s]) continue;
      sum_up(slot, links_[s], checkpoints_[i].stopped, flows[links_[s]]);
      if (i == 0) most_open_[s] = slot.open_per_level;
    }
  }
}

// Goes back to the last checkpoint, and puts what has not stopped there in order.
void MaxMinFill::resume() {
  const Checkpoint& from = checkpoints_[kept_ - 1];
  slots_ = from.slots;
  const auto slots = static_cast<std::uint32_t>(slots_.size());
  heap_.clear();
  for (std::uint32_t s = 0; s < slots; ++s) {
    const Slot& slot = slots_[s];
    if (slot.open == 0) continue;
    heap_.push_back({is_worn(slot, s) ? from.water : std::max(from.water, slot.room / slot.open_per_level), s});
  }
  const auto loosen = [&](std::uint32_t flow) {
    stopped_at_[flow] = kNone;
    const Path& path = paths_[flow];
    if (path.alive && path.cap_level != std::numeric_limits<double>::infinity())
      heap_.push_back({path.cap_level, slots + flow});
  };
  for (std::size_t i = from.stopped; i < stops_.size(); ++i) loosen(stops_[i].flow);
  for (const std::uint32_t flow : new_) loosen(flow);
  new_.clear();
  stops_.resize(from.stopped);
  std::make_heap(heap_.begin(), heap_.end(), Later{});
}

void MaxMinFill::stop(std::uint32_t flow, std::uint32_t bottleneck, double level) {
  stopped_at_[flow] = static_cast<std::uint32_t>(stops_.size());
  stops_.push_back({flow, bottleneck, level});
  const Path& path = paths_[flow];
  const Hop* const end = hops_.data() + path.first + path.hops;
  for (const Hop* hop = hops_.data() + path.first; hop != end; ++hop) {
    Slot& slot = slots_[hop->slot];
    slot.room -= hop->per_level * level;
    slot.open_per_level -= hop->per_level;
    --slot.open;
  }
}

/// Computes the sums of a link from its flows, of which those have stopped that were among the first `stopped`.
void MaxMinFill::sum_up(Slot& slot, std::uint32_t link, std::size_t stopped,
                        const std::vector<FlowOnLink>& flows) const {
  slot.room = capacities_[link];
  slot.open_per_level = 0;
  for (const FlowOnLink& each : flows) {
    const std::uint32_t at = stopped_at_[each.flow];
    if (at < stopped) {
      slot.room -= each.per_level * stops_[at].level;
    } else {
      slot.open_per_level += each.per_level;
    }
  }
}

/// True if most of what the sums of a link began with has been subtracted.
bool MaxMinFill::is_worn(const Slot& slot, std::uint32_t s) const {
  return slot.room <= kRemnant * capacities_[links_[s]] || slot.open_per_level <= kRemnant * most_open_[s];
}

void MaxMinFill::keep_checkpoint(double water) {
  if (checkpoints_.size() == kept_) checkpoints_.emplace_back();
  Checkpoint& state = checkpoints_[kept_++];
  state.stopped = stops_.size();
  state.water = water;
  state.slots = slots_;
}

std::span<const MaxMinFill::Stop> MaxMinFill::fill(const FlowsOnLinks& flows) {
  resume();
  links_seen_ = heap_.size();
  links_full_ = 0;
  const std::size_t first = stops_.size();
  const std::size_t between = std::max({kFewestBetween, alive_ / kMostCheckpoints, slots_.size() / kSlotsPerFlow});
  std::size_t next_checkpoint = first + between;
  double water = checkpoints_[kept_ - 1].water;
  const auto slots = static_cast<std::uint32_t>(slots_.size());
  while (stops_.size() < alive_) {
    CONTEND_CHECK(!heap_.empty(), "a flow has neither a cap nor a link");
    std::pop_heap(heap_.begin(), heap_.end(), Later{});
    const Place next = heap_.back();
    heap_.pop_back();
    if (next.item >= slots) {
      const std::uint32_t flow = next.item - slots;
      if (stopped_at_[flow] != kNone) continue;
      water = std::max(water, next.level);
      stop(flow, kByCap, next.level);
    } else {
      Slot& slot = slots_[next.item];
      if (slot.open == 0) continue;
      const std::uint32_t link = links_[next.item];
      if (is_worn(slot, next.item)) sum_up(slot, link, stops_.size(), flows[link]);
      // Flows that have stopped elsewhere leave more capacity to the others, so the link fills at a higher level.
      const double level = std::max(water, slot.room / slot.open_per_level);
      if (level > next.level * (1 + kSameWater)) {
        ++links_seen_;
        heap_.push_back({level, next.item});
        std::push_heap(heap_.begin(), heap_.end(), Later{});
        continue;
      }
      water = level;
      ++links_full_;
      for (const FlowOnLink& each : flows[link]) {
        if (stopped_at_[each.flow] == kNone) stop(each.flow, link, level);
      }
    }
    if (stops_.size() >= next_checkpoint && stops_.size() < alive_) {
      keep_checkpoint(water);
      next_checkpoint = stops_.size() + between;
    }
  }
  return std::span{stops_}.subspan(first);
}

}  // namespace contend
