#include "scenarios/run/job_paces.hpp"

#include "scenarios/training/training_graphs.hpp"
#include "sim/counted.hpp"
#include "sim/error.hpp"
#include "text/words.hpp"
#include "traces/goodput_models.hpp"
#include "traces/jobs/row_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

using Paces = std::vector<JobPace>;

const NamedServerType& reference_type(const ClusterSetup& cluster, const WorkloadSetup& workload) {
  const auto& types = cluster.types;
  const auto found =
      std::ranges::find(types, workload.reference_type.value_or(types.front().name), &NamedServerType::name);
  return found == types.end() ? types.front() : *found;
}

/// Adds what the models of `workload.goodput` give on each number of GPUs of each type.
void add_goodput(const ClusterSetup& cluster, const WorkloadSetup& workload, ThroughputTable& table) {
  constexpr int kMostGpus = 4096;
  const std::string& file = *workload.goodput;
  const GoodputTable models = read_goodput_models(file);
  for (const auto& [key, model] : models) {
    const auto& [name, of_type] = key;
    if (!table.sizes(name).empty() && table.file(name) != file)
      throw InputError{
          {.file = file, .reason = fmt::format("{} has rows in {}, too", quote_for_message(name), table.file(name))}};
    for (const NamedServerType& type : cluster.types) {
      const bool has_own = models.contains({name, type.name});
      if (of_type.empty() ? has_own : of_type != type.name) continue;
      const int gpus =
          static_cast<int>(std::min<std::int64_t>(std::int64_t{type.servers} * type.gpus_per_server, kMostGpus));
      for (int k = 1; k <= gpus; ++k) {
        const auto rate = [&, &model = model](int nodes) {
          return best_batch(model, nodes, k).goodput / model.batch.initial;
        };
        const int nodes = (k + type.gpus_per_server - 1) / type.gpus_per_server;
        const double together = rate(nodes);
        table.add(name, k, type.name, {together, together > 0 && nodes == 1 && k > 1 ? rate(2) : 0}, file);
      }
    }
  }
}

}  // namespace

double nominal_rate(const ClusterSetup& cluster, const WorkloadSetup& workload, const ThroughputTable& table,
                    const std::string& model, int gpus) {
  const double rate = table.of(model, gpus, reference_type(cluster, workload).name).together;
  if (rate > 0) return rate;
  double fastest = 0;
  for (const NamedServerType& type : cluster.types)
    fastest = std::max(fastest, table.of(model, gpus, type.name).together);
  return fastest;
}

std::int64_t pace_of(double ratio) {
  const double pace = std::round(ratio * static_cast<double>(kNominalPace));
  if (!(pace >= 1) || pace > static_cast<double>(kSlowestPace)) return 0;
  return static_cast<std::int64_t>(pace);
}

std::vector<JobPace> paces_by_table(const ClusterSetup& cluster, const ThroughputTable& table, const std::string& model,
                                    int gpus, double nominal) {
  Paces paces;
  for (const NamedServerType& type : cluster.types) {
    const Throughput rate = table.of(model, gpus, type.name);
    const double capped = nominal / type.cap_pace();  // the table is of GPUs without a cap
    paces.push_back({.together = rate.together > 0 ? pace_of(capped / rate.together) : 0,
                     .spread = rate.spread > 0 ? pace_of(capped / rate.spread) : 0,
                     .graph = -1});
  }
  return paces;
}

TrainingSystem system_of_type(const TrainingSystem& system, const NamedServerType& type) {
  TrainingSystem variant = system;
  variant.cluster.gpu_memory = type.gpu_memory;
  if (!system.network.traits().has_topology) {  // a topology has servers of one size
    variant.cluster.servers = type.servers;
    variant.cluster.gpus_per_server = type.gpus_per_server;
  }
  for (TrainingEntry& entry : variant.training) {
    if (type.device) entry.device = *type.device;
    entry.speed = type.capped_speed();
  }
  if (type.device)
    for (ServingEntry& entry : variant.serving) entry.served.device = *type.device;
  return variant;
}

namespace {

/// The same with computing that goes `speed` times as fast.
TornGraph at_speed(TornGraph torn, double speed) {
  if (speed == 1 || !torn.make) return torn;
  return {torn.groups, [make = std::move(torn.make), speed] { return make().with_compute_times(1 / speed); }};
}

/// Makes the paces of jobs, each once.
class PaceMaker {
 public:
  PaceMaker(const TrainingSystem& system, const WorkloadSetup& setup, const std::optional<ThroughputTable>& table,
            Workload& workload)
      : cluster_{system.cluster}, setup_{setup}, workload_{workload}, table_{table} {
    is_plain_ = std::ranges::all_of(cluster_.types, [&](const NamedServerType& type) {
      return type.capped_speed() == 1 && !type.device && type.gpus_per_server == cluster_.gpus_per_server;
    });
    for (const NamedServerType& type : cluster_.types) {
      variants_.push_back(std::make_unique<TrainingSystem>(system_of_type(system, type)));
      makers_.push_back(std::make_unique<TrainingGraphs>(*variants_.back()));
    }
  }

  void give_paces() {
    for (JobSpec& job : workload_.jobs) {
      const bool in_table = table_ && table_->has(job.model, job.gpus) && job.duration;
      if (is_plain_ && !in_table) continue;
      const auto [known, is_new] = paces_.try_emplace({job.model, job.gpus, job.duration.has_value()}, -1);
      if (is_new) known->second = in_table ? by_table(job) : job.duration ? by_speed() : by_graph(job);
      job.pace = known->second;
    }
  }

 private:
  std::int32_t number(Paces paces) {
    const auto [known, is_new] = numbers_.try_emplace(paces, static_cast<std::int32_t>(workload_.paces.size()));
    if (is_new) workload_.paces.push_back(std::move(paces));
    return known->second;
  }

  std::int32_t by_table(const JobSpec& job) {
    const double nominal = nominal_rate(cluster_, setup_, *table_, job.model, job.gpus);
    return number(paces_by_table(cluster_, *table_, job.model, job.gpus, nominal));
  }

  std::int32_t by_speed() {
    Paces paces;
    for (const NamedServerType& type : cluster_.types)
      paces.push_back({.together = pace_of(1 / type.capped_speed()), .spread = 0, .graph = -1});
    return number(std::move(paces));
  }

  std::int32_t by_graph(const JobSpec& job) {
    const double usual = workload_.graphs[job.graph].compute_total().to_seconds();
    Paces paces;
    std::optional<InputError> first;
    for (std::size_t t = 0; t < makers_.size(); ++t) {
      const NamedServerType& type = cluster_.types[t];
      JobPace pace{.together = 0, .spread = 0, .graph = -1};
      try {
        TrainedJob made = (*makers_[t])(job.model, job.gpus);
        IterationGraph graph = std::move(made.graph);
        if (const double speed = type.capped_speed(); speed != 1) graph = graph.with_compute_times(1 / speed);
        const double own = graph.compute_total().to_seconds();
        pace.together = usual > 0 ? pace_of(own / usual) : kNominalPace;
        pace.graph = static_cast<std::int32_t>(workload_.graphs.size());
        workload_.notes.resize(workload_.graphs.size());
        workload_.graphs.push_back(std::move(graph));
        workload_.torn.resize(workload_.graphs.size());
        workload_.torn.back() = at_speed(std::move(made.torn), type.capped_speed());
      } catch (const InputError& error) {  // it does not fit there
        if (!first) first = error;
      }
      paces.push_back(pace);
    }
    if (first && std::ranges::all_of(paces, [](const JobPace& pace) { return pace.together == 0; })) throw *first;
    return number(std::move(paces));
  }

  const ClusterSetup& cluster_;
  const WorkloadSetup& setup_;
  Workload& workload_;
  const std::optional<ThroughputTable>& table_;
  bool is_plain_ = true;
  std::vector<std::unique_ptr<TrainingSystem>> variants_;
  std::vector<std::unique_ptr<TrainingGraphs>> makers_;
  std::map<std::tuple<std::string, int, bool>, std::int32_t> paces_;
  std::map<Paces, std::int32_t> numbers_;
};

}  // namespace

std::optional<ThroughputTable> throughputs_of(const ClusterSetup& cluster, const WorkloadSetup& workload) {
  if (!workload.throughputs && !workload.goodput) return std::nullopt;
  ThroughputTable table;
  if (workload.throughputs) table = read_throughputs(*workload.throughputs);
  if (workload.goodput) add_goodput(cluster, workload, table);
  return table;
}

std::string why_not_timed(const ClusterSetup& cluster, const WorkloadSetup& workload, const ThroughputTable& table,
                          const JobRequest& job) {
  const std::vector<int> sizes = table.sizes(job.model);
  if (!table.has(job.model, job.gpus)) {
    if (sizes.empty()) return {};
    return fmt::format("{} has no row for {} on {}, only on {}", table.file(job.model), quote_for_message(job.model),
                       counted(job.gpus, "GPU"), fmt::join(sizes, ", "));
  }
  const std::string& reference = reference_type(cluster, workload).name;
  if (job.duration && table.of(job.model, job.gpus, reference).together == 0)
    return fmt::format("durations hold on type {}, on which {} has no throughput for {} on {}", reference,
                       table.file(job.model), quote_for_message(job.model), counted(job.gpus, "GPU"));
  if (nominal_rate(cluster, workload, table, job.model, job.gpus) == 0)
    return fmt::format("{} has no throughput for {} on {} on any of cluster.types", table.file(job.model),
                       quote_for_message(job.model), counted(job.gpus, "GPU"));
  const double seconds =
      static_cast<double>(job.iterations) / nominal_rate(cluster, workload, table, job.model, job.gpus);
  if (!job.duration && seconds > kLongestJobTime.to_seconds())
    return fmt::format("its {} iterations take {:g} s, a job may take at most 100 years", job.iterations, seconds);
  return {};
}

void add_paces(const TrainingSystem& system, const WorkloadSetup& setup, const std::optional<ThroughputTable>& table,
               Workload& workload) {
  PaceMaker{system, setup, table, workload}.give_paces();
}

}  // namespace contend
