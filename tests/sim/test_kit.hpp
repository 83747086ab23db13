#pragma once
// Provides parts for tests of the engine: jobs from graphs as text, policies with decisions fixed by the test, and an
// observer that prints the timeline of a GPU or of the network as one line. Times are in ns, sizes in bytes; one byte
// takes one ns.

#include "sim/simulation.hpp"
#include "tests/sim/fixed_network.hpp"
#include "tests/sim/same_result.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

namespace contend::test {

/// A job and the GPUs that it gets: rank i on gpus[i]. Jobs are named A, B, C, ... in their order.
struct TestJob {
  std::string graph;
  std::vector<std::uint32_t> gpus{0};
  std::int64_t iterations = 1;
  std::int64_t submit = 0;
  std::int64_t memory = 1;
  std::shared_ptr<const IterationGraph> made{};  ///< in place of the text
  std::string torn{};                            ///< the graph on GPUs that tear a group of `torn_groups` apart
  RankGroups torn_groups{};
};

using Key = std::function<PolicyKey(const JobView&)>;
inline PolicyKey by_submit(const JobView& job) {
  return job.submit.ns();
}
inline PolicyKey by_remaining_service(const JobView& job) {
  return job.remaining_service.ns();
}

struct Setup {
  int servers = 1;
  int gpus_per_server = 1;
  std::int64_t gpu_memory = 100;
  Key key = by_submit;  ///< of scheduling and communication
  bool strict = false;
  bool preemptive = false;
  std::size_t ways = 1000;  ///< transfers that may share a server; 0: none may ever start
  Time until = Time::never();
  PreemptionCosts costs{};
};

/// A plain scheduling policy. It keeps all waiting jobs in a list and tries them in order of key, submission and id,
/// strictly or not. It preempts running jobs with larger keys, the largest first, if the GPUs that the job could use
/// then have enough memory.
class TestScheduling final : public SchedulingPolicy {
 public:
  explicit TestScheduling(const Setup& setup) : setup_{setup} {}
  [[nodiscard]] PolicyKey key(const JobView& job) const override { return setup_.key(job); }
  void queued(const JobView& job) override {
    std::erase(running_, job.id);
    waiting_.push_back(job.id);
  }
  void left(JobId job) override { std::erase(running_, job); }

  void pass(const ClusterView& cluster, SchedulingActions& actions) override {
    std::vector<JobId> pushed;
    for (bool again = true; again;) {
      again = false;
      std::vector<JobId> order = waiting_;
      std::sort(order.begin(), order.end(), [&](JobId a, JobId b) { return place(cluster, a) < place(cluster, b); });
      for (const JobId job : order) {
        bool started = actions.start(job);
        if (!started && setup_.preemptive && std::count(pushed.begin(), pushed.end(), job) == 0) {
          const std::vector<JobId> victims = victims_for(cluster, job);
          for (const JobId victim : victims) actions.preempt(victim);
          if (!victims.empty()) {
            again = true;
            pushed.push_back(job);
            started = actions.start(job);
          }
        }
        if (started) {
          std::erase(waiting_, job);
          running_.push_back(job);
        } else if (setup_.strict) {
          break;
        }
      }
    }
  }

 private:
  [[nodiscard]] std::tuple<PolicyKey, Time, JobId> place(const ClusterView& cluster, JobId job) const {
    const JobView view = cluster.job(job);
    return {setup_.key(view), view.submit, job};
  }

  [[nodiscard]] std::vector<JobId> victims_for(const ClusterView& cluster, JobId id) const {
    const JobView job = cluster.job(id);
    std::vector<std::pair<PolicyKey, JobId>> candidates;
    for (const JobId other : running_) {
      const PolicyKey its = setup_.key(cluster.job(other));
      if (its > setup_.key(job)) candidates.emplace_back(its, other);
    }
    std::sort(candidates.rbegin(), candidates.rend());
    std::vector<Bytes> free;
    for (std::size_t g = 0; g < cluster.gpus(); ++g) free.push_back(cluster.free_memory(GpuId{g}));
    const auto has_room = [&] {
      return std::count_if(free.begin(), free.end(), [&](Bytes b) { return b >= job.memory_per_gpu; }) >= job.gpus;
    };
    std::vector<JobId> victims;
    for (const auto& [its, victim] : candidates) {
      if (has_room()) break;
      victims.push_back(victim);
      const bool had_all = cluster.job(victim).gpu_share == kWholeGpu;
      for (const GpuId gpu : cluster.gpus_of(victim)) {
        free[gpu.index()] += had_all ? job.memory_per_gpu - free[gpu.index()] : cluster.job(victim).memory_per_gpu;
      }
    }
    return has_room() ? victims : std::vector<JobId>{};
  }

  Setup setup_;
  std::vector<JobId> waiting_, running_;
};

/// Gives a job the GPUs of its list once all of them have the memory.
class ExplicitPlacement final : public PlacementPolicy {
 public:
  explicit ExplicitPlacement(const std::vector<TestJob>& jobs) : jobs_{jobs} {}
  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    for (const std::uint32_t gpu : jobs_[job.id.index()].gpus) {
      if (cluster.free_memory(GpuId{gpu}) < job.memory_per_gpu) return chosen.clear();
      chosen.emplace_back(gpu);
    }
  }

 private:
  std::vector<TestJob> jobs_;
};

/// Gives a job the first GPUs that fit, of the servers that it may use.
class AnyGpus final : public PlacementPolicy {
 public:
  void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) override {
    const ServerRange servers = cluster.servers_for(job);
    const std::size_t per_server = cluster.gpus() / cluster.servers();
    for (std::size_t s = servers.first; s < servers.last; ++s) {
      std::int64_t ranks = cluster.ranks_by_host(ServerId{s}, job);
      for (std::size_t g = s * per_server; g < (s + 1) * per_server && ranks > 0; ++g) {
        if (!cluster.fits(GpuId{g}, job)) continue;
        --ranks;
        chosen.emplace_back(g);
        if (chosen.size() == static_cast<std::size_t>(job.gpus)) return;
      }
    }
    chosen.clear();
  }
};

/// A job with a duration; times in ns.
inline JobSpec timed_ns(std::int64_t submit, std::int64_t duration, int gpus = 1) {
  JobSpec job;
  job.submit = Time::nanoseconds(submit);
  job.duration = Time::nanoseconds(duration);
  job.gpus = gpus;
  return job;
}

class LimitedWays final : public CommunicationPolicy {
 public:
  explicit LimitedWays(const Setup& setup) : setup_{setup} {}
  [[nodiscard]] PolicyKey key(const JobView& job) const override { return setup_.key(job); }
  [[nodiscard]] bool may_start(const TransferRequest&, ServerId server, const NetworkView& network) const override {
    return network.active_count(server) < setup_.ways;
  }

 private:
  Setup setup_;
};

inline Workload workload_of(const std::vector<TestJob>& jobs) {
  Workload workload;
  for (const TestJob& job : jobs) {
    JobSpec spec;
    spec.name = static_cast<char>('A' + static_cast<int>(workload.jobs.size()));
    spec.submit = Time::nanoseconds(job.submit);
    spec.iterations = job.iterations;
    spec.memory_per_gpu = Bytes{job.memory};
    spec.graph = workload.graphs.size();
    workload.graphs.push_back(job.made ? *job.made : graph_from_text(job.graph));
    spec.gpus = workload.graphs.back().ranks();
    workload.torn.emplace_back();
    if (!job.torn.empty())
      workload.torn.back() = {{job.torn_groups}, [text = job.torn] { return graph_from_text(text); }};
    workload.jobs.push_back(std::move(spec));
  }
  return workload;
}

inline PolicySet policies_of(const Setup& setup, const std::vector<TestJob>& jobs) {
  return {std::make_unique<TestScheduling>(setup),
          std::make_unique<ExplicitPlacement>(jobs),
          std::make_unique<LimitedWays>(setup),
          "test-scheduling",
          "test-placement",
          "test-communication"};
}

/// Records all tasks and transfers. A lane reads `A.forward#0 0-36 | A.backward#0 36-90`: job, operation, iteration,
/// times.
class Recorder final : public Observer {
 public:
  struct Span {
    std::string text;
    GpuId gpu;
    Time start, end;
  };
  void compute(GpuId gpu, JobId job, const Op& op, std::int64_t iteration, Time start, Time end) override {
    tasks.push_back({label(job, op, iteration, start, end), gpu, start, end});
  }
  void transfer(const TransferRequest& request, const Op& op, std::int64_t iteration, Time start, Time end) override {
    transfers.push_back({label(request.job, op, iteration, start, end), GpuId::none(), start, end});
  }
  [[nodiscard]] std::string gpu(std::uint32_t id) const { return of_gpu(tasks, id); }
  void task(GpuId gpu, JobId job, const Op& op, std::int64_t iteration, Time start, Time end) override {
    lanes[op.lane].push_back({label(job, op, iteration, start, end), gpu, start, end});
  }
  /// What a lane of the ranks on the GPU did.
  [[nodiscard]] std::string lane(std::uint32_t id, Lane lane) const {
    const auto found = lanes.find(lane);
    return found == lanes.end() ? "" : of_gpu(found->second, id);
  }
  [[nodiscard]] std::string network() const { return join(transfers); }

  std::vector<Span> tasks, transfers;
  std::map<Lane, std::vector<Span>> lanes;

 private:
  static std::string label(JobId job, const Op& op, std::int64_t iteration, Time start, Time end) {
    return fmt::format("{}.{}#{} {}-{}", static_cast<char>('A' + static_cast<int>(job.index())), op.name, iteration,
                       start.ns(), end.ns());
  }
  static std::string of_gpu(const std::vector<Span>& spans, std::uint32_t id) {
    std::vector<Span> its;
    std::copy_if(spans.begin(), spans.end(), std::back_inserter(its),
                 [&](const Span& span) { return span.gpu == GpuId{id}; });
    return join(its);
  }
  static std::string join(const std::vector<Span>& lane) {
    std::string text;
    for (const Span& span : lane) text += (text.empty() ? "" : " | ") + span.text;
    return text;
  }
};

/// Runs a workload; event by event if `leap` is false or there is an observer.
inline RunResult simulate_once(const Setup& setup, const std::vector<TestJob>& jobs, bool leap,
                               Observer* observer = nullptr) {
  SimulationOptions options;
  options.leap = leap;
  options.until = setup.until;
  options.rules.preemption = setup.costs;
  options.observer = observer;
  auto network = std::make_unique<FixedNetwork>(1, static_cast<std::size_t>(setup.servers), jobs.size());
  Simulation simulation{{setup.servers, setup.gpus_per_server, Bytes{setup.gpu_memory}},
                        workload_of(jobs),
                        policies_of(setup, jobs),
                        std::move(network),
                        std::move(options)};
  return simulation.run();
}

struct Run {
  RunResult result;
  Recorder seen;

  [[nodiscard]] std::int64_t start(std::size_t job) const { return result.jobs[job].start.ns(); }
  [[nodiscard]] std::int64_t finish(std::size_t job) const { return result.jobs[job].finish.ns(); }
};

/// Runs event by event under observation, and checks that the run with leaping ends alike.
inline Run simulate(const Setup& setup, const std::vector<TestJob>& jobs) {
  Run run;
  run.result = simulate_once(setup, jobs, false, &run.seen);
  CHECK(difference(run.result, simulate_once(setup, jobs, true)) == "");
  return run;
}

}  // namespace contend::test
