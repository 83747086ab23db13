#include "results/graph_rows.hpp"

#include "sim/graph.hpp"
#include "text/csv.hpp"
#include "text/decimal.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

namespace contend {

namespace {

/// Whether an operation takes a time that its graph and its network alone give, on all ranks alike.
bool is_plain(const Op& op) {
  if (op.phase != kEveryPhase || op.round != kNoRound) return false;
  if (op.kind == OpKind::timer) return !op.host.any();
  if (op.kind != OpKind::collective) return op.runs_on_lane();
  return op.scope == CollectiveScope::all && op.roles == 1 && op.servers == ParameterServers::none &&
         !op.channel.valid();
}

bool is_plain(const IterationGraph& graph) {
  return graph.roles().size() == 1 && graph.roles().front().late == 0 && graph.channels().empty() &&
         graph.left_out().count == 0 && std::ranges::all_of(graph.ops(), [](const Op& op) { return is_plain(op); });
}

/// Whether a job runs that graph from its start to its end.
bool keeps_graph(const Workload& workload, const JobSpec& job) {
  const bool may_be_torn = job.graph < workload.torn.size() && !workload.torn[job.graph].groups.empty();
  return !job.duration && job.service < 0 && job.sizes < 0 && job.pace < 0 && job.regimes < 0 && !may_be_torn;
}

/// What the operation waits for: numbers of operations, with :1 if it is the one of the iteration before.
std::vector<std::string> waits_of(const IterationGraph& graph) {
  std::vector<std::string> waits(graph.ops().size());
  for (const Dependency& each : graph.dependencies()) {
    std::string& text = waits[each.after.index()];
    if (!text.empty()) text += ' ';
    text += fmt::format("{}{}", each.before.value(), each.lag > 0 ? ":1" : "");
  }
  return waits;
}

void append_graph(std::string& rows, std::uint64_t seed, std::size_t number, const IterationGraph& graph) {
  const std::vector<std::string> waits = waits_of(graph);
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.ops()[i];
    const bool sends = op.kind == OpKind::collective;
    rows += fmt::format("{},{},{},{},{},{},{},{},", seed, number, i, op.runs_on_lane() ? name_of(op.lane) : "",
                        sends ? "" : format_seconds(op.duration), sends ? fmt::to_string(op.all_bytes().count()) : "",
                        op.priority, waits[i]);
    append_csv_field(rows, op.name);
    rows += ",\n";
  }
}

}  // namespace

std::string graph_rows(std::uint64_t seed, const Workload& workload) {
  std::string rows;
  std::vector<bool> is_looked_at(workload.graphs.size()), is_given(workload.graphs.size());
  for (const JobSpec& job : workload.jobs) {
    if (!keeps_graph(workload, job)) continue;
    const IterationGraph& graph = workload.graphs[job.graph];
    if (!is_looked_at[job.graph]) {
      is_looked_at[job.graph] = true;
      is_given[job.graph] = is_plain(graph);
      if (is_given[job.graph]) append_graph(rows, seed, job.graph, graph);
    }
    if (!is_given[job.graph]) continue;
    rows += fmt::format("{},{},{},,,,,,,", seed, job.graph, graph.in_flight());
    append_csv_field(rows, job.name);
    rows += '\n';
  }
  return rows;
}

std::string_view graphs_header() {
  return "replica,graph,number,lane,seconds,bytes,priority,after,name,job_id\n";
}

}  // namespace contend
