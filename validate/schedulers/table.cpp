#include "validate/schedulers/table.hpp"

#include "policies/registry.hpp"
#include "scenarios/run.hpp"
#include "validate/schedulers/cases.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr TraceKind kTraces[] = {TraceKind::philly, TraceKind::helios_vcvgl, TraceKind::itp_cluster01};

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
      fmt::print(out, "Left out: there is no file {} (set CONTEND_DATA)\n\n", trace_path(kind));
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
    rows.push_back({fmt::format("`{}`", policy.name),
                    fmt::format("{} ({})", policy.summary, policy.source),
                    {std::string{policy.name}, "consolidated", 0}});
  }
  return rows;
}

}  // namespace

int validate_schedulers_table(std::FILE* out) {
  const std::vector<LoadedTrace> traces = load_traces(out);
  if (traces.empty()) {
    fmt::print(out, "schedulers-table: skipped\n");
    return 0;
  }
  std::size_t unfinished = 0;
  print_head(out, "policy", traces);
  for (const TableRow& row : registry_rows()) unfinished += print_row(out, row, traces);
  if (unfinished > 0) fmt::print(out, "\nschedulers-table: FAILED, {} jobs did not end\n", unfinished);
  return unfinished > 0 ? 1 : 0;
}

}  // namespace contend
