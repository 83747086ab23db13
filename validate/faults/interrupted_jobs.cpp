#include "validate/faults/interrupted_jobs.hpp"

#include "scenarios/keys/reader.hpp"
#include "scenarios/scenario.hpp"

#include <utility>

#include <fmt/format.h>

namespace contend {

RunResult run_interrupted(const InterruptedJobs& what, std::uint64_t seed) {
  const Scenario scenario =
      parse_scenario(fmt::format("schema_version: 1\ncluster: {{servers: {}, gpus_per_server: {}}}\n"
                                 "policies: {{scheduling: fifo, placement: first-fit}}\n{}",
                                 what.servers, what.gpus_per_server, what.keys),
                     "validate faults");
  Workload workload;
  for (int j = 0; j < what.jobs; ++j) {
    JobSpec job;
    job.name = fmt::format("job{}", j);
    job.duration = what.work;
    job.gpus = what.gpus;
    workload.jobs.push_back(std::move(job));
  }
  return run_workload(scenario, std::move(workload), seed);
}

double effective_share(const RunResult& result) {
  return summarise(result).effective_time;
}

}  // namespace contend
