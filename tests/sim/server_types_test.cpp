// Clusters of several types of servers: who runs where, how fast, and what the results say of it. Times are in seconds.

#include "sim/cluster.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"
#include "tests/sim/fixed_network.hpp"
#include "tests/sim/test_kit.hpp"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// Two old servers of 2 GPUs and one new server of 4.
ClusterSpec mixed() {
  ClusterSpec spec;
  spec.servers = 3;
  spec.gpus_per_server = 4;
  spec.gpu_memory = Bytes{100};
  spec.types = {{"old", 2, 2, Bytes{50}, 1.0}, {"new", 1, 4, Bytes{100}, 3.0}};
  return spec;
}

JobSpec job_of(int gpus, std::int64_t duration_s, std::int32_t pace = -1) {
  JobSpec job;
  job.gpus = gpus;
  job.duration = Time::seconds(duration_s);
  job.pace = pace;
  return job;
}

RunResult run_on(const ClusterSpec& cluster, Workload workload, const SchedulingRules& rules = {},
                 const Setup& setup = {}, std::unique_ptr<SchedulingPolicy> scheduling = nullptr,
                 const FailureSpec& failures = {}) {
  for (std::size_t j = 0; j < workload.jobs.size(); ++j)
    workload.jobs[j].name = static_cast<char>('A' + static_cast<int>(j));
  PolicySet policies = policies_of(setup, {});
  policies.placement = std::make_unique<AnyGpus>();
  if (scheduling) policies.scheduling = std::move(scheduling);
  SimulationOptions options;
  options.rules = rules;
  options.failures = failures;
  const std::size_t jobs = workload.jobs.size();
  Simulation simulation{cluster, std::move(workload), std::move(policies),
                        std::make_unique<FixedNetwork>(1, static_cast<std::size_t>(cluster.servers), jobs),
                        std::move(options)};
  return simulation.run();
}

/// Twice as fast on `new` as on `old`, where its duration holds.
const std::vector<JobPace> kFasterOnNew = {{.together = kNominalPace}, {.together = kNominalPace / 2}};
const std::vector<JobPace> kOnlyOld = {{.together = kNominalPace}, {.together = 0}};

}  // namespace

TEST_CASE("types: GPUs that a smaller server lacks are never free, and free GPUs are counted by type") {
  Capacity capacity{mixed()};
  CHECK(capacity.free_gpus() == 8);
  CHECK(capacity.free_gpus_on(-1, 0) == 4);
  CHECK(capacity.free_gpus_on(-1, 1) == 4);
  CHECK(capacity.free_gpus(ServerId{0U}) == 2);
  CHECK(capacity.servers_of(-1, 0) == ServerRange{0, 2});
  CHECK(capacity.servers_of(-1, 1) == ServerRange{2, 3});
  JobSpec small = job_of(1, 1);
  const RankDemand rank{small};
  CHECK(capacity.fits(GpuId{1U}, rank));
  CHECK_FALSE(capacity.fits(GpuId{2U}, rank));  // server 0 has GPUs 0 and 1; server 1 begins at 4
  CHECK(capacity.next_gpu(rank, GpuId{2U}, {0, 3}) == GpuId{4U});
  capacity.take(GpuId{4U}, rank);
  CHECK(capacity.free_gpus_on(-1, 0) == 3);
  CHECK(capacity.free_gpus_on(-1, 1) == 4);
  CHECK(gpus_on(mixed(), {0, 3}) == 8);
  CHECK(type_of(mixed(), ServerId{1U}) == 0);
  CHECK(type_of(mixed(), ServerId{2U}) == 1);
}

TEST_CASE("types: a virtual cluster has its own servers of each type") {
  ClusterSpec spec = mixed();
  spec.vcs = {{.servers = {0, 1}}};
  Capacity capacity{spec};
  CHECK(capacity.free_gpus_on(0, 0) == 2);
  CHECK(capacity.free_gpus_on(0, 1) == 0);
  CHECK(capacity.free_gpus_on(-1, 0) == 2);
  CHECK(capacity.free_gpus_on(-1, 1) == 4);
  CHECK(capacity.servers_of(0, 1).size() == 0);
}

TEST_CASE("types: a job goes to the type on which it is faster, and takes its time there") {
  Workload workload;
  workload.paces = {kFasterOnNew};
  workload.jobs = {job_of(4, 10, 0), job_of(4, 10, 0)};
  const RunResult result = run_on(mixed(), workload);
  CHECK(result.jobs[0].server_type == "new");
  CHECK(result.jobs[0].finish == Time::seconds(5));
  CHECK(result.jobs[1].server_type == "old");
  CHECK(result.jobs[1].finish == Time::seconds(10));
  CHECK(result.jobs[1].servers == 2);
  CHECK(result.gpus.size() == 8);
  REQUIRE(result.types.size() == 2);
  CHECK(result.types[0].busy == GpuTime{Time::seconds(10), 4});
  CHECK(result.types[1].busy == GpuTime{Time::seconds(5), 4});
  CHECK(result.types[0].utilisation == near(1));
  CHECK(result.types[1].utilisation == near(0.5));
  CHECK(result.types[1].gpus == 4);
}

TEST_CASE("types: a pace of its own on several servers replaces the penalty for scattering") {
  Workload workload;
  workload.paces = {{{.together = kNominalPace, .spread = 3 * kNominalPace}, {.together = 0}}};
  workload.jobs = {job_of(1, 10), job_of(2, 10, 0)};
  SchedulingRules rules;
  rules.scatter_penalty = {2000};
  CHECK(run_on(mixed(), workload, rules).jobs[1].finish == Time::seconds(30));  // A is on server 0
  workload.paces[0][0].spread = 0;
  CHECK(run_on(mixed(), workload, rules).jobs[1].finish == Time::seconds(20));
}

TEST_CASE("types: a gang never has servers of two types, and waits though GPUs are free") {
  Workload workload;
  workload.jobs = {job_of(3, 10), job_of(2, 4), job_of(4, 1)};
  const RunResult result = run_on(mixed(), workload);
  CHECK(result.jobs[0].server_type == "old");
  CHECK(result.jobs[1].server_type == "new");
  CHECK(result.jobs[2].start == Time::seconds(4));  // one GPU of `old` and two of `new` are free before
}

TEST_CASE("types: a job that demands a type waits for it") {
  ClusterSpec spec = mixed();
  spec.demanded = {"old", "older"};
  Workload workload;
  workload.gpu_types = spec.demanded;
  workload.jobs = {job_of(4, 10), job_of(4, 7), job_of(1, 1)};
  for (JobSpec& job : workload.jobs) job.gpu_type = 0;
  workload.jobs[2].gpu_type = 1;
  const RunResult result = run_on(spec, workload);
  CHECK(result.jobs[1].start == Time::seconds(10));
  CHECK(result.jobs[1].server_type == "old");
  CHECK(result.jobs[2].state == JobState::failed);
  CHECK(result.jobs[2].reason == "demands servers of type older, the cluster has none");
}

TEST_CASE(
    "types: a job that may mix types does so where no type has room, at the pace of the slowest and the price of all") {
  ClusterSpec spec = mixed();
  spec.demanded = {"old+new"};
  Workload workload;
  workload.gpu_types = spec.demanded;
  workload.paces = {kFasterOnNew};
  workload.jobs = {job_of(6, 10, 0), job_of(4, 10, 0), job_of(3, 10, 0), job_of(3, 10, 0)};
  for (JobSpec& job : workload.jobs) job.gpu_type = 0;
  const RunResult result = run_on(spec, workload);
  // A has the four old GPUs and two new ones; nothing else has room. Then B is alone on the new ones, and C and D run
  // on three old ones and on what is left.
  CHECK(result.jobs[0].server_type == "new+old");
  CHECK(result.jobs[0].finish == Time::seconds(10));
  CHECK(*result.jobs[0].cost == near(10 * (4 * 1.0 + 2 * 3.0) / 3600));
  CHECK(result.jobs[1].server_type == "new");
  CHECK(result.jobs[1].finish == Time::seconds(15));
  CHECK(*result.jobs[1].cost == near(5 * 4 * 3.0 / 3600));
  CHECK(result.jobs[2].server_type == "old");
  CHECK(result.jobs[2].finish == Time::seconds(20));
  // One old GPU is left at 10 s; at 15 s the new ones are free.
  CHECK(result.jobs[3].server_type == "new");
  CHECK(result.jobs[3].finish == Time::seconds(20));
}

TEST_CASE("types: a mix has only the types that it names, and they must be neighbours that can run the job") {
  ClusterSpec spec = mixed();
  spec.servers = 4;
  spec.types.push_back({"newest", 1, 4, Bytes{100}, 9.0});
  spec.demanded = {"old+new", "old+newest", "old+older", "new+newest"};
  Workload workload;
  workload.gpu_types = spec.demanded;
  workload.paces = {{{.together = kNominalPace}, {.together = 0}, {.together = kNominalPace}}};
  workload.jobs = {job_of(9, 1), job_of(5, 1), job_of(5, 1), job_of(5, 1, 0), job_of(7, 1)};
  for (std::size_t j = 0; j < 4; ++j) workload.jobs[j].gpu_type = static_cast<std::int32_t>(j);
  workload.jobs[4].gpu_type = 0;
  const RunResult result = run_on(spec, workload);
  CHECK(result.jobs[0].reason == "needs 9 GPUs, they have 8");
  CHECK(result.jobs[1].reason ==
        "demands GPUs of types old+newest, which don't stand next to each other among the types of the cluster");
  CHECK(result.jobs[2].reason == "demands GPUs of types old+older, the cluster has no older");
  CHECK(result.jobs[3].reason == "demands GPUs of types new+newest, but has no throughput on new");
  CHECK(result.jobs[4].server_type == "old+new");
  CHECK(result.types[2].jobs == 0);
}

TEST_CASE("types: what no type can run is refused with the reason on each") {
  const ClusterSpec spec = mixed();
  Workload workload;
  workload.paces = {kOnlyOld, {{.together = 0}, {.together = 0}}};
  workload.jobs = {job_of(5, 1), job_of(1, 1, 0), job_of(1, 1, 1)};
  workload.jobs[1].memory_per_gpu = Bytes{60};
  const RunResult result = run_on(spec, workload);
  CHECK(result.jobs[0].reason ==
        "has no type of server that can run it: on old it needs 5 GPUs, they have 4; on new it needs 5 GPUs, they "
        "have 4");
  CHECK(result.jobs[1].reason ==
        "has no type of server that can run it: on old it needs 60 bytes of GPU memory, a GPU has 50 bytes");
  CHECK(result.jobs[2].reason == "has no throughput on any type of server");
}

TEST_CASE("types: a preempted job goes on where it is placed next, at the pace of that type") {
  // B is urgent and can only run on `new`. A has done 2 of its 10 s there by then, in 1 s; the rest takes 8 s on `old`.
  class Urgent final : public SchedulingPolicy {
   public:
    [[nodiscard]] PolicyKey key(const JobView&) const override { return 0; }
    void queued(const JobView& job) override { waiting_.push_back(job.id); }
    void pass(const ClusterView& cluster, SchedulingActions& actions) override {
      for (const JobId job : std::exchange(waiting_, {})) {
        if (actions.start(job)) continue;
        const JobId first{0U};
        if (cluster.job(first).running && actions.start_preempting(job, {&first, 1})) continue;
        waiting_.push_back(job);
      }
      for (const JobId job : std::exchange(waiting_, {}))
        if (!actions.start(job)) waiting_.push_back(job);
    }

   private:
    std::vector<JobId> waiting_;
  };
  Workload workload;
  workload.paces = {kFasterOnNew, {{.together = 0}, {.together = kNominalPace}}};
  workload.jobs = {job_of(4, 10, 0), job_of(4, 100, 1)};
  workload.jobs[1].submit = Time::seconds(1);
  SchedulingRules rules;
  rules.preemption.restart = Time::seconds(3);
  const RunResult result = run_on(mixed(), workload, rules, {}, std::make_unique<Urgent>());
  CHECK(result.jobs[1].start == Time::seconds(1));
  CHECK(result.jobs[0].server_type == "old");
  CHECK(result.jobs[0].finish == Time::seconds(1 + 3 + 8));
  CHECK(result.jobs[0].overhead == Time::seconds(3));
  CHECK(result.jobs[0].starts == 2);
  CHECK(result.jobs[0].compute == GpuTime{Time::seconds(10), 4});  // of its duration
  CHECK(*result.jobs[0].cost == near((1 * 4 * 3.0 + 11 * 4 * 1.0) / 3600));
  CHECK(summarise(result).restarts == 1);
}

TEST_CASE("types: a job of iterations computes as fast as its servers do") {
  IterationGraph graph;
  const RoleId worker = graph.add_role("worker", 1);
  graph.add_compute("forward", worker, Time::seconds(2));
  Workload workload;
  workload.graphs = {graph, graph.with_compute_times(0.5)};
  CHECK(workload.graphs[1].compute_total() == GpuTime{Time::seconds(1), 1});
  workload.paces = {
      {{.together = kNominalPace, .spread = 0, .graph = 0}, {.together = kNominalPace / 2, .spread = 0, .graph = 1}}};
  for (int j = 0; j < 5; ++j) {
    JobSpec job;
    job.iterations = 10;
    job.pace = 0;
    job.memory_per_gpu = Bytes{100};  // a whole GPU
    workload.jobs.push_back(job);
  }
  ClusterSpec spec = mixed();
  spec.types[0].gpu_memory = Bytes{100};
  const RunResult result = run_on(spec, workload);
  for (int j = 0; j < 4; ++j) CHECK(result.jobs[static_cast<std::size_t>(j)].finish == Time::seconds(10));
  CHECK(result.jobs[4].finish == Time::seconds(20));
  CHECK(result.jobs[4].server_type == "old");
  CHECK(result.jobs[4].compute == GpuTime{Time::seconds(20), 1});
}

TEST_CASE("types: a job of iterations that moves keeps its iterations, and its computing adds up over both graphs") {
  // Alone on `new` it does an iteration in 1 s; after 4 s it is moved to `old`, where an iteration takes 2 s.
  class Mover final : public SchedulingPolicy {
   public:
    [[nodiscard]] PolicyKey key(const JobView& job) const override { return job.remaining_service.ns(); }
    void queued(const JobView& job) override { left_s_.push_back(job.remaining_service.to_seconds()); }
    [[nodiscard]] bool idle_passes() const override { return true; }
    [[nodiscard]] Time next_decision(const ClusterView& cluster) override {
      return cluster.now() < Time::seconds(4) ? Time::seconds(4) : Time::never();
    }
    void pass(const ClusterView& cluster, SchedulingActions& actions) override {
      const JobId job{0U};
      if (cluster.now() == Time{}) CHECK(actions.start_on(job, 1));
      if (cluster.now() != Time::seconds(4)) return;
      actions.preempt(job);
      CHECK(actions.start_on(job, 0));
    }
    explicit Mover(std::vector<double>& left_s) : left_s_{left_s} {}

   private:
    std::vector<double>& left_s_;
  };
  IterationGraph graph;
  graph.add_compute("forward", graph.add_role("worker", 1), Time::seconds(2));
  Workload workload;
  workload.graphs = {graph, graph.with_compute_times(0.5)};
  workload.paces = {
      {{.together = kNominalPace, .spread = 0, .graph = 0}, {.together = kNominalPace / 2, .spread = 0, .graph = 1}}};
  JobSpec job;
  job.iterations = 10;
  job.pace = 0;
  workload.jobs.push_back(job);
  std::vector<double> left_s;
  const RunResult result = run_on(mixed(), workload, {}, {}, std::make_unique<Mover>(left_s));
  CHECK(result.jobs[0].finish == Time::seconds(4 + 6 * 2));
  CHECK(result.jobs[0].compute == GpuTime{Time::seconds(4 + 12), 1});
  CHECK(result.jobs[0].iterations_done == 10);
  CHECK(left_s == std::vector<double>{20, 12});  // waiting, it counts with the computing of its own graph
}

TEST_CASE("types: bad types and paces are refused") {
  ClusterSpec spec = mixed();
  Workload workload;
  workload.jobs = {job_of(1, 1, 0)};
  CHECK_THROWS_WITH_AS(run_on(spec, workload), "job `A`: it has no pace", InputError);
  workload.paces = {{{.together = kNominalPace}}};
  CHECK_THROWS_WITH_AS(run_on(spec, workload), "a job needs a pace on each type of server", InputError);
  workload.paces = {kOnlyOld};
  workload.jobs[0].deadline = Time{};
  CHECK_THROWS_WITH_AS(run_on(spec, workload), "job `A`: its deadline is not after its submission", InputError);
  workload.jobs[0].deadline.reset();
  spec.servers = 4;
  CHECK_THROWS_AS(run_on(spec, workload), InputError);
  const auto refused = [&](const ServerType& old) {
    ClusterSpec bad = mixed();
    bad.types[0] = old;
    CHECK_THROWS_WITH_AS(run_on(bad, workload), "servers of type `old`: at least one with one GPU, at a price >= 0",
                         InputError);
  };
  refused({"old", 0, 2, Bytes{50}, 1.0});
  refused({"old", 2, 0, Bytes{50}, 1.0});
  refused({"old", 2, 2, Bytes{50}, -1.0});
}

TEST_CASE("batch regimes: a job goes on at the pace of the regime and the type on which it runs") {
  // 100 s of work: the first 60 s are as fast on both types, the last 40 s four times as fast on `new`.
  const auto workload = [](std::int32_t first, std::int32_t second) {
    Workload made;
    made.paces = {{{.together = kNominalPace}, {.together = kNominalPace}},
                  {{.together = kNominalPace}, {.together = kNominalPace / 4}}};
    made.regimes = {{{.until = Time::seconds(60), .progress = 0.5, .pace = 0},
                     {.until = Time::seconds(100), .progress = 1, .pace = 1}}};
    made.gpu_types = {"old", "new"};
    for (const std::int32_t type : {first, second}) {
      made.jobs.push_back(job_of(4, 100, 0));
      made.jobs.back().regimes = 0;
      made.jobs.back().gpu_type = type;
    }
    return made;
  };
  ClusterSpec cluster = mixed();
  cluster.demanded = {"old", "new"};
  const RunResult result = run_on(cluster, workload(0, 1));
  CHECK(result.jobs[0].finish == Time::seconds(100));
  CHECK(result.jobs[1].finish == Time::seconds(70));
  // Each may use its own type alone. Beside 1.7 jobs in the mean A has 1/1.7 of its time there, so that it takes 170 s;
  // B has half of it, and takes 60 / 0.5 + 10 / 0.5 s.
  CHECK(*result.jobs[0].rho == near(100.0 / 170));
  CHECK(*result.jobs[1].rho == near(70.0 / 140));
  // Of two jobs for `new` the second waits, and both take 70 s.
  const RunResult in_line = run_on(cluster, workload(1, 1));
  CHECK(in_line.jobs[0].finish == Time::seconds(70));
  CHECK(in_line.jobs[1].finish == Time::seconds(140));
  // Checkpoints of 3 s after each 30 s of work: at 30, 60 and 90 s of it.
  SchedulingRules rules;
  rules.preemption.checkpoint_interval = Time::seconds(30);
  rules.preemption.checkpoint = Time::seconds(3);
  CHECK(run_on(cluster, workload(0, 1), rules).jobs[1].finish == Time::seconds(79));
  // Writing 3 MB for each of 4 GPUs at 4 MB/s takes as long; beside the work it takes no time.
  rules.preemption.checkpoint = Time{};
  rules.preemption.written = Bytes{3'000'000};
  rules.store = StoreRates{ByteRate{8e6}, ByteRate{4e6}};
  CHECK(run_on(cluster, workload(0, 1), rules).jobs[1].finish == Time::seconds(79));
  rules.preemption.writes_beside = true;
  const JobResult beside = run_on(cluster, workload(0, 1), rules).jobs[1];
  CHECK(beside.finish == Time::seconds(70));
  CHECK(beside.overhead == Time{});
}

TEST_CASE("batch regimes: what doesn't fit the job is refused") {
  const auto complaint = [](const auto& change) {
    Workload workload;
    workload.paces = {kFasterOnNew, kOnlyOld};
    workload.regimes = {{{.until = Time::seconds(60), .progress = 0.5, .pace = 0},
                         {.until = Time::seconds(100), .progress = 1, .pace = 0}}};
    workload.jobs = {job_of(2, 100, 0)};
    workload.jobs[0].regimes = 0;
    change(workload);
    try {
      run_on(mixed(), workload);
    } catch (const InputError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  CHECK(complaint([](Workload&) {}).empty());
  const auto names = [&](const auto& change, const char* reason) {
    CAPTURE(reason);
    CHECK(complaint(change).find(reason) != std::string::npos);
  };
  names([](Workload& w) { w.jobs[0].regimes = 1; }, "it has no batch regimes");
  names([](Workload& w) { w.regimes[0][1].until = Time::seconds(99); }, "don't end with it");
  names([](Workload& w) { w.regimes[0][1].progress = 0.5; }, "don't rise");
  names([](Workload& w) { w.regimes[0][0].pace = -1; }, "lacks paces");
  names([](Workload& w) { w.regimes[0][0].pace = 1; }, "runs on other types");
  names([](Workload& w) { w.jobs[0].attempts = {Time::seconds(1)}; }, "no earlier attempts");
}

TEST_CASE("types: a job that needs servers which are never lent is refused with the reason") {
  // The new server is lent at no time, or the second old one, of two that would be lent.
  Workload workload;
  workload.paces = {kOnlyOld, {{.together = 0}, {.together = kNominalPace}}};
  workload.jobs = {job_of(2, 10, 0), job_of(1, 10, 1), job_of(4, 10, 0)};
  FailureSpec none, one;
  none.loans = {.servers = 1, .changes = {{Time{}, 0}}};
  const RunResult never = run_on(mixed(), workload, {}, {}, nullptr, none);
  CHECK(never.jobs[0].state == JobState::finished);
  CHECK(never.jobs[1].state == JobState::failed);
  CHECK(
      never.jobs[1].reason ==
      "has no type of server that can run it: on new it needs 1 GPU, they have 0, without servers that are never lent");
  CHECK(never.jobs[2].state == JobState::finished);
  one.loans = {.servers = 2, .changes = {{Time{}, 0}, {Time::seconds(20), 1}}, .period = Time::seconds(40)};
  const RunResult later = run_on(mixed(), workload, {}, {}, nullptr, one);
  CHECK(later.jobs[0].state == JobState::finished);
  CHECK(later.jobs[1].state == JobState::failed);
  CHECK(later.jobs[2].start == Time::seconds(20));
}

TEST_CASE("types: GPUs that a smaller server lacks don't fail, and take nothing down") {
  Workload workload;
  workload.paces = {kOnlyOld};
  workload.jobs = {job_of(2, 30, 0), job_of(4, 100)};
  FailureSpec failures;
  // Server 0 has GPUs 0 and 1 of the four numbers: the job on them goes on on server 1 at once.
  failures.outages = {{Time::seconds(10), Time::seconds(20), 0, 4}};
  const RunResult struck = run_on(mixed(), workload, {}, {}, nullptr, failures);
  CHECK(struck.jobs[0].interruptions == 1);
  CHECK(struck.jobs[0].finish == Time::seconds(30));
  CHECK(struck.jobs[1].finish == Time::seconds(100));
  REQUIRE(struck.gpus.size() == 8);
  CHECK(struck.gpus[0].down == Time::seconds(10));
  CHECK(struck.gpus[2].down == Time{});
  // Each of the eight GPUs fails once, with its server.
  failures.outages.clear();
  failures.components = {
      {"gpu", 1, true, DurationLaw::constant(Time::seconds(60)), DurationLaw::constant(Time::seconds(1'000))}};
  const RunResult worn = run_on(mixed(), workload, {}, {}, nullptr, failures);
  CHECK(worn.failures >= 8);
  CHECK(worn.failures % 8 == 0);
}

TEST_CASE("types: a spare goes back when the server is back whose place it took") {
  ClusterSpec cluster = mixed();
  cluster.servers = 3;
  cluster.gpus_per_server = 2;
  cluster.types = {{"old", 1, 2, Bytes{100}, 1.0}, {"new", 2, 2, Bytes{100}, 3.0}};
  Workload workload;
  workload.paces = {kOnlyOld};
  workload.jobs = {job_of(2, 30, 0)};
  FailureSpec failures;
  failures.spares = 1;  // server 2, which is new
  failures.outages = {{Time::seconds(10), Time::seconds(20), 0, 2}};
  const RunResult result = run_on(cluster, workload, {}, {}, nullptr, failures);
  CHECK(result.jobs[0].finish == Time::seconds(40));
  CHECK(result.gpus[0].down == Time::seconds(10));
  CHECK(result.gpus[4].down == Time::seconds(30));  // it is a spare but for the ten seconds
}
