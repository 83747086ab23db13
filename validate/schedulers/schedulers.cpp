#include "validate/schedulers/schedulers.hpp"

#include "scenarios/run.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr std::size_t kListedJobs = 3;

double number(std::string_view figure) {
  return std::stod(std::string{figure});
}

bool holds(const SchedulerCase& each, double average_s, std::int64_t preemptions) {
  const bool average = each.tolerance_s > 0 ? std::abs(average_s - number(each.figure)) <= each.tolerance_s
                                            : agrees_in_print(average_s, each.figure);
  return average && (each.preemptions < 0 || each.preemptions == preemptions);
}

std::string preemptions_text(const SchedulerCase& each, const SchedulerOutcome& outcome) {
  std::string text = each.preemptions < 0 ? "-" : fmt::format("{}", each.preemptions);
  text += fmt::format(" {}", outcome.plain_preemptions);
  text += each.settings.empty() ? " -" : fmt::format(" {}", outcome.engine_preemptions);
  return text;
}

void print_differing(std::FILE* out, const SchedulerTrace& trace, const SchedulerOutcome& outcome) {
  if (outcome.differing.empty()) return;
  fmt::print(out, "    {} of {} jobs end at another time in the engine, the first:", outcome.differing.size(),
             trace.jobs.size());
  for (std::size_t i = 0; i < std::min(kListedJobs, outcome.differing.size()); ++i) {
    fmt::print(out, " {}", trace.jobs[outcome.differing[i]].name);
  }
  fmt::print(out, "\n");
}

bool run_case(std::FILE* out, const SchedulerCase& each, const SchedulerTrace& trace) {
  const SchedulerOutcome outcome = run_scheduler_case(each, trace);
  const int decimals = static_cast<int>(each.figure.size() - each.figure.find('.') - 1);
  const bool held = outcome.plain_holds && outcome.engine_holds;
  fmt::print(out, "  {:<15}{:<31}{:>12}{:>13.{}f}{:>13}  {:<16}{}\n", trace.title, each.rules, each.figure,
             outcome.plain_s, decimals,
             each.settings.empty() ? "-" : fmt::format("{:.{}f}", outcome.engine_s, decimals),
             preemptions_text(each, outcome), held ? "ok" : "FAILED");
  print_differing(out, trace, outcome);
  return held;
}

}  // namespace

SchedulerOutcome run_scheduler_case(const SchedulerCase& each, const SchedulerTrace& trace) {
  const std::vector<ReferenceJob> jobs = reference_jobs(trace);
  const double tick_s = trace.tick.to_seconds();
  SchedulerOutcome outcome;
  const ReferenceSchedule plain = each.plain(trace, jobs);
  outcome.plain_s = average_jct(jobs, plain) * tick_s;
  outcome.plain_queueing_s = average_queueing(plain) * tick_s;
  outcome.plain_preemptions = plain.preemptions;
  outcome.plain_holds = holds(each, outcome.plain_s, plain.preemptions);
  outcome.engine_holds = true;
  if (each.settings.empty()) return outcome;

  const Scenario scenario = scheduler_scenario(each.settings, trace);
  const ReferenceSchedule engine =
      engine_schedule(run_workload(scenario, build_workload(trace.jobs), scenario.seed), trace);
  outcome.engine_s = average_jct(jobs, engine) * tick_s;
  outcome.engine_preemptions = engine.preemptions;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (engine.finish[i] != plain.finish[i]) outcome.differing.push_back(i);
  }
  outcome.engine_holds = outcome.differing.empty() && holds(each, outcome.engine_s, engine.preemptions) &&
                         engine.preemptions == plain.preemptions;
  return outcome;
}

int validate_schedulers(std::FILE* out) {
  fmt::print(out,
             "schedulers: the rules of released simulators on real traces. Average JCT [s] as they print it, of plain "
             "loops\n(validate/schedulers/reference.hpp) and of the engine; preemptions likewise. Held: every printed "
             "digit, every preemption,\nand each job ends in the engine at the second at which it ends in the loops\n");
  fmt::print(out, "  {:<15}{:<31}{:>12}{:>13}{:>13}  {:<16}verdict\n", "trace", "rules", "printed", "loops", "engine",
             "preemptions");
  std::map<TraceKind, SchedulerTrace> traces;
  std::map<TraceKind, int> skipped;
  bool all_hold = true;
  for (const SchedulerCase& each : scheduler_cases()) {
    if (!std::filesystem::exists(trace_path(each.trace))) {
      ++skipped[each.trace];
      continue;
    }
    if (!traces.contains(each.trace)) traces.emplace(each.trace, read_scheduler_trace(each.trace));
    all_hold = run_case(out, each, traces.at(each.trace)) && all_hold;
  }
  for (const auto& [trace, cases] : skipped) {
    fmt::print(out, "  {} cases skipped: there is no file {} (set CONTEND_DATA)\n", cases, trace_path(trace));
  }
  fmt::print(out, "\nschedulers: {}{}\n", all_hold ? "passed" : "FAILED",
             skipped.empty() ? "" : ", the part that needs data skipped");
  return all_hold ? 0 : 1;
}

}  // namespace contend
