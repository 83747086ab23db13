#include "validate/schedulers/schedulers.hpp"

#include "scenarios/run/run_scenario.hpp"
#include "validate/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr std::size_t kListedJobs = 3;

int decimals_of(std::string_view figure) {
  const std::size_t point = figure.find('.');
  return point == std::string_view::npos ? 0 : static_cast<int>(figure.size() - point - 1);
}

bool holds(const SchedulerCase& each, double average_s, std::int64_t preemptions) {
  const double printed_s = std::stod(std::string{each.figure});
  const bool average = each.tolerance_s > 0 ? std::abs(average_s - printed_s) <= each.tolerance_s
                                            : agrees_in_print(average_s, each.figure);
  return average && (each.preemptions < 0 || each.preemptions == preemptions);
}

std::string preemptions_text(const SchedulerCase& each, const SchedulerOutcome& outcome) {
  return fmt::format("{} {} {}", each.preemptions < 0 ? "-" : fmt::format("{}", each.preemptions),
                     outcome.plain_preemptions,
                     outcome.engine_has_rules ? fmt::format("{}", outcome.engine_preemptions) : "-");
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
  const bool held = outcome.plain_holds && (outcome.engine_holds || !outcome.engine_has_rules);
  const int decimals = decimals_of(each.figure);
  fmt::print(out, "  {:<19}{:<33}{:>10}{:>11.{}f}{:>11}  {:<16}{}\n", trace.title, each.name, each.figure,
             outcome.plain_s, decimals,
             outcome.engine_has_rules ? fmt::format("{:.{}f}", outcome.engine_s, decimals) : "-",
             preemptions_text(each, outcome), held ? "ok" : "FAILED");
  print_differing(out, trace, outcome);
  return held;
}

}  // namespace

bool agrees_in_print(double value, std::string_view figure) {
  return fmt::format("{:.{}f}", value, decimals_of(figure)) == figure;
}

SchedulerOutcome run_scheduler_case(const SchedulerCase& each, const SchedulerTrace& trace) {
  const std::vector<ReferenceJob> jobs = reference_jobs(trace);
  const double tick_s = trace.tick.to_seconds();
  SchedulerOutcome outcome;
  const ReferenceSchedule plain = plain_schedule(each.rules, trace);
  outcome.plain_s = average_jct(jobs, plain) * tick_s;
  outcome.plain_queueing_s = average_queueing(plain) * tick_s;
  outcome.plain_preemptions = plain.preemptions;
  outcome.plain_holds = holds(each, outcome.plain_s, plain.preemptions);
  const EngineRules rules = engine_rules(each.rules);
  outcome.engine_has_rules = !rules.scheduling.empty();
  if (!outcome.engine_has_rules) return outcome;

  const Scenario scenario = scheduler_scenario(rules, trace);
  const ReferenceSchedule engine =
      schedule_of(run_workload(scenario, build_workload(trace.jobs), scenario.seed), trace);
  outcome.engine_s = average_jct(jobs, engine) * tick_s;
  outcome.engine_preemptions = engine.preemptions;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (engine.finish[i] != plain.finish[i]) outcome.differing.push_back(i);
  }
  // The engine counts a job that moves as preempted, the simulators don't.
  const bool same_preemptions = engine.preemptions == plain.preemptions || each.rules.moves_jobs();
  outcome.engine_holds =
      outcome.differing.empty() && same_preemptions && holds(each, outcome.engine_s, engine.preemptions);
  return outcome;
}

int validate_schedulers(std::FILE* out) {
  fmt::print(
      out,
      "schedulers: the rules of released simulators on real traces. Average JCT [s] as they print it, of plain "
      "loops\n(validate/schedulers/reference.hpp) and of the engine, and preemptions of both. Held: every printed "
      "digit, every preemption,\nand each job ends in the engine at the second at which it ends in the loops\n");
  fmt::print(out, "  {:<19}{:<33}{:>10}{:>11}{:>11}  {:<16}verdict\n", "trace", "rules", "printed", "loops", "engine",
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
    fmt::print(out, "  cases skipped: {}; there is no file {} (set CONTEND_DATA)\n", cases, trace_path(trace));
  }
  const SuiteVerdict verdict = suite_verdict(all_hold, !traces.empty());
  fmt::print(out, "\nschedulers: {}{}\n", suite_word(verdict),
             skipped.empty() ? "" : ", the part that needs data skipped");
  return verdict;
}

}  // namespace contend
