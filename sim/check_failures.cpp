#include "sim/check_failures.hpp"

#include "sim/cluster_parts.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <fmt/core.h>

namespace contend {
namespace {

void check_spec(const FailureSpec& failures, const ClusterSpec& cluster) {
  const std::int64_t gpus = std::int64_t{cluster.servers} * cluster.gpus_per_server;
  const std::int64_t spares = std::int64_t{failures.spares} + failures.cold_spares;
  const auto pool = static_cast<std::int64_t>(servers_with_spares(cluster).size());
  if (failures.spares < 0 || failures.cold_spares < 0 || (spares > 0 && spares >= pool))
    throw InputError{fmt::format("{} of {} servers can't be spares", spares, pool)};
  const Detectors& detectors = failures.detectors;
  for (const Time delay : {failures.detection, failures.diagnosis, failures.spare_delay, failures.cold_delay,
                           detectors.exit_code, detectors.timeout, detectors.slow_for})
    if (delay < Time{}) throw InputError{"a delay after failures is negative"};
  if (failures.retries.value_or(0) < 0) throw InputError{"a number of retries after failures is negative"};
  if (detectors.heartbeat <= Time{} || detectors.missed < 1 || detectors.slow <= Slowdown::kFullPace ||
      failures.hangs < 0 || failures.hangs > 1)
    throw InputError{"a heartbeat has a time and a number of them is missed, slow is above 1000, hangs are a share"};
  if (failures.stalls_fail && detectors.timeout <= Time{})
    throw InputError{"jobs whose transfers run out of time need a time-out above 0"};
  const auto check_found = [](const auto& each) {
    if (each.found_by != FoundBy::delay &&
        (each.found_by == FoundBy::stall || each.slows.has_value() != (each.found_by == FoundBy::slowdown)))
      throw InputError{"what slows down, and nothing else, is found by its slowdown"};
  };
  for (const ComponentClass& each : failures.components) {
    if (each.gpus < 1) throw InputError{fmt::format("components `{}` have no GPUs", each.name)};
    check_found(each);
  }
  for (const Outage& each : failures.outages) {
    if (each.from < Time{} || each.until <= each.from || each.first >= each.last || each.last > gpus)
      throw InputError{"an outage has no time, or no GPUs of the cluster"};
    check_found(each);
    if (each.drain && (each.slows || *each.drain < Time{} || *each.drain > each.from))
      throw InputError{"a planned outage drains servers after it has begun, or only slows them down"};
  }
}

void check_loans(const FailureSpec& failures, const ClusterSpec& cluster) {
  const LoanSpec& loans = failures.loans;
  if (!loans.any() && loans.changes.empty()) return;
  if (loans.servers < 1 || loans.servers > cluster.servers)
    throw InputError{fmt::format("{} of {} servers can't be lent", loans.servers, cluster.servers)};
  if (failures.spares + failures.cold_spares > 0)
    throw InputError{"there can't be spares where servers are lent, because a spare would stand in for one that isn't"};
  Time last;
  for (const LoanChange& each : loans.changes) {
    const bool is_first = &each == &loans.changes.front();
    if (each.lent < 0 || each.lent > loans.servers || (is_first ? each.at != Time{} : each.at <= last))
      throw InputError{"the numbers of lent servers have rising times, the first at 0, and are within their range"};
    last = each.at;
  }
  if (loans.changes.empty() || loans.period <= last)
    throw InputError{"lent servers have a schedule, which is shorter than its period"};
}

void check_redundancy(const EngineState& state) {
  const RedundancyRule& rule = state.options.failures.redundancy;
  if (!rule.any()) return;
  if (rule.stages < 1 || rule.tolerates.value_or(1) < 1 || rule.failover < Time{} || rule.rejoin < Time{} ||
      rule.step_cost < 1'000 || rule.step_cost > RedundancyRule::kMostStepCost)
    throw InputError{"redundancy has stages, times >= 0, and a cost of 1 to 1000"};
  if (state.options.sharing.any())
    throw InputError{"jobs that share GPUs can't go on without some of them: leave out sharing or redundancy"};
  for (const JobSpec& job : state.workload.jobs) {
    const auto complain = [&](std::string_view reason) {
      throw InputError{fmt::format("redundancy: job `{}` {}", job.name, reason)};
    };
    if (job.service >= 0) complain("answers requests, and the other GPUs of a replica that lost one answer none");
    const int stages = stages_of(job, rule);
    if (job.duration && rule.cover == RedundancyRule::Cover::neighbours && stages < 2)
      complain("has a single stage, which has no neighbour");
    if (!job.duration && !state.options.interference.none())
      complain("has iterations, and what redundancy adds to their tasks can't be simulated with interference");
    if (!job.duration && job.gpus / stages % job.layout.replica != 0)
      complain(fmt::format("has groups of {} GPUs, which the {} of a stage are not a multiple of", job.layout.replica,
                           job.gpus / stages));
    if (job.sizes >= 0 || (job.gpu_share > 0 && job.gpu_share < kWholeGpu))
      complain("is elastic or reserves parts of GPUs");
  }
  if (state.options.rules.store) throw InputError{"redundancy: jobs that write to a store can't go on without GPUs"};
}

void check_mitigation(const EngineState& state) {
  const Mitigation& steps = state.options.failures.mitigation;
  Time last;
  for (const std::optional<Time>& cost : {steps.microbatches, steps.topology, steps.restart}) {
    if (!cost) continue;
    if (*cost <= last) throw InputError{"each step of mitigation costs more than the one before, and all cost time"};
    last = *cost;
  }
  if (steps.left < 0 || steps.left > 1) throw InputError{"what a new topology leaves of a slowdown is a share, 0 to 1"};
  if (steps.any() && !state.options.failures.has_slow_components())
    throw InputError{"mitigation: nothing slows components down"};
}

void remark_on_domains(EngineState& state) {
  const std::vector<ComponentClass>& all = state.options.failures.components;
  const std::int64_t per_server = state.spec.gpus_per_server;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto& [less, more] =
          std::minmax(all[j], all[i], [](const auto& a, const auto& b) { return a.gpus < b.gpus; });
      if (less.gpus <= per_server || more.gpus % less.gpus == 0 || more.gpus >= std::ssize(state.gpu)) continue;
      state.remarks.push_back(
          fmt::format("failures: domains of `{}` have {} servers and those of `{}` {}, each from the first server on, "
                      "so that one of `{}` may lie in two of `{}`",
                      less.name, less.gpus / per_server, more.name, more.gpus / per_server, less.name, more.name));
    }
  }
}

}  // namespace

void check_failure_spec(EngineState& state) {
  check_spec(state.options.failures, state.spec);
  check_loans(state.options.failures, state.spec);
  check_redundancy(state);
  check_mitigation(state);
  remark_on_domains(state);
}

}  // namespace contend
