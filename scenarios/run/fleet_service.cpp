#include "scenarios/run/fleet_service.hpp"

#include <cstddef>

namespace contend {
namespace {

RequestWait wait_of(AdmissionLimit limit) {
  switch (limit) {
    case AdmissionLimit::none:
      break;
    case AdmissionLimit::batch:
      return RequestWait::batch;
    case AdmissionLimit::tokens:
      return RequestWait::tokens;
    case AdmissionLimit::memory:
      return RequestWait::memory;
  }
  return RequestWait::none;
}

}  // namespace

FleetService::FleetService(const std::shared_ptr<const ServicePlan>& plan, Time submitted)
    : plan_{plan}, fleet_{plan->fleet}, last_arrival_{submitted}, lost_(static_cast<std::size_t>(fleet_.replicas())) {
  for (ServedRequest request : plan->requests) {
    request.arrival += submitted;
    last_arrival_ = request.arrival;
    fleet_.submit(request);
  }
  before_ = lost_;
}

void FleetService::begin(Time now) {
  while (fleet_.next() < now) fleet_.advance(fleet_.next());  // what has come meanwhile waits
  fleet_.advance(now);
  fleet_.release(false);
  given_before_ = fleet_.totals().given;
  for (std::size_t r = 0; r < before_.size(); ++r) before_[r] = stepped(static_cast<int>(r), now);
  begin_steps();
}

void FleetService::advance(Time now) {
  fleet_.advance(now);
  ended_ += fleet_.ended().size();
  begin_steps();
}

void FleetService::begin_steps() {
  fleet_.begin_steps();
  next_ = fleet_.next();
}

bool FleetService::lose(Time now) {
  for (std::size_t r = 0; r < lost_.size(); ++r) {
    const Time all = stepped(static_cast<int>(r), now);
    fleet_.lose(now, static_cast<int>(r));
    lost_[r] += all - stepped(static_cast<int>(r), now);
  }
  fleet_.hold();
  next_ = Time::never();
  return fleet_.totals().given > given_before_;
}

Time FleetService::stepped(int replica, Time now) const {
  return lost_[static_cast<std::size_t>(replica)] + fleet_.busy(replica, now);
}

Time FleetService::busy(std::size_t rank, Time now) const {
  const std::size_t replica = rank / static_cast<std::size_t>(plan_->gpus_per_replica);
  return stepped(static_cast<int>(replica), now) - before_[replica];
}

ServiceReport FleetService::report(Time now) {
  ServiceReport report;
  report.targets = plan_->targets;
  for (int r = 0; r < fleet_.replicas(); ++r) report.busy += stepped(r, now);
  report.recomputed = fleet_.totals().recomputed;
  if (!fleet_.held()) lose(now);  // the steps of a leap that have ended by now count
  const ServingTotals totals = fleet_.totals();
  report.tokens = totals.given;
  if (totals.busy_ns > 0)
    report.running_s =
        report.busy.to_seconds() * static_cast<double>(totals.batch_ns) / static_cast<double>(totals.busy_ns);
  if (const std::int64_t blocks = plan_->fleet.kinds.front().blocks; blocks != ReplicaSpec::kUnlimited)
    report.kv_peak = static_cast<double>(totals.most_blocks) / static_cast<double>(blocks);
  report.requests.reserve(plan_->requests.size());
  for (const RequestRecord& each : fleet_.records())
    report.requests.push_back({each.arrival, each.prompt, each.answer, each.first, each.end, each.evictions,
                               each.replica, each.admitted, wait_of(each.waited)});
  return report;
}

}  // namespace contend
