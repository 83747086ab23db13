// Figures of a measured window: which jobs count, when the run ends, and how busy the cluster is meanwhile.
#include "results/expectations.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "sim/error.hpp"
#include "sim/statistics.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/text_checks.hpp"
#include "text/atomic_file.hpp"

#include <cmath>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

/// Two GPUs of one server. `a` and `b` run from 0 on, `c` waits for `a`, `d` comes at 100 s and waits for `b`.
constexpr const char* kJobs =
    "job_id,submit_s,gpus,duration_s\n"
    "a,0,1,40\n"
    "b,0,1,200\n"
    "c,10,1,100\n"
    "d,100,1,60\n"
    "e,150,2,1000\n";

RunResult run_with(const std::string& more, const std::string& scaling = "") {
  const TemporaryFolder folder;
  write_file(folder.path("jobs.csv"), kJobs);
  return run_scenario(parsed(fmt::format("cluster: {{servers: 1, gpus_per_server: 2}}\npolicies: {{scheduling: fifo, "
                                         "placement: first-fit}}\nworkload: {{jobs: {}, scaling: {{{}}}}}\n{}\n",
                                         folder.path("jobs.csv"), scaling, more)),
                      1);
}

}  // namespace

TEST_CASE("without a window all jobs count, and the run goes on to the end") {
  const RunResult run = run_with("");
  // c runs from 40 to 140, d from 140 to 200, e from 200 to 1200.
  CHECK(run.end == Time::seconds(1200));
  CHECK_FALSE(run.window.has_value());
  const Summary summary = summarise(run);
  CHECK(summary.jobs == 5);
  CHECK(summary.gpu_utilisation == near((40.0 + 200 + 100 + 60 + 2000) / 2400));
}

TEST_CASE("figures are over the jobs of the window; the run ends with the last of them") {
  const RunResult run = run_with("measure: {from: 10s, until: 101s}");
  CHECK(run.end == Time::seconds(200));  // d ends; e, which begins then, is left unfinished
  CHECK_FALSE(run.jobs[0].measured);
  CHECK(run.jobs[2].measured);
  CHECK(run.jobs[3].measured);
  CHECK_FALSE(run.jobs[4].measured);
  const Summary summary = summarise(run);
  CHECK(summary.jobs == 2);
  CHECK(summary.finished == 2);
  CHECK(summary.unfinished == 0);
  CHECK(summary.avg_jct_s == near((130.0 + 100) / 2));
  CHECK(summary.avg_queueing_s == near((30.0 + 40) / 2));
  CHECK(summary.makespan_s == near(190));
  // From 10 s to 101 s: a until 40, b all the time, c from 40 on. All jobs count, and both GPUs are busy.
  REQUIRE(run.window.has_value());
  CHECK(run.window->length_s == near(91));
  CHECK(run.window->gpu_s == near(182));
  CHECK(summary.gpu_utilisation == near(1));
}

TEST_CASE("the run goes on to the end of the window, and an idle cluster counts") {
  const RunResult run = run_with("measure: {from: 0s, until: 5000s}");
  CHECK(run.end == Time::seconds(1200));
  CHECK(run.window->length_s == near(5000));
  CHECK(summarise(run).gpu_utilisation == near(2400.0 / 10000));
  // Of a and b, b ends last.
  CHECK(run_with("measure: {until: 5s}").end == Time::seconds(200));
  // Only a begin: all later jobs count, and the window ends with the run.
  const RunResult later = run_with("measure: {from: 100s}");
  CHECK(later.end == Time::seconds(1200));
  CHECK(summarise(later).jobs == 2);
  CHECK(later.window->length_s == near(1100));
  CHECK(later.window->gpu_s == near(100.0 + 40 + 60 + 2000));
}

TEST_CASE("a run that is cut short says how many jobs had not come, and how many did not finish") {
  const RunResult run = run_with("engine: {until: 120s}\nmeasure: {until: 1000s}");
  CHECK(run.end == Time::seconds(120));
  const Summary summary = summarise(run);
  CHECK(summary.jobs == 5);
  CHECK(summary.finished == 1);
  CHECK(summary.unfinished == 3);  // b and c run, d waits
  CHECK(summary.not_submitted == 1);
  CHECK(run.window->length_s == near(120));
  CHECK(summary.gpu_utilisation == near(1));
  Replica replica;
  replica.result = run;
  replica.summary = summary;
  const Scenario bounds = parsed("expect: {avg_jct: < 2h, finished: 1}\n");
  const auto outcomes = judge_expectations(bounds.expect, std::vector{replica});
  CHECK(contains(outcomes[0].reason, "without the 3 of 4 jobs that did not finish"));
  CHECK_FALSE(contains(outcomes[1].reason, "did not finish"));
}

TEST_CASE("a run that stops before its window has measured nothing") {
  const RunResult run = run_with("engine: {until: 50s}\nmeasure: {from: 100s}");
  REQUIRE(run.window.has_value());
  CHECK(run.window->gpu_s == 0);
  CHECK(run.window->length_s == 0);
  const Summary summary = summarise(run);
  CHECK(summary.not_submitted == 2);
  CHECK(std::isnan(summary.gpu_utilisation));
}

TEST_CASE("windows that can't be measured are refused") {
  CHECK(contains(errors_of("measure: {from: 3d, until: 1d}\n"),
                 "measure.until: no job can be submitted from 3d on and before 1d"));
  CHECK(contains(errors_of("measure: {from: -1s}\n"), "measure.from: expected a time"));
  CHECK(contains(errors_of("training: {it: {model: resnet50}}\noverlap: {training: it}\nmeasure: {from: 1s}\n"),
                 "measure.from: needs `a study of jobs (no overlap.training)`"));
  CHECK_THROWS_WITH_AS(
      static_cast<void>(run_with("measure: {from: 1d}")),
      "measure: no job is submitted in the window; the jobs come from 0s to 2.5min; choose a window within "
      "these times",
      InputError);
  CHECK_THROWS_WITH_AS(static_cast<void>(run_with("measure: {from: 1d}", "rate: 3.7")),
                       doctest::Contains("the jobs come from 0s to 40.5s"), InputError);  // 150 / 3.7
  CHECK_THROWS_WITH_AS(static_cast<void>(run_with("measure: {from: 1d}", "subset: 0.99")),
                       "measure: no job of seed 1 is submitted in the window; the jobs come from 0s to 2.5min; other "
                       "seeds draw other jobs; choose a window in which all have some",
                       InputError);
}
