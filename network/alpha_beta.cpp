#include "network/alpha_beta.hpp"

#include "network/delay_ledger.hpp"
#include "network/logged_routes.hpp"
#include "network/usage_meter.hpp"
#include "sim/calendar.hpp"
#include "sim/check.hpp"
#include "sim/fetch.hpp"
#include "sim/transfer_forecast.hpp"
#include "sim/transfer_log.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>

namespace contend {

namespace {

class AlphaBetaNetwork final : public NetworkModel,
                               public LeapableNetwork,
                               public TransferForecast,
                               public LoggedNetwork {
 public:
  AlphaBetaNetwork(const AlphaBeta& cost, bool contention, std::size_t servers, std::size_t jobs,
                   std::vector<bool> watched)
      : cost_{cost},
        contention_{contention},
        delays_{std::move(watched)},
        interfaces_(servers),
        inside_(jobs),
        job_meter_(jobs) {
    CONTEND_CHECK(cost.each || cost.beta.ns_per_byte() > 0, "beta is positive");
  }

  [[nodiscard]] bool folds_servers() const override { return true; }

  void fold(std::span<const ServerId> servers) override {
    folded_.resize(interfaces_.size());
    const ServerId first = servers.front();
    CONTEND_CHECK(at(first).transfers.empty(), "no transfer touches servers that are folded");
    for (const ServerId server : servers.subspan(1)) {
      CONTEND_CHECK(at(server).transfers.empty(), "no transfer touches servers that are folded");
      folded_[server.index()] = {first, at(server).meter.ended() - at(first).meter.ended()};
    }
  }

  void unfold(std::span<const ServerId> apart) override {
    const ServerId first = apart.front(), from = folded_[first.index()].into;
    const Usage more = folded_[first.index()].more;
    Interface& here = at(first);
    here.transfers = at(from).transfers;
    here.on_lane = at(from).on_lane;
    here.meter = at(from).meter;
    here.meter.add(more);
    for (const TransferId id : here.transfers) transfers_[id.index()].servers.push_back(first);
    for (const ServerId server : apart) {
      Folded& folded = folded_[server.index()];
      folded = server == first ? Folded{} : Folded{first, folded.more - more};
    }
  }

  [[nodiscard]] std::size_t active_count(ServerId server) const override { return at(server).transfers.size(); }

  void active(ServerId server, std::vector<ActiveTransfer>& transfers) const override {
    const auto& here = at(server).transfers;
    for (const TransferId id : here) fetch_lines<1>(&transfers_[id.index()]);
    for (const TransferId id : here) {
      const Transfer& transfer = transfers_[id.index()];
      transfers.push_back({transfer.job, progressed(transfer, now_).bytes, sizes_[id.index()].later});
    }
  }

  [[nodiscard]] Time solo_time(const TransferRequest& request) const override {
    const TransferCost cost = cost_of(request);
    return cost.alpha * request.times +
           Time::ceil_nanoseconds(request.all_bytes().to_double() * cost.beta.ns_per_byte());
  }

  TransferId start(const TransferRequest& request, Time now) override {
    now_ = now;
    const TransferId id = take_slot();
    Transfer& transfer = transfers_[id.index()];
    transfer.job = request.job;
    const TransferCost cost = cost_of(request);
    transfer.beta = cost.beta;
    transfer.eta = cost.eta;
    transfer.lane = cost.lane;
    transfer.among = request.gpus.empty() ? GpuId::none() : request.gpus.front();
    transfer.servers.clear();
    if (cost.lane != TransferLane::inside) {
      const std::span<const ServerId> touched = request.interfaces.empty() ? request.servers : request.interfaces;
      transfer.servers.assign(touched.begin(), touched.end());
    }
    transfer.left = {cost.alpha * request.times, request.all_bytes().to_double()};
    if (sizes_.size() < transfers_.size()) sizes_.resize(transfers_.size());
    sizes_[id.index()] = {transfer.left.bytes, request.later.to_double()};
    transfer.updated = now;
    transfer.ways = 0;
    transfer.factor = 1;
    job_meter_[request.job.index()].change(1, 0, now);
    job_meter_[request.job.index()].count_transfer(request.all_bytes());
    for (const ServerId server : transfer.servers) {
      Interface& here = at(server);
      here.transfers.push_back(id);
      const bool contended = ++count_on(transfer, server) == 2;
      here.meter.change(1, contended ? 1 : 0, now);
      here.meter.count_transfer(request.all_bytes());
    }
    if (transfer.servers.empty()) inside_[request.job.index()].push_back(id);
    if (!transfer.servers.empty() && delays_.watches(transfer.job)) delays_.begin(id.index(), transfer.job, now);
    if (log_ != nullptr) log_->begins(id, logged_.number(request, cost, contention_, *log_), now, 0);
    update_neighbours(transfer);
    return id;
  }

  [[nodiscard]] Time next_end() const override { return calendar_.next_time(); }

  TransferId foresee() override {
    if (calendar_.empty()) return TransferId::none();
    const TransferId next = calendar_.next_payload();
    if (std::exchange(foreseen_, next) != next) foreseen_steps_ = 0;
    const Transfer& transfer = transfers_[next.index()];
    if (foreseen_steps_ == 0) fetch_lines<2>(&transfer);
    if (foreseen_steps_ == 1) {
      fetch_lines<1>(&job_meter_[transfer.job.index()]);
      for (const ServerId server : transfer.servers) fetch_lines<2>(&at(server));
    }
    foreseen_steps_ = std::min(foreseen_steps_ + 1, 2);
    return next;
  }

  void set_now(Time now) override { now_ = now; }

  void finish_due(Time now, std::vector<TransferId>& ended) override {
    now_ = now;
    const std::size_t first = ended.size();
    // A transfer that speeds up because others end may be at its own end too.
    for (std::size_t begin = first; calendar_.next_time() <= now; begin = ended.size()) {
      while (calendar_.next_time() <= now) ended.push_back(calendar_.pop().payload);
      for (std::size_t i = begin; i < ended.size(); ++i) detach(ended[i], TransferLog::End::sent);
      for (std::size_t i = begin; i < ended.size(); ++i) update_neighbours(transfers_[ended[i].index()]);
    }
    std::sort(ended.begin() + static_cast<std::ptrdiff_t>(first), ended.end());
    free_.insert(free_.end(), ended.begin() + static_cast<std::ptrdiff_t>(first), ended.end());
  }

  [[nodiscard]] bool can_slow_down() const override { return true; }
  void slow_down(TransferId id, double factor, Time now) override {
    now_ = now;
    if (transfers_[id.index()].factor == factor) return;
    set_rate(id, transfers_[id.index()].ways, factor);
  }

  void cancel(TransferId id, Time now) override {
    now_ = now;
    calendar_.cancel(transfers_[id.index()].event);
    detach(id, TransferLog::End::cancelled);
    update_neighbours(transfers_[id.index()]);
    free_.push_back(id);
  }

  [[nodiscard]] Usage server_usage(ServerId server, Time now) const override {
    if (!is_folded(server)) return at(server).meter.at(now);
    const Folded& folded = folded_[server.index()];
    return at(folded.into).meter.at(now) + folded.more;
  }
  [[nodiscard]] Usage job_usage(JobId job, Time now) const override { return job_meter_[job.index()].at(now); }

  [[nodiscard]] bool carries_inside_servers() const override { return cost_.carries_inside; }
  [[nodiscard]] LeapableNetwork* leaping() override { return this; }

  void log_to(TransferLog& log) override { log_ = &log; }
  [[nodiscard]] TransferLog* log() const override { return log_; }

  [[nodiscard]] Time grid() const override { return cost_.tick; }

  void save_state(TransferId id, Time now, std::vector<std::uint64_t>& words) const override {
    const Transfer& transfer = transfers_[id.index()];
    words.push_back(std::bit_cast<std::uint64_t>(transfer.left.bytes));
    words.push_back(static_cast<std::uint64_t>(transfer.left.latency.ns()));
    words.push_back(static_cast<std::uint64_t>((now - transfer.updated).ns()));
    words.push_back(transfer.ways);
    if (transfer.factor != 1) words.push_back(std::bit_cast<std::uint64_t>(transfer.factor));
  }

  void shift(TransferId id, Time by) override {
    Transfer& transfer = transfers_[id.index()];
    transfer.updated += by;
    transfer.end += by;
    delays_.shift(id.index(), by);
    calendar_.reschedule(transfer.event, transfer.end);
  }

  void leap_usage(JobId job, const Usage& per_period, std::int64_t times, Time by) override {
    job_meter_[job.index()].leap(per_period, times, by);
  }
  void leap_usage(ServerId server, const Usage& per_period, std::int64_t times, Time by) override {
    if (!is_folded(server)) at(server).meter.leap(per_period, times, by);
  }

  void save_totals(JobId job, Time now, Totals& totals) override {
    if (delays_.watches(job)) totals.delays = delays_.totals(job, now);
  }
  void leap_totals(JobId job, const Totals& then, const Totals& now, const LeapablePeriod& period) override {
    if (delays_.watches(job)) delays_.leap(job, then.delays, now.delays, period.times);
  }
  void report(Time now, NetworkReport& report) override {
    report.delays = delays_.delays(now);
    report.has_delays = delays_.watches_any();
  }

 private:
  /// The rest of a transfer: first its start-up time, then its bytes.
  struct Left {
    Time latency;
    double bytes = 0;
  };

  /// In bytes: of a whole transfer, and TransferRequest::later.
  struct Sizes {
    double all = 0, later = 0;
  };

  /// It fills two cache lines, and the first has what its progress depends on.
  struct alignas(kCacheLine) Transfer {
    JobId job;
    std::uint32_t ways = 0;  // k
    TimePerByte beta, eta;   // as in TransferCost
    Left left;
    Time updated;       // when `left` was true
    double factor = 1;  // of slow_down()
    Time end;

    EventHandle event;
    GpuId among;  // its first GPU: transfers of one job from the same GPUs share the links inside its servers
    TransferLane lane = TransferLane::interface;
    boost::container::small_vector<ServerId, 4> servers;  // empty: it is on the links inside the servers of its job
  };
  static_assert(sizeof(Transfer) == 2 * kCacheLine);

  /// The interface of a server.
  struct alignas(kCacheLine) Interface {
    boost::container::small_vector<TransferId, 8> transfers;
    std::array<std::uint32_t, 2> on_lane{};  // transfers by direction
    UsageMeter meter;
  };
  static_assert(sizeof(Interface) == 2 * kCacheLine);

  /// Of a server that is simulated as another one: that one, and by how much more its own interface has carried.
  struct Folded {
    ServerId into;
    Usage more;
  };

  [[nodiscard]] bool is_folded(ServerId server) const {
    return !folded_.empty() && folded_[server.index()].into.valid();
  }
  [[nodiscard]] TransferCost cost_of(const TransferRequest& request) const {
    return cost_.each ? cost_.each(request) : TransferCost{cost_.alpha, cost_.beta, cost_.eta};
  }
  [[nodiscard]] static double per_byte(const Transfer& transfer) {
    const auto k = static_cast<double>(transfer.ways);
    return transfer.factor * (k * transfer.beta.ns_per_byte() + (k - 1) * transfer.eta.ns_per_byte());
  }
  [[nodiscard]] Interface& at(ServerId server) { return interfaces_[server.index()]; }
  [[nodiscard]] const Interface& at(ServerId server) const { return interfaces_[server.index()]; }
  [[nodiscard]] static bool is_pull(const Transfer& transfer) { return transfer.lane == TransferLane::pull; }
  [[nodiscard]] std::uint32_t& count_on(const Transfer& transfer, ServerId server) {
    return at(server).on_lane[is_pull(transfer) ? 1 : 0];
  }

  [[nodiscard]] Left progressed(const Transfer& transfer, Time now) const {
    Left left = transfer.left;
    Time elapsed = now - transfer.updated;
    const Time start_up = std::min(elapsed, left.latency);
    left.latency -= start_up;
    elapsed -= start_up;
    if (elapsed > Time{}) {
      const double ns = per_byte(transfer);
      left.bytes = ns > 0 ? std::max(0.0, left.bytes - static_cast<double>(elapsed.ns()) / ns) : 0.0;
    }
    return left;
  }

  [[nodiscard]] std::uint32_t ways_of(const Transfer& transfer) {
    std::uint32_t ways = 1;
    if (!contention_) return ways;
    if (transfer.servers.empty()) {
      const auto sharing = std::ranges::count_if(inside_[transfer.job.index()], [&](TransferId other) {
        return transfers_[other.index()].among == transfer.among;
      });
      return std::max(ways, static_cast<std::uint32_t>(sharing));
    }
    for (const ServerId server : transfer.servers) ways = std::max(ways, count_on(transfer, server));
    return ways;
  }

  TransferId take_slot() {
    if (free_.empty()) {
      transfers_.emplace_back();
      mark_.push_back(0);
      return TransferId{transfers_.size() - 1};
    }
    const TransferId id = free_.back();
    free_.pop_back();
    return id;
  }

  /// Removes the transfer from its servers. It does not update the k of the others.
  void detach(TransferId id, TransferLog::End how) {
    if (log_ != nullptr) log_->ends(id, now_, how);
    const Transfer& transfer = transfers_[id.index()];
    job_meter_[transfer.job.index()].change(-1, transfer.ways >= 2 ? -1 : 0, now_);
    for (const ServerId server : transfer.servers) {
      Interface& here = at(server);
      here.transfers.erase(std::find(here.transfers.begin(), here.transfers.end(), id));
      const bool was_contended = --count_on(transfer, server) == 1;
      here.meter.change(-1, was_contended ? -1 : 0, now_);
    }
    if (transfer.servers.empty()) std::erase(inside_[transfer.job.index()], id);
    delays_.end(id.index(), now_);
  }

  /// Re-evaluates the k of every transfer that shares a server, or the links inside, with this one.
  void update_neighbours(const Transfer& transfer) {
    if (transfer.servers.empty()) {
      for (const TransferId id : inside_[transfer.job.index()]) update(id);
      return;
    }
    ++round_;
    for (const ServerId server : transfer.servers) {
      for (const TransferId id : at(server).transfers) {
        if (mark_[id.index()] == round_) continue;
        mark_[id.index()] = round_;
        update(id);
        if (!delays_.idle()) write_delays(id);
      }
    }
  }

  /// Who slows the transfer down from now on, and where.
  void write_delays(TransferId id) {
    const Transfer& transfer = transfers_[id.index()];
    if (!delays_.watches(transfer.job)) return;
    others_.clear();
    std::size_t where = 0;
    for (const ServerId server : transfer.servers) {
      if (transfer.ways < 2 || count_on(transfer, server) != transfer.ways) continue;
      where = server.index();
      for (const TransferId other : at(server).transfers)
        if (other != id && is_pull(transfers_[other.index()]) == is_pull(transfer))
          others_.emplace_back(transfers_[other.index()].job, 1.0);
      break;
    }
    const double ns = per_byte(transfer);
    const double lost = ns > 0 ? 1 - transfer.factor * transfer.beta.ns_per_byte() / ns : 0;
    delays_.slowed(id.index(), now_, transfer.updated + transfer.left.latency, lost, where, others_);
  }

  void update(TransferId id) {
    Transfer& transfer = transfers_[id.index()];
    const std::uint32_t ways = ways_of(transfer);
    if (ways != transfer.ways) set_rate(id, ways, transfer.factor);
  }

  void set_rate(TransferId id, std::uint32_t ways, double factor) {
    Transfer& transfer = transfers_[id.index()];
    const bool is_under_way = transfer.ways > 0;
    if (is_under_way) transfer.left = progressed(transfer, now_);
    const int contended_change = (ways >= 2 ? 1 : 0) - (transfer.ways >= 2 ? 1 : 0);
    if (contended_change != 0) job_meter_[transfer.job.index()].change(0, contended_change, now_);
    transfer.ways = ways;
    transfer.factor = factor;
    transfer.updated = now_;
    if (log_ != nullptr) log_->sends(id, now_, 1e9 / per_byte(transfer));
    const double ns = per_byte(transfer), whole = is_under_way ? sizes_[id.index()].all * ns : 0;
    transfer.end = now_ + transfer.left.latency + Time::ceil_nanoseconds(transfer.left.bytes * ns, whole);
    if (cost_.tick > Time{}) {
      const std::int64_t tick = cost_.tick.ns();
      transfer.end = Time::nanoseconds((transfer.end.ns() + tick - 1) / tick * tick);
    }
    if (calendar_.pending(transfer.event)) {
      calendar_.reschedule(transfer.event, transfer.end);
    } else {
      transfer.event = calendar_.schedule(transfer.end, Phase::completions, id);
    }
  }

  AlphaBeta cost_;
  bool contention_;
  DelayLedger delays_;
  std::vector<std::pair<JobId, double>> others_;  // scratch
  Time now_;
  std::vector<Transfer> transfers_;
  std::vector<Sizes> sizes_;  // by transfer
  std::vector<TransferId> free_;
  std::vector<std::uint64_t> mark_;
  std::uint64_t round_ = 0;
  std::vector<Interface> interfaces_;            // by server
  std::vector<Folded> folded_;                   // by server; empty before the first call of fold()
  std::vector<std::vector<TransferId>> inside_;  // by job
  std::vector<UsageMeter> job_meter_;
  int foreseen_steps_ = 0;  // of foresee()
  TransferId foreseen_;
  TransferLog* log_ = nullptr;  // none: nobody asks for one
  LoggedRoutes logged_;
  Calendar<TransferId> calendar_;
};

}  // namespace

std::unique_ptr<NetworkModel> make_analytic_network(const AlphaBeta& cost, std::size_t servers, std::size_t jobs) {
  return std::make_unique<AlphaBetaNetwork>(cost, false, servers, jobs, std::vector<bool>{});
}

std::unique_ptr<NetworkModel> make_contention_network(const AlphaBeta& cost, std::size_t servers, std::size_t jobs,
                                                      std::vector<bool> watched) {
  return std::make_unique<AlphaBetaNetwork>(cost, true, servers, jobs, std::move(watched));
}

}  // namespace contend
