#include "validate/elastic/pollux_runs.hpp"

#include "validate/elastic/pollux_profiles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace contend {

namespace {

constexpr double kNever_s = std::numeric_limits<double>::infinity();

/// Seconds of the whole training on so many GPUs, at the fastest of the batches in each epoch.
double training_s(const PolluxApplication& application, const std::vector<int>& batches, int gpus) {
  struct Speed {
    int batch;
    double iteration_s;
  };
  std::vector<Speed> speeds;
  for (const int batch : batches) {
    const bool accumulates = gpus == 1 && batch > application.initial_batch();
    const LocalBatch local = divide_batch(application, batch, gpus, accumulates);
    if (local.samples < application.least_local()) continue;
    speeds.push_back({gpus * local.samples * (local.accumulated + 1), packed_iteration_s(application, gpus, local)});
  }
  if (speeds.empty()) return kNever_s;
  double sum_s = 0;
  for (int epoch = 0; epoch <= application.last_epoch(); ++epoch) {
    double fastest = 0;
    for (const Speed& speed : speeds)
      fastest = std::max(fastest, application.gain(speed.batch, epoch) / speed.iteration_s);
    sum_s += (application.progress_before(epoch + 1) - application.progress_before(epoch)) / fastest;
  }
  return sum_s;
}

}  // namespace

std::optional<Workload> pollux_workload(int workload, bool adapts_batch) {
  const std::optional<PolluxList> list = read_pollux_list(workload);
  if (!list) return std::nullopt;
  constexpr int kGpus = kPolluxNodes * kPolluxGpusPerNode;
  std::map<std::pair<std::size_t, int>, std::vector<double>> known;  // by application and batch; by GPUs, from one
  Workload result;
  for (const PolluxRow& row : list->jobs) {
    const PolluxApplication& application = list->applications[row.application].second;
    const bool is_fixed = !adapts_batch || row.most_gpus == 1;
    const auto [found, is_new] = known.try_emplace({row.application, is_fixed ? row.batch : 0});
    std::vector<double>& times_s = found->second;
    if (is_new) {
      const std::vector<int> batches = is_fixed ? std::vector<int>{row.batch} : application.batches();
      const int most = is_fixed ? std::min(kGpus, row.most_gpus) : kGpus;
      for (int gpus = 1; gpus <= most; ++gpus) times_s.push_back(training_s(application, batches, gpus));
    }
    JobSpec job;
    job.name = row.name;
    job.submit = Time::seconds(row.submit_s);
    job.gpus = row.gpus;
    const double own_s = times_s.at(static_cast<std::size_t>(row.gpus - 1));
    job.duration = Time::ceil_nanoseconds(own_s * 1e9);
    const auto fastest = std::ranges::min_element(times_s) - times_s.begin();
    std::vector<JobSize> sizes;
    for (std::size_t i = 0;
         i < times_s.size() && (static_cast<std::ptrdiff_t>(i) <= fastest || static_cast<int>(i) < row.gpus); ++i)
      if (times_s[i] < kNever_s)
        sizes.push_back({.gpus = static_cast<int>(i) + 1,
                         .paces = {{.together = std::llround(times_s[i] / own_s * static_cast<double>(kNominalPace))}},
                         .parts = 1});
    job.sizes = static_cast<std::int32_t>(result.sizes.size());
    result.sizes.push_back(std::move(sizes));
    result.jobs.push_back(std::move(job));
  }
  return result;
}

RunResult run_pollux_jobs(Workload workload, const std::string& policy, const PolicyValues& parameters) {
  ClusterSpec cluster;
  cluster.servers = kPolluxNodes;
  cluster.gpus_per_server = kPolluxGpusPerNode;
  cluster.gpu_memory = Bytes{1};
  constexpr double kRestart_s = 30;
  return run_timed(cluster, std::move(workload), policy, parameters, kRestart_s);
}

}  // namespace contend
