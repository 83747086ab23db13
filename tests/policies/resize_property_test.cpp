// Random clusters whose jobs change their numbers of GPUs at random: leaping is exact, GPUs have one holder, and no GPU
// time or work is lost or made.

#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/policies/random_cluster.hpp"
#include "tests/policies/scheduling_kit.hpp"
#include "tests/sim/fixed_network.hpp"
#include "tests/sim/same_result.hpp"
#include "tests/sim/test_kit.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// True if no GPU has less than no work left.
bool has_no_negative_load(const ClusterView& cluster) {
  for (std::size_t gpu = 0; gpu < cluster.gpus(); ++gpu)
    if (cluster.load(GpuId{gpu}) < Time{}) return false;
  return true;
}

/// Lets another policy decide, and then gives running jobs other numbers of GPUs at the first multiples of a period;
/// not for ever, because jobs lose the iterations in flight. Which they get depends on seed, time and job alone.
class RandomSizes final : public SchedulingPolicy {
 public:
  RandomSizes(std::unique_ptr<SchedulingPolicy> inner, std::uint64_t seed, Time period)
      : inner_{std::move(inner)}, seed_{seed}, period_{period} {}
  [[nodiscard]] PolicyKey key(const JobView& job) const override { return inner_->key(job); }
  void queued(const JobView& job) override {
    jobs_.insert(job.id);
    inner_->queued(job);
  }
  void left(JobId job) override {
    jobs_.erase(job);
    inner_->left(job);
  }
  [[nodiscard]] bool idle_passes() const override { return true; }
  void pass(const ClusterView& cluster, SchedulingActions& actions) override {
    CHECK(has_no_negative_load(cluster));
    inner_->pass(cluster, actions);
    if (cluster.now().ns() % period_.ns() != 0 || cluster.now() > period_ * kPeriods) return;
    const std::set<JobId> jobs = jobs_;
    for (const JobId job : jobs) {
      const auto sizes = cluster.sizes_of(job);
      if (sizes.empty() || !cluster.job(job).running) continue;
      RandomStream stream{seed_ ^ static_cast<std::uint64_t>(cluster.now().ns()),
                          "sizes" + std::to_string(job.index())};
      actions.resize(job, sizes[static_cast<std::size_t>(stream.uniform_integer(0, std::ssize(sizes) - 1))]);
    }
  }
  [[nodiscard]] Time next_decision(const ClusterView& cluster) override {
    if (jobs_.empty() || cluster.now() >= period_ * kPeriods) return inner_->next_decision(cluster);
    const std::int64_t next = cluster.now().ns() / period_.ns() + 1;
    return std::min(inner_->next_decision(cluster), period_ * next);
  }

 private:
  static constexpr std::int64_t kPeriods = 30;

  std::unique_ptr<SchedulingPolicy> inner_;
  std::uint64_t seed_;
  Time period_;
  std::set<JobId> jobs_;
};

/// Gives the jobs of a cluster of graphs the graphs of others as sizes. In two clusters of three an operation is there
/// in some iterations only: in a warm-up, or in turn.
void make_elastic(RandomCluster& cluster) {
  RandomStream random{cluster.seed, "elastic"};
  constexpr const char* kPhases[] = {"", " | warm-up 0.3 | phase 0 x", " | cycle 2 1 | phase 1 x"};
  if (const std::string phases = kPhases[random.uniform_integer(0, 2)]; !phases.empty()) {
    for (std::string& graph : cluster.graphs)
      graph += std::string{" | compute x "} + graph[std::string_view{"role "}.size()] + " 4 | f -> x | x => f" + phases;
  }
  std::map<int, std::int32_t> by_ranks;
  for (std::size_t g = 0; g < cluster.graphs.size(); ++g)
    by_ranks.try_emplace(graph_from_text(cluster.graphs[g]).ranks(), static_cast<std::int32_t>(g));
  for (JobSpec& job : cluster.jobs) {
    std::vector<JobSize> sizes;
    for (const auto& [ranks, graph] : by_ranks)
      sizes.push_back({.gpus = ranks,
                       .paces = {{.together = kNominalPace,
                                  .graph = ranks == job.gpus ? static_cast<std::int32_t>(job.graph) : graph}},
                       .parts = random.uniform_integer(1, 3)});
    job.sizes = static_cast<std::int32_t>(cluster.sizes.size());
    cluster.sizes.push_back(std::move(sizes));
  }
}

}  // namespace

TEST_CASE("resize: leaping lands on the same nanosecond, on random clusters") {
  std::int64_t resizes = 0;
  std::uint64_t cases = 0, with_leaps = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{200}); ++seed) {
    RandomCluster cluster = random_cluster(seed);
    make_elastic(cluster);
    cluster.scheduling = {seed % 2 == 0 ? "fifo" : "srsf", {}};
    if (cluster.placement.name == "random") cluster.placement.name = "first-fit";
    if (seed % 3 == 0) cluster.costs.restart = Time::nanoseconds(static_cast<std::int64_t>(seed % 11) * 100);
    const Time period = Time::nanoseconds(1 + cluster.run(true).end.ns() / 7);
    cluster.around = [&](std::unique_ptr<SchedulingPolicy> inner) {
      return std::make_unique<RandomSizes>(std::move(inner), seed, period);
    };
    INFO(cluster.describe());
    const RunResult slow = cluster.run(false), fast = cluster.run(true);
    CHECK(difference(slow, fast) == "");
    GpuTime busy, spent;
    bool all_ended = true;
    for (const GpuResult& gpu : slow.gpus) busy += GpuTime{gpu.busy, 1};
    for (std::size_t j = 0; j < slow.jobs.size(); ++j) {
      const JobResult& job = slow.jobs[j];
      CHECK(job.gpu_time == fast.jobs[j].gpu_time);
      CHECK(job.resizes == fast.jobs[j].resizes);
      resizes += job.resizes;
      spent += job.compute + job.lost;
      all_ended = all_ended && job.state != JobState::running;
    }
    if (all_ended) CHECK(busy == spent);
    ++cases;
    with_leaps += fast.leaps > 0 ? 1 : 0;
  }
  MESSAGE(resizes, " resizes, ", with_leaps, " of ", cases, " cases with leaps");
  CHECK(resizes > static_cast<std::int64_t>(effort(std::uint64_t{200})));
  CHECK(with_leaps * 4 > cases);
}

namespace {

/// A policy for play(): fifo whose jobs are resized at random.
struct TimedCase {
  std::vector<JobSpec> jobs;
  std::vector<std::vector<JobSize>> sizes;
  int gpus = 8;
};

TimedCase timed_case(std::uint64_t seed) {
  RandomStream random{seed, "timed sizes"};
  const auto in = [&](std::int64_t low, std::int64_t high) { return random.uniform_integer(low, high); };
  TimedCase made;
  for (int j = 0; j < 8; ++j) {
    std::vector<JobSize> sizes;
    for (int gpus = 1; gpus <= 8; gpus *= 2)
      sizes.push_back({.gpus = gpus, .paces = {{.together = in(100'000'000, 3'000'000'000)}}, .parts = 1});
    JobSpec job = timed_job(in(0, 20), 1 << in(0, 3), in(1, 60));
    for (JobSize& size : sizes)
      if (size.gpus == job.gpus) size.paces.front().together = kNominalPace;
    job.sizes = j;
    made.jobs.push_back(job);
    made.sizes.push_back(std::move(sizes));
  }
  return made;
}

class NoTraffic final : public CommunicationPolicy {
 public:
  [[nodiscard]] PolicyKey key(const JobView&) const override { return 0; }
  [[nodiscard]] bool may_start(const TransferRequest&, ServerId, const NetworkView&) const override { return true; }
};

}  // namespace

TEST_CASE("resize: service of jobs with a duration is kept to the nanosecond, on random clusters") {
  std::int64_t resizes = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{300}); ++seed) {
    const TimedCase made = timed_case(seed);
    Workload workload;
    workload.jobs = made.jobs;
    workload.sizes = made.sizes;
    for (std::size_t j = 0; j < workload.jobs.size(); ++j) workload.jobs[j].name = std::to_string(j);
    SimulationOptions options;
    if (seed % 2 == 0) options.rules.preemption.restart = Time::milliseconds(700);
    if (seed % 4 == 1) options.rules.preemption.checkpoint_interval = Time::milliseconds(300);
    ClusterSpec cluster;
    cluster.gpus_per_server = made.gpus;
    cluster.gpu_memory = Bytes{1};
    PolicySet policies{std::make_unique<RandomSizes>(make_policy(scheduling_policies(), Choice{"fifo", {}}, {}), seed,
                                                     Time::seconds(3)),
                       std::make_unique<AnyGpus>(),
                       std::make_unique<NoTraffic>(),
                       "random sizes",
                       "first",
                       "any"};
    Simulation simulation{cluster, std::move(workload), std::move(policies),
                          std::make_unique<FixedNetwork>(1, 1, made.jobs.size()), std::move(options)};
    const RunResult result = simulation.run();
    CAPTURE(seed);
    GpuTime busy, held;
    for (const GpuResult& gpu : result.gpus) {
      busy += GpuTime{gpu.busy, 1};
      CHECK(gpu.busy <= result.end);  // never two jobs at once
    }
    for (std::size_t j = 0; j < result.jobs.size(); ++j) {
      const JobResult& job = result.jobs[j];
      REQUIRE(job.state == JobState::finished);
      CHECK(job.compute == GpuTime{*made.jobs[j].duration, job.gpus});  // all its work, once
      CHECK(job.held + job.waited == job.jct());
      held += job.gpu_time;
      resizes += job.resizes;
    }
    CHECK(busy == held);
  }
  CHECK(resizes > static_cast<std::int64_t>(effort(std::uint64_t{300})));
}
