#include "validate/schedulers/simulator_rules.hpp"

#include "scenarios/keys/reader.hpp"
#include "sim/check.hpp"

#include <fmt/core.h>

namespace contend {

namespace {

using Kind = SchedulerRules::Kind;

constexpr std::int64_t kGittinsDelta = 3250;

ReferenceSchedule plain_dlas(Kind kind, std::span<const ReferenceJob> jobs, int gpus) {
  DlasRules rules{.limits = {3250, 7200}};
  rules.gpu_time = kind != Kind::dlas;
  rules.late_wake_up = kind != Kind::dlas;
  rules.stale_ends = kind == Kind::dlas_gpu_stale;
  if (kind == Kind::dlas_gpu_gittins) {
    rules.rank = [sizes = read_gittins_sizes()](std::int64_t attained) {
      return reference_gittins_rank(sizes, kGittinsDelta, attained);
    };
  }
  return reference_dlas(jobs, gpus, rules);
}

std::string placement_name(ReferencePlacement placement) {
  switch (placement) {
    case ReferencePlacement::count:
      return "first-fit";
    case ReferencePlacement::consolidated:
      return "consolidated";
    case ReferencePlacement::yarn:
      return "yarn";
    case ReferencePlacement::spread:
      return "worst-fit";
  }
  check_failed(__FILE__, __LINE__, "every placement has a name", "");
}

std::string queue_name(const SchedulerRules& rules) {
  const char* const policy = rules.order == ReferenceOrder::duration ? "sjf" : "fifo";
  return fmt::format("{{policy: {}, strict: {}}}", policy, rules.strict);
}

std::string walk_name(const SchedulerRules& rules) {
  if (rules.order == ReferenceOrder::gpus) {
    return fmt::format("{{policy: smallest-first, preemptive: true, migrate: {}}}", rules.moves_jobs());
  }
  return fmt::format("{{policy: {}, rewalk: true, list_order: true, migrate: {}}}",
                     rules.order == ReferenceOrder::remaining ? "srtf" : "srsf", rules.moves_jobs());
}

std::string scheduling_name(const SchedulerRules& rules) {
  switch (rules.kind) {
    case Kind::queue:
      return queue_name(rules);
    case Kind::walk:
      return walk_name(rules);
    case Kind::dlas:
      return "{policy: dlas, queues: 3, limit_1_s: 3250, limit_2_s: 7200, list_order: true, single_step: true}";
    case Kind::dlas_gpu:
      return "{policy: dlas-gpu, queues: 3, limit_1_s: 3250, limit_2_s: 7200, list_order: true, single_step: true, "
             "whole_seconds: true, late_wakeup: true}";
    case Kind::dlas_gpu_stale:
    case Kind::dlas_gpu_gittins:
    case Kind::helios_srtf:
      return {};
  }
  check_failed(__FILE__, __LINE__, "every kind has its policy", "");
}

}  // namespace

ReferenceSchedule plain_schedule(const SchedulerRules& rules, const SchedulerTrace& trace) {
  const std::vector<ReferenceJob> jobs = reference_jobs(trace);
  const ReferenceCluster cluster{trace.servers, trace.gpus_per_server, rules.placement};
  switch (rules.kind) {
    case Kind::queue:
      return reference_queue(jobs, cluster, {rules.order, rules.strict, rules.quantum_s == 0 ? 1 : rules.quantum_s});
    case Kind::walk:
      return reference_walk(jobs, cluster, rules.order);
    case Kind::helios_srtf:
      return reference_helios_srtf(jobs, trace.servers);
    default:
      return plain_dlas(rules.kind, jobs, trace.servers * trace.gpus_per_server);
  }
}

EngineRules engine_rules(const SchedulerRules& rules) {
  return {scheduling_name(rules), placement_name(rules.placement), fmt::format("quantum: {}s", rules.quantum_s)};
}

Scenario scheduler_scenario(const EngineRules& rules, const SchedulerTrace& trace) {
  Scenario scenario = parse_scenario(fmt::format("schema_version: 1\n"
                                                 "policies: {{scheduling: {}, placement: {}}}\n"
                                                 "scheduling: {{{}}}\ncheckpoints: {{{}}}\n",
                                                 rules.scheduling, rules.placement, rules.keys, rules.checkpoints),
                                     "validate schedulers");
  scenario.cluster.servers = trace.servers;
  scenario.cluster.gpus_per_server = trace.gpus_per_server;
  return scenario;
}

ReferenceSchedule schedule_of(const RunResult& run, const SchedulerTrace& trace) {
  ReferenceSchedule schedule;
  for (const JobResult& job : run.jobs) {
    const bool whole = job.state == JobState::finished && job.finish.ns() % trace.tick.ns() == 0;
    schedule.finish.push_back(whole ? job.finish.ns() / trace.tick.ns() : -1);
    schedule.preemptions += job.preemptions;
  }
  return schedule;
}

}  // namespace contend
