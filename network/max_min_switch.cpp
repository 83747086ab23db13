// Defines how MaxMinSweep (network/max_min_sweep.hpp) changes between sweeping and filling.

#include "network/max_min_sweep.hpp"

#include <algorithm>

namespace contend {

namespace {

// Costs in units of setting one sum of a link while filling, about 5 ns, as bench_flows measured them.
constexpr std::uint64_t kFillLink = 4;      // a link's turn in a filling
constexpr std::uint64_t kSweepStep = 4;     // a sum that a sweep sets, or a link that it looks at
constexpr std::uint64_t kLinksPerMove = 6;  // links that a sweep looks at for a flow whose level it changes
constexpr std::uint64_t kChange = 4;        // changing from one way to the other, for each sum

}  // namespace

bool MaxMinSweep::most_are_new() const {
  return may_fill() && 2 * new_.size() > alive_;
}

// Either way counts what the other would have saved, and gives way to it once that exceeds what the change costs.
void MaxMinSweep::weigh_sweep(std::uint64_t links_seen) {
  const std::uint64_t swept = kSweepStep * (hops_moved_ + links_seen);
  const std::uint64_t filled = (hops_ + kFillLink * links_.size()) / 2;  // half of all flows on average
  regret_ = may_fill() && swept > filled ? regret_ + (swept - filled) : regret_ / 2;
  if (regret_ <= kChange * (hops_ + links_.size())) return;
  regret_ = 0;
  begin_fill();
}

void MaxMinSweep::weigh_fill() {
  const std::size_t flows = std::max<std::size_t>(1, alive_);
  const std::size_t hops = hops_ / flows;
  const std::uint64_t filled = stops_ * hops + kFillLink * fill_->links_seen();
  const std::uint64_t swept = kSweepStep * changed_.size() * (2 * hops + kLinksPerMove);
  regret_ = filled > swept ? regret_ + (filled - swept) : regret_ / 2;
  if (2 * hops_ >= links_.size() && regret_ <= kChange * (hops_ + links_.size())) return;
  end_fill();
}

void MaxMinSweep::abandon_sweep() {
  for (const Place& place : heap_) {
    if (place.item < links_.size()) links_[place.item].waiting = false;
  }
  heap_.clear();
  waiting_links_ = 0;
}

void MaxMinSweep::begin_fill() {
  if (fill_ == nullptr) fill_ = std::make_unique<MaxMinFill>();
  std::vector<double> capacities(links_.size());
  for (std::uint32_t l = 0; l < links_.size(); ++l) capacities[l] = capacity(LinkId{l});
  fill_->begin(std::move(capacities));
  for (std::uint32_t id = 0; id < levels_.size(); ++id) {
    if (levels_[id].alive) fill_->add(id, flows_[id].links, flows_[id].weight, levels_[id].cap_level);
  }
  filling_ = true;
  fill_is_old_ = false;
}

void MaxMinSweep::fill() {
  for (const std::uint32_t l : dirty_) links_[l].dirty = false;
  dirty_.clear();
  new_.clear();
  if (!filling_ || fill_is_old_ || fill_->changes() > kStale + levels_.size()) begin_fill();
  const auto stops = fill_->fill(entries_);
  ++work_.fills;
  work_.links += fill_->links_seen();
  work_.scans += fill_->links_full();
  stops_ = stops.size();
  work_.flows += stops_;
  loose_flows_ = 0;
  for (const MaxMinFill::Stop& stop : stops) {
    Level& flow = levels_[stop.flow];
    flow.bottleneck = stop.bottleneck == MaxMinFill::kByCap ? kCapped : stop.bottleneck;
    if (!differ(flow.level, stop.level)) continue;
    flow.level = stop.level;
    note_change(stop.flow);
  }
}

// The sums of links are not kept while filling, so the sweeps that follow compute them again.
void MaxMinSweep::end_fill() {
  filling_ = false;
  regret_ = 0;
  for (LinkState& link : links_) {
    link.level = kUnlimited;
    link.updates = kStale;
    link.scanned = false;
  }
  for (const MaxMinFill::Stop& stop : fill_->stops()) {
    if (stop.bottleneck != MaxMinFill::kByCap) links_[stop.bottleneck].level = stop.level;
  }
}

}  // namespace contend
