#include "scenarios/run/job_sizes.hpp"

#include "scenarios/run/job_paces.hpp"
#include "scenarios/run/lone_job.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "sim/counted.hpp"
#include "sim/error.hpp"
#include "traces/jobs/row_report.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

using Sizes = std::vector<JobSize>;

/// Makes the sizes of jobs, each once.
class SizeMaker {
 public:
  SizeMaker(const TrainingSystem& system, const WorkloadSetup& setup, const std::optional<ThroughputTable>& table,
            Workload& workload)
      : cluster_{system.cluster}, setup_{setup}, workload_{workload}, table_{table} {
    for (const NamedServerType& type : cluster_.types) add_servers(system_of_type(system, type), type.capped_speed());
    if (cluster_.types.empty()) add_servers(system, 1);
  }

  void give_sizes(const JobRequest& request, JobSpec& job) {
    const auto [known, is_new] =
        known_.try_emplace({job.model, job.gpus, request.min_gpus, request.max_gpus, job.duration.has_value()}, -1);
    if (is_new) known->second = number(job.duration ? by_table(request) : by_graph(request, job));
    job.sizes = known->second;
  }

 private:
  /// Servers that are alike, as a cluster of their own.
  struct Servers {
    std::unique_ptr<TrainingSystem> system;
    std::unique_ptr<TrainingGraphs> graphs;
    double speed = 1;
    [[nodiscard]] std::int64_t gpus() const {
      return std::int64_t{system->cluster.servers} * system->cluster.gpus_per_server;
    }
  };

  void add_servers(TrainingSystem system, double speed) {
    system.cluster.types.clear();
    auto own = std::make_unique<TrainingSystem>(std::move(system));
    auto graphs = std::make_unique<TrainingGraphs>(*own);
    servers_.push_back({std::move(own), std::move(graphs), speed});
  }

  std::int32_t number(Sizes sizes) {
    const auto [known, is_new] = numbers_.try_emplace(sizes, static_cast<std::int32_t>(workload_.sizes.size()));
    if (is_new) workload_.sizes.push_back(std::move(sizes));
    return known->second;
  }

  Sizes by_table(const JobRequest& request) {
    const double nominal = nominal_rate(cluster_, setup_, *table_, request.model, request.gpus);
    Sizes sizes;
    for (const int gpus : table_->sizes(request.model)) {
      if (gpus < request.min_gpus || gpus > request.max_gpus) continue;
      JobSize size{.gpus = gpus, .paces = paces_by_table(cluster_, *table_, request.model, gpus, nominal), .parts = 1};
      const bool runs = std::ranges::any_of(size.paces, [](const JobPace& pace) { return pace.together > 0; });
      if (runs || gpus == request.gpus) sizes.push_back(std::move(size));
    }
    return sizes;
  }

  Sizes by_graph(const JobRequest& request, const JobSpec& job) {
    std::set<int> numbers{request.min_gpus, request.gpus, request.max_gpus};
    for (std::int64_t gpus = 1; gpus < request.max_gpus; gpus *= 2)
      if (gpus > request.min_gpus) numbers.insert(static_cast<int>(gpus));
    const double worker_s = workload_.graphs[job.graph].compute_total().to_seconds() / job.gpus;
    Sizes sizes;
    for (const int gpus : numbers) {
      JobSize size{.gpus = gpus, .paces = {}, .parts = gpus};
      for (Servers& servers : servers_) size.paces.push_back(on(servers, request, gpus, worker_s));
      const bool runs = std::ranges::any_of(size.paces, [](const JobPace& pace) { return pace.together > 0; });
      if (runs || gpus == request.gpus) sizes.push_back(std::move(size));
    }
    return sizes;
  }

  /// An iteration on so many GPUs does gpus parts of the work, which a worker computes in `worker_s` by the graph of
  /// the workload.
  JobPace on(Servers& servers, const JobRequest& request, int gpus, double worker_s) {
    JobPace pace{.together = 0, .spread = 0, .graph = -1};
    if (gpus > servers.gpus()) return pace;
    try {
      IterationGraph graph = (*servers.graphs)(request.model, gpus).graph;
      const bool is_given = gpus == request.gpus && cluster_.types.empty();  // JobSpec::graph
      if (servers.speed != 1) graph = graph.with_compute_times(1 / servers.speed);
      const double alone_s = lone_iteration(*servers.system, request.model, gpus).to_seconds() / servers.speed;
      pace.together =
          worker_s > 0 ? pace_of(alone_s / worker_s * request.gpus / gpus) : pace_of(1.0 * request.gpus / gpus);
      if (is_given) return pace;
      pace.graph = static_cast<std::int32_t>(workload_.graphs.size());
      workload_.notes.resize(workload_.graphs.size());
      workload_.graphs.push_back(std::move(graph));
    } catch (const InputError&) {  // it does not fit there
      pace.together = 0;
    }
    return pace;
  }

  const ClusterSetup& cluster_;
  const WorkloadSetup& setup_;
  Workload& workload_;
  const std::optional<ThroughputTable>& table_;
  std::vector<Servers> servers_;
  std::map<std::tuple<std::string, int, int, int, bool>, std::int32_t> known_;
  std::map<Sizes, std::int32_t> numbers_;
};

}  // namespace

std::string why_not_elastic(const std::vector<TrainingEntry>& training, const std::optional<ThroughputTable>& table,
                            const JobRequest& job) {
  if (!job.elastic()) return {};
  const bool has_rows = table && !table->sizes(job.model).empty();
  if (has_rows) return {};  // whether one is for the GPUs that it prefers is another question: why_not_timed()
  if (job.duration)
    return fmt::format(
        "it may have {} to {} GPUs, and no row of workload.throughputs or workload.goodput says how fast "
        "{} is with them; its duration holds on {}",
        job.min_gpus, job.max_gpus, job.model.empty() ? "a job without a model" : quote_for_message(job.model),
        counted(job.gpus, "GPU"));
  const TrainingEntry* const entry = find_entry(training, job.model);
  if (entry != nullptr && entry->parallel)
    return fmt::format(
        "training.{}.parallel divides the model over {} GPUs, and other numbers would need other plans; "
        "such a job can't change its GPUs",
        job.model, job.gpus);
  if (entry != nullptr && entry->recording)
    return fmt::format("training.{}.recording is of {} ranks; such a job can't change its GPUs", job.model, job.gpus);
  return {};
}

void add_sizes(const TrainingSystem& system, const WorkloadSetup& setup, const std::optional<ThroughputTable>& table,
               const std::vector<JobRequest>& requests, Workload& workload) {
  SizeMaker maker{system, setup, table, workload};
  for (std::size_t j = 0; j < requests.size(); ++j)
    if (requests[j].elastic()) maker.give_sizes(requests[j], workload.jobs[j]);
}

}  // namespace contend
