#include "scenarios/reader.hpp"
#include "validate/schedulers/cases.hpp"

#include <fmt/core.h>

namespace contend {

Scenario scheduler_scenario(std::string_view settings, const SchedulerTrace& trace) {
  Scenario scenario = parse_scenario(fmt::format("schema_version: 1\n{}\n", settings), "validate schedulers");
  scenario.cluster.servers = trace.servers;
  scenario.cluster.gpus_per_server = trace.gpus_per_server;
  return scenario;
}

ReferenceSchedule engine_schedule(const RunResult& run, const SchedulerTrace& trace) {
  ReferenceSchedule schedule;
  for (const JobResult& job : run.jobs) {
    const bool whole = job.state == JobState::finished && job.finish.ns() % trace.tick.ns() == 0;
    schedule.finish.push_back(whole ? job.finish.ns() / trace.tick.ns() : -1);
    schedule.preemptions += job.preemptions;
  }
  return schedule;
}

bool agrees_in_print(double value, std::string_view figure) {
  const std::size_t point = figure.find('.');
  const std::size_t decimals = point == std::string_view::npos ? 0 : figure.size() - point - 1;
  return fmt::format("{:.{}f}", value, decimals) == figure;
}

}  // namespace contend
