#include "scenarios/run/rl_service.hpp"

#include <numeric>
#include <utility>

namespace contend {

Time time_alone(const RlSpec& spec, const FleetSpec& pool) {
  RlLoop loop{spec, pool};
  Time now;
  for (; !loop.is_over(); loop.advance(now)) now = loop.next();
  return now;
}

RlService::RlService(std::shared_ptr<const RlPlan> plan, Time submitted)
    : plan_{std::move(plan)},
      loop_{plan_->spec, plan_->pool},
      times_{loop_.pool()},
      earliest_end_{submitted + plan_->alone} {}

void RlService::begin(Time now) {
  times_.begin(now);
  given_before_ = loop_.pool().totals().given;
  trained_before_ = loop_.totals().spent(RlPhase::training);
  loop_.resume(now);
  is_lost_ = false;
  next_ = loop_.next();
}

void RlService::advance(Time now) {
  loop_.advance(now);
  next_ = loop_.next();
}

bool RlService::lose(Time now) {
  times_.lose(now, [&] { loop_.lose(now); });
  earliest_end_ = Time{};  // in another order groups may be ready earlier than undisturbed
  is_lost_ = true;
  next_ = Time::never();
  return loop_.pool().totals().given > given_before_;
}

Time RlService::busy(std::size_t rank, Time now) const {
  Time busy;
  const std::size_t replica = rank / static_cast<std::size_t>(plan_->gpus_per_replica);
  if (replica < static_cast<std::size_t>(loop_.pool().replicas())) busy += times_.busy(replica, now);
  if (rank >= plan_->first_trainer) busy += loop_.trained(now) - trained_before_;
  return busy;
}

ServiceReport RlService::report(Time now) {
  ServiceReport report;
  report.recomputed = loop_.pool().totals().recomputed;
  if (!is_lost_) lose(now);  // the steps of a leap that have ended by now count
  times_.report(now, plan_->pool.replica, report);
  const RlTotals& totals = loop_.totals();
  RlReport& rl = report.rl.emplace();
  rl.elapsed = std::accumulate(totals.trainer.begin(), totals.trainer.end(), Time{});
  rl.trainings = std::ssize(loop_.steps());
  rl.trainer_waited = totals.spent(RlPhase::waiting);
  rl.pool_stood = totals.pool_stands;
  rl.groups = totals.groups_scored;
  rl.groups_ran = totals.groups_ran;
  rl.trained = totals.groups_trained;
  rl.staleness_sum = totals.staleness_sum;
  rl.staleness_max = totals.staleness_max;
  return report;
}

}  // namespace contend
