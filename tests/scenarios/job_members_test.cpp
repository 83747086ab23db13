// Columns of a job list that replace members of a training entry.

#include "scenarios/keys/reader.hpp"
#include "scenarios/keys/training_codec.hpp"
#include "tests/scenarios/listed_jobs.hpp"
#include "traces/job_list.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

struct MembersList : ListedJobs {
  explicit MembersList(const std::string& rows, const std::string& columns = "fusion,compression,batch") {
    const std::string list = file("jobs.csv", "job_id,submit_s,gpus,iterations,model," + columns + "\n" + rows);
    scenario = parse_scenario(
        "schema_version: 1\nnetwork: {nic: 10Gbps, alpha: 30us}\n"
        "cluster: {servers: 4, gpus_per_server: 2}\npolicies: {placement: consolidated}\n"
        "training: {default: {batch: 8}, resnet: {model: resnet50}, dear: {model: resnet50, fusion: dear, batch: 16}, "
        "bert: {model: bert-base, parallel: {tensor: 2}}}\nworkload: {jobs: " +
            list + "}\n",
        "a.yaml");
  }
};

}  // namespace

TEST_CASE("columns of a job list replace members of the entry that its jobs name") {
  const auto run = [](const std::string& row) {
    const MembersList list{row};
    CHECK(list.refusals() == "");
    return list.run().jobs.front();
  };
  const JobResult own = run("a,0,4,10,resnet,dear,,16\n");
  CHECK(own.model == "resnet {fusion: dear, batch: 16}");
  CHECK(own.finish == run("a,0,4,10,dear,,,\n").finish);
  const JobResult usual = run("a,0,4,10,resnet,,,\n");
  const JobResult small = run("a,0,4,10,resnet,\"{policy: threshold, mib: 1}\",,\n");
  CHECK(small.model == "resnet {fusion: {policy: threshold, mib: 1}}");
  CHECK(small.traffic->messages > usual.traffic->messages);
  CHECK(run("a,0,4,10,resnet,,power-sgd,\n").traffic->sent_bytes < usual.traffic->sent_bytes);
  CHECK(run("a,0,1,10,resnet,,,2\n").finish < run("a,0,1,10,resnet,,,\n").finish);
}

TEST_CASE("columns of a job list that can't be are told with line and column before anything runs") {
  const auto refusals = [](const std::string& row) { return MembersList{"z,0,1,1,resnet,,,\n" + row}.refusals(); };
  CHECK(contains(refusals("a,0,4,10,resnet,daer,,\n"),
                 "policies of its kind that `contend list policies` names, got \"daer\"; did you mean \"dear\"?"));
  CHECK(refusals("a,0,4,10,resnet,daer,,\n").starts_with("jobs.csv:3: fusion: expected one of the "));
  CHECK(refusals("a,0,4,10,resnet,,top-l,\n").find("jobs.csv:3: compression: ") == 0);
  CHECK(refusals("a,0,4,10,resnet,,,none\n").starts_with("jobs.csv:3: batch: "));
  CHECK(refusals("a,0,4,10,resnet,dear,power-sgd,\n").starts_with("jobs.csv:3: fusion: "));
  CHECK(refusals("a,0,1,10,resnet,,top-k,\n") ==
        "jobs.csv:3: compression: has no effect: a job of 1 GPU sends nothing; leave the field empty\n");
  CHECK(refusals("a,0,4,10,vgg16,ddp,,\n") ==
        "jobs.csv:3: fusion: \"vgg16\" is a training profile, which was measured as a whole; an entry of training: "
        "{model: published-vgg16, fusion: ddp}\n");
  CHECK(refusals("a,0,4,10,bert,,,4\n") ==
        "jobs.csv:3: batch: training.bert.parallel says how this job trains; an entry of its own for such jobs\n");
  CHECK(refusals("a,0,4,10,resnet,\"ddp, batch: 3\",,\n").starts_with("jobs.csv:3: fusion: "));
  CHECK(refusals("a,0,4,10,resnet,,,1000000\n").starts_with("jobs.csv:3: "));  // more memory than a GPU has
  CHECK(refusals("a,0,4,10,resnett,dear,,\n") ==
        "jobs.csv:3: model: unknown model \"resnett\"; did you mean \"resnet\"?\n");
}

TEST_CASE("a job with a duration has no members of its own, and lists are written as they are read") {
  CHECK_THROWS_WITH_AS(
      static_cast<void>(parse_job_list("job_id,submit_s,gpus,duration_s,fusion\na,0,1,5,ddp\n", "jobs.csv")),
      "jobs.csv:2: fusion: has no effect on a job with a duration_s; leave the field empty, or give iterations",
      InputError);
  const std::string text =
      "job_id,submit_s,model,fusion,compression,batch,gpus,iterations\n"
      "a,0,vgg16,\"{policy: ddp, mib: 1}\",,8,4,10\nb,0,vgg16,,top-k,,4,10\nc,0,vgg16,,,,1,10\n";
  const std::vector<JobRequest> jobs = parse_job_list(text, "jobs.csv");
  CHECK(jobs[0].model == "vgg16 {fusion: {policy: ddp, mib: 1}, batch: 8}");
  CHECK(base_of(jobs[0].model) == "vgg16");
  CHECK(jobs[2].model == "vgg16");
  CHECK(job_list_csv(jobs) == text);
}

TEST_CASE("a member of a job's own takes the place of an answer of the entry to the same question") {
  const auto entry_of = [](const std::string& training) {
    const Scenario scenario = parse_scenario("schema_version: 1\ntraining: {" + training + "}\n", "a.yaml");
    return *std::ranges::find(scenario.training, "m", &TrainingEntry::name);
  };
  const std::string own = "m: {model: resnet50, batch: 32, global_batch: 1024}",
                    usual = "default: {batch: 32, global_batch: 1024}, m: {model: resnet50}",
                    repeated = "m: {model: resnet50, batch: 32, accumulate: 4}";
  for (const std::string& training : {own, usual}) {
    INFO(training);
    const TrainingEntry base = entry_of(training);
    const TrainingEntry twice = variant_entry(base, "m {accumulate: 2}");
    CHECK(twice.accumulate == 2);
    CHECK_FALSE(twice.global_batch.has_value());
    CHECK_FALSE(twice.says("global_batch"));
    CHECK(twice.batch == 32);
    // A batch of its own leaves the other two as they are.
    const TrainingEntry small = variant_entry(base, "m {batch: 16}");
    CHECK(small.batch == 16);
    CHECK(small.global_batch == 1024);
    CHECK(small.says("global_batch"));
    CHECK(small.given.contains("batch"));
    CHECK_FALSE(small.inherited.contains("batch"));
    CHECK(variant_entry(base, "m {global_batch: 512}").global_batch == 512);
  }
  const TrainingEntry whole = variant_entry(entry_of(repeated), "m {global_batch: 512}");
  CHECK(whole.global_batch == 512);
  CHECK(whole.accumulate == 1);
  CHECK_FALSE(whole.says("accumulate"));
  CHECK(variant_entry(entry_of(repeated), "m {global_batch: auto}").accumulate == 4);
}
