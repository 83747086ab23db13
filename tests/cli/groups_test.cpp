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
                         "virtual cluster  jobs  finished  killed at limit  avg JCT [s]  median [s]  p95 [s]  max [s]  "
                         "queueing [s]  waiting [s]  GPU time [h]\n"),
                run.out);
  CHECK_MESSAGE(
      contains(run.out,
               "\nvision              2         2                1       100.00      100.00   145.00   150.00  "
               "       25.00        25.00      0.083333\n"),
      run.out);
  CHECK_MESSAGE(contains(run.out, "\ntimeout       1         1"), run.out);
  CHECK_MESSAGE(contains(run.out,
                         "wait [s]: GPUs  jobs    mean  measured  median  measured    90 %  measured\n"
                         "--------------  ----  ------  --------  ------  --------  ------  --------\n"
                         "all                2  25.000    15.000  25.000    15.000  45.000    27.000\n"),
                run.out);
  CHECK(contains(here.read("out/jobs.csv"), ",timeout,"));
  CHECK_MESSAGE(contains(run.out,
                         "\n  jobs                    3 finished, 0 failed, 0 unfinished\n"
                         "  of the finished         1 timeout by outcome, the others completed\n"),
                run.out);
  CHECK_FALSE(contains(here.contend("run s.yaml").out, "by outcome"));
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

TEST_CASE("compare --fail-if looks at the jobs of one group") {
  const Workplace place;
  const Workplace& here = with_jobs(place);
  CHECK(here.contend("run s.yaml -q -o a").code == kExitOk);
  // Ann: JCTs 100 and 260 before, 50 and 210 after; bob: 200 and 150.
  const auto judged = [&](const std::string& rule) {
    return here.contend("compare a s.yaml --set scheduling.kill_at_limit=true --fail-if '" + rule + "'");
  };
  const Outcome faster = judged("avg_jct[user=bob] < -20%");
  CHECK(faster.code == kExitFailed);
  CHECK_MESSAGE(contains(faster.out, "FAIL  avg_jct[user=bob] < -20%: avg_jct[user=bob] changed by -25%"), faster.out);
  CHECK(judged("avg_jct[user=bob] < -30%").code == kExitOk);
  CHECK(judged("avg_jct[user=ann] < -49s").code == kExitFailed);
  CHECK(judged("avg_jct[user=ann] < -51s").code == kExitOk);
  CHECK(judged("gpu_hours[size=2] < -20%").code == kExitFailed);  // 400 and 300 GPU seconds
  const Outcome unknown = judged("avg_jct[user=bobb] > 1%");
  CHECK(unknown.code == kExitInput);
  CHECK_MESSAGE(contains(unknown.err, "no job of either side has the user \"bobb\"; there are \"ann\", \"bob\""),
                unknown.err);
  CHECK_MESSAGE(contains(judged("avg_jct[usr=bob] > 1%").err, "did you mean \"user\"?"), "");
  CHECK(contains(judged("avg_jct[user] > 1%").err, "expected a group, got \"[user] > 1%\""));
  CHECK(contains(judged("makespan[user=bob] > 1%").err, "groups of jobs have no makespan"));
}

TEST_CASE("sweep --by stores groups of jobs, and results --by shows them") {
  const Workplace place;
  const Workplace& here = with_jobs(place);
  const std::string sweep = "sweep s.yaml -q --set scheduling.kill_at_limit=false,true -o s.sqlite ";
  CHECK(here.contend(sweep + "--by user --by size").code == kExitOk);
  const Outcome usual = here.contend("results s.sqlite --by user");
  CHECK(usual.code == kExitOk);
  CHECK(contains(usual.out, "p95_jct_s"));
  const Outcome table = here.contend("results s.sqlite --by user --metric jobs,avg_jct_s");
  CHECK_MESSAGE(table.code == kExitOk, table.err);
  CHECK_MESSAGE(contains(table.out,
                         "scheduling.kill_at_limit  user  runs    jobs  avg_jct_s\n"
                         "------------------------  ----  ----  ------  ---------\n"
                         "false                     ann      1  2.0000     180.00\n"
                         "false                     bob      1  1.0000     200.00\n"
                         "true                      ann      1  2.0000     130.00\n"
                         "true                      bob      1  1.0000     150.00\n"),
                table.out);
  const Outcome csv =
      here.contend("results s.sqlite --by size --metric jobs --baseline scheduling.kill_at_limit=false --csv -");
  CHECK_MESSAGE(contains(csv.out, "scheduling_kill_at_limit,size,runs,jobs,jobs_ci95,jobs_ratio,"), csv.out);
  CHECK_MESSAGE(contains(csv.out, "\ntrue,1,1,1,,1,,,1,,,,\n"), csv.out);
  CHECK(contains(here.contend("results s.sqlite --by vc").err,
                 "has no groups of jobs by vc; `contend sweep --by vc` stores them, this store has them by user"));
  // Several groupings are several tables, as of a folder; their rows stand in one CSV table.
  const Outcome both = here.contend("results s.sqlite --by user --by size --metric jobs");
  CHECK(both.code == kExitOk);
  CHECK_MESSAGE(contains(both.out, "\ntrue                      bob      1  1.0000\n\nscheduling.kill_at_limit  size"),
                both.out);
  const Outcome rows = here.contend("results s.sqlite --by user --by size --rows");
  CHECK(rows.code == kExitOk);
  CHECK_MESSAGE(rows.out.starts_with("run,point,seed,scheduling_kill_at_limit,grouping,value,jobs,finished,"),
                rows.out);
  CHECK_MESSAGE(contains(rows.out, "\n1,1,1,true,user,bob,1,1,"), rows.out);
  CHECK_MESSAGE(contains(rows.out, "\n0,0,1,false,size,1,1,1,"), rows.out);
  const Outcome some = here.contend("results s.sqlite --by user --rows --where scheduling.kill_at_limit=true");
  CHECK_FALSE(contains(some.out, "false"));
  CHECK(contains(some.out, "true,user,ann"));
  const Outcome csvs = here.contend("results s.sqlite --by user --by size --csv -");
  CHECK(csvs.code == kExitUsage);
  CHECK_MESSAGE(contains(csvs.err, "expected one --by"), csvs.err);
  CHECK(contains(here.contend(sweep + "--resume --by user").err,
                 "was written with --by user --by size, not with --by user"));
  CHECK(here.contend(sweep + "--resume --by user --by size").code == kExitOk);
}
