// Jobs whose number of GPUs changes while they run. Times are in seconds, times of jobs with iterations in ns.

#include "sim/error.hpp"
#include "tests/near.hpp"
#include "tests/sim/test_kit.hpp"
#include "tests/text_checks.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

struct Order {
  Time at;
  JobId job;
  int gpus = 0;  ///< 0: stop it, and start it again with the number that it prefers
};

/// Starts jobs in order of submission, and gives running jobs other numbers of GPUs at the times of a list.
class Scripted final : public SchedulingPolicy {
 public:
  Scripted(std::vector<Order> orders, std::string& refused, std::function<void(const ClusterView&)> watch)
      : orders_{std::move(orders)}, refused_{refused}, watch_{std::move(watch)} {}
  [[nodiscard]] PolicyKey key(const JobView& job) const override { return job.submit.ns(); }
  void queued(const JobView& job) override { waiting_.push_back(job.id); }
  [[nodiscard]] bool idle_passes() const override { return true; }
  void pass(const ClusterView& cluster, SchedulingActions& actions) override {
    if (watch_) watch_(cluster);
    for (; next_ < orders_.size() && orders_[next_].at <= cluster.now(); ++next_) {
      const Order& order = orders_[next_];
      if (order.gpus == 0)
        actions.preempt(order.job);
      else if (!actions.resize(order.job, order.gpus))
        refused_ += std::to_string(order.job.index());
    }
    std::erase_if(waiting_, [&](JobId job) { return actions.start(job); });
  }
  [[nodiscard]] Time next_decision(const ClusterView&) override {
    return next_ < orders_.size() ? orders_[next_].at : Time::never();
  }

 private:
  std::vector<Order> orders_;
  std::string& refused_;
  std::function<void(const ClusterView&)> watch_;  ///< sees the cluster before each pass
  std::size_t next_ = 0;
  std::vector<JobId> waiting_;
};

struct Ran {
  RunResult result;
  std::string refused;
};

/// Runs the jobs on `servers` servers of `gpus` GPUs.
Ran run_orders(Workload workload, std::vector<Order> orders, const SchedulingRules& rules = {}, int gpus = 4,
               bool leap = true, int servers = 1, const std::function<void(const ClusterView&)>& watch = {}) {
  for (std::size_t j = 0; j < workload.jobs.size(); ++j)
    workload.jobs[j].name = static_cast<char>('A' + static_cast<int>(j));
  Ran ran;
  PolicySet policies = policies_of({}, {});
  policies.placement = std::make_unique<AnyGpus>();
  policies.scheduling = std::make_unique<Scripted>(std::move(orders), ran.refused, watch);
  SimulationOptions options;
  options.rules = rules;
  options.leap = leap;
  ClusterSpec cluster;
  cluster.servers = servers;
  cluster.gpus_per_server = gpus;
  cluster.gpu_memory = Bytes{100};
  const std::size_t jobs = workload.jobs.size();
  auto network = std::make_unique<FixedNetwork>(1, static_cast<std::size_t>(servers), jobs);
  Simulation simulation{cluster, std::move(workload), std::move(policies), std::move(network), std::move(options)};
  ran.result = simulation.run();
  return ran;
}

/// Half as fast on 1 GPU as on 2, which it prefers, and twice as fast on 4.
std::vector<JobSize> linear_sizes() {
  std::vector<JobSize> sizes;
  for (const int gpus : {1, 2, 4}) sizes.push_back({.gpus = gpus, .paces = {{.together = 2 * kNominalPace / gpus}}});
  return sizes;
}

Workload one_timed_job() {
  Workload workload;
  workload.sizes = {linear_sizes()};
  JobSpec job;
  job.gpus = 2;
  job.duration = Time::seconds(10);
  job.sizes = 0;
  workload.jobs = {job};
  return workload;
}

Order at_second(std::int64_t second, int gpus) {
  return {Time::seconds(second), JobId{0U}, gpus};
}

}  // namespace

TEST_CASE("resize: a job goes on with the work that is left, at the pace of its new size") {
  const Ran grown = run_orders(one_timed_job(), {at_second(4, 4)});
  const JobResult& job = grown.result.jobs[0];
  CHECK(job.finish == Time::seconds(7));  // 6 s of work at twice the pace
  CHECK(job.resizes == 1);
  CHECK(job.preemptions == 0);
  CHECK(job.starts == 2);
  CHECK(job.held == Time::seconds(7));
  CHECK(job.waited == Time{});
  CHECK(job.gpu_time == GpuTime{Time::seconds(4), 2} + GpuTime{Time::seconds(3), 4});
  CHECK(*job.mean_gpus() == near(20.0 / 7));
  CHECK(job.compute == GpuTime{Time::seconds(10), 2});  // its work, counted on the GPUs that it prefers
  CHECK(job.lost == GpuTime{});
  CHECK(grown.result.gpus[0].busy == Time::seconds(7));
  CHECK(grown.result.gpus[3].busy == Time::seconds(3));
  CHECK(summarise(grown.result).gpu_hours == near(20.0 / 3600));
  CHECK(run_orders(one_timed_job(), {at_second(4, 1)}).result.jobs[0].finish == Time::seconds(16));
  CHECK(run_orders(one_timed_job(), {at_second(4, 2)}).result.jobs[0].resizes == 0);
}

TEST_CASE("resize: a restart takes its time without progress, also if another follows in the middle of it") {
  SchedulingRules rules;
  rules.preemption.restart = Time::seconds(2);
  const JobResult grown = run_orders(one_timed_job(), {at_second(4, 4)}, rules).result.jobs[0];
  CHECK(grown.finish == Time::seconds(9));
  CHECK(grown.restarting == Time::seconds(2));
  const JobResult twice = run_orders(one_timed_job(), {at_second(4, 4), at_second(5, 2)}, rules).result.jobs[0];
  CHECK(twice.finish == Time::seconds(13));  // 4 s of work, restarts of 1 s cut short and 2 s, 6 s of work
  CHECK(twice.restarting == Time::seconds(3));
  CHECK(twice.resizes == 2);
}

TEST_CASE("resize: what no checkpoint has saved is lost, as in a preemption") {
  SchedulingRules rules;
  rules.preemption.checkpoint_interval = Time::seconds(3);
  const JobResult job = run_orders(one_timed_job(), {at_second(4, 4)}, rules).result.jobs[0];
  CHECK(job.finish == Time::milliseconds(7500));  // 3 s are saved
  CHECK(job.lost == GpuTime{Time::seconds(1), 2});
  CHECK(job.redone == Time::seconds(1));
}

TEST_CASE("resize: a preempted job comes back with the GPUs that it prefers") {
  const JobResult job = run_orders(one_timed_job(), {at_second(4, 4), at_second(5, 0)}).result.jobs[0];
  CHECK(job.finish == Time::seconds(9));  // 4 + 2 s of its work are done at 5 s
  CHECK(job.preemptions == 1);
  CHECK(job.resizes == 1);
}

TEST_CASE("resize: without a place nothing changes") {
  Workload workload = one_timed_job();
  workload.jobs.push_back(workload.jobs[0]);
  workload.jobs[1].gpus = 1;
  workload.jobs[1].sizes = -1;
  const Ran ran = run_orders(workload, {at_second(4, 4)});
  CHECK(ran.refused == "0");
  CHECK(ran.result.jobs[0].finish == Time::seconds(10));
  CHECK(ran.result.jobs[0].resizes == 0);
}

TEST_CASE("resize: a job has the sizes of its list only, and a rigid job one") {
  CHECK_THROWS_WITH_AS(run_orders(one_timed_job(), {at_second(4, 3)}),
                       doctest::Contains("job `A` can't have 3 GPUs, only 1, 2, 4"), InputError);
  Workload rigid = one_timed_job();
  rigid.jobs[0].sizes = -1;
  CHECK_THROWS_WITH_AS(run_orders(rigid, {at_second(4, 1)}), doctest::Contains("job `A` can't have 1 GPUs, only 2"),
                       InputError);
  Workload bad = one_timed_job();
  bad.jobs[0].gpus = 3;
  CHECK_THROWS_WITH_AS(run_orders(bad, {}), doctest::Contains("prefers is not among its sizes"), InputError);
}

namespace {

/// 4 iterations of 10 ns on 2 GPUs; an iteration on n GPUs does n parts of the work. `more` goes on with the graphs.
Workload iterating_job(const std::string& more = "f => f") {
  Workload workload;
  std::vector<JobSize> sizes;
  for (const int gpus : {1, 2, 4}) {
    sizes.push_back(
        {.gpus = gpus,
         .paces = {{.together = 2 * kNominalPace / gpus, .graph = static_cast<std::int32_t>(workload.graphs.size())}},
         .parts = gpus});
    workload.graphs.push_back(graph_from_text("role w " + std::to_string(gpus) + " | compute f w 10 | " + more));
  }
  workload.sizes = {sizes};
  JobSpec job;
  job.gpus = 2;
  job.graph = 1;
  job.iterations = 4;
  job.sizes = 0;
  workload.jobs = {job};
  return workload;
}

Order at_ns(std::int64_t ns, int gpus) {
  return {Time::nanoseconds(ns), JobId{0U}, gpus};
}

}  // namespace

TEST_CASE("resize: a job of iterations goes on with the parts of its work that are left") {
  for (const bool leap : {false, true}) {
    const auto after = [&](std::vector<Order> orders, const SchedulingRules& rules = {}) {
      return run_orders(iterating_job(), std::move(orders), rules, 4, leap).result.jobs[0];
    };
    const JobResult grown = after({at_ns(10, 4)});  // 2 of 8 parts are done, and 2 iterations do the other 6
    CHECK(grown.finish == Time::nanoseconds(30));
    CHECK(grown.iterations_done == 4);
    CHECK(grown.compute == GpuTime{Time::nanoseconds(100), 1});
    CHECK(grown.gpu_time == GpuTime{Time::nanoseconds(100), 1});
    CHECK(after({at_ns(10, 1)}).finish == Time::nanoseconds(70));
    const JobResult cut = after({at_ns(15, 4)});  // the iteration in flight is lost
    CHECK(cut.finish == Time::nanoseconds(35));
    CHECK(cut.lost == GpuTime{Time::nanoseconds(5), 2});
    const JobResult back = after({at_ns(10, 1), at_ns(20, 2)});  // 3 parts done, then 5 in iterations of 2
    CHECK(back.finish == Time::nanoseconds(50));
    CHECK(back.resizes == 2);
    SchedulingRules rules;
    rules.preemption.restart = Time::nanoseconds(7);
    CHECK(after({at_ns(10, 4)}, rules).finish == Time::nanoseconds(37));
    CHECK(after({at_ns(10, 4)}, rules).restarting == Time::nanoseconds(7));
  }
}

TEST_CASE("resize: the phases of the iterations are the phases of a job with as many as the present size needs") {
  // x takes another 6 ns in the first half of the iterations. One of 16 ns is done on 2 GPUs, and of 8 parts 6 are left
  // for 1 GPU: 7 iterations in all, of which round(3.5) = 4 are in the first half. 3 of 16 ns and 3 of 10 ns follow.
  for (const bool leap : {false, true}) {
    const Workload warm = iterating_job("compute x w 6 | f -> x | f => f | x => f | warm-up 0.5 | phase 0 x");
    CHECK(run_orders(warm, {at_ns(16, 1)}, {}, 4, leap).result.jobs[0].finish == Time::nanoseconds(94));
  }
}

TEST_CASE("resize: the load of a GPU counts the messages of all iterations that are left at the present size") {
  // 4 parts in an iteration of 20 ns on 4 servers. One is done, and 12 parts are left for 6 iterations on 2 of them.
  Workload workload = iterating_job("all-reduce g w 10 | f -> g | g => f");
  workload.graphs[0] = graph_from_text("role w 1 | compute f w 10 | f => f");
  workload.jobs[0].gpus = 4;
  workload.jobs[0].graph = 2;
  for (const bool leap : {false, true}) {
    std::map<std::int64_t, std::int64_t> loads;  // by time, in ns
    const auto watch = [&](const ClusterView& cluster) {
      loads.emplace(cluster.now().ns(), cluster.load(GpuId{0U}).ns());
    };
    // An order of the size that it has changes nothing, but there is a pass.
    const Ran ran = run_orders(workload, {at_ns(20, 2), at_ns(25, 2), at_ns(125, 2)}, {}, 1, leap, 4, watch);
    CHECK(loads.at(20) == 60);
    CHECK(loads.at(25) == 120);
    CHECK(loads.at(125) == 20);
    CHECK(ran.result.jobs[0].finish == Time::nanoseconds(140));
    CHECK(ran.result.jobs[0].resizes == 1);
  }
}

TEST_CASE("resize: sizes that no job can have are refused, and the largest that one can have are not") {
  const auto refusal = [](const std::function<void(Workload&)>& change) -> std::string {
    Workload workload = one_timed_job();
    change(workload);
    try {
      run_orders(workload, {});
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  };
  using W = Workload;
  CHECK(refusal([](W&) {}) == "");
  CHECK(refusal([](W& w) { w.jobs[0].sizes = 1; }) == "job `A`: it has no sizes");
  CHECK(refusal([](W& w) {
          w.places = {{GpuId{0U}, GpuId{1U}}};
          w.jobs[0].place = 0;
        }) == "job `A`: a job with a place of its own can't have other numbers of GPUs");
  CHECK(refusal([](W& w) { w.sizes[0][2].gpus = 2; }) == "job `A`: its sizes don't rise");
  CHECK(refusal([](W& w) { w.sizes[0][0].paces.clear(); }) ==
        "job `A`: each of its sizes needs a pace on each type of server");
  const std::string parts = "job `A`: the parts of its work are not within 1..10^6";
  CHECK(refusal([](W& w) { w.sizes[0][0].parts = 0; }) == parts);
  CHECK(refusal([](W& w) { w.sizes[0][0].parts = 1'000'001; }) == parts);
  CHECK(refusal([](W& w) { w.sizes[0][0].parts = 1'000'000; }) == "");
  const std::string pace = "job `A`: a pace is not within 0..10^15";
  for (const auto member : {&JobPace::together, &JobPace::spread}) {
    CHECK(refusal([&](W& w) { w.sizes[0][0].paces[0].*member = -1; }) == pace);
    CHECK(refusal([&](W& w) { w.sizes[0][0].paces[0].*member = kSlowestPace + 1; }) == pace);
    CHECK(refusal([&](W& w) { w.sizes[0][0].paces[0].*member = kSlowestPace; }) == "");
  }
}

TEST_CASE("resize: a graph must have the ranks of its size") {
  Workload workload = iterating_job();
  workload.sizes[0][0].paces[0].graph = 2;
  CHECK_THROWS_WITH_AS(run_orders(workload, {}), doctest::Contains("ranks of a graph differ from the GPUs of its size"),
                       InputError);
}
