#include "scenarios/run/fleet_service.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace contend {
namespace {
FleetSpec from(FleetSpec spec, Time submitted) {
  spec.begin = submitted;
  return spec;
}
}  // namespace

FleetService::FleetService(const std::shared_ptr<const ServicePlan>& plan, Time submitted)
    : plan_{plan}, fleet_{from(plan->fleet, submitted)}, times_{fleet_}, last_arrival_{submitted} {
  for (ServedRequest request : plan->requests) {
    request.arrival += submitted;
    last_arrival_ = request.arrival;
    fleet_.submit(request);
  }
  if (!plan->power) return;
  meter_ = std::make_unique<ServiceMeter>(
      *plan->power, plan->fleet.replica.clocks.front().power.idle, submitted,
      [this](Time now) {
        Int128 drawn = 0;
        for (int r = 0; r < fleet_.replicas(); ++r) drawn += fleet_.drawn(r, now);
        return drawn;
      },
      [this](Time now) { return times_.stepped(now); });
}

void FleetService::share(ServiceShelf& shelf) {
  if (meter_) meter_->share(shelf);
}

void FleetService::hold(Time now, std::size_t replicas) {
  if (meter_) meter_->hold(now, replicas);
}

void FleetService::begin(Time now) {
  while (fleet_.next() < now) fleet_.advance(fleet_.next());  // what has come meanwhile waits
  fleet_.advance(now);
  fleet_.release(false);
  given_before_ = fleet_.totals().given;
  placed_.resize(static_cast<std::size_t>(plan_->fleet.replicas + plan_->fleet.decode.replicas));
  std::iota(placed_.begin(), placed_.end(), 0);
  times_.begin(now);
  begin_steps(now);
  hold(now, placed_.size());
}

void FleetService::advance(Time now) {
  fleet_.advance(now);
  begin_steps(now);
  if (done()) hold(now, 0);
}

void FleetService::begin_steps(Time now) {
  if (meter_) {
    if (const std::size_t clock = meter_->clock(now); clock != clock_) fleet_.set_clock(clock_ = clock);
  }
  fleet_.begin_steps();
  next_ = fleet_.next();
  if (meter_ && !done()) next_ = std::min(next_, meter_->next());
}

bool FleetService::lose(Time now) {
  times_.lose(now, [&] { fleet_.restart(now); });
  fleet_.hold();
  hold(now, 0);
  next_ = Time::never();
  return fleet_.totals().given > given_before_;
}

std::vector<int> FleetService::asks() const {
  return std::vector<int>(static_cast<std::size_t>(fleet_.asked()), plan_->gpus_per_replica);
}

template <class Holds>
std::vector<std::size_t> FleetService::ranks_where(const Holds& holds) const {
  std::vector<std::size_t> ranks;
  const auto each = static_cast<std::size_t>(plan_->gpus_per_replica);
  for (std::size_t place = 0; place < placed_.size(); ++place) {
    if (!holds(place)) continue;
    for (std::size_t g = 0; g < each; ++g) ranks.push_back(place * each + g);
  }
  return ranks;
}

std::vector<std::size_t> FleetService::unused() const {
  if (plan_->fleet.decode.replicas > 0) return {};
  const auto is_drained = [this](int replica) { return fleet_.drained(replica); };
  if (std::ranges::all_of(placed_, is_drained)) return {};
  return ranks_where([&](std::size_t place) { return is_drained(placed_[place]); });
}

std::vector<std::size_t> FleetService::left_without(std::span<const std::size_t> lost) const {
  if (plan_->fleet.decode.replicas > 0 || plan_->keeps_gpus || lost.empty()) return {};
  std::vector<bool> is_lost(placed_.size());
  for (const std::size_t rank : lost) is_lost[rank / static_cast<std::size_t>(plan_->gpus_per_replica)] = true;
  return ranks_where([&](std::size_t place) { return !is_lost[place]; });
}

void FleetService::move(Time now, const ServiceMove& to) {
  fleet_.advance(now);
  const auto each = static_cast<std::size_t>(plan_->gpus_per_replica);
  std::vector<int> left = placed_, placed;
  for (std::size_t rank = 0; rank < to.from.size(); rank += each) {
    placed.push_back(to.from[rank] == ServiceMove::kNew ? -1 : placed_[to.from[rank] / each]);
    std::erase(left, placed.back());
  }
  times_.lose(now, [&] {
    for (const int replica : left) fleet_.stop(now, replica, now + to.detection);
  });
  const ScalingRule& rule = plan_->fleet.scaling;
  for (int& replica : placed) {
    if (replica >= 0) continue;
    replica = fleet_.vacant();
    fleet_.start(now, now + (rule.period > Time{} ? rule.cold : to.restart));
  }
  placed_ = std::move(placed);
  times_.begin(now);
  hold(now, placed_.size());
  begin_steps(now);
}

Time FleetService::busy(std::size_t rank, Time now) const {
  const int replica = placed_[rank / static_cast<std::size_t>(plan_->gpus_per_replica)];
  return times_.busy(static_cast<std::size_t>(replica), now);
}

ServiceReport FleetService::report(Time now) {
  ServiceReport report;
  report.targets = plan_->targets;
  report.recomputed = fleet_.totals().recomputed;
  if (meter_) report.power = meter_->report(now);
  if (!fleet_.held()) times_.lose(now, [&] { fleet_.lose(now); });  // the steps of a leap that have ended by now count
  times_.report(now, plan_->fleet.replica, report);
  return report;
}

}  // namespace contend
