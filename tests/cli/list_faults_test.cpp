// Faults of a scenario and of the job list that it names are told in one round.
#include "tests/cli/program.hpp"
#include "tests/text_checks.hpp"

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("faults of the job list come with faults of the scenario, where the list can be read") {
  Workplace here;
  here.write("jobs.csv", "job_id,submit_s,model,gpus,iterations\na,0,net,1,10\nb,0,neet,0,10\n");
  here.write("run.yaml",
             "schema_version: 1\ncluster: {server: 4}\ntraining: {net: {model: resnet18}}\n"
             "workload: {jobs: jobs.csv}\n");
  for (const char* verb : {"check run.yaml", "run run.yaml"}) {
    const Outcome both = here.contend(verb);
    CHECK(both.code == 3);
    CHECK_MESSAGE(contains(both.err, "cluster.server"), both.err);
    CHECK_MESSAGE(contains(both.err, "jobs.csv:3: model: unknown model \"neet\"; did you mean \"net\"?"), both.err);
    CHECK_MESSAGE(contains(both.err, "jobs.csv:3: gpus: expected a whole number >= 1"), both.err);
  }
  // Which models there are is not known if training itself is wrong; a list that isn't there is told later.
  const Outcome training = here.contend("check run.yaml --set training.other.model=resnet5O");
  CHECK(contains(training.err, "jobs.csv:3: gpus"));
  CHECK_FALSE(contains(training.err, "neet"));
  CHECK_FALSE(contains(here.contend("check run.yaml --set workload.jobs=none.csv").err, "none.csv"));
}
