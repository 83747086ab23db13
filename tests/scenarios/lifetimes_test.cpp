// Workers that live for a while, from scenarios, by hand: whole iterations in each life, starts that count as restarts,
// leaping over lives, lives that are too short. And groups of jobs that exchange nothing.

#include "scenarios/keys/reader.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/listed_jobs.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// A worker alone whose iterations take 10 ms, or several that exchange nothing worth counting.
struct Lives : ListedJobs {
  explicit Lives(const std::string& checkpoints, std::int64_t iterations = 100, const std::string& more = "",
                 int gpus = 1) {
    scenario = parsed(fmt::format(
        "cluster: {{servers: {0}, gpus_per_server: 1}}\npolicies: {{scheduling: fifo, placement: first-fit}}\n"
        "workload: {{jobs: {1}}}\ntraining: {{it: {{layers: {2}, fusion: bsp}}}}\ncheckpoints: {3}\n{4}",
        gpus, file("jobs.csv", fmt::format("job_id,submit_s,model,gpus,iterations\na,0,it,{},{}\n", gpus, iterations)),
        file("layers.csv", "layer,parameters,forward_ms,backward_ms,batch\nall,1000,4,6,1\n"), checkpoints, more));
  }
};

std::string lifetime(const std::string& time, const std::string& cost = "2ms") {
  return fmt::format("{{policy: synchronous, cost: {}, lifetime: {}, start_up: {{mean: 5ms}}}}", cost, time);
}

}  // namespace

TEST_CASE("lifetimes: a life has the whole iterations that fit, and starts count as restarts") {
  // Of 50 ms 5 start and 2 save, so four iterations fit: 25 lives, of which all but the last save.
  const JobResult job = Lives{lifetime("50ms")}.run().jobs[0];
  CHECK(job.finish == Time::milliseconds(1000 + 25 * 5 + 24 * 2));
  CHECK(job.restarting == Time::milliseconds(25 * 5));
  CHECK(job.overhead == Time::milliseconds(25 * 5 + 24 * 2));
  // 45 ms: three fit, 33 times, and one is left. Exactly four fit into 47 ms; a nanosecond less is too short for them.
  CHECK(Lives{lifetime("45ms")}.run().jobs[0].finish == Time::milliseconds(1000 + 34 * 5 + 33 * 2));
  CHECK(Lives{lifetime("47ms")}.run().jobs[0].finish == Time::milliseconds(1000 + 25 * 5 + 24 * 2));
  CHECK(Lives{lifetime("46999999ns")}.run().jobs[0].finish == Time::milliseconds(1000 + 34 * 5 + 33 * 2));
  // One iteration in each life; and a life that is longer than the job.
  CHECK(Lives{lifetime("17ms")}.run().jobs[0].finish == Time::milliseconds(1000 + 100 * 5 + 99 * 2));
  CHECK(Lives{lifetime("1h")}.run().jobs[0].finish == Time::milliseconds(1005));
}

TEST_CASE("lifetimes: leaping over lives changes nothing") {
  const auto run = [](const char* leap) {
    return Lives{lifetime("50ms"), 20'000, fmt::format("engine: {{leap: {}}}\n", leap)}.run();
  };
  const RunResult fast = run("true"), slow = run("false");
  CHECK(fast.jobs[0].finish == Time::milliseconds(200'000 + 5000 * 5 + 4999 * 2));
  CHECK(fast.jobs[0].finish == slow.jobs[0].finish);
  CHECK(fast.jobs[0].restarting == slow.jobs[0].restarting);
  CHECK(fast.jobs[0].overhead == slow.jobs[0].overhead);
  CHECK(slow.jobs[0].restarting == Time::milliseconds(25'000));
  CHECK(fast.leapt_events > 0);
}

TEST_CASE("lifetimes: a life that ends before an iteration does is refused") {
  CHECK(Lives{lifetime("17ms")}.refusals().empty());
  const std::string all = Lives{lifetime("16ms")}.refusals();
  CHECK_MESSAGE(
      all.find("checkpoints.lifetime: of 0.016 s that workers of job \"a\", on 1 GPUs, live, 0.009 s are left to "
               "work, and an iteration takes 0.01 s when the job is alone: it would never get on") != std::string::npos,
      all);
}

TEST_CASE("lifetimes: saving to a store comes before the next start") {
  // 1 MB at 0.5 GB/s takes 2 ms, as the cost above.
  const JobResult job =
      Lives{"{policy: synchronous, size: 1MB, store: 500MB/s, lifetime: 50ms, start_up: {mean: 5ms}}"}.run().jobs[0];
  CHECK(job.finish == Time::milliseconds(1000 + 25 * 5 + 24 * 2));
  CHECK(job.restarting == Time::milliseconds(25 * 5));
}

TEST_CASE("tiers: a job stands for what its passes don't hide of the copy, and goes back to what is in the last tier") {
  const auto finish = [](const char* failure) {
    Lives job{"{policy: asynchronous, iterations: 10, size: 1MB, copy_rate: 50MB/s, rate: 100MB/s, store: 50MB/s}"};
    const std::string list = fmt::format("component,down_s,up_s\n{}", failure);
    if (*failure != '\0') job.scenario.failures.events = job.file("failures.csv", list);
    return job.run().jobs[0].finish;
  };
  // The copy takes 20 ms, of which the passes hide 10, and the store another 20. None follows the last iteration.
  CHECK(finish("") == Time::milliseconds(1000 + 9 * 10));
  // The first checkpoint is copied at 110 ms, and in the store at 130.
  CHECK(finish("server0,0.125,0.2\n") == Time::milliseconds(200 + 1000 + 9 * 10));
  CHECK(finish("server0,0.135,0.2\n") == Time::milliseconds(200 + 900 + 8 * 10));
}

TEST_CASE("lifetimes: of jobs with a duration all starts are restarts") {
  ListedJobs timed;
  timed.scenario = parsed(fmt::format(
      "cluster: {{servers: 1, gpus_per_server: 2}}\npolicies: {{scheduling: fifo, placement: first-fit}}\n"
      "workload: {{jobs: {}}}\ncheckpoints: {{policy: synchronous, cost: 2s, lifetime: 15min, start_up: {{mean: "
      "10s}}}}\n",
      timed.file("jobs.csv", "job_id,submit_s,gpus,duration_s\na,0,2,3600\n")));
  const JobResult job = timed.run().jobs[0];
  CHECK(job.finish == Time::seconds(3600 + 5 * 10 + 4 * 2));
  CHECK(job.restarting == Time::seconds(5 * 10));
  CHECK(job.overhead == Time::seconds(5 * 10 + 4 * 2));
}

TEST_CASE("lifetimes: work is saved before workers start again, and a failure in that start loses none") {
  // Work of 16 s after a start of 2 s, saved from 18 to 20 s; the next workers start until 22 s. The rest is 24 s.
  const auto finish = [](const char* fails) {
    ListedJobs timed;
    timed.scenario = parsed(fmt::format(
        "cluster: {{servers: 1, gpus_per_server: 1}}\npolicies: {{scheduling: fifo, placement: first-fit}}\n"
        "workload: {{jobs: {}}}\nfailures: {{events: {}}}\n"
        "checkpoints: {{policy: synchronous, cost: 2s, lifetime: 20s, start_up: {{mean: 2s}}}}\n",
        timed.file("jobs.csv", "job_id,submit_s,gpus,duration_s\na,0,1,40\n"),
        timed.file("failures.csv", fmt::format("component,down_s,up_s\nserver0,{},25\n", fails))));
    return timed.run().jobs[0];
  };
  for (const char* fails : {"20", "20.001", "21.9"}) {
    CAPTURE(fails);
    CHECK(finish(fails).redone == Time{});
    CHECK(finish(fails).finish == Time::seconds(25 + 2 + 16 + 4 + 8));
  }
  CHECK(finish("19.9").redone == Time::seconds(16));
  // Jobs of iterations: 59 in a life of 600 ms, saved by 598 ms.
  const auto iterations = [](const char* fails) {
    Lives lives{"{policy: synchronous, cost: 2ms, lifetime: 600ms, start_up: {mean: 100ms}}", 100};
    lives.scenario = parsed(fmt::format(
        "cluster: {{servers: 1, gpus_per_server: 1}}\npolicies: {{scheduling: fifo, placement: first-fit}}\n"
        "workload: {{jobs: {}}}\ntraining: {{it: {{layers: {}, fusion: bsp}}}}\nfailures: {{events: {}}}\n"
        "checkpoints: {{policy: synchronous, cost: 2ms, lifetime: 600ms, start_up: {{mean: 100ms}}}}\n",
        lives.folder.path("jobs.csv"), lives.folder.path("layers.csv"),
        lives.file("failures.csv", fmt::format("component,down_s,up_s\nserver0,{},1\n", fails))));
    return lives.run().jobs[0].redone;
  };
  CHECK(iterations("0.5915") == Time::microseconds(490'000));
  CHECK(iterations("0.65") == Time{});
}

TEST_CASE("experts that exchange nothing: the longest, and then the router") {
  const auto makespan = [](const std::string& jobs) {
    Scenario scenario = load_scenario("scenarios/systems/experts.yaml");
    if (!jobs.empty()) scenario.workload.jobs = "scenarios/systems/" + jobs;
    const RunResult result = run_scenario(scenario, 1);
    Time last, first = Time::never(), work;
    for (const JobResult& job : result.jobs) {
      last = std::max(last, job.finish);
      if (job.name != "router") work += job.finish - job.start;
      if (job.name == "router") first = job.start;
    }
    CHECK(last - first == Time::seconds(24'192));
    CHECK(work == Time::seconds(8 * 604'800));  // equal compute
    return last;
  };
  CHECK(makespan("") == Time::seconds(604'800 + 24'192));                          // DDM: a week, and 4% of it
  CHECK(makespan("unequal-experts-jobs.csv") == Time::seconds(907'200 + 24'192));  // HDEE: the longest expert
}

TEST_CASE("rounds of one local step of all are data parallelism") {
  const auto finish = [](const char* compression) {
    ListedJobs job;
    job.scenario = parsed(fmt::format(
        "cluster: {{servers: 4, gpus_per_server: 1}}\npolicies: {{scheduling: fifo, placement: first-fit}}\n"
        "network: {{fidelity: contention, nic: 1Gbps, alpha: 50us}}\nworkload: {{jobs: {}}}\n"
        "training: {{it: {{layers: {}, fusion: bsp, compression: {}}}}}\n",
        job.file("jobs.csv", "job_id,submit_s,model,gpus,iterations\na,0,it,4,100\n"),
        job.file("layers.csv", "layer,parameters,forward_ms,backward_ms,batch\none,1000000,4,6,1\ntwo,500000,3,5,1\n"),
        compression));
    return job.run().jobs[0].finish;
  };
  CHECK(finish("none") == Time::milliseconds(9030));
  CHECK(finish("{policy: local-sgd, period: 1}") == finish("none"));
}
