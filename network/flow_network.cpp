#include "network/flow_network.hpp"

#include "network/collectives/collective_run.hpp"
#include "network/delay_ledger.hpp"
#include "network/endless_transfer.hpp"
#include "network/flow_links.hpp"
#include "network/fluid.hpp"
#include "network/leap_recording.hpp"
#include "network/link_claims.hpp"
#include "network/link_ledger.hpp"
#include "network/request_route.hpp"
#include "network/usage_meter.hpp"
#include "sim/calendar.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace contend {

namespace {

constexpr double kAlmostNothing = 1e-6;  // bytes; the rest of a flow that is rerouted at the instant of its end

class FlowNetwork final : public NetworkModel, public LeapableNetwork, public LoggedNetwork, private FlowObserver {
 public:
  FlowNetwork(std::unique_ptr<const Topology> topology, std::unique_ptr<Router> router, FlowNetworkOptions options,
              std::size_t jobs)
      : topology_{std::move(topology)},
        router_{std::move(router)},
        options_{std::move(options)},
        finder_{*topology_, *router_, options_},
        fluid_{capacities_of(*topology_)},
        ledger_{*topology_, options_.link_interval},
        delays_{std::move(options_.watched)},
        on_server_(topology_->servers()),
        server_meter_(topology_->servers()),
        job_meter_(jobs),
        routes_(jobs),
        recordings_(jobs),
        claims_{topology_->links().size(), jobs},
        changes_{topology_->links().size(), std::move(options_.events), std::move(options_.failing),
                 options_.failing_seed},
        is_down_(topology_->links().size()) {
    for (std::size_t l = 0; l < topology_->links().size(); ++l) {
      const LinkEfficiency efficiency = efficiency_of(*topology_, topology_->links()[l], options_);
      if (efficiency.penalty > 0 || !efficiency.factors.empty()) fluid_.set_efficiency(LinkId{l}, efficiency, Time{});
    }
    fluid_.observe(this);
    may_leap_ = changes_.next() == Time::never() && !plans_ahead() && !shifts_iterations() && !delays_.watches_any();
  }

  [[nodiscard]] std::size_t active_count(ServerId server) const override { return on_server_[server.index()].size(); }

  void active(ServerId server, std::vector<ActiveTransfer>& transfers) const override {
    for (const TransferId id : on_server_[server.index()]) {
      const Transfer& transfer = transfers_[id.index()];
      const double left = transfer.route->total - position(transfer);
      const double all = transfer.route->total;
      const double bytes = transfer.route->bytes.to_double() * transfer.route->times;
      transfers.push_back({transfer.job, all > 0 ? bytes * left / all : 0, transfer.later_bytes});
    }
  }

  [[nodiscard]] Time solo_time(const TransferRequest& request) const override { return route_of(request).solo; }

  TransferId start(const TransferRequest& request, Time now) override {
    now_ = now;
    change_links();
    const TransferId id = take_slot();
    Transfer& transfer = transfers_[id.index()];
    transfer = Transfer{};
    transfer.job = request.job;
    transfer.servers.assign(request.servers.begin(), request.servers.end());
    transfer.route = &route_of(request);
    transfer.later_bytes = request.later.to_double();
    transfer.is_active = true;
    ++active_;
    job_meter_[request.job.index()].change(1, 0, now);
    job_meter_[request.job.index()].count_transfer(request.all_bytes());
    for (const ServerId server : transfer.servers) {
      on_server_[server.index()].push_back(id);
      server_meter_[server.index()].change(1, on_server_[server.index()].size() == 2 ? 1 : 0, now);
      server_meter_[server.index()].count_transfer(request.all_bytes());
    }
    begin_step(id, transfer.route->start_up);
    return id;
  }

  [[nodiscard]] Time next_end() const override {
    const Time next = std::min(timers_.next_time(), fluid_.next_end());
    return active_ > 0 ? std::min(next, changes_.next()) : next;
  }

  void set_now(Time now) override { now_ = now; }

  void finish_due(Time now, std::vector<TransferId>& ended) override {
    now_ = now;
    const std::size_t first = ended.size();
    end_due(ended);  // what sends its last byte as a link fails has sent it
    if (changes_.next() <= now) {
      change_links();
      end_due(ended);
    }
    std::sort(ended.begin() + static_cast<std::ptrdiff_t>(first), ended.end());
    free_.insert(free_.end(), ended.begin() + static_cast<std::ptrdiff_t>(first), ended.end());
  }

  void cancel(TransferId id, Time now) override {
    now_ = now;
    if (timers_.pending(transfers_[id.index()].timer)) timers_.cancel(transfers_[id.index()].timer);
    stop_sending(id);
    if (log_ != nullptr) log_->ends(id, now_, TransferLog::End::cancelled);
    detach(id);
    free_.push_back(id);
  }

  [[nodiscard]] Usage server_usage(ServerId server, Time now) const override {
    return server_meter_[server.index()].at(now);
  }
  [[nodiscard]] Usage job_usage(JobId job, Time now) const override { return job_meter_[job.index()].at(now); }
  [[nodiscard]] bool carries_inside_servers() const override { return true; }

  [[nodiscard]] bool plans_ahead() const override { return router_->plans_ahead(); }

  void enter(const JobTraffic& traffic, Time now) override {
    now_ = now;
    change_links();
    RoutedJob job{traffic.job.value(), traffic.work.to_seconds(), {}};
    std::map<std::pair<NodeId, NodeId>, double> bytes;
    for (std::size_t r = 0; r < traffic.each.size(); ++r) {
      const TransferRequest& request = traffic.each[r];
      for (const ServedExchange& part : finder_.parts_of(request)) {
        const double times = traffic.times[r] * request.times;
        for (const contend::Step& step : part.schedule.steps) {
          for (const Send& send : step.sends)
            bytes[{part.nodes[static_cast<std::size_t>(send.from)], part.nodes[static_cast<std::size_t>(send.to)]}] +=
                static_cast<double>(send.range.bytes) * static_cast<double>(step.repeat) * times;
        }
      }
    }
    for (const auto& [ends, sum] : bytes) {
      if (sum > 0) job.flows.push_back({ends.first, ends.second, job.label, sum});
    }
    router_->enter(job);
    follow_plan();
    if (!router_->shifts_iterations() || traffic.each.empty()) return;
    double communication_s = 0;
    for (std::size_t r = 0; r < traffic.each.size(); ++r)
      communication_s += traffic.times[r] * solo_time(traffic.each[r]).to_seconds();
    constexpr double kRounding_ns = 1e-3;
    const Time communication = Time::ceil_nanoseconds(std::max(0.0, communication_s * 1e9 - kRounding_ns));
    router_->pace(job.label, traffic.work.on_each_of(traffic.gpus) + communication, communication);
  }

  [[nodiscard]] bool shifts_iterations() const override { return router_->shifts_iterations(); }
  [[nodiscard]] Time wait(JobId job, Time now) const override {
    const std::optional<Beat> beat = router_->beat(job.value());
    return beat ? wait_for(*beat, now) : Time{};
  }

  void take_stalls(std::vector<Stall>& changed) override {
    for (const JobId job : stalls_changed_) {
      Time since = Time::never();
      for (const Transfer& transfer : transfers_)
        if (transfer.job == job) since = std::min(since, transfer.stalled);
      changed.push_back({job, since});
    }
    stalls_changed_.clear();
  }

  void leave(JobId job, Time now) override {
    now_ = now;
    claims_.drop(job);
    for (const auto& route : routes_[job.index()]) route->is_claimed = false;
    recordings_[job.index()] = {};
    if (!plans_ahead()) return;
    router_->leave(job.value());
    follow_plan();
  }

  void log_to(TransferLog& log) override {
    log_ = &log;
    log_links(*topology_, options_, log);
  }
  [[nodiscard]] TransferLog* log() const override { return log_; }

  [[nodiscard]] LeapableNetwork* leaping() override { return may_leap_ ? this : nullptr; }
  [[nodiscard]] bool meet_on_interfaces() const override { return false; }

  void save_state(TransferId id, Time now, std::vector<std::uint64_t>& words) const override {
    words.push_back(static_cast<std::uint64_t>(now.ns()));  // which doesn't recur
    words.push_back(id.index());
  }
  void save_state(JobId job, Time now, std::vector<std::uint64_t>& words) override {
    words.push_back(claims_.is_apart(job) ? claims_.version(job) : static_cast<std::uint64_t>(now.ns()));
    words.push_back(recordings_[job.index()].number());
  }
  void shift(TransferId, Time) override { CONTEND_CHECK(false, "a job that sends doesn't leap"); }
  void leap_usage(JobId job, const Usage& per_period, std::int64_t times, Time by) override {
    job_meter_[job.index()].leap(per_period, times, by);
  }
  void leap_usage(ServerId server, const Usage& per_period, std::int64_t times, Time by) override {
    server_meter_[server.index()].leap(per_period, times, by);
  }

  void save_totals(JobId job, Time now, Totals& totals) override {
    recordings_[job.index()].begin();
    totals.counts.push_back(recordings_[job.index()].pieces());
    for (const LinkId link : claims_.links(job)) totals.counts.push_back(ledger_.busy(link, now).ns());
  }

  [[nodiscard]] std::int64_t most_periods(const Totals& then, const Totals& now) const override {
    if (options_.link_interval == Time{}) return INT64_MAX;
    constexpr std::int64_t kMostPieces = 100'000;  // half a millisecond
    return std::max<std::int64_t>(1, kMostPieces / std::max<std::int64_t>(1, now.counts[0] - then.counts[0]));
  }

  void leap_totals(JobId job, const Totals& before, const Totals& after, const LeapablePeriod& period) override {
    const std::vector<std::int64_t>&then = before.counts, &now = after.counts;
    CONTEND_CHECK(then.size() == now.size(), "a job that leaps has kept its links");
    std::size_t i = 1;
    for (const LinkId link : claims_.links(job)) {
      ledger_.add_busy(link, Time::nanoseconds(now[i] - then[i]) * period.times);
      ++i;
    }
    recordings_[job.index()].leap(then[0], now[0], period, options_.link_interval, fluid_);
  }

  void report(Time now, NetworkReport& report) override {
    now_ = now;
    change_links();
    fluid_.report_progress(now);
    for (const auto& routes : routes_) {
      for (const auto& route : routes) {
        for (const RequestRoute::Step& step : route->steps) ledger_.add(route->job, step.flow.links, step.history);
      }
    }
    ledger_.write(now, report);
    if (options_.uses) options_.uses(ledger_.uses(now));
    if (options_.stalls) options_.stalls(stalls());
    report.delays = delays_.delays(now);
    report.has_delays = delays_.watches_any();
    for (std::size_t l = 0; l < report.links.size(); ++l) {
      [[maybe_unused]] const double carried = fluid_.carried(LinkId{l}, now);
      CONTEND_DCHECK(std::abs(carried - report.links[l].bytes) <= 1e-6 * carried + 1,
                     "the bytes on a link are those that its transfers demanded");
    }
  }

 private:
  [[nodiscard]] std::vector<StalledTransfer> stalls() const {
    const auto nodes = topology_->nodes();
    const bool has_tiers = std::ranges::any_of(nodes, [](const Node& node) { return node.tier > 0; });
    std::vector<StalledTransfer> all;
    for (const Transfer& transfer : transfers_) {
      if (transfer.stalled == Time::never()) continue;
      const auto& [from, to] = *transfer.route->cut;
      all.push_back({transfer.job, transfer.stalled, nodes[from.index()].name, nodes[to.index()].name, has_tiers});
    }
    return all;
  }

  struct Transfer {
    JobId job;
    std::vector<ServerId> servers;
    RequestRoute* route = nullptr;
    std::size_t at = 0;      // step
    double sent = 0;         // of the step, before the present flow
    EventHandle timer;       // end of the fixed time of the step
    FlowId flow;             // none in the fixed time of a step, or without a route
    double later_bytes = 0;  // of TransferRequest
    bool is_active = false;
    Time stalled = Time::never();  // since when it has had no route to send on
    bool slow = false;             // true if other traffic slows the flow down
  };

  TransferId take_slot() {
    if (free_.empty()) {
      transfers_.emplace_back();
      return TransferId{transfers_.size() - 1};
    }
    const TransferId id = free_.back();
    free_.pop_back();
    return id;
  }

  [[nodiscard]] RequestRoute::Step& step_of(const Transfer& transfer) const {
    return transfer.route->steps[transfer.at];
  }
  [[nodiscard]] bool at_end(TransferId id) const {
    return transfers_[id.index()].at >= transfers_[id.index()].route->steps.size();
  }

  /// The route of the request at the present age of the fabric. Its solo time stays the time of the first route,
  /// because the accounts of the job rely on it. Older routes are kept for their histories.
  RequestRoute& route_of(const TransferRequest& request) const {
    auto& routes = routes_[request.job.index()];
    const RequestRoute* older = nullptr;
    for (const auto& known : routes) {
      if (!known->serves(request)) continue;
      if (known->age == age_of(request.job)) return claim(*known);
      older = known.get();
    }
    routes.push_back(std::make_unique<RequestRoute>(finder_.find(request, [&](const CoupledFlow& flow) {
      const double rate = solo_rate(flow);
      check_end(request, flow, Time{}, flow.bytes, rate);
      return rate;
    })));
    routes.back()->age = age_of(request.job);
    for (RequestRoute::Step& step : routes.back()->steps) step.solo_age = capacities_changed_;
    if (older != nullptr) routes.back()->solo = older->solo;
    return claim(*routes.back());
  }

  RequestRoute& claim(RequestRoute& route) const {
    if (!may_leap_ || std::exchange(route.is_claimed, true)) return route;
    for (const RequestRoute::Step& step : route.steps) claims_.add(route.job, step.flow.links);
    return route;
  }

  /// Another number whenever the routes of the job may be others.
  [[nodiscard]] std::uint64_t age_of(JobId job) const { return age_ + router_->age(job.value()); }

  /// Moves the transfers whose paths or priorities the router has changed.
  void follow_plan() {
    router_->plan();
    for (std::size_t t = 0; t < transfers_.size(); ++t) {
      if (transfers_[t].is_active && transfers_[t].route->age != age_of(transfers_[t].job)) reroute(TransferId{t});
    }
  }

  [[nodiscard]] double solo_rate(const CoupledFlow& flow) const {
    return rate_alone(flow, [this](LinkId link) { return changes_.factor(link); });
  }

  /// Bytes per nanosecond on the idle network with these parts of the bandwidths.
  template <class Factor>
  [[nodiscard]] double rate_alone(const CoupledFlow& flow, const Factor& factor) const {
    double rate = std::numeric_limits<double>::infinity();
    for (const LinkShare& use : flow.links)
      rate = std::min(rate, most_of(use.link, factor(use.link)) *
                                factor_of(*topology_, topology_->links()[use.link.index()], options_) / use.share);
    if (!options_.efficiency.empty()) rate *= options_.efficiency.front();
    return flow.cap > 0 ? std::min(rate, flow.cap * 1e-9) : rate;
  }

  /// Throws InputError if the clock does not count the end of a flow of so many bytes from `now` on, at `rate` bytes
  /// per nanosecond.
  void check_end(const TransferRequest& request, const CoupledFlow& flow, Time now, double bytes, double rate) const {
    if (!(rate > 0) || bytes / rate < static_cast<double>((kEndOfClock - now).ns())) return;
    const auto limit = std::ranges::min_element(flow.links, {}, [this](const LinkShare& use) {
      return most_of(use.link, changes_.factor(use.link)) / use.share;
    });
    const bool is_capped = limit == flow.links.end() || (flow.cap > 0 && rate * 1e9 >= flow.cap);
    refuse_endless({options_.job_name ? options_.job_name(request.job) : std::to_string(request.job.value()), bytes,
                    rate * 1e9, is_capped ? LinkId::none() : limit->link},
                   request, *topology_);
  }

  /// Bytes per nanosecond over the link with this part of its bandwidth.
  [[nodiscard]] double most_of(LinkId link, double factor) const {
    return topology_->links()[link.index()].bandwidth.bytes_per_second() * factor * 1e-9;
  }

  /// Bytes sent so far, over all steps.
  [[nodiscard]] double position(const Transfer& transfer) const {
    if (transfer.at >= transfer.route->steps.size()) return transfer.route->total;
    const RequestRoute::Step& step = step_of(transfer);
    if (!transfer.flow.valid()) return step.before + transfer.sent;
    return step.before + step.flow.bytes - fluid_.remaining(transfer.flow, now_);
  }

  /// Waits for the fixed time of the step and `extra`.
  void begin_step(TransferId id, Time extra) {
    const Time fixed = at_end(id) ? Time{} : step_of(transfers_[id.index()]).flow.fixed;
    transfers_[id.index()].timer = timers_.schedule(now_ + extra + fixed, Phase::completions, id);
    if (log_ != nullptr) log_part(id, 0);
  }

  /// Sends the bytes of the step that are left; without a route the transfer stalls.
  void send(TransferId id) {
    Transfer& transfer = transfers_[id.index()];
    const RequestRoute::Step& step = step_of(transfer);
    set_stalled(transfer, transfer.route->cut.has_value());
    if (transfer.route->cut) return;
    transfer.flow = fluid_.start({.links = step.flow.links,
                                  .bytes = std::max(step.flow.bytes - transfer.sent, kAlmostNothing),
                                  .cap = step.flow.cap,
                                  .priority = router_->level(transfer.job.value())},
                                 now_);
    if (transfer_of_.size() <= transfer.flow.index()) transfer_of_.resize(transfer.flow.index() + 1);
    transfer_of_[transfer.flow.index()] = id;
    if (log_ != nullptr && !log_->is_open(id)) log_part(id, std::max(step.flow.bytes - transfer.sent, kAlmostNothing));
    ledger_.enter(step.flow.links, now_);
    if (delays_.watches(transfer.job)) delays_.begin(transfer.flow.index(), transfer.job, now_);
  }

  /// A part of the transfer begins: a step, or `rest` bytes of one.
  void log_part(TransferId id, double rest) {
    const Transfer& transfer = transfers_[id.index()];
    RequestRoute& route = *transfer.route;
    RequestRoute::Step* step = at_end(id) ? nullptr : &step_of(transfer);
    std::size_t& number = step != nullptr ? step->logged : route.logged;
    if (number == 0)
      number = log_->route(logged_route(route, step, transfer.servers, router_->level(transfer.job.value()))) + 1;
    log_->begins(id, number - 1, now_, rest);
  }

  void forget_flow(TransferId id) {
    Transfer& transfer = transfers_[id.index()];
    set_slow(transfer, false, now_);
    delays_.end(transfer.flow.index(), now_);
    ledger_.leave(step_of(transfer).flow.links, now_);
    transfer.flow = FlowId::none();
  }

  void stop_sending(TransferId id) {
    Transfer& transfer = transfers_[id.index()];
    if (!transfer.flow.valid()) return;
    transfer.sent = step_of(transfer).flow.bytes - fluid_.cancel(transfer.flow, now_);
    forget_flow(id);
  }

  void set_slow(Transfer& transfer, bool slow, Time now) {
    if (transfer.slow == slow) return;
    transfer.slow = slow;
    job_meter_[transfer.job.index()].change(0, slow ? 1 : -1, now);
  }

  void set_stalled(Transfer& transfer, bool stalled) {
    if ((transfer.stalled != Time::never()) == stalled) return;
    transfer.stalled = stalled ? now_ : Time::never();
    stalls_changed_.insert(transfer.job);
  }

  void detach(TransferId id) {
    Transfer& transfer = transfers_[id.index()];
    set_stalled(transfer, false);
    transfer.is_active = false;
    --active_;
    job_meter_[transfer.job.index()].change(-1, 0, now_);
    for (const ServerId server : transfer.servers) {
      auto& list = on_server_[server.index()];
      list.erase(std::find(list.begin(), list.end(), id));
      server_meter_[server.index()].change(-1, list.size() == 1 ? -1 : 0, now_);
    }
  }

  /// Begins and ends the steps that are due by now, and appends the transfers that end.
  void end_due(std::vector<TransferId>& ended) {
    while (std::min(timers_.next_time(), fluid_.next_end()) <= now_) {
      while (timers_.next_time() <= now_) {
        const TransferId id = timers_.pop().payload;
        if (at_end(id)) {
          if (log_ != nullptr) log_->ends(id, now_, TransferLog::End::sent);
          detach(id);
          ended.push_back(id);
        } else {
          send(id);
        }
      }
      ended_flows_.clear();
      fluid_.finish_due(now_, ended_flows_);
      for (const FlowId flow : ended_flows_) {
        const TransferId id = transfer_of_[flow.index()];
        forget_flow(id);
        if (log_ != nullptr) log_->ends(id, now_, TransferLog::End::sent);
        ++transfers_[id.index()].at;
        transfers_[id.index()].sent = 0;
        if (at_end(id)) {
          detach(id);
          ended.push_back(id);
        } else {
          begin_step(id, Time{});
        }
      }
    }
  }

  /// Carries out the changes of links that are due by now. Those that lie in the past, because no transfer was active
  /// then, take effect now.
  void change_links() {
    if (changes_.next() > now_) return;
    bool other_routes = false;
    changes_.advance(now_, [&](const LinkEvent& event) {
      const bool works = event.factor > 0;
      if (is_down_[event.link.index()] == works) {
        is_down_[event.link.index()] = !works;
        router_->set_link_up(event.link, works);
        other_routes = true;
      }
      ledger_.set_factor(event.link, event.factor, event.time);
      ++capacities_changed_;
      const double bandwidth = topology_->links()[event.link.index()].bandwidth.bytes_per_second();
      fluid_.set_capacity(event.link, bandwidth * event.factor, now_);
      if (log_ != nullptr) log_->changes(event.link.index(), now_, bandwidth * event.factor);
    });
    if (!other_routes) return;
    ++age_;
    follow_plan();
  }

  /// Continues the transfer from its present progress on the route of the present age.
  void reroute(TransferId id) {
    Transfer& transfer = transfers_[id.index()];
    RequestRoute& route = route_of(transfer.route->request());
    stop_sending(id);
    if (log_ != nullptr) log_->ends(id, now_, TransferLog::End::moved);
    const double sent = position(transfer);
    transfer.route = &route;
    transfer.at = 0;
    while (transfer.at + 1 < route.steps.size() && route.steps[transfer.at + 1].before <= sent) ++transfer.at;
    if (!route.steps.empty()) transfer.sent = sent - route.steps[transfer.at].before;
    if (!timers_.pending(transfer.timer)) send(id);
  }

  // FlowObserver
  void sent(FlowId flow, Time from, Time to, double bytes) override {
    const Transfer& transfer = transfer_with(flow);
    RequestRoute::Step& step = step_of(transfer);
    step.history.sent(from, to, bytes, options_.link_interval);
    LeapRecording& recording = recordings_[transfer.job.index()];
    if (recording.runs() && claims_.is_apart(transfer.job)) recording.add(step, from, to, bytes);
  }
  void rate_changed(FlowId flow, Time now, double rate) override {
    constexpr double kRounding = 1e-9;
    Transfer& transfer = transfer_with(flow);
    if (log_ != nullptr) log_->sends(transfer_of_[flow.index()], now, rate * 1e9);
    set_slow(transfer, rate < solo_rate_now(step_of(transfer)) * (1 - kRounding), now);
  }
  void never_ends(FlowId flow, Time now, double bytes) override {
    const Transfer& transfer = transfer_with(flow);
    const CoupledFlow& step = step_of(transfer).flow;
    // Who is in its way may leave, and links may come back: then it goes on faster.
    const double best =
        rate_alone(step, [this](LinkId link) { return changes_.may_change(link) ? 1 : changes_.factor(link); });
    check_end(transfer.route->request(), step, now, bytes, best);
  }
  void solved(Time now) override {
    if (delays_.idle()) return;
    delays_.update(
        fluid_.shares(), now, [this](FlowId flow) { return solo_rate_now(step_of(transfer_with(flow))); },
        [this](FlowId flow) { return transfer_with(flow).job; });
  }

  [[nodiscard]] Transfer& transfer_with(FlowId flow) { return transfers_[transfer_of_[flow.index()].index()]; }
  /// The rate of the step on the idle network as it is now.
  [[nodiscard]] double solo_rate_now(RequestRoute::Step& step) const {
    if (step.solo_age != capacities_changed_) {
      step.solo_rate = solo_rate(step.flow);
      step.solo_age = capacities_changed_;
    }
    return step.solo_rate;
  }

  std::unique_ptr<const Topology> topology_;
  std::unique_ptr<Router> router_;
  FlowNetworkOptions options_;
  RouteFinder finder_;
  mutable FluidNetwork fluid_;  // it computes rates at the first query
  Calendar<TransferId> timers_;
  LinkLedger ledger_;
  DelayLedger delays_;
  Time now_;
  std::vector<Transfer> transfers_;
  std::vector<TransferId> free_;
  std::vector<TransferId> transfer_of_;  // by flow
  std::vector<FlowId> ended_flows_;      // scratch
  std::vector<std::vector<TransferId>> on_server_;
  std::vector<UsageMeter> server_meter_, job_meter_;
  mutable std::vector<std::vector<std::unique_ptr<RequestRoute>>> routes_;  // by job
  std::vector<LeapRecording> recordings_;                                   // by job
  mutable LinkClaims claims_;
  LinkChanges changes_;
  std::vector<bool> is_down_;  // by link
  std::set<JobId> stalls_changed_;
  TransferLog* log_ = nullptr;  // none: nobody asks for one
  std::size_t active_ = 0;
  bool may_leap_ = false;
  std::uint64_t capacities_changed_ = 0;
  std::uint64_t age_ = 0;  // of the fabric: how often links have failed or come back
};

}  // namespace

std::unique_ptr<NetworkModel> make_flow_network(std::unique_ptr<const Topology> topology,
                                                std::unique_ptr<Router> router, FlowNetworkOptions options,
                                                std::size_t jobs) {
  return std::make_unique<FlowNetwork>(std::move(topology), std::move(router), std::move(options), jobs);
}

}  // namespace contend
