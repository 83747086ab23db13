#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/load.hpp"
#include "cli/sweep_load.hpp"
#include "models/workload.hpp"
#include "models/workloads/fitted.hpp"
#include "scenarios/network.hpp"
#include "sim/error.hpp"
#include "traces/job_list.hpp"

#include <algorithm>
#include <climits>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::string_view kExamples[] = {
    "contend check scenario.yaml",
    "contend check scenarios/*/*.yaml --set cluster.servers=64",
};
constexpr Option kOptions[] = {kSetOption};

using Complaints = std::vector<Diagnostic>;

/// A generated job that could never run: the cluster has fewer GPUs than its gang.
void check_size(const Scenario& scenario, const std::string& file, const std::string& key, std::string_view who,
                std::int64_t gpus, Complaints& complaints) {
  const std::int64_t all = std::int64_t{scenario.cluster.servers} * scenario.cluster.gpus_per_server;
  if (gpus <= all) return;
  Diagnostic diagnostic;
  diagnostic.file = file;
  diagnostic.key = key;
  diagnostic.reason = fmt::format("{} needs {} GPUs, the cluster has {} ({} x {})", who, gpus, all,
                                  scenario.cluster.servers, scenario.cluster.gpus_per_server);
  complaints.push_back(std::move(diagnostic));
}

void check_jobs(const Scenario& scenario, const std::string& file, Complaints& complaints) {
  if (scenario.workload.like) {
    const FittedWorkload& like = *find_fitted_workload(*scenario.workload.like);
    const int largest = largest_size(like, scenario.workload.synthetic.largest);
    return check_size(scenario, file, "workload.like", fmt::format("the largest job like {}", like.name), largest,
                      complaints);
  }
  if (!scenario.workload.jobs) {
    for (const auto& [gpus, jobs] : scenario.workload.generate.sizes) {
      check_size(scenario, file, "workload.generate.sizes", "a job", gpus, complaints);
    }
    return;
  }
  const std::int64_t gpus = std::int64_t{scenario.cluster.servers} * scenario.cluster.gpus_per_server;
  const int no_job_is_larger = static_cast<int>(std::min<std::int64_t>(gpus, INT_MAX));
  static_cast<void>(build_workload(read_job_list(*scenario.workload.jobs, no_job_is_larger)));
}

/// Complaints of `check`, those without a file under the name of the scenario's.
template <class Check>
void collect(const std::string& file, Complaints& complaints, Check check) {
  try {
    check();
  } catch (const InputError& error) {
    for (Diagnostic diagnostic : error.diagnostics()) {
      if (diagnostic.file.empty()) diagnostic.file = file;
      complaints.push_back(std::move(diagnostic));
    }
  }
}

void check_network(const Scenario& scenario, const std::string& file, Complaints& complaints) {
  if (scenario.network.fidelity != Fidelity::flow) return;
  const Topology topology = build_topology(scenario);
  collect(file, complaints, [&] { static_cast<void>(build_router(scenario, topology, scenario.seed)); });
  collect(file, complaints, [&] { static_cast<void>(link_changes(scenario, topology)); });
}

/// What there is to say about a scenario without complaints.
std::string check_file(const std::string& file, const Arguments& arguments, Complaints& complaints) {
  const std::vector<std::string> overrides = arguments.values("set");
  if (const std::optional<SweepPlan> sweep = sweep_of(file, overrides))
    return fmt::format("{}: ok, {}\n", file, extent_text(*sweep));
  std::vector<Arguments::Given> given;
  for (const std::string& each : overrides) given.push_back({.name = "set", .value = each});
  const Scenario scenario = load_scenarios({{file}, std::move(given), {}}).scenarios.front();
  collect(file, complaints, [&] { check_jobs(scenario, file, complaints); });
  collect(file, complaints, [&] { check_network(scenario, file, complaints); });
  return fmt::format("{}: ok\n", file);
}

int run(const Arguments& arguments) {
  Complaints complaints;
  std::string verdicts;
  for (const std::string& file : arguments.positionals())
    collect(file, complaints, [&] { verdicts += check_file(file, arguments, complaints); });
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  fmt::print("{}", verdicts);
  return kExitOk;
}

}  // namespace

const Command& check_command() {
  static constexpr Command kCommand = {.name = "check",
                                       .arguments = "SCENARIO...",
                                       .summary = "Read scenarios and the files that they name, without running them.",
                                       .examples = kExamples,
                                       .options = kOptions,
                                       .min_arguments = 1,
                                       .max_arguments = SIZE_MAX,
                                       .run = run};
  return kCommand;
}

}  // namespace contend
