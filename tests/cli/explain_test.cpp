// contend explain: the story of a job, from a folder and from a scenario.

#include "tests/cli/program.hpp"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

// Two GPUs with memory for one job each; `big` and `small` queue behind `first`.
constexpr const char* kJobs =
    "job_id,submit_s,model,gpus,iterations\nfirst,0,vgg16,2,40\nbig,1,vgg16,2,20\nsmall,2,vgg16,1,10\n";
constexpr const char* kQueue =
    "schema_version: 1\nname: queue\ncluster: {servers: 1, gpus_per_server: 2, gpu_memory: 6GiB}\n"
    "policies: {scheduling: {policy: fifo, strict: true}, placement: first-fit}\nworkload: {jobs: jobs.csv}\n";

Workplace& with_queue(Workplace& here) {
  here.write("jobs.csv", kJobs);
  here.write("queue.yaml", kQueue);
  return here;
}

}  // namespace

TEST_SUITE_BEGIN("cli" * doctest::skip(!has_program()));

TEST_CASE("the story says which slow components held a job up, at each instant the slowest") {
  // Of 620 s of work 300 s take 1.5 times as long, but for 100 s on a server that takes twice as long.
  Workplace here;
  here.write("jobs.csv", "job_id,submit_s,gpus,model,iterations\ntrain,0,8,resnet50,10000\n");
  here.write("events.csv",
             "component,down_s,up_s,slows,slows_network\ngpu3,100,400,1.5,\nserver0,200,300,2,\ngpu9,100,400,3,\n");
  here.write("run.yaml",
             "schema_version: 1\nname: run\ncluster: {servers: 2, gpus_per_server: 8}\n"
             "policies: {scheduling: fifo}\nworkload: {jobs: jobs.csv}\nfailures: {events: events.csv}\n");
  const Outcome story = here.contend("explain run.yaml train");
  REQUIRE_MESSAGE(story.code == 0, story.err);
  CHECK(contains(story.out, "an event on GPU 3 of server 0"));
  CHECK(contains(story.out, "an event on server 0"));
  CHECK(!contains(story.out, "server 1"));
  const Outcome json = here.contend("explain run.yaml train --json");
  const auto entry = [](const char* component, const char* times, const char* time, const char* lost) {
    return fmt::format(
        "\"component\": \"{}\",\n      \"times\": {},\n      \"time_s\": {},\n      \"lost_at_most_s\": {}\n",
        component, times, time, lost);
  };
  CHECK(contains(json.out, entry("an event on GPU 3 of server 0", "1.5", "200", "66.666666667")));
  CHECK(contains(json.out, entry("an event on server 0", "2", "100", "50")));
}

TEST_CASE("the story says that a job waited for a rack, though enough GPUs were free") {
  Workplace here;
  here.write("jobs.csv",
             "job_id,submit_s,gpus,duration_s,place,required_level\na,0,4,100,server0,\nb,0,4,200,server2,\n"
             "big,1,8,50,,rack\n");
  here.write("run.yaml",
             "schema_version: 1\nname: run\n"
             "cluster: {servers: 4, gpus_per_server: 4, levels: [{name: rack, servers: 2}]}\n"
             "policies: {scheduling: fifo, placement: consolidated}\nworkload: {jobs: jobs.csv}\n");
  const Outcome story = here.contend("explain run.yaml big");
  REQUIRE_MESSAGE(story.code == 0, story.err);
  CHECK(contains(story.out, "no rack has room for it, though 8 GPUs are free in the cluster"));
}

TEST_CASE("the story of a request says for how long it waited, and for what") {
  // The batch has one request, whose two steps take 1 ms each.
  Workplace here;
  here.write("jobs.csv", "job_id,submit_s,model,gpus,iterations\na,0,chat,1,\n");
  here.write("requests.csv", "arrival,prompt,answer\n0,100,2\n0,100,2\n");
  here.write("run.yaml",
             "schema_version: 2\nname: run\ncluster: {servers: 1, gpus_per_server: 1}\n"
             "policies: {scheduling: fifo}\nworkload: {jobs: jobs.csv}\n"
             "serving: {chat: {step: {weights: 1ms}, batch: 1, requests: {trace: requests.csv}}}\n");
  const Outcome story = here.contend("explain run.yaml a --request 1");
  REQUIRE_MESSAGE(story.code == 0, story.err);
  CHECK(contains(story.out, "request 1 of a, in run.yaml (seed 1): 100 tokens of prompt, 2 tokens of answer"));
  CHECK(contains(story.out, "0.002000 s  begins: request 1 waited 0.002 s for a place in the batch"));
  CHECK(contains(story.out, "0.003000 s  first token, 0.003 s after it arrived"));
  CHECK(
      contains(story.out, "0.004000 s  last token, 0.004 s after it arrived, 0.001 s for each token after the first"));
  CHECK(contains(here.contend("explain run.yaml a --request 2").err, "job a has 2 requests, numbered from 0"));
}

TEST_CASE("the story counts what a job's steps leave of its slowness, what is out of service, and why a job ends") {
  // GPU 3 takes 3 times as long from 100 s on. After 60 s the job has lost 40 and moves micro-batches; of 8 replicas
  // the slow one then takes 364 thousandths of its passes, 3 times as long.
  Workplace here;
  here.write("jobs.csv", "job_id,submit_s,gpus,model,iterations\ntrain,0,8,resnet50,10000\n");
  here.write("events.csv", "component,down_s,up_s,slows\ngpu3,100,400,3\n");
  here.write("run.yaml",
             "schema_version: 1\nname: run\ncluster: {servers: 2, gpus_per_server: 8}\n"
             "policies: {scheduling: fifo}\nworkload: {jobs: jobs.csv}\n"
             "failures: {events: events.csv, mitigation: {microbatches: 40s}}\n");
  const Outcome json = here.contend("explain run.yaml train --json");
  REQUIRE_MESSAGE(json.code == 0, json.err);
  CHECK(contains(json.out, "\"time_s\": 300,\n      \"lost_at_most_s\": 60.21978022\n"));  // 60 x 2/3 + 240 x 92/1092

  // What is slow later counts again: the links of its two servers, after the step has ended.
  here.write("jobs.csv", "job_id,submit_s,gpus,model,iterations\ntrain,0,16,resnet50,10000\n");
  here.write("events.csv", "component,down_s,up_s,slows,slows_network\ngpu3,100,400,3,\nserver0,500,600,,3\n");
  const Outcome later = here.contend("explain run.yaml train --json");
  REQUIRE_MESSAGE(later.code == 0, later.err);
  CHECK(contains(later.out, "\"time_s\": 100,\n      \"lost_at_most_s\": 66.666666667\n"));

  here.write("two.csv", "job_id,submit_s,gpus,duration_s\na,0,8,100\nb,20,16,500\n");
  here.write("down.csv", "component,drain_s,down_s,up_s\nserver1,10,300,400\nserver0,,600,700\n");
  here.write("two.yaml",
             "schema_version: 1\nname: two\ncluster: {servers: 2, gpus_per_server: 8}\n"
             "policies: {scheduling: fifo, placement: first-fit}\nworkload: {jobs: two.csv}\n"
             "failures: {events: down.csv, retries: 0, detection: 30s}\n");
  const Outcome story = here.contend("explain two.yaml b");
  REQUIRE_MESSAGE(story.code == 0, story.err);
  CHECK(contains(story.out, "up to 8 GPUs out of service: 8 drained for a planned outage"));
  CHECK(contains(story.out,
                 "630 s  ends for good: failures interrupted it 1 time, and failures.retries lets it start "
                 "again 0 times"));
  CHECK(contains(here.contend("explain two.yaml b --json").out, "\"out_of_service_gpus\": 8"));
}

TEST_CASE("the story says what keeps GPUs out of service, who started meanwhile, and when a failure was noticed") {
  // Three servers of a GPU, the last of them a spare. Server 0 fails at 60 s, and a comes back when that is noticed at
  // 90 s and diagnosed at 100 s; the spare has taken its place at 60 s. small starts on it before a is back.
  Workplace here;
  here.write("jobs.csv", "job_id,submit_s,gpus,duration_s\na,0,2,100\nsmall,70,1,50\n");
  here.write("down.csv", "component,down_s,up_s\nserver0,60,500\n");
  here.write("s.yaml",
             "schema_version: 1\nname: s\ncluster: {servers: 3, gpus_per_server: 1}\n"
             "policies: {scheduling: fifo, placement: first-fit}\nworkload: {jobs: jobs.csv}\n"
             "failures: {events: down.csv, spares: 1, detection: 30s, diagnosis: 10s, gang: release}\n");
  const Outcome story = here.contend("explain s.yaml a");
  REQUIRE_MESSAGE(story.code == 0, story.err);
  CHECK_MESSAGE(contains(story.out, "60 s  interrupted: an outage on GPU 0 of server 0, noticed 30 s later\n"),
                story.out);
  CHECK_MESSAGE(
      contains(story.out, "100 s  queues again, 40 s later: until then the failure is noticed and diagnosed\n"),
      story.out);
  CHECK_MESSAGE(contains(story.out, "1 GPU held by 1 job: small (1 GPU until 120 s)\n"), story.out);
  CHECK_MESSAGE(contains(story.out, "up to 1 GPU out of service: 1 failed\n"), story.out);
  const Outcome json = here.contend("explain s.yaml a --json");
  CHECK_MESSAGE(contains(json.out, "\"queued_again_s\": 100"), json.out);
  CHECK_MESSAGE(contains(json.out, "\"failed\": 1,"), json.out);

  // While nothing has failed the spare is what is missing.
  here.write("three.csv", "job_id,submit_s,gpus,duration_s\na,0,2,100\nb,10,1,50\n");
  const Outcome other = here.contend("explain s.yaml b --set workload.jobs=three.csv");
  CHECK_MESSAGE(contains(other.out, "up to 1 GPU out of service: 1 kept as spares\n"), other.out);
}

TEST_CASE("the story names the links of a job's servers that were down") {
  Workplace here;
  here.write("jobs.csv", "job_id,submit_s,model,gpus,iterations,place\none,0,vgg16,2,10,server0:0;server1:0\n");
  here.write("links.csv",
             "time_s,link,factor\n0.5,leaf0->server1/nic0,0\n0.75,leaf0->server1/nic0,1\n"
             "0.5,leaf0->server2/nic0,0\n0.75,leaf0->server2/nic0,1\n0.125,leaf0->server0/nic0,0.5\n"
             "0.25,leaf0->server0/nic0,0\n0.5,leaf0->server0/nic0,1\n");
  here.write(
      "run.yaml",
      "schema_version: 1\nname: run\ncluster: {servers: 4, gpus_per_server: 2}\n"
      "network: {fidelity: flow, nic: 10Gbps, events: links.csv, fabric: {kind: leaf-spine, servers_per_leaf: 4, "
      "spines: 1}}\n"
      "policies: {scheduling: fifo, placement: first-fit}\nworkload: {jobs: jobs.csv}\n");
  const Outcome story = here.contend("explain run.yaml one");
  REQUIRE_MESSAGE(story.code == 0, story.err);
  CHECK(contains(story.out, "leaf0->server0/nic0         0.250            0.125\n"));
  CHECK(contains(story.out, "leaf0->server1/nic0         0.250            0.000\n"));
  CHECK(!contains(story.out, "server2"));
}

TEST_CASE("the story says on which links a job's transfers lost time, and because of which job") {
  Workplace here;
  here.write("jobs.csv",
             "job_id,submit_s,model,gpus,iterations,place\n"
             "one,0,vgg16,2,10,server0:0;server1:0\ntwo,0,vgg16,2,10,server0:1;server1:1\n");
  here.write("run.yaml",
             "schema_version: 1\nname: run\ncluster: {servers: 2, gpus_per_server: 2}\n"
             "network: {fidelity: flow, nic: 10Gbps, delays: true, fabric: {kind: single-switch}}\n"
             "policies: {scheduling: fifo, placement: first-fit, communication: {policy: srsf, ways: 2}}\n"
             "workload: {jobs: jobs.csv}\n");
  const Outcome story = here.contend("explain run.yaml one");
  REQUIRE_MESSAGE(story.code == 0, story.err);
  CHECK(contains(story.out, "Its transfers took longer than alone in the network, where they shared links:"));
  CHECK(contains(story.out, "\ntwo "));
  CHECK(contains(story.out, "Its transfers were behind two on server"));
  CHECK(!contains(story.out, "\none "));
  CHECK(here.contend("run run.yaml -o out -q").code == 0);
  const std::string delays = here.read("out/fabric_delays.csv");
  CHECK(contains(delays, "\none,two,server"));
  CHECK(contains(delays, "\ntwo,one,server"));
  // One transfer at a time shares nothing.
  const Outcome alone = here.contend("explain run.yaml one --set 'policies.communication={policy: srsf, ways: 1}'");
  CHECK(alone.code == 0);
  CHECK(!contains(alone.out, "Its transfers took longer"));
}

TEST_CASE("at contention the story names the interfaces at which a job's transfers lost time") {
  Workplace here;
  here.write("jobs.csv",
             "job_id,submit_s,model,gpus,iterations,place\n"
             "one,0,vgg16,2,10,server0:0;server1:0\ntwo,0,vgg16,2,10,server0:1;server1:1\n");
  here.write(
      "run.yaml",
      "schema_version: 1\nname: run\ncluster: {servers: 2, gpus_per_server: 2}\nnetwork: {nic: 10Gbps, delays: true}\n"
      "policies: {scheduling: fifo, placement: first-fit, communication: {policy: srsf, ways: 2}}\n"
      "workload: {jobs: jobs.csv}\n");
  const Outcome story = here.contend("explain run.yaml one");
  REQUIRE_MESSAGE(story.code == 0, story.err);
  CHECK(contains(story.out, "Its transfers were behind two on server0/nic for "));
  CHECK(here.contend("run run.yaml -o out -q").code == 0);
  const std::string delays = here.read("out/fabric_delays.csv");
  CHECK(contains(delays, "\none,two,server0/nic,"));
  CHECK(contains(delays, "\ntwo,one,server0/nic,"));
  const Outcome refused = here.contend("check run.yaml --set network.fidelity=analytic");
  CHECK(contains(refused.err, "network.delays no longer counts"));
}

TEST_CASE("the story says where a job stands in the line for time on a type of GPUs") {
  Workplace here;
  here.write("jobs.csv",
             "job_id,submit_s,gpus,duration_s,gpu_type\na,0,1,300,v100\nb,0,1,300,v100\nc,0,1,300,v100\n"
             "d,0,1,300,v100\nother,0,1,300,k80\n");
  here.write("run.yaml",
             "schema_version: 1\nname: run\ncluster:\n  types:\n"
             "    - {name: k80, servers: 1, gpus_per_server: 1, gpu_memory: 12GiB}\n"
             "    - {name: v100, servers: 1, gpus_per_server: 1, gpu_memory: 16GiB}\n"
             "policies: {scheduling: {policy: max-min, round_s: 100, reallocate_s: 1000}, placement: first-fit}\n"
             "workload: {jobs: jobs.csv}\n");
  const Outcome story = here.contend("explain run.yaml d");
  REQUIRE_MESSAGE(story.code == 0, story.err);
  CHECK(contains(story.out, "waits 300 s: its deficit on v100 is third in line, at last first"));
  CHECK(contains(here.contend("explain run.yaml b").out, "waits 100 s: its deficit on v100 is first in line"));
  const Outcome json = here.contend("explain run.yaml d --json");
  CHECK(contains(json.out, "\"in_line_first\": {\n        \"type\": \"v100\",\n        \"place\": 3\n"));
}

TEST_CASE("the story says which place backfilling kept for the job, at first and at last") {
  Workplace here;
  here.write("jobs.csv",
             "job_id,submit_s,gpus,duration_s,limit_s\na,0,3,40,100\nb,0,3,100,100\nbig,5,4,50,50\nm,6,1,60,60\n"
             "n,7,1,200,200\n");
  here.write("run.yaml",
             "schema_version: 1\nname: run\ncluster: {servers: 2, gpus_per_server: 4}\n"
             "policies: {scheduling: easy, placement: worst-fit}\nworkload: {jobs: jobs.csv}\n");
  const Outcome story = here.contend("explain run.yaml big");
  REQUIRE_MESSAGE(story.code == 0, story.err);
  CHECK_MESSAGE(contains(story.out, "5 s  easy keeps a place for it: server 0 (4 GPUs) from 100 s on\n"), story.out);
  CHECK_MESSAGE(contains(story.out, "40 s  its reservation changes: server 0 (4 GPUs) from 66 s on\n"), story.out);
  CHECK_MESSAGE(contains(story.out, "66 s  starts on server 0 (4 GPUs)\n"), story.out);
  const Outcome json = here.contend("explain run.yaml big --json");
  CHECK_MESSAGE(contains(json.out, "\"made_s\": 40,\n        \"start_s\": 66,\n"), json.out);
  CHECK_MESSAGE(contains(json.out, "\"changes\": 1\n"), json.out);
  CHECK(!contains(here.contend("explain run.yaml n").out, "keeps a place"));
}

TEST_CASE("the story says that a job starts elsewhere than where a place was kept for it") {
  Workplace here;
  here.write("jobs.csv",
             "job_id,submit_s,gpus,duration_s,limit_s\nj0,10,1,20,20\nj1,7,6,10,20\nj2,18,1,20,20\nj3,1,6,5,5\n"
             "j4,12,2,10,10\nj5,10,1,40,40\nj6,2,2,5,5\nj7,8,4,20,40\nj8,18,1,40,40\nj9,8,1,5,5\nj10,9,1,5,10\n"
             "j11,2,6,5,5\n");
  here.write("run.yaml",
             "schema_version: 1\nname: run\ncluster: {servers: 3, gpus_per_server: 2}\n"
             "policies: {scheduling: easy, placement: random}\nworkload: {jobs: jobs.csv}\n");
  // The place was drawn at 26 s, and drawn again when the job started.
  const Outcome story = here.contend("explain run.yaml j0");
  REQUIRE_MESSAGE(story.code == 0, story.err);
  CHECK_MESSAGE(contains(story.out, "26 s  easy keeps a place for it: server 0 (1 GPU) from 31 s on\n"), story.out);
  CHECK_MESSAGE(contains(story.out,
                         "31 s  starts on server 2 (1 GPU) in place of server 0 (1 GPU), because random chose other "
                         "servers when it started\n"),
                story.out);
}

TEST_CASE("the story says how long a restart takes, and that a policy divides the GPUs at times of its own") {
  Workplace here;
  here.write("jobs.csv",
             "job_id,submit_s,model,gpus,min_gpus,max_gpus,iterations\n"
             "a,0,m,2,1,4,400\nb,70,m,2,1,4,100\nc,75,m,2,2,2,5\n");
  here.write("rates.csv", "model,type,gpus,iterations_per_s\nm,t,1,1\nm,t,2,2\nm,t,4,4\n");
  here.write("run.yaml",
             "schema_version: 1\nname: run\ncluster: {types: [{name: t, servers: 1, gpus_per_server: 4}]}\n"
             "policies: {scheduling: fifo, placement: first-fit}\n"
             "checkpoints: {restart_cost: 20s}\nworkload: {jobs: jobs.csv, throughputs: rates.csv}\n");
  const auto story = [&](const std::string& job, const std::string& policy) {
    const Outcome outcome = here.contend("explain run.yaml " + job + " --set 'policies.scheduling=" + policy + "'");
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    return outcome.out;
  };
  for (const std::string policy : {"{policy: optimus, period_s: 60}", "{policy: shockwave, round_s: 60}",
                                   "{policy: max-min, round_s: 60, reallocate_s: 120}"}) {
    const std::string name = policy.substr(9, policy.find(',') - 9);
    CHECK(contains(story("b", policy), "70 s  waits 50 s: it came after " + name +
                                           " last divided the GPUs, and waits until it divides them again\n"
                                           "         120 s  starts on server 0 (2 GPUs)\n"));
  }
  const std::string shockwave = story("a", "{policy: shockwave, round_s: 60}");
  CHECK(contains(shockwave, "         120 s  waits 60 s: shockwave gives the GPUs to other jobs\n"));
  CHECK(contains(shockwave,
                 "         180 s  starts on server 0 (2 GPUs), and restarts for 20 s\n"
                 "         280 s  finishes, 280 s after its submission\n"));
  const Outcome json =
      here.contend("explain run.yaml a --json --set 'policies.scheduling={policy: shockwave, round_s: 60}'");
  CHECK(contains(json.out, "\"from_s\": 180,\n      \"to_s\": 280,\n      \"restart_s\": 20,"));
}

TEST_CASE("the story names what failed, on which GPU or server, and the policy that divides the GPUs") {
  Workplace here;
  here.write("jobs.csv",
             "job_id,submit_s,model,gpus,min_gpus,max_gpus,iterations\n"
             "a,0,m,2,1,4,1000\nb,0,m,2,1,4,1000\nc,0,m,2,1,4,1000\n");
  here.write("rates.csv", "model,type,gpus,iterations_per_s\nm,t,1,1\nm,t,2,2\nm,t,4,4\n");
  here.write("outages.csv", "down_s,up_s,component\n50,60,gpu3\n90,95,server0\n");
  here.write("run.yaml",
             "schema_version: 1\nname: run\ncluster: {types: [{name: t, servers: 2, gpus_per_server: 2}]}\n"
             "policies: {scheduling: optimus, placement: first-fit}\n"
             "workload: {jobs: jobs.csv, throughputs: rates.csv}\n"
             "failures: {events: outages.csv}\n");
  std::string stories;
  for (const char* job : {"a", "b", "c"}) {
    const Outcome story = here.contend(std::string{"explain run.yaml "} + job);
    CHECK_MESSAGE(story.code == 0, story.err);
    CHECK(!contains(story.out, "without success"));
    stories += story.out;
  }
  CHECK(contains(stories, "50 s  interrupted: an outage on GPU 1 of server 1\n"));
  CHECK(contains(stories, "90 s  interrupted: an outage on server 0\n"));
  here.write("two.csv",
             "job_id,submit_s,model,gpus,min_gpus,max_gpus,iterations\n"
             "a,0,m,2,1,4,1000\nb,0,m,2,1,4,1000\nc,0,m,2,1,4,1000\nd,0,m,2,1,4,1000\ne,0,m,2,1,4,100\n");
  const Outcome last = here.contend("explain run.yaml e --set workload.jobs=two.csv");
  CHECK(contains(last.out, "optimus gives the GPUs to other jobs"));
  CHECK(contains(last.out, "passed_over"));
}

TEST_CASE("the story of a job that a policy passes over while its GPUs have failed names these GPUs") {
  Workplace here;
  here.write("jobs.csv",
             "job_id,submit_s,model,gpus,min_gpus,max_gpus,iterations\na,0,m,2,1,4,100\nb,60,m,2,2,4,100\n");
  here.write("rates.csv", "model,type,gpus,iterations_per_s\nm,t,1,1\nm,t,2,2\nm,t,4,4\n");
  here.write("outages.csv", "down_s,up_s,component\n50,200,server0\n50,100,server1\n");
  here.write("run.yaml",
             "schema_version: 1\nname: run\ncluster: {types: [{name: t, servers: 2, gpus_per_server: 2}]}\n"
             "policies: {scheduling: {policy: optimus, period_s: 10}, placement: first-fit}\n"
             "workload: {jobs: jobs.csv, throughputs: rates.csv}\nfailures: {events: outages.csv}\n");
  const Outcome story = here.contend("explain run.yaml b");
  REQUIRE_MESSAGE(story.code == 0, story.err);
  CHECK_MESSAGE(contains(story.out,
                         "60 s  waits 40 s: fewer than 2 GPUs are free\n"
                         "                  up to 4 GPUs out of service: 4 failed\n"),
                story.out);
}

TEST_CASE(
    "the story of a job that no transfer can go on names the pair without a path, and that paths go up and down") {
  // From 5 s on only leaf2 is joined to both spines.
  Workplace here;
  here.write("jobs.csv", "job_id,submit_s,gpus,model,iterations\ntrain,0,6,resnet50,10000\n");
  here.write("down.csv",
             "time_s,link,factor\n5,leaf0->spine1,0\n5,spine1->leaf0,0\n5,leaf1->spine0,0\n5,spine0->leaf1,0\n");
  here.write("run.yaml",
             "schema_version: 1\nname: run\ncluster: {servers: 6, gpus_per_server: 1}\n"
             "network: {fidelity: flow, nic: 10Gbps, fabric: {kind: leaf-spine, servers_per_leaf: 2, spines: 2}, "
             "events: down.csv}\n"
             "policies: {scheduling: fifo}\nworkload: {jobs: jobs.csv}\n");
  CHECK(contains(here.contend("run run.yaml -o out").err, "1 of 1 jobs did not finish"));
  const Outcome story = here.contend("explain run.yaml train");
  REQUIRE_MESSAGE(story.code == 0, story.err);
  CHECK_MESSAGE(contains(story.out,
                         "a transfer of it has no route from here on: links have failed, and no path from server1/gpu0 "
                         "to server2/gpu0 that goes up and then down is left\n"),
                story.out);
  CHECK(contains(here.contend("explain run.yaml train --json").out,
                 "\"from\": \"server1/gpu0\",\n    \"to\": \"server2/gpu0\",\n    \"goes_up_first\": true\n"));
  // With one cable more it goes on.
  here.write("down.csv", "time_s,link,factor\n5,leaf0->spine1,0\n5,spine1->leaf0,0\n5,leaf1->spine0,0\n");
  CHECK(contains(here.contend("run run.yaml -o out2").out, "1 finished"));
}

TEST_CASE("the story of a job, the same from a folder and from its scenario") {
  Workplace place;
  const Workplace& here = with_queue(place);
  const Outcome story = here.contend("explain queue.yaml small");
  CHECK(story.code == 0);
  CHECK_MESSAGE(story.err.empty(), story.err);
  CHECK(contains(story.out, "small: vgg16, 1 GPU, in queue.yaml (seed 1, scheduling fifo, placement first-fit)"));
  CHECK(contains(story.out, " 2 s  submitted\n"));
  CHECK(contains(story.out, "it may not pass big (2 GPUs), which waits in front of it"));
  CHECK(contains(story.out, "2 GPUs held by 1 job: big (2 GPUs until "));
  CHECK(contains(story.out, "starts on server 0 (1 GPU)"));
  CHECK(contains(story.out, "\nall "));
  CHECK(contains(here.contend("explain queue.yaml first").out, "It never waited in the queue."));

  CHECK(here.contend("run queue.yaml -o out -q").code == 0);
  const Outcome kept = here.contend("explain out small");
  CHECK_MESSAGE(kept.err.empty(), kept.err);
  CHECK(kept.out.substr(kept.out.find('\n')) == story.out.substr(story.out.find('\n')));

  // The waits are the queueing time of the folder, to the nanosecond.
  const Outcome json = here.contend("explain out small --json");
  CHECK(std::system(("python3 -c 'import csv, decimal, json, sys; d = json.load(open(sys.argv[1]), parse_float="
                     "decimal.Decimal); rows = {r[\"job_id\"]: r for r in csv.DictReader(open(sys.argv[2]))}; "
                     "sys.exit(sum(w[\"to_s\"] - w[\"from_s\"] for w in d[\"waits\"]) != "
                     "decimal.Decimal(rows[\"small\"][\"queueing_s\"]))' '" +
                     here.path("stdout.txt") + "' '" + here.path("out/jobs.csv") + "'")
                        .c_str()) == 0);
  CHECK(contains(json.out, "\"cause\": \"behind\""));
  CHECK(contains(json.out, "\"by\": \"big\""));
}

TEST_CASE("a job of iterations, in a cluster and in a study, is told for what the job spends an iteration") {
  Workplace here;
  here.write("jobs.csv", "job_id,submit_s,model,gpus,iterations\na,0,net,8,20\n");
  here.write("run.yaml",
             "schema_version: 1\ncluster: {servers: 2, gpus_per_server: 4}\n"
             "network: {nic: 10Gbps, alpha: 20us, interference: 0.2}\n"
             "training: {net: {model: resnet18, device: V100-SXM2, batch: 32, fusion: wfbp}}\n"
             "workload: {jobs: jobs.csv}\n");
  const Outcome job = here.contend("explain run.yaml a");
  REQUIRE_MESSAGE(job.code == 0, job.err);
  for (const char* row : {"\ncomputing ", "\ninterference ", "\nexposed communication ",
                          "a mean over 20:", "It had transfers in the network for ",
                          "An iteration: messages in the order", "exposed [ms]"})
    CHECK_MESSAGE(contains(job.out, row), job.out);
  CHECK_FALSE(contains(job.out, "shared GPUs"));
  const Outcome json = here.contend("explain run.yaml a --json");
  for (const char* member : {"\"account\"", "\"phases\"", "\"exposed_s\"", "\"part\": \"exposed communication\""})
    CHECK_MESSAGE(contains(json.out, member), json.out);
  const Outcome waits = here.contend("explain run.yaml a --waits");
  CHECK(waits.code == 0);
  CHECK(contains(waits.out, "finishes"));
  CHECK_FALSE(contains(waits.out, "of an iteration"));

  here.write("study.yaml",
             "schema_version: 1\nname: study\ncluster: {gpus_per_server: 4}\n"
             "network: {nic: 10Gbps, alpha: 20us, inside: {bandwidth: 100Gbps}, interference: 0.2}\n"
             "training: {net: {model: resnet18, device: V100-SXM2, batch: 32, input: 1ms}}\n"
             "overlap: {training: net, workers: [8], fusion: [wfbp], compression: [none, top-k]}\n");
  const Outcome study = here.contend("explain study.yaml '8 workers, none, wfbp'");
  REQUIRE_MESSAGE(study.code == 0, study.err);
  for (const char* row : {"for what the GPU of a worker spends an iteration", "\ncomputing ", "\ninput ",
                          "\ninterference ", "\nexposed communication ", "exposed [ms]"})
    CHECK_MESSAGE(contains(study.out, row), study.out);
  CHECK(contains(here.contend("explain study.yaml '8 workers, top-k, wfbp'").out, "\nkernels of messages "));
  // The account adds up to the iteration of the table, at every fidelity; the messages have its exposed part.
  for (const char* fidelity : {"analytic", "contention", "flow"}) {
    const std::string set = std::string{" --set network.fidelity="} + fidelity +
                            (std::string{"flow"} == fidelity ? " --set "
                                                               "network.fabric.kind=single-switch --set "
                                                               "network.interference.compute=0.2"
                                                             : "");
    const Outcome run = here.contend("run study.yaml --explain --json -o out" + set);
    REQUIRE_MESSAGE(run.code == 0, run.err);
    CHECK_MESSAGE(
        std::system(("python3 -c 'import json, sys; jobs = json.load(open(sys.argv[1]))[\"scenarios\"][0][\"jobs\"]; "
                     "sys.exit(len(jobs) != 2 or any(abs(sum(r[\"time_s\"] for r in j[\"account\"]) - "
                     "j[\"iteration_s\"]) > 2e-9 or abs(sum(r[\"time_s\"] for r in j[\"account\"] if r[\"part\"] == "
                     "\"exposed communication\") - j[\"phases\"][0][\"total\"][\"exposed_s\"]) > 2e-9 for j in "
                     "jobs))' '" +
                     here.path("stdout.txt") + "'")
                        .c_str()) == 0,
        fidelity << "\n"
                 << run.out);
  }
}

TEST_CASE("what can't be explained") {
  Workplace place;
  const Workplace& here = with_queue(place);
  CHECK(here.contend("run queue.yaml -o out -q --seed 5").code == 0);
  const auto complaint = [&](const std::string& arguments, int code) {
    const Outcome outcome = here.contend("explain " + arguments);
    CHECK_MESSAGE(outcome.code == code, outcome.err);
    CHECK_MESSAGE(outcome.out.empty(), outcome.out);
    return outcome.err;
  };
  CHECK(contains(complaint("out smal", 3), "there is no job \"smal\"; did you mean \"small\"?"));
  CHECK(contains(complaint("out small --seed 6", 3), "no replica has the seed 6; the first has 5"));
  CHECK(contains(complaint("out small --set seed=6", 2), "--set changes a scenario"));
  CHECK(contains(complaint("out", 2), "expected RUN JOB, got only \"out\""));
  CHECK(contains(complaint("nowhere small", 3), "nowhere"));
  here.write("study.yaml", "schema_version: 1\ntraining: {it: {model: resnet50}}\noverlap: {training: it}\n");
  CHECK(contains(complaint("study.yaml a", 3), "the study has no job \"a\""));
  CHECK(contains(complaint("study.yaml a --waits", 2), "whose jobs never wait"));
}

TEST_CASE("a folder whose job list has changed since") {
  Workplace place;
  const Workplace& here = with_queue(place);
  CHECK(here.contend("run queue.yaml -o out -q").code == 0);
  here.write("jobs.csv", std::string{kJobs} + "late,9,lstm,1,5\n");
  const Outcome outcome = here.contend("explain out small");
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.err, "gives other results than the folder has"));
}
