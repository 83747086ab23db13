// Bamboo's trace of spot instances, as failures of a run.

#include "scenarios/keys/reader.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/scenario.hpp"
#include "validate/faults/faults_suite.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace contend {

CheckedTable faults_spot() {
  CheckedTable table;
  table.title = "Bamboo's spot instances: nodes that come and go, over 11.37 hours";
  const char* const data = std::getenv("CONTEND_DATA");
  const std::filesystem::path folder = data != nullptr ? data : "../shared/data";
  const std::string path = (folder / "elastic" / "bamboo" / "p3-trace.csv").string();
  if (!std::filesystem::exists(path)) {
    table.skipped = fmt::format("there is no {} (set CONTEND_DATA)", path);
    return table;
  }
  Workload workload;
  JobSpec job;
  job.name = "job";
  job.duration = Time::seconds(40'920);  // as long as the trace, so that the run is longer
  workload.jobs.push_back(std::move(job));
  const Scenario scenario = parse_scenario(
      fmt::format("schema_version: 1\ncluster: {{servers: 32, gpus_per_server: 1}}\npolicies: {{scheduling: fifo, "
                  "placement: first-fit}}\nfailures: {{events: {}}}\nengine: {{until: 40920s}}\n",
                  std::filesystem::absolute(path).string()),
      "validate faults");
  const RunResult result = run_workload(scenario, std::move(workload), 1);
  double up_s = 0;
  for (const GpuResult& gpu : result.gpus) up_s += (result.end - gpu.down).to_seconds();
  table.checks.push_back({"nodes on average, of at most 32", 24.03, up_s / result.end.to_seconds(), 2e-4, {}});
  return table;
}

}  // namespace contend
