// Hydra: its search against all plans, the Moore-Hodgson rule and the assignment of jobs to places; and cases that a
// reader can work out by hand.

#include "policies/scheduling/deadline_plan.hpp"
#include "policies/scheduling/position_matching.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/policies/policy_kit.hpp"
#include "tests/policies/scheduling_kit.hpp"
#include "tests/sim/fixed_network.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

constexpr std::int64_t kAll = 100'000'000;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Plans {
  std::vector<PlannedJob> jobs;
  std::vector<PlanMachine> machines;
};

/// Recomputes what a plan costs from its starts, and checks that no machine has two jobs at once.
void check_plan(const Plans& of, const DeadlinePlan& plan) {
  int late = 0;
  double sum = 0;
  for (std::size_t i = 0; i < of.jobs.size(); ++i) {
    const std::size_t m = plan.machine_of[i];
    if (m == DeadlinePlan::kNone) continue;
    const double end = plan.starts[i] + of.jobs[i].takes[of.machines[m].type];
    CHECK(plan.starts[i] >= of.machines[m].free_at);
    for (std::size_t o = 0; o < of.jobs.size(); ++o) {
      if (o == i || plan.machine_of[o] != m) continue;
      const bool is_before = plan.starts[o] + of.jobs[o].takes[of.machines[m].type] <= plan.starts[i] + 1e-9;
      CHECK((is_before || plan.starts[o] >= end - 1e-9));
    }
    late += end > of.jobs[i].due + 1e-9 ? 1 : 0;
    sum += end;
  }
  CHECK(late == plan.late);
  CHECK(sum == near(plan.completions, 1e-9));
}

/// The best of all plans: each order of the jobs, each cut into machines.
std::pair<int, double> best_of_all(const Plans& of) {
  std::vector<std::size_t> order(of.jobs.size());
  std::iota(order.begin(), order.end(), 0U);
  std::pair<int, double> best{INT32_MAX, kInfinity};
  std::vector<std::size_t> machine(order.size());
  do {
    for (bool more = true; more;) {
      std::vector<double> free_at;
      for (const PlanMachine& each : of.machines) free_at.push_back(each.free_at);
      std::pair<int, double> cost{0, 0};
      for (const std::size_t i : order) {
        double& end = free_at[machine[i]];
        end += of.jobs[i].takes[of.machines[machine[i]].type];
        cost.first += end > of.jobs[i].due + 1e-9 ? 1 : 0;
        cost.second += end;
      }
      if (cost.second < kInfinity) best = std::min(best, cost);
      std::size_t at = 0;
      while (at < machine.size() && ++machine[at] == of.machines.size()) machine[at++] = 0;
      more = at < machine.size();
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

Plans random_plans(std::uint64_t seed, std::int64_t most_jobs) {
  RandomStream random{seed, "plans"};
  const auto in = [&](std::int64_t low, std::int64_t high) { return random.uniform_integer(low, high); };
  Plans made;
  const std::int64_t types = in(1, 2);
  for (std::int64_t m = in(1, 3); m > 0; --m)
    made.machines.push_back({static_cast<std::size_t>(in(0, types - 1)), static_cast<double>(in(0, 1) * in(0, 6))});
  made.machines.front().type = 0;
  made.jobs.resize(static_cast<std::size_t>(in(1, most_jobs)));
  for (PlannedJob& job : made.jobs) {
    for (std::int64_t t = 0; t < types; ++t)
      job.takes.push_back(t > 0 && in(0, 5) == 0 ? kInfinity : static_cast<double>(in(1, 9)));
    if (in(0, 2) > 0) job.due = static_cast<double>(in(1, 20));
  }
  return made;
}

}  // namespace

TEST_CASE("hydra: the search finds the best of all plans, and with fewer nodes it finds a plan") {
  const std::uint64_t rounds = effort<std::uint64_t>(120);
  for (std::uint64_t seed = 0; seed < rounds; ++seed) {
    CAPTURE(seed);
    const Plans made = random_plans(seed, 5);
    const DeadlinePlan plan = plan_deadlines(made.jobs, made.machines, kAll);
    CHECK(plan.is_best);
    check_plan(made, plan);
    const auto best = best_of_all(made);
    CHECK(plan.late == best.first);
    CHECK(plan.completions == near(best.second, 1e-9));
    for (const std::int64_t nodes : {0, 10}) {
      const DeadlinePlan some = plan_deadlines(made.jobs, made.machines, nodes);
      check_plan(made, some);
      CHECK(std::pair{some.late, some.completions} >= std::pair{best.first, best.second - 1e-9});
    }
  }
}

TEST_CASE("hydra: on one machine as few jobs are late as by the rule of Moore and Hodgson") {
  for (std::uint64_t seed = 0; seed < effort<std::uint64_t>(150); ++seed) {
    CAPTURE(seed);
    RandomStream random{seed, "one machine"};
    Plans made{{}, {{0, 0}}};
    made.jobs.resize(static_cast<std::size_t>(random.uniform_integer(1, 8)));
    for (PlannedJob& job : made.jobs) {
      job.takes = {static_cast<double>(random.uniform_integer(1, 9))};
      job.due = static_cast<double>(random.uniform_integer(1, 40));
    }
    std::vector<const PlannedJob*> by_due;
    for (const PlannedJob& job : made.jobs) by_due.push_back(&job);
    std::ranges::stable_sort(by_due, {}, [](const PlannedJob* job) { return job->due; });
    std::priority_queue<double> in_time;
    double end = 0;
    for (const PlannedJob* job : by_due) {
      in_time.push(job->takes[0]);
      end += job->takes[0];
      if (end <= job->due) continue;
      end -= in_time.top();
      in_time.pop();
    }
    const DeadlinePlan plan = plan_deadlines(made.jobs, made.machines, kAll);
    CHECK(plan.is_best);
    CHECK(plan.late == static_cast<int>(made.jobs.size() - in_time.size()));
  }
}

TEST_CASE("hydra: without deadlines the completion times are the times of the matching with positions") {
  for (std::uint64_t seed = 0; seed < effort<std::uint64_t>(100); ++seed) {
    CAPTURE(seed);
    RandomStream random{seed, "no deadlines"};
    const std::vector<std::size_t> gpus{static_cast<std::size_t>(random.uniform_integer(1, 2)),
                                        static_cast<std::size_t>(random.uniform_integer(0, 2))};
    Plans made;
    for (std::size_t t = 0; t < 2; ++t) made.machines.insert(made.machines.end(), gpus[t], {t, 0});
    std::vector<double> takes;
    for (std::int64_t n = random.uniform_integer(1, 7); n > 0; --n) {
      const double a = 1 + random.uniform(), b = 1 + random.uniform();
      takes.insert(takes.end(), {a, b});
      made.jobs.push_back({{a, b}});
    }
    const std::vector<Position> positions = match_positions(takes, gpus);
    double sum = 0;
    for (std::size_t i = 0; i < positions.size(); ++i)
      sum += static_cast<double>(positions[i].from_last) * takes[2 * i + positions[i].type];
    const DeadlinePlan plan = plan_deadlines(made.jobs, made.machines, kAll);
    CHECK(plan.is_best);
    CHECK(plan.completions == near(sum, 1e-9));
  }
}

TEST_CASE("hydra: a plan in numbers of GPUs of each type is carried out as planned, wherever jobs are placed") {
  // All jobs of one GPU are there from the beginning, so that nothing changes the first plan but an equal one.
  int late = 0;
  for (std::uint64_t seed = 0; seed < effort<std::uint64_t>(20); ++seed) {
    RandomStream random{seed, "hydra places"};
    const auto in = [&](std::int64_t low, std::int64_t high) {
      return static_cast<int>(random.uniform_integer(low, high));
    };
    ClusterSpec cluster;
    cluster.gpus_per_server = 2;
    cluster.servers = 0;
    for (const char* name : {"one", "two"}) {
      cluster.types.push_back({.name = name, .servers = in(1, 2), .gpus_per_server = in(1, 2), .gpu_memory = Bytes{1}});
      cluster.servers += cluster.types.back().servers;
    }
    cluster.gpus_per_server = std::max(cluster.types[0].gpus_per_server, cluster.types[1].gpus_per_server);
    Plans plans;
    for (std::size_t t = 0; t < 2; ++t)
      plans.machines.insert(plans.machines.end(),
                            static_cast<std::size_t>(cluster.types[t].servers * cluster.types[t].gpus_per_server),
                            {t, 0});
    Workload workload;
    for (int j = in(3, 7); j > 0; --j) {
      JobSpec job = timed_job(0, 1, in(1, 9));
      job.name = std::to_string(j);
      job.pace = static_cast<std::int32_t>(workload.paces.size());
      job.gpu_share = kWholeGpu;
      const int slower = in(1, 4);
      workload.paces.push_back({{.together = kNominalPace}, {.together = kNominalPace * slower}});
      const double takes = job.duration->to_seconds();
      plans.jobs.push_back({{takes, takes * slower}});
      if (in(0, 2) > 0) {
        plans.jobs.back().due = in(1, 12);
        job.deadline = Time::seconds(static_cast<std::int64_t>(plans.jobs.back().due));
      }
      workload.jobs.push_back(job);
    }
    const DeadlinePlan plan = plan_deadlines(plans.jobs, plans.machines, kAll);
    REQUIRE(plan.is_best);
    late += plan.late;
    for (const char* name : {"consolidated", "worst-fit", "first-fit", "spread", "random", "topology-aware"}) {
      CAPTURE(seed);
      CAPTURE(name);
      PolicySet policies{scheduling({"hydra", {{"nodes", kAll}}}),
                         placement({name, {}}),
                         communication({"srsf", {}}, 1, 0),
                         "hydra",
                         name,
                         "srsf"};
      auto network = std::make_unique<FixedNetwork>(1, static_cast<std::size_t>(cluster.servers), workload.jobs.size());
      Simulation simulation{cluster, workload, std::move(policies), std::move(network), {}};
      int late_jobs = 0;
      double ends = 0;
      for (const JobResult& job : simulation.run().jobs) {
        const JobSpec& spec = workload.jobs[job.id.index()];
        late_jobs += spec.deadline && job.finish > *spec.deadline ? 1 : 0;
        ends += job.finish.to_seconds();
      }
      CHECK(late_jobs == plan.late);
      CHECK(ends == near(plan.completions, 1e-9));
    }
  }
  CHECK(late > 0);
}

TEST_CASE("hydra: a deadline goes first, and of jobs that can't all be in time the one that costs most is late") {
  // On one GPU the shortest jobs would go first, and C would miss its deadline of 10 s.
  std::vector<JobSpec> jobs{timed_job(0, 1, 2), timed_job(0, 1, 4), timed_job(0, 1, 9)};
  CHECK(play({"hydra", {}}, 1, jobs).finishes() == "A2 B6 C15");
  jobs[2].deadline = Time::seconds(10);
  CHECK(play({"hydra", {}}, 1, jobs).finishes() == "A11 B15 C9");
  // A and B have deadlines that leave no room for C: two in time are better than one.
  jobs[0].deadline = Time::seconds(6);
  jobs[1].deadline = Time::seconds(6);
  CHECK(play({"hydra", {}}, 1, jobs).finishes() == "A2 B6 C15");
  // The deadlines of jobs that run don't matter any more: C comes at 1 s and waits for A, but not for B.
  jobs = {timed_job(0, 1, 5), timed_job(0, 1, 20), timed_job(1, 1, 4)};
  jobs[2].deadline = Time::seconds(10);
  CHECK(play({"hydra", {}}, 1, jobs).finishes() == "A5 B29 C9");
}
