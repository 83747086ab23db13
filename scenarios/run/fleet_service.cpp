#include "scenarios/run/fleet_service.hpp"

#include <cstddef>

namespace contend {
FleetService::FleetService(const std::shared_ptr<const ServicePlan>& plan, Time submitted)
    : plan_{plan}, fleet_{plan->fleet}, times_{fleet_}, last_arrival_{submitted} {
  for (ServedRequest request : plan->requests) {
    request.arrival += submitted;
    last_arrival_ = request.arrival;
    fleet_.submit(request);
  }
}

void FleetService::begin(Time now) {
  while (fleet_.next() < now) fleet_.advance(fleet_.next());  // what has come meanwhile waits
  fleet_.advance(now);
  fleet_.release(false);
  given_before_ = fleet_.totals().given;
  times_.begin(now);
  begin_steps();
}

void FleetService::advance(Time now) {
  fleet_.advance(now);
  begin_steps();
}

void FleetService::begin_steps() {
  fleet_.begin_steps();
  next_ = fleet_.next();
}

bool FleetService::lose(Time now) {
  times_.lose(now, [&] { fleet_.lose(now); });
  fleet_.hold();
  next_ = Time::never();
  return fleet_.totals().given > given_before_;
}

Time FleetService::busy(std::size_t rank, Time now) const {
  return times_.busy(rank / static_cast<std::size_t>(plan_->gpus_per_replica), now);
}

ServiceReport FleetService::report(Time now) {
  ServiceReport report;
  report.targets = plan_->targets;
  report.recomputed = fleet_.totals().recomputed;
  if (!fleet_.held()) lose(now);  // the steps of a leap that have ended by now count
  times_.report(now, plan_->fleet.kinds.front(), report);
  return report;
}

}  // namespace contend
