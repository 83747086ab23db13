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

void ExchangeLanes::set_ways(std::size_t lane, Time now) {
  for (const TransferId id : active_) {
    Transfer& transfer = transfers_[id.index()];
    if (transfer.lane != lane || transfer.ways == on_lane_[lane]) continue;
    set_rate(transfer, on_lane_[lane], transfer.factor, now);
  }
}

void ExchangeLanes::set_rate(Transfer& transfer, std::size_t ways, double factor, Time now) {
  progress(transfer, now);  // nothing of one that starts now
  transfer.ways = ways;
  transfer.factor = factor;
  transfer.end = now + transfer.latency + Time::ceil_nanoseconds(transfer.bytes * per_byte(transfer));
}

void ExchangeLanes::slow_down(TransferId id, double factor, Time now) {
  Transfer& transfer = transfers_[id.index()];
  if (factor != transfer.factor) set_rate(transfer, transfer.ways, factor, now);
}

TransferId ExchangeLanes::start(CollectiveKind kind, CollectiveScope scope, Bytes bytes, Time now) {
  const LinearCost alone = cost_.sized(bytes, kind, scope);
  const std::size_t outside = cost_.duplex() && kind == CollectiveKind::broadcast ? 1 : 0;
  const std::size_t lane = scope == CollectiveScope::server || cost_.one_server() ? 2 : outside;
  TransferId id{transfers_.size()};
  if (free_.empty()) {
    transfers_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  transfers_[id.index()] = {lane, alone.beta.ns_per_byte(), alone.alpha, bytes.to_double(), now, now, 0, 1};
  active_.insert(std::upper_bound(active_.begin(), active_.end(), id), id);
  ++on_lane_[lane];
  set_ways(lane, now);
  return id;
}

Time ExchangeLanes::next_end() const {
  Time next = Time::never();
  for (const TransferId id : active_) next = std::min(next, transfers_[id.index()].end);
  return next;
}

void ExchangeLanes::remove(TransferId id) {
  active_.erase(std::lower_bound(active_.begin(), active_.end(), id));
  --on_lane_[transfers_[id.index()].lane];
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
    for (std::size_t lane = 0; lane < on_lane_.size(); ++lane) set_ways(lane, now);
  }
  std::sort(ended.begin() + static_cast<std::ptrdiff_t>(first), ended.end());
}

void ExchangeLanes::cancel(TransferId id, Time now) {
  remove(id);
  set_ways(transfers_[id.index()].lane, now);
}

void ExchangeLanes::save_state(TransferId id, Time now, std::vector<std::uint64_t>& words) const {
  const Transfer& transfer = transfers_[id.index()];
  words.push_back(std::bit_cast<std::uint64_t>(transfer.bytes));
  words.push_back(static_cast<std::uint64_t>(transfer.latency.ns()));
  words.push_back(static_cast<std::uint64_t>((now - transfer.updated).ns()));
  words.push_back(transfer.ways);
  words.push_back(std::bit_cast<std::uint64_t>(transfer.factor));
}

double ExchangeLanes::remaining_bytes(TransferId id, Time now) const {
  Transfer transfer = transfers_[id.index()];
  progress(transfer, now);
  return transfer.bytes;
}

std::size_t ExchangeLanes::contended() const {
  std::size_t sharing = 0;
  for (const std::size_t transfers : on_lane_) sharing += transfers > 1 ? transfers : 0;
  return sharing;
}

namespace {

/// Adapts the lanes to the NetworkModel port and keeps the totals of jobs and servers.
class ExchangeNetwork final : public NetworkModel {
 public:
  ExchangeNetwork(const ExchangeCost& cost, std::size_t servers, std::size_t jobs)
      : lanes_{cost}, server_(servers), job_(jobs) {}

  [[nodiscard]] std::size_t active_count(ServerId) const override { return lanes_.active(); }
  void active(ServerId, std::vector<ActiveTransfer>& transfers) const override {
    for (std::size_t i = 0; i < in_flight_.size(); ++i) {
      if (in_flight_[i].servers.empty()) continue;
      transfers.push_back({in_flight_[i].job, lanes_.remaining_bytes(TransferId{i}, now_)});
    }
  }
  [[nodiscard]] Time solo_time(const TransferRequest& request) const override {
    return lanes_.cost().sized(request.bytes, request.collective, request.scope).of(request.bytes);
  }
  TransferId start(const TransferRequest& request, Time now) override {
    account(now);
    const TransferId id = lanes_.start(request.collective, request.scope, request.bytes, now);
    if (id.index() >= in_flight_.size()) in_flight_.resize(id.index() + 1);
    in_flight_[id.index()] = {request.job, {request.servers.begin(), request.servers.end()}};
    count(in_flight_[id.index()], 1);
    const auto add = [&](Account& account) {
      ++account.usage.transfers;
      account.usage.bytes += request.bytes;
    };
    add(job_[request.job.index()]);
    for (const ServerId server : request.servers) add(server_[server.index()]);
    return id;
  }
  [[nodiscard]] bool knows_scopes() const override { return true; }
  [[nodiscard]] Time next_end() const override { return lanes_.next_end(); }
  void set_now(Time now) override { now_ = now; }
  void finish_due(Time now, std::vector<TransferId>& ended) override {
    account(now);
    const std::size_t first = ended.size();
    lanes_.finish_due(now, ended);
    for (std::size_t i = first; i < ended.size(); ++i) forget(ended[i]);
  }
  [[nodiscard]] bool can_slow_down() const override { return true; }
  void slow_down(TransferId id, double factor, Time now) override { lanes_.slow_down(id, factor, now); }
  void cancel(TransferId id, Time now) override {
    account(now);
    lanes_.cancel(id, now);
    forget(id);
  }
  [[nodiscard]] Usage server_usage(ServerId server, Time now) const override {
    return at(server_[server.index()], now);
  }
  [[nodiscard]] Usage job_usage(JobId job, Time now) const override { return at(job_[job.index()], now); }

 private:
  struct Account {
    Usage usage;
    Time since;
    int active = 0;
  };
  struct InFlight {
    JobId job;
    std::vector<ServerId> servers;
  };

  [[nodiscard]] Usage at(const Account& account, Time now) const {
    Usage usage = account.usage;
    if (account.active > 0) usage.active += now - account.since;
    if (account.active > 0 && lanes_.contended() > 0) usage.contended += now - account.since;
    return usage;
  }
  /// Brings all totals up to date before the number of transfers changes.
  void account(Time now) {
    now_ = now;
    for (auto* accounts : {&job_, &server_}) {
      for (Account& each : *accounts) {
        each.usage = at(each, now);
        each.since = now;
      }
    }
  }
  void count(const InFlight& transfer, int by) {
    job_[transfer.job.index()].active += by;
    for (const ServerId server : transfer.servers) server_[server.index()].active += by;
  }
  void forget(TransferId id) {
    count(in_flight_[id.index()], -1);
    in_flight_[id.index()] = {};
  }

  ExchangeLanes lanes_;
  std::vector<InFlight> in_flight_;
  std::vector<Account> server_, job_;
  Time now_;
};

}  // namespace

std::unique_ptr<NetworkModel> make_exchange_network(const ExchangeCost& cost, std::size_t servers, std::size_t jobs) {
  return std::make_unique<ExchangeNetwork>(cost, servers, jobs);
}

}  // namespace contend
