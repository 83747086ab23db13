// Types of servers in scenarios: keys and their faults, what times the jobs on each type, and the tables of results.

#include "results/result_columns.hpp"
#include "results/result_writer.hpp"
#include "scenarios/keys/print.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/listed_jobs.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

constexpr const char* kTypes =
    "[{name: old, servers: 2, gpus_per_server: 2, price: 1}, {name: new, servers: 1, speed: 2, price: 3}]";

struct TypedScenario : ListedJobs {
  explicit TypedScenario(const std::string& jobs, const std::string& throughputs = "", const std::string& more = "",
                         const std::string& types = kTypes) {
    std::string workload = fmt::format("jobs: {}", file("jobs.csv", jobs));
    if (!throughputs.empty()) workload += fmt::format(", throughputs: {}", file("rates.csv", throughputs));
    scenario =
        parsed(fmt::format("cluster: {{types: {}}}\npolicies: {{scheduling: fifo, placement: first-fit}}\n"
                           "workload: {{{}{}}}\n",
                           types, workload, more));
  }
};

double in_seconds(Time time) {
  return time.to_seconds();
}

}  // namespace

TEST_CASE("types: the cluster follows from its types, and prints as it was read") {
  const Scenario scenario = parsed(fmt::format("cluster: {{types: {}}}\n", kTypes));
  CHECK(scenario.cluster.servers == 3);
  CHECK(scenario.cluster.gpus_per_server == 4);
  const Scenario again = parse_scenario(to_yaml(scenario), "b.yaml", {}, reader_of({}));
  CHECK(again.cluster.types == scenario.cluster.types);
  CHECK(to_yaml(again) == to_yaml(scenario));
  const Scenario back =
      parsed(fmt::format("cluster: {{types: {}}}\n", kTypes), {"cluster.types=[]", "cluster.servers=5"});
  CHECK(back.cluster.servers == 5);
  CHECK(back.cluster.gpus_per_server == 4);
}

TEST_CASE("types: what contradicts itself is refused with its place") {
  CHECK(errors_of(fmt::format("cluster: {{types: {}, servers: 4}}\n", kTypes))
            .find("cluster.servers: needs `cluster.types: []`") != std::string::npos);
  CHECK(errors_of("cluster: {types: [{name: a, servers: 1}, {name: a, servers: 1}]}\n")
            .find("cluster.types[1].name: there are two types of server `a`") != std::string::npos);
  CHECK(errors_of("cluster: {types: [{name: a}]}\n").find("servers is missing") != std::string::npos);
  const std::string misspelt = errors_of("cluster: {types: [{nam: a, servers: 1}]}\n");  // one mistake, one complaint
  CHECK(misspelt.find("unknown key; did you mean \"name\"?") != std::string::npos);
  CHECK(misspelt.find("is missing") == std::string::npos);
  CHECK(errors_of("cluster: {types: [{name: a, servers: 1, sped: 2}]}\n").find("did you mean \"speed\"?") !=
        std::string::npos);
  CHECK(errors_of(fmt::format("cluster: {{types: {}}}\nworkload: {{reference_type: newer}}\n", kTypes))
            .find("workload.reference_type: cluster.types has no type \"newer\"") != std::string::npos);
  CHECK(errors_of("workload: {reference_type: newer}\n").find("needs `cluster.types`") != std::string::npos);
}

TEST_CASE("types: durations are divided by the speed of the type; prices and types are in the results") {
  const TypedScenario typed{"job_id,submit_s,gpus,duration_s,deadline_s\na,0,4,100,60\nb,0,4,100,60\n"};
  const RunResult result = typed.run();
  CHECK(result.jobs[0].server_type == "new");
  CHECK(in_seconds(result.jobs[0].finish) == near(50));
  CHECK(result.jobs[1].server_type == "old");
  CHECK(in_seconds(result.jobs[1].finish) == near(100));
  CHECK(*result.jobs[0].cost == near(4 * 50 * 3 / 3600.0));
  const Summary summary = summarise(result);
  CHECK(summary.deadlines_met == near(0.5));
  CHECK(summary.cost == near((4 * 50 * 3 + 4 * 100) / 3600.0));
  CHECK(metric("deadlines_met").value(summary) == near(0.5));
  const std::vector<Replica> replicas{{1, result, summary, {}}};
  CHECK(types_csv(replicas) ==
        "type,servers,gpus,busy_gpu_s,utilisation,jobs,price\nold,2,4,400,1,4,1\nnew,1,4,200,0.5,4,3\n");
}

TEST_CASE("types: a table of throughputs times jobs by model, GPUs and type") {
  const std::string rates =
      "model,type,gpus,iterations_per_s,spread_iterations_per_s\n"
      "net,old,1,10,\nnet,new,1,50,\nnet,old,4,20,15\n";
  const TypedScenario typed{
      "job_id,submit_s,gpus,duration_s,model,iterations\n"
      "a,0,1,,net,1000\n"     // on `new`: 20 s
      "b,0,4,,net,600\n"      // on `old` only, over two servers, which are as few as can hold it: 30 s
      "c,100,1,1000,net,\n"   // 1000 s on `old`, 200 s on `new`
      "d,100,1,80,other,\n",  // not in the table: by speed
      rates};
  const RunResult result = typed.run();
  CHECK(in_seconds(result.jobs[0].finish) == near(20, 1e-9));
  CHECK(in_seconds(result.jobs[1].finish) == near(30, 1e-9));
  CHECK(result.jobs[1].server_type == "old");
  CHECK(in_seconds(result.jobs[2].jct()) == near(200, 1e-9));
  CHECK(in_seconds(result.jobs[3].jct()) == near(40, 1e-9));
  const TypedScenario on_new{"job_id,submit_s,gpus,duration_s,model\nc,0,1,1000,net\n", rates, ", reference_type: new"};
  CHECK(in_seconds(on_new.run().jobs[0].jct()) == near(1000, 1e-9));
}

TEST_CASE("types: holes in the table are named by job before anything runs") {
  const std::string rates = "model,type,gpus,iterations_per_s\nnet,new,1,50\nnet,older,2,50\nbig,old,1,0\n";
  CHECK(
      TypedScenario{"job_id,submit_s,gpus,duration_s,model,iterations\n"
                    "a,0,1,100,net,\nb,0,8,,net,10\nc,0,2,,net,10\nd,0,1,,big,10\n",
                    rates}
          .refusals() ==
      "jobs.csv:2: model: job \"a\": durations hold on type old, on which rates.csv has no throughput for \"net\" on "
      "1 GPU\n"
      "jobs.csv:3: model: job \"b\": rates.csv has no row for \"net\" on 8 GPUs, only on 1, 2\n"
      "jobs.csv:4: model: job \"c\": rates.csv has no throughput for \"net\" on 2 GPUs on any of cluster.types\n"
      "jobs.csv:5: model: job \"d\": rates.csv has no throughput for \"big\" on 1 GPU on any of cluster.types\n"
      "jobs.csv: 4 of 4 rows are bad; add rows to workload.throughputs, or set workload.reference_type to the type of "
      "the durations\n");
}

TEST_CASE("types: a demand for a type that is not there is refused, unless demands are ignored") {
  const std::string jobs = "job_id,submit_s,gpus,duration_s,gpu_type\na,0,1,10,old\nb,0,1,10,older\n";
  CHECK(TypedScenario{jobs}.refusals() ==
        "jobs.csv:3: gpus: job \"b\" demands servers of type older, the cluster has none\n");
  const TypedScenario ignoring{jobs, "", ", demands_types: false"};
  CHECK(ignoring.refusals() == "");
  CHECK(ignoring.run().jobs[0].server_type == "new");
  const TypedScenario honouring{"job_id,submit_s,gpus,duration_s,gpu_type\na,0,1,10,old\n"};
  CHECK(honouring.run().jobs[0].server_type == "old");
}

TEST_CASE("types: jobs of iterations take their layer times from the device of the type") {
  const std::string types =
      "[{name: slow, servers: 1, device: K80}, {name: fast, servers: 1, device: V100-SXM2}, {name: half, servers: 1, "
      "speed: 0.5}]";
  Scenario scenario = parsed(
      fmt::format("cluster: {{types: {}}}\ntraining: {{net: {{model: resnet50, batch: 32, memory: 20GiB}}}}\n"
                  "policies: {{scheduling: fifo, placement: first-fit}}\n"
                  "workload: {{generate: {{models: [net], sizes: {{4: 3}}, iterations: [100, 100], arrivals: 1ms}}}}\n",
                  types));
  const RunResult result = run_scenario(scenario, 1);
  CHECK(result.jobs[0].server_type == "fast");
  double fast = 0, slow = 0, half = 0;
  for (const JobResult& job : result.jobs)
    (job.server_type == "fast" ? fast : job.server_type == "slow" ? slow : half) = job.compute.to_seconds();
  CHECK(fast > 0);
  CHECK(slow > 2 * fast);               // a K80 computes far slower than a V100
  CHECK(half == near(2 * fast, 1e-6));  // the device of its entry is a V100, too
}

TEST_CASE(
    "types: a job of iterations on a mix computes as its slowest devices do; a policy that names types refuses it") {
  ListedJobs listed;
  const std::string jobs = listed.file("jobs.csv",
                                       "job_id,submit_s,model,gpus,iterations,gpu_type\n"
                                       "a,0,net,6,10,slow+fast\n"
                                       "b,0,net,4,10,slow+fast\n"
                                       "c,1000,net,4,10,slow\n");
  listed.scenario = parsed(
      fmt::format("cluster: {{types: [{{name: slow, servers: 1, device: K80}}, {{name: fast, servers: 1, device: "
                  "V100-SXM2}}]}}\n"
                  "training: {{net: {{model: resnet50, batch: 32, memory: 20GiB}}}}\n"
                  "policies: {{scheduling: fifo, placement: first-fit}}\nworkload: {{jobs: {}}}\n",
                  jobs));
  const RunResult result = listed.run();
  CHECK(result.jobs[0].server_type == "fast+slow");
  CHECK(result.jobs[1].server_type == "fast");
  CHECK(result.jobs[2].server_type == "slow");
  CHECK(result.jobs[0].compute.to_seconds() / 6 == near(result.jobs[2].compute.to_seconds() / 4));
  CHECK(result.jobs[1].compute < result.jobs[2].compute);

  listed.scenario.scheduling = parsed("policies: {scheduling: max-min}\n").scheduling;
  const std::string reason =
      "it may mix types (slow+fast), but `max-min` runs each job on one type; name one type, or choose a policy that "
      "leaves the type to the engine, such as fifo";
  CHECK(listed.refusals() ==
        "jobs.csv:2: gpu_type: job \"a\": " + reason + "\njobs.csv:3: gpu_type: job \"b\": " + reason + "\n");
  CHECK_THROWS_WITH_AS(static_cast<void>(listed.run()), ("job \"a\": " + reason).c_str(), InputError);
}

TEST_CASE("types: preemption by work left ends where a job is longer on one type, and leaping changes nothing") {
  const auto run = [](const std::string& scheduling, bool leap) {
    const Scenario scenario = parsed(fmt::format(
        "cluster: {{types: [{{name: slow, servers: 4, gpus_per_server: 2, device: K80}}, {{name: fast, servers: 2, "
        "gpus_per_server: 4}}, {{name: half, servers: 3, gpus_per_server: 4, speed: 0.5}}]}}\n"
        "training: {{net: {{model: resnet50, batch: 32, memory: 20GiB}}}}\n"
        "policies: {{scheduling: {}, placement: lwf}}\nengine: {{leap: {}}}\n"
        "workload: {{generate: {{models: [net], sizes: {{1: 20, 2: 10, 4: 8, 8: 2}}, iterations: [20, 80], arrivals: "
        "20s}}}}\n",
        scheduling, leap));
    return run_scenario(scenario, 1);
  };
  std::int64_t preemptions = 0;
  for (const char* scheduling : {"{policy: srsf, preemptive: true}", "{policy: srtf, preemptive: true}",
                                 "{policy: srsf, preemptive: true, rewalk: true}", "max-min"}) {
    CAPTURE(scheduling);
    const RunResult leapt = run(scheduling, true), events = run(scheduling, false);
    CHECK(leapt.digest == events.digest);
    for (const JobResult& job : leapt.jobs) {
      CHECK(job.state == JobState::finished);
      preemptions += job.preemptions;
    }
  }
  CHECK(preemptions > 40);
}

TEST_CASE("types: fusion: search finds the plan whether or not the type of the servers has a name") {
  const auto finish = [](const std::string& cluster) {
    const Scenario scenario = parsed(fmt::format(
        "cluster: {}\nnetwork: {{nic: 5Gbps, alpha: 10us, inside: {{bandwidth: 3600Gbps, alpha: 3us}}}}\n"
        "training: {{m: {{device: H100-SXM, dtype: bf16, optimizer: adam, model: gpt2, sequence: 512, batch: 1, "
        "accumulate: 4, fusion: search, parallel: {{tensor: 2, pipeline: 2, virtual: 2, schedule: interleaved, "
        "zero: 1}}}}}}\n"
        "workload: {{generate: {{models: [m], sizes: {{16: 1}}, iterations: [2, 2], arrivals: 1ms}}}}\n",
        cluster));
    return run_scenario(scenario, 1).jobs.front().finish;
  };
  const std::string servers = "servers: 2, gpus_per_server: 8, gpu_memory: 400GiB}";
  CHECK(finish("{types: [{name: own, " + servers + "]}") == finish("{" + servers));
}
