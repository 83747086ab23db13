// What a batch of runs tells of its progress.

#include "scenarios/run/batch.hpp"
#include "scenarios/sweep/tune_model.hpp"
#include "tests/scenarios/listed_jobs.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("a batch tells at the end of a run how many jobs have ended: those that finished and those that failed") {
  ListedJobs listed;
  const std::string rows = "a,0,1,10\nb,0,1,20\nc,0,1,30\nd,0,9,10\n";  // the last one needs more than there is
  listed.scenario = parsed("cluster: {servers: 1, gpus_per_server: 4}\nworkload: {jobs: " +
                           listed.file("jobs.csv", "job_id,submit_s,gpus,duration_s\n" + rows) + "}\n");
  Progress last;
  BatchHooks hooks;
  hooks.progress = [&](std::size_t, const Progress& progress) { last = progress; };
  const std::vector<Scenario> scenarios{listed.scenario};
  const auto results = run_batch(scenarios, hooks);
  CHECK(results.front().front().summary.finished == 3);
  CHECK(results.front().front().summary.failed == 1);
  CHECK(last.jobs_ended == 4);
  CHECK(last.jobs == 4);
  CHECK(last.now == Time::seconds(30));
}

TEST_CASE("the kernel of a search is fitted to the first runs, and then whenever there are a tenth more") {
  for (std::size_t runs = 1; runs <= 30; ++runs) CHECK(fits_again(runs, runs - 1));
  CHECK(!fits_again(32, 30));
  CHECK(fits_again(33, 30));
  CHECK(!fits_again(109, 100));
  CHECK(fits_again(110, 100));
}
