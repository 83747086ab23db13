#include "validate/elastic/muri_runs.hpp"

#include "models/sharing.hpp"
#include "validate/elastic/muri_trace.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {

std::optional<RunResult> run_muri_sharing(const std::string& policy, const PolicyValues& parameters, int most) {
  const std::optional<std::vector<MuriRow>> rows = read_muri_trace();
  if (!rows) return std::nullopt;
  ClusterSpec cluster;
  cluster.servers = kMuriServers;
  cluster.gpus_per_server = kMuriGpusPerServer;
  Workload workload;
  std::vector<StageTimes> stages;
  constexpr double kSecond_ns = 1e9;
  for (const MuriRow& row : *rows) {
    JobSpec job;
    job.name = fmt::format("{}", workload.jobs.size());
    job.submit = Time::nanoseconds(std::llround(row.submit_s * kSecond_ns));
    job.gpus = row.gpus;
    job.duration = Time::nanoseconds(std::llround(row.iterations * row.iteration_s * kSecond_ns));
    job.priority = row.guaranteed ? 1 : 0;
    workload.jobs.push_back(std::move(job));
    const double rest = std::max(0.0, row.iteration_s - row.disk_s - row.compute_s - row.network_s);
    stages.push_back({row.disk_s, rest, row.compute_s, row.network_s});
  }
  const bool is_antman = policy == "antman";
  constexpr double kTwice = 2;
  GpuSharing sharing{is_antman ? constant_sharing(kTwice, stages) : interleaved_sharing(stages), most, is_antman};
  return run_timed(cluster, std::move(workload), policy, parameters, 0, std::move(sharing));
}

}  // namespace contend
