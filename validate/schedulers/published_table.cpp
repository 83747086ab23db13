#include "validate/schedulers/published_table.hpp"

#include "policies/registry.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "validate/schedulers/cases.hpp"
#include "validate/verdict.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr TraceKind kTraces[] = {TraceKind::philly, TraceKind::philly_512, TraceKind::helios_vcvgl,
                                 TraceKind::itp_cluster01};

constexpr std::size_t kSmallTrace = 10'000;  // jobs

struct TableRow {
  std::string label;
  std::string summary;
  EngineRules rules;
};

/// The figures of a cell: average and 95th percentile of the JCT in s, preemptions.
struct TableCell {
  double average_s = 0, p95_s = 0;
  std::int64_t preemptions = 0;
  std::size_t unfinished = 0;
};

TableCell run_cell(const EngineRules& rules, const SchedulerTrace& trace, const Workload& workload) {
  const Scenario scenario = scheduler_scenario(rules, trace);
  const RunResult run = run_workload(scenario, workload, scenario.seed);
  const Summary summary = summarise(run);
  TableCell cell{summary.avg_jct_s, summary.p95_jct_s, 0, summary.jobs - summary.finished};
  for (const JobResult& job : run.jobs) cell.preemptions += job.preemptions;
  return cell;
}

struct LoadedTrace {
  SchedulerTrace trace;
  Workload workload;
};

std::vector<LoadedTrace> load_traces(std::FILE* out) {
  std::vector<LoadedTrace> loaded;
  for (const TraceKind kind : kTraces) {
    if (!std::filesystem::exists(trace_path(kind))) {
      fmt::print(out, "{} is left out: there is no file {} (set CONTEND_DATA)\n\n", trace_title(kind),
                 trace_path(kind));
      continue;
    }
    SchedulerTrace trace = read_scheduler_trace(kind);
    Workload workload = build_workload(trace.jobs);
    loaded.push_back({std::move(trace), std::move(workload)});
  }
  return loaded;
}

void print_head(std::FILE* out, std::string_view first, const std::vector<LoadedTrace>& traces) {
  fmt::print(out, "| {} | ", first);
  for (const LoadedTrace& each : traces) fmt::print(out, "{}: avg | p95 | preempted | ", each.trace.title);
  fmt::print(out, "what it does |\n|---|");
  for (std::size_t i = 0; i < traces.size(); ++i) fmt::print(out, "--:|--:|--:|");
  fmt::print(out, "---|\n");
}

std::size_t print_row(std::FILE* out, const TableRow& row, const std::vector<LoadedTrace>& traces) {
  std::size_t unfinished = 0;
  fmt::print(out, "| {} | ", row.label);
  for (const LoadedTrace& each : traces) {
    const TableCell cell = run_cell(row.rules, each.trace, each.workload);
    fmt::print(out, "{:.0f} | {:.0f} | {} | ", cell.average_s, cell.p95_s, cell.preemptions);
    unfinished += cell.unfinished;
  }
  fmt::print(out, "{} |\n", row.summary);
  return unfinished;
}

std::vector<TableRow> registry_rows() {
  std::vector<TableRow> rows;
  for (const PolicyRow<SchedulingPolicy>& policy : scheduling_policies()) {
    if (policy.is_outside) continue;
    rows.push_back({fmt::format("`{}`", policy.name),
                    fmt::format("{} ({})", policy.summary, policy.source),
                    {std::string{policy.name}, "consolidated", {}}});
  }
  return rows;
}

/// The effect of choices that simulators make without stating them. With `first-fit` only the number of GPUs counts, as
/// in Tiresias.
std::vector<TableRow> quirk_rows() {
  constexpr const char* kQueues = "policy: dlas-gpu, queues: 3, limit_1_s: 3250, limit_2_s: 7200";
  const auto dlas = [&](const char* quirks) { return EngineRules{fmt::format("{{{}{}}}", kQueues, quirks)}; };
  const char* const kSrtf = "{policy: srtf, rewalk: true}";
  return {
      {"`dlas-gpu`", "the method: demotions when they are due", dlas("")},
      {"... `late_wakeup`", "demotions of jobs of several GPUs are noticed late", dlas(", late_wakeup: true")},
      {"... `list_order`", "who ran before goes first in a queue", dlas(", list_order: true")},
      {"... `whole_seconds`", "demotions at whole seconds", dlas(", whole_seconds: true")},
      {"... all of them, `single_step`", "Tiresias' simulator",
       dlas(", late_wakeup: true, list_order: true, whole_seconds: true, single_step: true")},
      {"`srtf`, `rewalk`", "all jobs compete again at every event", {kSrtf}},
      {"... `list_order`", "ties as in Tiresias' simulator", {"{policy: srtf, rewalk: true, list_order: true}"}},
      {"`srtf`, `preemptive`", "a queued job pushes out what it needs", {"{policy: srtf, preemptive: true}"}},
      {"`srtf`, `rewalk`, restart 30 s",
       "each start after a preemption costs 30 s",
       {kSrtf, "first-fit", {}, "restart_cost: 30s"}},
      {"... and checkpoints every 10 min",
       "work since the last one is done again",
       {kSrtf, "first-fit", {}, "policy: synchronous, period: 600s, restart_cost: 30s"}},
      {"`sjf`, `strict`, counted", "no placement", {"{policy: sjf, strict: true}"}},
      {"... `consolidated`", "Helios' placement", {"{policy: sjf, strict: true}", "consolidated", {}}},
      {"... `yarn`", "Tiresias' placement", {"{policy: sjf, strict: true}", "yarn", {}}},
      {"... ties `list-reversed`",
       "equal durations: last in the list first",
       {"{policy: sjf, strict: true}", "first-fit", "ties: list-reversed"}},
      {"`fifo`, ties `list-reversed`",
       "equal submissions: last in the list first",
       {"fifo", "first-fit", "ties: list-reversed"}},
  };
}

std::vector<TableRow> quantum_rows() {
  std::vector<TableRow> rows;
  for (const char* policy : {"fifo", "{policy: sjf, strict: true}", "{policy: srtf, rewalk: true}", "dlas-gpu"}) {
    for (const int quantum_s : {0, 1, 10, 60, 300, 360}) {
      rows.push_back({fmt::format("`{}`, {} s", policy, quantum_s),
                      quantum_s == 0 ? "at any event" : "at its multiples",
                      {policy, "first-fit", fmt::format("quantum: {}s", quantum_s)}});
    }
  }
  return rows;
}

std::size_t print_table(std::FILE* out, std::string_view title, std::string_view first,
                        const std::vector<TableRow>& rows, const std::vector<LoadedTrace>& traces) {
  fmt::print(out, "{}\n\n", title);
  print_head(out, first, traces);
  std::size_t unfinished = 0;
  for (const TableRow& row : rows) unfinished += print_row(out, row, traces);
  fmt::print(out, "\n");
  return unfinished;
}

}  // namespace

int validate_schedulers_table(std::FILE* out) {
  const std::vector<LoadedTrace> traces = load_traces(out);
  if (traces.empty()) {
    fmt::print(out, "schedulers-table: {}\n", suite_word(kSuiteComparedNothing));
    return kSuiteComparedNothing;
  }
  std::size_t unfinished = print_table(out, "Every policy with its defaults, consolidated placement; JCT in s.",
                                       "policy", registry_rows(), traces);
  std::vector<LoadedTrace> small;
  for (const LoadedTrace& each : traces) {
    if (each.workload.jobs.size() < kSmallTrace) small.push_back(each);
  }
  unfinished +=
      print_table(out, "The effect of choices that the simulators do not state.", "choice", quirk_rows(), small);
  unfinished += print_table(out, "The quantum alone.", "policy, quantum", quantum_rows(), small);
  fmt::print(out, "schedulers-table: {}\n",
             unfinished > 0 ? fmt::format("FAILED, {} jobs did not end", unfinished) : "passed");
  return unfinished > 0 ? 1 : 0;
}

}  // namespace contend
