// Groups of jobs and measured waits as a user meets them: contend run, results and compare.
#include "cli/exit_code.hpp"
#include "tests/cli/program.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr const char* kTwoGpus =
    "schema_version: 1\nname: fifo\ncluster: {servers: 1, gpus_per_server: 2}\n"
    "policies: {scheduling: fifo, placement: first-fit}\nworkload: {jobs: jobs.csv}\n";

const Workplace& with_jobs(const Workplace& here) {
  here.write("s.yaml", kTwoGpus);
  here.write("jobs.csv",
             "job_id,submit_s,gpus,duration_s,limit_s,vc,user,measured_wait_s\n"
             "a,0,2,100,50,vision,ann,0\nb,0,2,100,500,vision,bob,30\nc,0,1,60,,speech,ann,\n");
  return here;
}

}  // namespace

TEST_SUITE_BEGIN("cli" * doctest::skip(!has_program()));

TEST_CASE("run --by prints figures of groups, and waits beside those that the trace measured") {
  const Workplace place;
  const Workplace& here = with_jobs(place);
  const Outcome run = here.contend("run s.yaml --by vc --by outcome -o out --set scheduling.kill_at_limit=true");
  CHECK(run.code == kExitOk);
  CHECK_MESSAGE(run.err.empty(), run.err);
  // a is killed at 50, b runs 50-150, c 150-210. Vision: JCTs 50 and 150, waits 0 and 50, 100 + 200 GPU seconds.
  CHECK_MESSAGE(contains(run.out,
                         "virtual cluster  jobs  finished  avg JCT [s]  median [s]  p95 [s]  max [s]  queueing [s]  "
                         "waiting [s]  GPU time [h]\n"),
                run.out);
  CHECK_MESSAGE(contains(run.out,
                         "\nvision              2         2       100.00      100.00   145.00   150.00         25.00   "
                         "     25.00      "
                         "0.083333\n"),
                run.out);
  CHECK_MESSAGE(contains(run.out, "\ntimeout       1         1"), run.out);
  CHECK_MESSAGE(contains(run.out,
                         "wait [s]: GPUs  jobs    mean  measured  median  measured    90 %  measured\n"
                         "--------------  ----  ------  --------  ------  --------  ------  --------\n"
                         "all                2  25.000    15.000  25.000    15.000  45.000    27.000\n"),
                run.out);
  CHECK(contains(here.read("out/jobs.csv"), ",timeout,"));
  const std::string summary = here.read("out/summary.json");
  CHECK(contains(summary, "\"groups\""));
  CHECK(contains(summary, "\"value\": \"timeout\""));
  CHECK(contains(summary, "\"waits\""));

  // The folder gives the same tables.
  const Outcome stored = here.contend("results out --by vc --by outcome");
  CHECK(stored.code == kExitOk);
  CHECK_MESSAGE(contains(run.out, stored.out), stored.out);
  const Outcome all = here.contend("results out");
  for (const char* title : {"virtual cluster", "user", "GPUs", "outcome", "wait [s]"}) CHECK(contains(all.out, title));

  CHECK(here.contend("run s.yaml --by vc --json").code == kExitUsage);
  CHECK(here.contend("results out --metric avg_jct_s").code == kExitUsage);
  CHECK(contains(here.contend("run s.yaml --by ser").err, "did you mean \"user\"?"));
}

TEST_CASE("compare --by shows the change of every group, in all forms") {
  const Workplace place;
  const Workplace& here = with_jobs(place);
  CHECK(here.contend("run s.yaml -q -o a").code == kExitOk);
  const Outcome text = here.contend("compare a s.yaml --set scheduling.kill_at_limit=true --by vc --markdown m.md");
  CHECK(text.code == kExitOk);
  // Vision: JCTs 100 and 200 before, 50 and 150 after.
  CHECK_MESSAGE(contains(text.out,
                         "\nvision              2       150.00  100.00  -33.33%   195.00  145.00  -25.64%         "
                         "50.00   25.00    -50%\n"),
                text.out);
  CHECK(contains(here.read("m.md"), "| vision | 2 | 150.00 | 100.00 | "));
  const Outcome json = here.contend("compare a s.yaml --set scheduling.kill_at_limit=true --by user --json");
  CHECK_MESSAGE(contains(json.out, "\"groups\""), json.out);
  CHECK(contains(json.out, "\"value\": \"ann\""));
  CHECK(contains(here.contend("compare a s.yaml --by usr").err, "did you mean \"user\"?"));
}
