#include "models/overlap/engine_measurement.hpp"

#include "models/overlap/exchange_network.hpp"
#include "sim/check.hpp"
#include "sim/simulation.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {

namespace {

class OnlyJob final : public SchedulingPolicy {
 public:
  [[nodiscard]] PolicyKey key(const JobView&) const override { return 0; }
  void pass(const ClusterView&, SchedulingActions& actions) override { actions.start(JobId{0U}); }
};

/// Places rank i of every role on server i.
class RankByServer final : public PlacementPolicy {
 public:
  RankByServer(int servers, int roles) : servers_{servers}, roles_{roles} {}
  void place(const ClusterView&, const JobView&, std::vector<GpuId>& chosen) override {
    for (int role = 0; role < roles_; ++role) {
      for (int rank = 0; rank < servers_; ++rank) chosen.emplace_back(static_cast<std::size_t>(rank * roles_ + role));
    }
  }

 private:
  int servers_, roles_;
};

/// Admits every message, because the channels of the job limit them.
class OpenNetwork final : public CommunicationPolicy {
 public:
  [[nodiscard]] PolicyKey key(const JobView&) const override { return 0; }
  [[nodiscard]] bool may_start(const TransferRequest&, ServerId, const NetworkView&) const override { return true; }
};

/// Records the tasks of the first GPU of each role and the transfers.
class Recorder final : public Observer {
 public:
  Recorder(const IterationGraph& graph, std::size_t roles, bool spans, SteadyState& result)
      : graph_{graph},
        roles_{roles},
        spans_{spans},
        result_{result},
        marker_{graph.ops()[graph.last_compute().index()]} {}
  void compute(GpuId gpu, JobId, const Op& op, std::int64_t iteration, Time start, Time end) override {
    if (gpu.index() >= roles_) return;  // another server
    if (op.name == marker_.name) result_.ends.push_back(end);
    keep(op, iteration, start, end);
  }
  void task(GpuId gpu, JobId, const Op& op, std::int64_t iteration, Time start, Time end) override {
    if (gpu.index() < roles_) keep(op, iteration, start, end);
  }
  void transfer(const TransferRequest&, const Op& op, std::int64_t iteration, Time start, Time end) override {
    keep(op, iteration, start, end);
  }

 private:
  void keep(const Op& op, std::int64_t iteration, Time start, Time end) {
    if (!spans_) return;
    const auto& ops = graph_.ops();
    const auto found = std::find_if(ops.begin(), ops.end(), [&](const Op& each) { return each.name == op.name; });
    result_.spans.push_back({OpId{static_cast<std::size_t>(found - ops.begin())}, iteration, start, end});
  }

  const IterationGraph& graph_;
  std::size_t roles_;
  bool spans_;
  SteadyState& result_;
  const Op& marker_;
};

}  // namespace

SteadyState measure_in_engine(const IterationGraph& graph, const ExchangeCost& cost, int ranks,
                              const SteadyStateOptions& options) {
  CONTEND_CHECK(options.iterations >= 1 && ranks >= 1, "a measurement needs at least one iteration and one rank");
  SteadyState result;
  const std::size_t roles = graph.roles().size();
  Workload workload;
  workload.graphs.push_back(graph.with_ranks(ranks));
  JobSpec job;
  job.name = "job";
  job.gpus = ranks * static_cast<int>(roles);
  job.iterations = options.iterations + 2;  // the last ones have no successor to overlap with
  workload.jobs.push_back(std::move(job));
  Recorder recorder{graph, roles, options.spans, result};
  PolicySet policies{std::make_unique<OnlyJob>(),
                     std::make_unique<RankByServer>(ranks, static_cast<int>(roles)),
                     std::make_unique<OpenNetwork>(),
                     "only job",
                     "rank by server",
                     "open network"};
  SimulationOptions run;
  run.leap = false;
  run.interference = cost.interference;
  run.observer = &recorder;
  Simulation simulation{{ranks, static_cast<int>(roles), Bytes{1}},
                        std::move(workload),
                        std::move(policies),
                        make_exchange_network(cost, static_cast<std::size_t>(ranks), 1),
                        std::move(run)};
  const RunResult ended = simulation.run();
  CONTEND_CHECK(ended.jobs.front().state == JobState::finished, "a job that is alone comes to its end");
  result.ends.resize(static_cast<std::size_t>(options.iterations));
  result.warm_up = options.iterations / 2;
  result.period = options.iterations - result.warm_up;
  if (result.warm_up >= 1) {
    const Time span = result.ends.back() - result.ends[static_cast<std::size_t>(result.warm_up - 1)];
    result.iteration_ns = static_cast<double>(span.ns()) / static_cast<double>(result.period);
  }
  return result;
}

std::string engine_difference(const IterationGraph& graph, const ExchangeCost& cost, int ranks,
                              const SteadyState& fast) {
  SteadyStateOptions options;
  options.iterations = static_cast<std::int64_t>(fast.ends.size());
  const std::vector<Time> ends = measure_in_engine(graph, cost, ranks, options).ends;
  CONTEND_CHECK(ends.size() == fast.ends.size(), "both execute the same iterations");
  const auto [ours, other] = std::mismatch(fast.ends.begin(), fast.ends.end(), ends.begin());
  if (ours == fast.ends.end()) return {};
  return fmt::format("iteration {} ends at {} ns in the fast executor and at {} ns on the engine",
                     ours - fast.ends.begin() + 1, ours->ns(), other->ns());
}

}  // namespace contend
