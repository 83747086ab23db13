// Elastic jobs in scenarios: what says how fast they are on each number of GPUs, and what is refused.

#include "scenarios/keys/print.hpp"
#include "scenarios/run/lone_job.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/listed_jobs.hpp"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

constexpr const char* kOneType = "{types: [{name: t4, servers: 2, gpus_per_server: 4, gpu_memory: 64GiB}]}";
constexpr const char* kPlain = "{servers: 2, gpus_per_server: 4, gpu_memory: 64GiB}";

struct ElasticScenario : ListedJobs {
  ElasticScenario(const std::string& jobs, const std::vector<std::pair<std::string, std::string>>& tables,
                  const std::string& policy, const std::string& cluster = kOneType, const std::string& more = "") {
    std::string workload = fmt::format("jobs: {}", file("jobs.csv", jobs));
    for (const auto& [key, text] : tables) workload += fmt::format(", {}: {}", key, file(key + ".csv", text));
    scenario =
        parsed(fmt::format("cluster: {}\npolicies: {{scheduling: {}, placement: first-fit}}\n{}workload: {{{}}}\n",
                           cluster, policy, more, workload));
  }
};

const std::string kRates =
    "model,type,gpus,iterations_per_s\nm,t4,1,10\nm,t4,2,18\nm,t4,4,30\nm,t4,8,24\nfixed,t4,2,5\n";
const std::string kTwoJobs =
    "job_id,submit_s,model,gpus,min_gpus,max_gpus,iterations\na,0,m,2,1,8,1800\nb,0,m,4,2,4,3000\n";

}  // namespace

TEST_CASE("elastic jobs: a table gives the sizes between the bounds of a job") {
  const ElasticScenario fifo{kTwoJobs, {{"throughputs", kRates}}, "fifo"};
  const Workload workload = scenario_workload(fifo.scenario, 1);
  REQUIRE(workload.jobs[0].sizes >= 0);
  const auto gpus = [&](std::size_t job) {
    std::vector<int> sizes;
    for (const JobSize& size : workload.sizes[static_cast<std::size_t>(workload.jobs[job].sizes)])
      sizes.push_back(size.gpus);
    return sizes;
  };
  CHECK(gpus(0) == std::vector<int>{1, 2, 4, 8});
  CHECK(gpus(1) == std::vector<int>{2, 4});
  const RunResult rigid = fifo.run();  // both as they prefer
  CHECK(rigid.jobs[0].finish.to_seconds() == near(100, 1e-8));
  CHECK(rigid.jobs[1].finish.to_seconds() == near(100, 1e-8));
  CHECK(rigid.jobs[0].resizes == 0);
}

TEST_CASE("elastic jobs: a policy changes their sizes, and their work is kept") {
  // a: 30/s on 4 GPUs in place of 18 on 2. Both are done sooner, at the same GPU count.
  const ElasticScenario scenario{kTwoJobs, {{"throughputs", kRates}}, "afs"};
  const RunResult result = scenario.run();
  CHECK(result.jobs[0].finish.to_seconds() == near(60, 1e-8));
  CHECK(result.jobs[1].finish.to_seconds() == near(100, 1e-8));
  CHECK(*result.jobs[0].mean_gpus() == near(4));
  // With restarts of 10 s c, which comes at 30 s, makes a give 2 or 3 GPUs up and take them back later.
  const ElasticScenario restarts{kTwoJobs + "c,30,m,1,1,2,180\n",
                                 {{"throughputs", kRates}},
                                 "afs",
                                 kOneType,
                                 "checkpoints: {restart_cost: 10s}\n"};
  const RunResult changed = restarts.run();
  std::int64_t resizes = 0;
  for (const JobResult& job : changed.jobs) {
    CHECK(job.state == JobState::finished);
    CHECK(job.restarting == Time::seconds(10) * (job.starts - 1));
    resizes += job.resizes;
  }
  CHECK(resizes > 0);
}

TEST_CASE("elastic jobs: a goodput model gives every number of GPUs, by server") {
  const std::string models =
      "model,batch,min_local_batch,max_local_batch,alpha_c_s,beta_c_s,alpha_n_s,beta_n_s,alpha_r_s,beta_r_s,gamma\n"
      "m,64,1,64,0,0.01,0.2,0,0.1,0,1\n";
  const ElasticScenario scenario{
      "job_id,submit_s,model,gpus,min_gpus,max_gpus,iterations\na,0,m,1,1,8,100\n", {{"goodput", models}}, "optimus"};
  const Workload workload = scenario_workload(scenario.scenario, 1);
  const auto& sizes = workload.sizes[static_cast<std::size_t>(workload.jobs[0].sizes)];
  REQUIRE(sizes.size() == 8);
  CHECK(workload.jobs[0].duration->to_seconds() == near(64, 1e-6));
  const auto seconds = [&](std::size_t i) {
    return workload.jobs[0].duration->to_seconds() * static_cast<double>(sizes[i].paces[0].together) /
           static_cast<double>(kNominalPace) / 100;
  };
  CHECK(seconds(1) == near(0.32 + 0.1, 1e-6));
  CHECK(seconds(3) == near(0.16 + 0.1, 1e-6));
  CHECK(seconds(7) == near(0.08 + 0.2, 1e-6));  // on two servers
  CHECK(seconds(4) == near(0.13 + 0.2, 1e-6));  // 13 samples on the largest of 5 parts
  CHECK(sizes[1].paces[0].spread > sizes[1].paces[0].together);
  CHECK(scenario.run().jobs[0].state == JobState::finished);
}

TEST_CASE("elastic jobs: jobs of iterations take their graphs from their entry, with more work in larger iterations") {
  const std::string jobs = "job_id,submit_s,model,gpus,min_gpus,max_gpus,iterations\na,0,resnet50,2,1,4,200\n";
  for (const char* cluster : {kPlain, kOneType}) {
    const ElasticScenario scenario{jobs, {}, "optimus", cluster};
    const Workload workload = scenario_workload(scenario.scenario, 1);
    const auto& sizes = workload.sizes[static_cast<std::size_t>(workload.jobs[0].sizes)];
    REQUIRE(sizes.size() == 3);
    CHECK(sizes[2].gpus == 4);
    CHECK(sizes[2].parts == 4);
    const RunResult grown = scenario.run();
    const ElasticScenario rigid{jobs, {}, "fifo", cluster};
    CHECK(*grown.jobs[0].mean_gpus() == near(4));
    CHECK(grown.jobs[0].iterations_done == 200);
    const double ratio = grown.jobs[0].held.to_seconds() / rigid.run().jobs[0].held.to_seconds();
    CHECK(ratio == near(0.5));  // 100 iterations in place of 200; inside a server messages take no time
  }
}

TEST_CASE("elastic jobs: what can't be timed or contradicts itself is refused with its place") {
  const auto refusals = [](const std::string& row, const std::string& policy = "fifo",
                           const std::string& cluster = kOneType) {
    return ElasticScenario{"job_id,submit_s,model,gpus,min_gpus,max_gpus,iterations,duration_s\n" + row,
                           {{"throughputs", kRates}},
                           policy,
                           cluster}
        .refusals();
  };
  CHECK(refusals("a,0,m,2,4,8,100,\n").find("expected a number from min_gpus to max_gpus, 4 to 8, got 2") !=
        std::string::npos);
  CHECK(refusals("a,0,m,2,4,1,100,\n").find("expected at most max_gpus, 1, got 4") != std::string::npos);
  CHECK(refusals("a,0,other,2,1,4,,100\n").find("no row of workload.throughputs or workload.goodput says how fast") !=
        std::string::npos);
  CHECK(refusals("a,0,m,3,1,4,100,\n").find("has no row for \"m\" on 3 GPUs, only on 1, 2, 4, 8") != std::string::npos);
  CHECK(refusals("a,0,m,2,1,4,100,\n").empty());
  CHECK(errors_of("cluster: {types: [{name: a, servers: 1}, {name: b, servers: 1}]}\npolicies: {scheduling: afs}\n")
            .find("`afs` divides the GPUs of one type of servers, and cluster.types has 2") != std::string::npos);
}

TEST_CASE("elastic jobs: one that prefers more GPUs than there are has the most that it can have, and the same work") {
  constexpr const char* kSmall = "{types: [{name: t4, servers: 1, gpus_per_server: 4, gpu_memory: 64GiB}]}";
  // 24 iterations a second on the 8 GPUs that it prefers, 30 on the 4 that there are.
  for (const auto& [row, seconds] : {std::pair{"a,0,m,8,1,8,3000,\n", 100.0}, {"a,0,m,8,1,8,,100\n", 80.0}}) {
    for (const char* policy : {"fifo", "afs"}) {
      const ElasticScenario scenario{
          std::string{"job_id,submit_s,model,gpus,min_gpus,max_gpus,iterations,duration_s\n"} + row,
          {{"throughputs", kRates}},
          policy,
          kSmall};
      CHECK(scenario.refusals().empty());
      const RunResult result = scenario.run();
      CHECK(result.jobs[0].finish.to_seconds() == near(seconds, 1e-8));
      CHECK(result.jobs[0].gpus == 4);
    }
  }
  const ElasticScenario never{"job_id,submit_s,model,gpus,min_gpus,max_gpus,iterations\na,0,m,8,8,8,100\n",
                              {{"throughputs", kRates}},
                              "fifo",
                              kSmall};
  CHECK(never.refusals().find("needs 8 GPUs") != std::string::npos);
}

TEST_CASE("elastic jobs: elasticflow keeps its promise to a job that a failure brings back to the queue") {
  for (const char* deadline : {"600", "6000"}) {
    const ElasticScenario scenario{
        fmt::format("job_id,submit_s,model,gpus,min_gpus,max_gpus,iterations,deadline_s\na,0,m,4,1,8,12000,{}\n",
                    deadline),
        {{"throughputs", kRates}},
        "{policy: elasticflow, period_s: 0}",
        kOneType,
        "failures: {components: [{name: all, of: domain, servers: 2, fails: {mean: 100s, law: weibull, shape: 20}, "
        "repair: {mean: 50s, law: weibull, shape: 20}}]}\n"};
    const RunResult result = scenario.run();
    CHECK(result.jobs.front().state == JobState::finished);
    CHECK(result.jobs.front().interruptions > 0);
  }
}

TEST_CASE("elastic jobs: how fast an iteration is alone doesn't depend on what else the scenario has") {
  // resnet50 takes 25 + 37 ms on one server, and on two all-reduces 104,018,739 bytes in 0.8 ns each, 2 x 7/8 of them.
  constexpr double kServer_s = 0.062, kServers_s = 0.062 + 104'018'739 * 0.8e-9 * 2 * 7 / 8;
  const std::string base = std::string{"cluster: "} + kPlain + "\nnetwork: {nic: 10Gbps}\n";
  for (const char* more : {"", "loans: {servers: 1, low: 1, high: 1}\n", "failures: {spares: 1}\n",
                           "failures: {jobs: {law: constant, mean: 10ms}}\n", "scheduling: {quantum: 7s}\n",
                           "checkpoints: {policy: synchronous, iterations: 1, cost: 1s}\n"}) {
    CAPTURE(more);
    const Scenario scenario = parsed(base + more);
    CHECK(lone_iteration(scenario, "resnet50", 4).to_seconds() == near(kServer_s, 1e-9));
    CHECK(lone_iteration(scenario, "resnet50", 8).to_seconds() == near(kServers_s, 1e-8));
  }
  Scenario owned = parsed(base);
  NamedVirtualCluster& vision = owned.cluster.vcs.emplace_back();
  vision.name = "vision";
  vision.servers = 1;
  CHECK(lone_iteration(owned, "resnet50", 8).to_seconds() == near(kServers_s, 1e-8));
}
