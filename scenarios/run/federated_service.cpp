#include "scenarios/run/federated_service.hpp"

#include <algorithm>

namespace contend {

Time time_alone(const FederatedSpec& spec, Time begin) {
  const std::unique_ptr<FederatedLoop> loop = federated_loop(spec);
  Time now = begin;
  for (loop->resume(now); !loop->is_over(); loop->advance(now)) now = loop->next();
  return now - begin;
}

FederatedService::FederatedService(const std::shared_ptr<const FederatedPlan>& plan)
    : loop_{federated_loop(plan->spec)}, busy_before_(std::max<std::size_t>(1, plan->spec.devices.size())) {}

void FederatedService::begin(Time now) {
  loop_->resume(now);
  versions_before_ = loop_->versions();
  for (std::size_t d = 0; d < busy_before_.size(); ++d) busy_before_[d] = loop_->busy(d, now);
  is_there_ = true;
}

bool FederatedService::lose(Time now) {
  if (is_there_ && !loop_->is_over()) loop_->lose(now);
  is_there_ = false;
  return loop_->versions() > versions_before_;
}

std::size_t FederatedService::place_of(std::size_t rank) const {
  return std::min(rank, busy_before_.size() - 1);
}

Time FederatedService::busy(std::size_t rank, Time now) const {
  return loop_->busy(place_of(rank), now) - busy_before_[place_of(rank)];
}

ServiceReport FederatedService::report(Time now) {
  lose(now);
  ServiceReport report;
  report.federated = FederatedReport{{loop_->rounds().begin(), loop_->rounds().end()}, loop_->totals()};
  return report;
}

}  // namespace contend
