#include "models/overlap/exchange_network.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <bit>

namespace contend {

void ExchangeLanes::progress(Transfer& transfer, Time now) const {
  Time elapsed = now - transfer.updated;
  const Time start_up = std::min(elapsed, transfer.latency);
  transfer.latency -= start_up;
  elapsed -= start_up;
  if (elapsed > Time{}) {
    const double ns = per_byte(transfer);
    transfer.bytes = ns > 0 ? std::max(0.0, transfer.bytes - static_cast<double>(elapsed.ns()) / ns) : 0.0;
  }
  transfer.updated = now;
}

void ExchangeLanes::set_ways(TransferLane lane, Time now) {
  const std::size_t ways = cost_.shares() ? on_lane_[static_cast<std::size_t>(lane)] : 1;
  for (const TransferId id : active_) {
    Transfer& transfer = transfers_[id.index()];
    if (transfer.cost.lane == lane && transfer.ways != ways) set_rate(transfer, ways, transfer.factor, now);
  }
}

void ExchangeLanes::set_rate(Transfer& transfer, std::size_t ways, double factor, Time now) {
  progress(transfer, now);  // nothing of one that starts now
  transfer.ways = ways;
  transfer.factor = factor;
  const double ns = per_byte(transfer);
  transfer.end = now + transfer.latency + Time::ceil_nanoseconds(transfer.bytes * ns, transfer.all_bytes * ns);
}

void ExchangeLanes::slow_down(TransferId id, double factor, Time now) {
  Transfer& transfer = transfers_[id.index()];
  if (factor != transfer.factor) set_rate(transfer, transfer.ways, factor, now);
}

TransferId ExchangeLanes::start(CollectiveKind kind, CollectiveScope scope, Bytes bytes, Time now) {
  TransferId id{transfers_.size()};
  if (free_.empty()) {
    transfers_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  const TransferCost cost = cost_.transfer(kind, scope, bytes);
  transfers_[id.index()] = {cost, cost.alpha, bytes.to_double(), bytes.to_double(), now, now, 0, 1};
  active_.insert(std::upper_bound(active_.begin(), active_.end(), id), id);
  ++on_lane_[static_cast<std::size_t>(cost.lane)];
  set_ways(cost.lane, now);
  return id;
}

Time ExchangeLanes::next_end() const {
  Time next = Time::never();
  for (const TransferId id : active_) next = std::min(next, transfers_[id.index()].end);
  return next;
}

void ExchangeLanes::remove(TransferId id) {
  active_.erase(std::lower_bound(active_.begin(), active_.end(), id));
  --on_lane_[static_cast<std::size_t>(transfers_[id.index()].cost.lane)];
  free_.push_back(id);
}

void ExchangeLanes::finish_due(Time now, std::vector<TransferId>& ended) {
  const std::size_t first = ended.size();
  // A transfer that speeds up because others end may be at its own end too.
  for (std::size_t begin = first;; begin = ended.size()) {
    for (const TransferId id : active_) {
      if (transfers_[id.index()].end <= now) ended.push_back(id);
    }
    if (ended.size() == begin) break;
    for (std::size_t i = begin; i < ended.size(); ++i) remove(ended[i]);
    for (const TransferLane lane : {TransferLane::interface, TransferLane::pull, TransferLane::inside})
      set_ways(lane, now);
  }
  std::sort(ended.begin() + static_cast<std::ptrdiff_t>(first), ended.end());
}

void ExchangeLanes::save_state(TransferId id, Time now, std::vector<std::uint64_t>& words) const {
  const Transfer& transfer = transfers_[id.index()];
  words.push_back(std::bit_cast<std::uint64_t>(transfer.bytes));
  words.push_back(static_cast<std::uint64_t>(transfer.latency.ns()));
  words.push_back(static_cast<std::uint64_t>((now - transfer.updated).ns()));
  words.push_back(transfer.ways);
  words.push_back(std::bit_cast<std::uint64_t>(transfer.factor));
}

std::unique_ptr<NetworkModel> make_exchange_network(const ExchangeCost& cost, std::size_t servers, std::size_t jobs) {
  AlphaBeta network;
  network.each = [cost](const TransferRequest& request) {
    return cost.transfer(request.collective, request.scope, request.bytes);
  };
  network.carries_inside = true;
  return cost.shares() ? make_contention_network(network, servers, jobs)
                       : make_analytic_network(network, servers, jobs);
}

}  // namespace contend
