// Tests which of several jobs gets a GPU, its memory and the network, and when. Timelines are worked out by hand.

#include "sim/error.hpp"
#include "tests/sim/test_kit.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

TEST_CASE("two jobs share a GPU: tasks are never interrupted, the smallest remaining service goes first") {
  // A: 3 x 10, B: 2 x 8, submitted at 4. Remaining service A 30, B 16.
  //   0-10 A (alone at 0). At 10: A 20, B 16 -> B 10-18. At 18: A 20, B 8 -> B 18-26, done. A 26-36, 36-46.
  const Run run = simulate({1, 1, 100, by_remaining_service}, {{"role w 1 | compute a w 10 | a => a", {0}, 3},
                                                               {"role w 1 | compute b w 8 | b => b", {0}, 2, 4}});
  CHECK(run.seen.gpu(0) == "A.a#0 0-10 | B.b#0 10-18 | B.b#1 18-26 | A.a#1 26-36 | A.a#2 36-46");
  CHECK(run.start(1) == 4);  // it holds memory from then on
  CHECK(run.result.gpus[0].jobs == 2);
}

TEST_CASE("equal keys: the job that started first keeps the GPU, then the smaller id") {
  const Key same = [](const JobView&) { return std::int64_t{7}; };
  // B started first; A, of smaller id, comes at 5.
  const Run run = simulate({1, 1, 100, same}, {{"role w 1 | compute a w 10 | a => a", {0}, 1, 5},
                                               {"role w 1 | compute b w 10 | b => b", {0}, 2, 0}});
  CHECK(run.seen.gpu(0) == "B.b#0 0-10 | B.b#1 10-20 | A.a#0 20-30");
  const Run together = simulate({1, 1, 100, same}, {{"role w 1 | compute a w 10 | a => a", {0}, 2},
                                                    {"role w 1 | compute b w 10 | b => b", {0}, 1}});
  CHECK(together.seen.gpu(0) == "A.a#0 0-10 | A.a#1 10-20 | B.b#0 20-30");
}

TEST_CASE("a job that waits for the network leaves its GPUs to others") {
  // A has the smaller key throughout. A.f 0-10, A.g 10-40; B runs on GPU 0 in between: 10-25, and 25-40 again; at 40 A
  // is ready exactly when B's task ends.
  const Run run = simulate({2, 1}, {{"role w 2 | compute f w 10 | all-reduce g w 30 | f -> g | g => f", {0, 1}, 2},
                                    {"role w 1 | compute x w 15 | x => x", {0}, 3}});
  CHECK(run.seen.gpu(0) == "A.f#0 0-10 | B.x#0 10-25 | B.x#1 25-40 | A.f#1 40-50 | B.x#2 50-65");
  CHECK(run.finish(0) == 80);
}

TEST_CASE("gang admission: a job waits until all of its GPUs have the memory, whether others may overtake it or not") {
  // Memory 100. A holds 60 on GPU 0 until 20. B needs 60 on both GPUs: waits. C needs 60 on GPU 1 from time 1.
  const std::vector<TestJob> jobs{{"role w 1 | compute a w 20", {0}, 1, 0, 60},
                                  {"role w 2 | compute b w 10 | all-reduce g w 1 | b -> g", {0, 1}, 1, 0, 60},
                                  {"role w 1 | compute c w 30", {1}, 1, 1, 60}};
  // Skipping: C passes B and runs 1-31; B starts when both are free, at 31.
  const Run skipping = simulate({1, 2}, jobs);
  CHECK(skipping.start(2) == 1);
  CHECK(skipping.start(1) == 31);
  CHECK(skipping.result.jobs[1].queueing().ns() == 31);
  CHECK(skipping.finish(1) == 41);
  // Strict: B holds C back. B 20-30, C 30-60.
  Setup strict{1, 2};
  strict.strict = true;
  const Run held = simulate(strict, jobs);
  CHECK(held.start(1) == 20);
  CHECK(held.start(2) == 30);
  CHECK(held.finish(2) == 60);
}

TEST_CASE("memory is held from start to end: jobs that do not fit together run one after the other") {
  // 40 + 40 fit into 100, the third does not: it starts when the first of the others ends, at 20 (B: 10-20).
  const std::vector<TestJob> jobs{{"role w 1 | compute a w 10 | a => a", {0}, 2, 0, 40},
                                  {"role w 1 | compute b w 10", {0}, 1, 0, 40},
                                  {"role w 1 | compute c w 10", {0}, 1, 0, 40}};
  const Run run = simulate({1, 1, 100, by_remaining_service}, jobs);
  // B and C have less service than A: B 0-10; then C may start at 10, in B's place, and goes before A as well.
  CHECK(run.seen.gpu(0) == "B.b#0 0-10 | C.c#0 10-20 | A.a#0 20-30 | A.a#1 30-40");
  CHECK(run.start(2) == 0);
  CHECK(run.start(0) == 10);
}

TEST_CASE("the queue is tried in order of keys, then of submission, then of ids") {
  // One job at a time. At 10 the queue holds B (submitted 3), C (submitted 2), D (submitted 2), all with the same key.
  const Key same = [](const JobView&) { return std::int64_t{0}; };
  const auto job = [](std::int64_t submit) { return TestJob{"role w 1 | compute x w 10", {0}, 1, submit, 60}; };
  const Run run = simulate({1, 1, 100, same}, {job(0), job(3), job(2), job(2)});
  CHECK(run.seen.gpu(0) == "A.x#0 0-10 | C.x#0 10-20 | D.x#0 20-30 | B.x#0 30-40");
}

TEST_CASE("a job that the cluster could never run fails with a reason and delays no other job") {
  Setup setup{1, 2};
  setup.strict = true;
  const Run run = simulate(setup, {{"role w 3 | compute a w 10", {0, 1, 2}},
                                   {"role w 1 | compute b w 10", {0}, 1, 0, 101},
                                   {"role w 1 | compute c w 10", {0}, 1, 5}});
  CHECK(run.result.jobs[0].state == JobState::failed);
  CHECK(run.result.jobs[0].reason == "needs 3 GPUs, the cluster has 2");
  CHECK(run.result.jobs[1].state == JobState::failed);
  CHECK(run.result.jobs[1].reason == "needs 101 bytes of GPU memory, a GPU has 100 bytes");
  CHECK(run.result.jobs[0].start == Time::never());
  CHECK(run.result.jobs[2].finish.ns() == 15);
  CHECK(run.result.jobs[2].reason == "");
  CHECK_FALSE(run.result.interrupted);
}

TEST_CASE("one transfer at a time: the others wait in order of keys, and the results have their waiting times") {
  const std::string graph = "role w 2 | compute f w 10 | all-reduce g w 100 | f -> g";
  Setup setup{2, 3};
  setup.ways = 1;
  setup.key = [](const JobView& job) { return -static_cast<std::int64_t>(job.id.value()); };
  const Run run = simulate(setup, {{graph, {0, 3}}, {graph, {1, 4}}, {graph, {2, 5}}});
  CHECK(run.seen.network() == "C.g#0 10-110 | B.g#0 110-210 | A.g#0 210-310");
  CHECK(run.result.jobs[0].communication_wait.ns() == 200);
  CHECK(run.result.jobs[1].communication_wait.ns() == 100);
  CHECK(run.result.jobs[2].communication_wait.ns() == 0);
  CHECK(run.result.jobs[0].communication.ns() == 100);
  CHECK(run.result.links[0].busy.ns() == 300);
  CHECK(run.result.links[0].contended.ns() == 0);

  setup.ways = 2;  // C and B at once, then A alone
  const Run two = simulate(setup, {{graph, {0, 3}}, {graph, {1, 4}}, {graph, {2, 5}}});
  CHECK(two.finish(1) == 110);
  CHECK(two.finish(0) == 210);
  CHECK(two.result.links[1].contended.ns() == 100);
}

TEST_CASE("a message enters only when all of its servers accept it, and reserves none before") {
  // A: servers 0-1, long. B: servers 1-2, has to wait for A. C: servers 2-3 comes later and passes B.
  const auto graph = [](int f, int g) {
    return fmt::format("role w 2 | compute f w {} | all-reduce g w {} | f -> g", f, g);
  };
  Setup setup{4, 2};
  setup.ways = 1;
  const Run run = simulate(setup, {{graph(1, 100), {0, 2}}, {graph(2, 50), {3, 4}}, {graph(3, 200), {5, 6}}});
  // A 1-101, C 3-203; B is refused by server 1 until 101, then by server 2 until 203.
  CHECK(run.seen.network() == "A.g#0 1-101 | C.g#0 3-203 | B.g#0 203-253");
  CHECK(run.result.jobs[1].communication_wait.ns() == 201);
}

TEST_CASE("a communication policy that never says yes leaves the job unfinished") {
  Setup setup{2, 1};
  setup.ways = 0;
  const Run run = simulate(setup, {{"role w 2 | compute f w 10 | all-reduce g w 100 | f -> g", {0, 1}}});
  CHECK(run.result.jobs[0].state == JobState::running);
  CHECK(run.result.jobs[0].finish == Time::never());
  CHECK(run.result.end.ns() == 10);
}

namespace {

/// A bad policy that always returns these GPUs.
class FixedPlacement final : public PlacementPolicy {
 public:
  explicit FixedPlacement(std::vector<std::uint32_t> gpus) : gpus_{std::move(gpus)} {}
  void place(const ClusterView&, const JobView&, std::vector<GpuId>& chosen) override {
    for (const std::uint32_t gpu : gpus_) chosen.emplace_back(gpu);
  }

 private:
  std::vector<std::uint32_t> gpus_;
};

std::string complaint_of(Simulation& simulation) {
  try {
    simulation.run();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string complaint_about(std::vector<std::uint32_t> gpus, std::int64_t memory) {
  const std::string two = "role w 2 | compute x w 10";
  const std::vector<TestJob> jobs{{two, {}, 1, 0, memory}, {two, {}, 1, 1, memory}};
  PolicySet policies = policies_of({}, jobs);
  policies.placement = std::make_unique<FixedPlacement>(std::move(gpus));
  policies.placement_name = "wild";
  Simulation simulation{
      {1, 4, Bytes{100}}, workload_of(jobs), std::move(policies), std::make_unique<FixedNetwork>(1, 1, 2), {}};
  return complaint_of(simulation);
}

}  // namespace

TEST_CASE("an illegal placement is an error that names the policy and the job") {
  CHECK(complaint_about({0, 1}, 10) == "");
  const auto check = [](std::vector<std::uint32_t> gpus, std::int64_t memory, std::string_view what) {
    const std::string text = complaint_about(std::move(gpus), memory);
    INFO(text);
    CHECK(text.find("`wild`") != std::string::npos);
    CHECK(text.find(what) != std::string::npos);
  };
  check({1, 1}, 10, "job `A` was given a GPU twice");
  check({1}, 10, "job `A` asked for 2 GPUs and was given 1");
  check({0, 1, 2}, 10, "was given 3");
  check({0, 4}, 10, "a GPU that does not exist");
  check({0, 1}, 60, "job `B` does not fit into the memory of GPU 0 of server 0");
  check({0, 1}, 100, "job `B` does not fit into the memory of GPU 0 of server 0");  // none is free
}

namespace {

/// A policy whose every step the test decides.
class WildScheduling final : public SchedulingPolicy {
 public:
  using Step = std::function<void(const JobView* queued, SchedulingActions* actions)>;
  explicit WildScheduling(Step step) : step_{std::move(step)} {}
  [[nodiscard]] PolicyKey key(const JobView&) const override { return 0; }
  void queued(const JobView& job) override { step_(&job, actions_); }
  void pass(const ClusterView&, SchedulingActions& actions) override { step_(nullptr, actions_ = &actions); }

 private:
  Step step_;
  SchedulingActions* actions_ = nullptr;  ///< known from the first pass on
};

/// Runs A, submitted at 0, and B, submitted at 5, which both take 10.
std::string complaint_about(WildScheduling::Step step) {
  const std::vector<TestJob> jobs{{"role w 1 | compute a w 10"}, {"role w 1 | compute b w 10", {0}, 1, 5}};
  PolicySet policies = policies_of({}, jobs);
  policies.scheduling = std::make_unique<WildScheduling>(std::move(step));
  policies.scheduling_name = "wild";
  Simulation simulation{
      {1, 1, Bytes{100}}, workload_of(jobs), std::move(policies), std::make_unique<FixedNetwork>(1, 1, 2), {}};
  return complaint_of(simulation);
}

}  // namespace

TEST_CASE("an illegal step of a scheduling policy is an error that names the policy and the job") {
  constexpr JobId kA{0U}, kB{1U}, kNobody{2U};
  const auto in_pass = [](auto step) {
    return complaint_about([=](const JobView* queued, SchedulingActions* actions) {
      if (queued == nullptr) step(*actions);
    });
  };
  const std::string start = "scheduling policy `wild`: job `A` can't be started at 0 s: it runs";
  const std::string preempt = "scheduling policy `wild`: job `A` can't be preempted at 0 s: it waits";
  const std::string unknown = " at 0 s: the last of the 2 jobs has number 1", absent = " at 0 s: it isn't queued yet";
  CHECK(in_pass([](SchedulingActions&) {}) == "");
  CHECK(in_pass([&](SchedulingActions& actions) { actions.start(kA), actions.start(kA); }) == start);
  CHECK(in_pass([&](SchedulingActions& actions) { actions.preempt(kA); }) == preempt);  // it waits
  CHECK(in_pass([&](SchedulingActions& actions) { actions.start(kA), actions.preempt(kA), actions.preempt(kA); }) ==
        preempt);
  CHECK(in_pass([&](SchedulingActions& actions) { actions.start(kNobody); }) ==
        "scheduling policy `wild`: job number 2 can't be started" + unknown);
  CHECK(in_pass([&](SchedulingActions& actions) { actions.preempt(kNobody); }) ==
        "scheduling policy `wild`: job number 2 can't be preempted" + unknown);
  const auto in_place_of = [&](JobId job, std::vector<JobId> candidates) {
    return in_pass([=](SchedulingActions& actions) { actions.start_preempting(job, candidates); });
  };
  CHECK(in_place_of(kA, {}) == "");
  CHECK(in_place_of(kNobody, {}) == "scheduling policy `wild`: job number 2 can't be started" + unknown);
  CHECK(in_place_of(kB, {}) == "scheduling policy `wild`: job `B` can't be started" + absent);
  CHECK(in_place_of(kA, {kNobody}) == "scheduling policy `wild`: job number 2 can't be preempted" + unknown);
  CHECK(in_place_of(kA, {kB}) == "scheduling policy `wild`: job `B` can't be preempted" + absent);
  CHECK(complaint_about([&](const JobView* queued, SchedulingActions* actions) {
          if (queued == nullptr && actions != nullptr) actions->start(kA);
          if (queued != nullptr && queued->id == kB) actions->start_preempting(kB, std::vector{kA});
        }) == "scheduling policy `wild`: job `B` can't be started at 5e-09 s: policies decide in a pass only");
  // B has not arrived yet.
  CHECK(in_pass([&](SchedulingActions& actions) { actions.start(kB); }) ==
        "scheduling policy `wild`: job `B` can't be started" + absent);
  // Between passes, when B arrives and A runs.
  CHECK(complaint_about([&](const JobView* queued, SchedulingActions* actions) {
          if (queued == nullptr) actions->start(kA);
          if (queued != nullptr && queued->id == kB) actions->preempt(kA);
        }) == "scheduling policy `wild`: job `A` can't be preempted at 5e-09 s: policies decide in a pass only");
}

TEST_CASE("an observer sees every task once; spans of a GPU never overlap; busy times add up; runs repeat") {
  // Five jobs over two servers, sharing GPUs and the network, some queued for memory.
  const std::string exchange =
      "role w 3 | compute f w 7 | compute b w 11 | all-reduce g w 13 | f -> b | b -> g | g => f";
  const std::string loose = "role w 2 | compute f w 5 | all-reduce g w 9 | f -> g | f => f";
  const std::string pipe =
      "role s 1 | role t 1 | compute f s 4 | message m s t 6 | compute x t 8 | f -> m | m -> x | f => f";
  const std::vector<TestJob> jobs{{exchange, {0, 1, 2}, 20, 0, 30},
                                  {loose, {1, 3}, 30, 5, 30},
                                  {pipe, {0, 3}, 25, 9, 50},
                                  {exchange, {3, 2, 0}, 10, 9, 30},
                                  {loose, {2, 3}, 15, 0, 60}};
  Setup setup{2, 2, 100, by_remaining_service};
  setup.ways = 1;
  const Run run = simulate(setup, jobs);

  std::map<std::string, int> seen;
  std::map<std::uint32_t, std::vector<Recorder::Span>> lanes;
  for (const Recorder::Span& span : run.seen.tasks) {
    ++seen[span.text.substr(0, span.text.find(' '))];
    lanes[span.gpu.value()].push_back(span);
  }
  // An operation and iteration appears once on each rank: A.f#7 three times.
  const std::map<char, int> ranks{{'A', 3}, {'B', 2}, {'C', 1}, {'D', 3}, {'E', 2}};
  for (const auto& entry : seen) CHECK_MESSAGE(entry.second == ranks.at(entry.first[0]), entry.first);
  CHECK(seen.size() == 20 * 2 + 30 + 25 * 2 + 10 * 2 + 15);
  CHECK(run.seen.transfers.size() == 20 + 30 + 25 + 10 + 0);  // E sits in one server

  Time busy;
  for (auto& entry : lanes) {
    std::vector<Recorder::Span>& lane = entry.second;
    std::sort(lane.begin(), lane.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
    Time in_lane;
    for (std::size_t i = 0; i < lane.size(); ++i) {
      if (i > 0) CHECK_MESSAGE(lane[i - 1].end <= lane[i].start, lane[i].text);
      in_lane += lane[i].end - lane[i].start;
    }
    CHECK(run.result.gpus[entry.first].busy == in_lane);
    busy += in_lane;
  }
  GpuTime compute;
  for (const JobResult& job : run.result.jobs) compute += job.compute;
  CHECK(GpuTime{busy, 1} == compute);
  CHECK(compute.ns() == 20 * 3 * 18 + 30 * 2 * 5 + 25 * 12 + 10 * 3 * 18 + 15 * 2 * 5);
  CHECK(run.result.events == jobs.size() + run.seen.tasks.size() + run.seen.transfers.size());

  // Two runs go through the same events; another order of events is another fingerprint.
  for (const bool leap : {false, true}) {
    CHECK(simulate_once(setup, jobs, leap).fingerprint == simulate_once(setup, jobs, leap).fingerprint);
  }
  CHECK(simulate_once(setup, jobs, false).fingerprint == run.result.fingerprint);
  Setup other = setup;
  other.ways = 2;
  CHECK(simulate_once(other, jobs, false).fingerprint != run.result.fingerprint);
}
