#include "network/fluid.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>

namespace contend {

namespace {

// Rates have rounding errors. A flow that would end after a nanosecond by less than this part of its duration, and by
// no more than a quarter of a nanosecond, ends in it.
constexpr double kRounding = 1e-12, kMostRounding_ns = 0.25;
constexpr double kPerNanosecond = 1e-9;

std::vector<double> per_nanosecond(std::span<const double> capacities) {
  std::vector<double> scaled(capacities.begin(), capacities.end());
  for (double& capacity : scaled) capacity *= kPerNanosecond;
  return scaled;
}

}  // namespace

FluidNetwork::FluidNetwork(std::span<const double> capacities)
    : shares_{per_nanosecond(capacities)}, carried_(capacities.size(), 0) {}

FlowId FluidNetwork::start(const Start& start, Time now) {
  CONTEND_CHECK(start.bytes > 0 && std::isfinite(start.bytes), "a flow without bytes");
  advance(now);
  const FlowId id = shares_.add(start.links, start.weight, start.cap * kPerNanosecond, start.priority);
  if (flows_.size() <= id.index()) {
    flows_.resize(id.index() + 1);
    origins_.resize(id.index() + 1);
  }
  flows_[id.index()] = {.remaining = start.bytes, .rate = 0, .since = now, .active = true};
  origins_[id.index()] = {.bytes = start.bytes, .order = next_order_++};
  started_.push_back(id);
  ++active_;
  stale_ = true;
  return id;
}

void FluidNetwork::leave(FlowId id, double sent) {
  ends_.set(id.index(), Time::never());
  carry(shares_.links(id), sent);
  shares_.remove(id);
  flows_[id.index()].active = false;
  --active_;
  stale_ = true;
}

void FluidNetwork::carry(std::span<const LinkShare> links, double bytes) {
  for (const LinkShare& use : links) carried_[use.link.index()] += use.share * bytes;
}

double FluidNetwork::cancel(FlowId flow, Time now) {
  advance(now);
  progress(flow, now);
  const double left = flows_[flow.index()].remaining;
  leave(flow, origins_[flow.index()].bytes - left);
  return left;
}

void FluidNetwork::progress(FlowId id, Time now) {
  Progress& flow = flows_[id.index()];
  // The end was rounded up, so the flow sends no more than what is left of it.
  const double bytes = std::min(flow.remaining, flow.rate * static_cast<double>((now - flow.since).ns()));
  if (observer_ != nullptr && bytes > 0) observer_->sent(id, flow.since, now, bytes);
  flow.remaining -= bytes;
  flow.since = now;
}

void FluidNetwork::report_progress(Time now) {
  advance(now);
  for (std::size_t f = 0; f < flows_.size(); ++f) {
    if (flows_[f].active) progress(FlowId{f}, now);
  }
}

void FluidNetwork::set_capacity(LinkId link, double bytes_per_second, Time now) {
  advance(now);
  shares_.set_capacity(link, bytes_per_second * kPerNanosecond);
  stale_ = true;
}

void FluidNetwork::set_efficiency(LinkId link, LinkEfficiency efficiency, Time now) {
  advance(now);
  shares_.set_efficiency(link, std::move(efficiency));
  stale_ = true;
}

// Solves changes of an earlier instant before the clock moves on, so that they take effect at that instant.
void FluidNetwork::advance(Time now) {
  CONTEND_DCHECK(now >= now_, "a change of a network lies before the last one");
  if (now > now_) solve();
  now_ = now;
}

// Solves all changes of the instant now_ at once.
void FluidNetwork::solve() {
  if (!stale_) return;
  stale_ = false;
  for (const FlowId id : resolve_all_ ? shares_.solve_all() : shares_.solve()) {
    progress(id, now_);
    flows_[id.index()].rate = shares_.rate(id);
    if (observer_ != nullptr) observer_->rate_changed(id, now_, flows_[id.index()].rate);
    schedule(id);
  }
  if (observer_ != nullptr) {
    for (const FlowId id : started_)
      if (flows_[id.index()].active && flows_[id.index()].rate == 0) observer_->rate_changed(id, now_, 0);
  }
  started_.clear();
  if (observer_ != nullptr) observer_->solved(now_);
}

void FluidNetwork::schedule(FlowId id) {
  const Progress& flow = flows_[id.index()];
  if (!(flow.rate > 0)) return ends_.set(id.index(), Time::never());  // it stalls
  const double left = flow.remaining / flow.rate;
  constexpr double kFarAway = 9e18;
  const bool is_near = left < kFarAway - static_cast<double>(flow.since.ns());
  if (!is_near && observer_ != nullptr) observer_->never_ends(id, flow.since, flow.remaining);
  const Time end =
      is_near ? flow.since + Time::ceil_nanoseconds(left - std::min(left * kRounding, kMostRounding_ns)) : kEndOfClock;
  ends_.set(id.index(), end);
}

Time FluidNetwork::next_end() {
  solve();
  return ends_.earliest();
}

void FluidNetwork::finish_due(Time now, std::vector<FlowId>& ended) {
  advance(now);
  const std::size_t first = ended.size();
  ends_.until(now, [&](std::size_t i) { ended.push_back(FlowId{i}); });
  std::sort(ended.begin() + static_cast<std::ptrdiff_t>(first), ended.end(),
            [this](FlowId a, FlowId b) { return origins_[a.index()].order < origins_[b.index()].order; });
  for (std::size_t i = first; i < ended.size(); ++i) {
    const double bytes = origins_[ended[i].index()].bytes;
    progress(ended[i], now);
    CONTEND_DCHECK(flows_[ended[i].index()].remaining <= flows_[ended[i].index()].rate + 1e-9 * bytes,
                   "a flow ends when its last byte has been sent");
    leave(ended[i], bytes);
  }
}

double FluidNetwork::rate(FlowId flow) {
  solve();
  return flows_[flow.index()].rate / kPerNanosecond;
}

double FluidNetwork::remaining(FlowId id, Time now) {
  solve();
  const Progress& flow = flows_[id.index()];
  return std::max(0.0, flow.remaining - flow.rate * static_cast<double>((now - flow.since).ns()));
}

double FluidNetwork::carried(LinkId link, Time now) {
  double sum = carried_[link.index()];
  for (std::size_t i = 0; i < shares_.flows_on(link); ++i) {
    const FlowId id = shares_.flow_on(link, i);
    const auto uses = shares_.links(id);
    const auto use = std::find_if(uses.begin(), uses.end(), [link](const LinkShare& u) { return u.link == link; });
    sum += use->share * (origins_[id.index()].bytes - remaining(id, now));
  }
  return sum;
}

}  // namespace contend
