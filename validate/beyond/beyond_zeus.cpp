// Zeus' measurements (You et al., NSDI 2023): time and mean power of an epoch at each power limit of a V100. A run of
// one job on a GPU under the limit, with the curve of these measurements, must draw as much and end as late.

#include "scenarios/keys/reader.hpp"
#include "scenarios/run/job_paces.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/scenario.hpp"
#include "text/atomic_file.hpp"
#include "text/csv.hpp"
#include "validate/beyond/beyond_suite.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

/// What was measured at a limit.
struct ZeusEpoch {
  double limit = 0, epoch_s = 0, watts = 0;
};

constexpr double kZeusRounding = 1e-6;  // paces are whole parts of kNominalPace

/// The cost of an epoch that Zeus minimises: eta E + (1 - eta) P_max T with eta = 0.5.
double zeus_cost(double joule, double seconds, double most_watts) {
  return 0.5 * joule + 0.5 * most_watts * seconds;
}

/// Of a network, which is trained on one data set, with a batch.
std::vector<ZeusEpoch> epochs_of(const CsvTable& table, std::string_view data, std::string_view network,
                                 std::string_view batch) {
  std::vector<ZeusEpoch> epochs;
  for (const CsvRow& row : table.rows)
    if (row.fields[0] == data && row.fields[1] == network && row.fields[2] == batch)
      epochs.push_back({std::stod(row.fields[4]), std::stod(row.fields[5]), std::stod(row.fields[6])});
  std::ranges::sort(epochs, {}, &ZeusEpoch::limit);
  return epochs;
}

/// One epoch on a GPU under a limit, whose curve is what was measured.
RunResult run_epoch(const std::vector<ZeusEpoch>& epochs, double limit) {
  std::string curve;
  for (const ZeusEpoch& each : epochs)
    curve += fmt::format("{}{{limit: {}, watts: {}, pace: {}}}", curve.empty() ? "" : ", ", each.limit, each.watts,
                         epochs.back().epoch_s / each.epoch_s);
  const Scenario scenario = parse_scenario(
      fmt::format("schema_version: 1\ncluster: {{types: [{{name: v100, servers: 1, gpus_per_server: 1, "
                  "power: {{limit: {}, curve: [{}]}}}}]}}\npolicies: {{scheduling: fifo, placement: first-fit}}\n",
                  limit, curve),
      "validate beyond");
  Workload workload;
  JobSpec job;
  job.name = "epoch";
  job.duration = Time::ceil_nanoseconds(epochs.back().epoch_s * 1e9);
  job.pace = 0;
  workload.jobs.push_back(job);
  workload.paces = {{{.together = pace_of(1 / scenario.cluster.types.front().capped_speed())}}};
  return run_workload(scenario, std::move(workload), 1);
}

void add_network(CheckedTable& table, const std::vector<ZeusEpoch>& epochs, std::string_view network,
                 double least_cost_at) {
  double best = 0, least = 0;
  for (const ZeusEpoch& each : epochs) {
    const RunResult result = run_epoch(epochs, each.limit);
    const double joule = result.jobs.front().drawn->energy_j, seconds = result.end.to_seconds();
    const std::string name = fmt::format("{} at {:g} W", network, each.limit);
    table.checks.push_back({name + ", s", each.epoch_s, seconds, kZeusRounding, {}});
    table.checks.push_back({name + ", kJ", each.epoch_s * each.watts / 1e3, joule / 1e3, kZeusRounding, {}});
    const double cost = zeus_cost(joule, seconds, epochs.back().limit);
    if (best > 0 && cost >= least) continue;
    best = each.limit;
    least = cost;
  }
  table.checks.push_back({fmt::format("{}, W of the least cost", network), least_cost_at, best, 0, {}});
}

}  // namespace

CheckedTable beyond_zeus() {
  CheckedTable table;
  table.title = "Zeus: an epoch on a V100 under power limits";
  const char* const data = std::getenv("CONTEND_DATA");
  const std::filesystem::path folder = data != nullptr ? data : "../shared/data";
  const std::string path = (folder / "beyond" / "power" / "zeus_power_v100.csv").string();
  if (!std::filesystem::exists(path)) {
    table.skipped = fmt::format("there is no {} (set CONTEND_DATA)", path);
    return table;
  }
  const CsvTable measured = parse_csv(read_file(path), path);
  add_network(table, epochs_of(measured, "imagenet", "resnet50", "256"), "ResNet-50", 175);
  add_network(table, epochs_of(measured, "squad", "bert_base_uncased", "32"), "BERT", 200);
  return table;
}

}  // namespace contend
