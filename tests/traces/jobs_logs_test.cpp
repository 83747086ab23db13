// The traces that are no tables with a header of comma-separated columns: Philly, SWF, Slurm.
#include "tests/text_checks.hpp"
#include "tests/traces/jobs_test_kit.hpp"

#include "traces/jobs/timestamp.hpp"

using namespace contend;

TEST_CASE("Philly: attempts, the last of which is the duration") {
  const ImportedJobs got = import_text_of("auto", R"([
    {"status": "Pass", "vc": "ee", "jobid": "j1", "user": "u1", "submitted_time": "2017-10-07 01:11:39", "attempts": [
      {"start_time": "2017-10-07 01:12:00", "end_time": "2017-10-07 01:13:00",
       "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}, {"ip": "m2", "gpus": ["gpu3"]}]},
      {"start_time": "None", "end_time": "2017-10-07 01:13:10", "detail": []},
      {"start_time": "2017-10-07 01:14:00", "end_time": "2017-10-07 02:14:01",
       "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1", "gpu2", "gpu3"]}]}]},
    {"status": "Killed", "vc": "ee", "jobid": "j2", "user": "u1", "submitted_time": "2017-10-07 01:11:39",
     "attempts": []},
    {"status": "Failed", "vc": "ff", "jobid": "j3", "user": "u2", "submitted_time": "2017-10-07 01:11:40",
     "attempts": [{"start_time": "2017-10-07 01:12:00", "end_time": null,
                   "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}]},
    {"status": "Failed", "vc": "ff", "jobid": "j4", "user": "u2", "submitted_time": "2017-10-07 01:11:41",
     "attempts": [{"start_time": "2017-10-07 01:12:00", "end_time": "2017-10-07 01:12:09",
                   "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}]}
  ])");
  CHECK(got.format->name == "philly");
  REQUIRE(got.jobs.size() == 2);
  CHECK(got.jobs[0].name == "j1");
  CHECK(got.jobs[0].gpus == 3);
  CHECK(got.jobs[0].attempts == std::vector{Time::seconds(60)});
  CHECK(got.jobs[0].duration == Time::seconds(3601));
  CHECK(got.jobs[0].vc == "ee");
  CHECK(got.jobs[1].name == "j4");
  CHECK(got.jobs[1].submit == Time::seconds(2));
  CHECK(got.jobs[1].outcome == JobOutcome::failed);
  CHECK(got.report.rows() == 4);
  CHECK(reasons_text(got.report.left_out()) ==
        "no attempt to run it is recorded: 1 (8); still running when the trace was taken: 1 (10)");
  CHECK(reasons_text(got.report.notes()) ==
        "its attempts had different numbers of GPUs; the first counts: 1 (2); "
        "attempts without a start or an end are ignored: 1 (2)");
}

TEST_CASE("Philly: what is no such log") {
  CHECK(trace_complaints("philly", "{}") == "trace:1:1: expected an array");
  CHECK(trace_complaints("philly", "[1]") ==
        "trace:1: expected an object, a job, a number\ntrace: 1 of 1 rows are bad; --skip-bad-rows leaves them out");
  const std::string cut = trace_complaints("philly", R"([{"jobid": "j", "status": "Pass", "attempts": [)");
  CHECK(cut.find("not valid JSON") != std::string::npos);
  CHECK(trace_complaints("philly", R"([
    {"status": "Done", "vc": "ee", "jobid": "j1", "submitted_time": "2017-13-07 01:11:39", "attempts": 3},
    {"status": "Pass", "vc": "ee", "jobid": "j2", "submitted_time": "2017-10-07 01:11:39", "attempts": [
      {"start_time": "2017-10-07 01:12:00", "end_time": "2017-10-07 01:11:00", "detail": []}]}])") ==
        "trace:2: status: unknown state, got \"Done\"\n"
        "trace:2: submitted_time: expected a date and time such as 2017-10-07 01:11:39, got \"2017-13-07 01:11:39\"\n"
        "trace:2: attempts: expected an array\n"
        "trace:3: attempts: it ends before it starts, 2017-10-07 01:11:00 before 2017-10-07 01:12:00\n"
        "trace: 2 of 2 rows are bad; --skip-bad-rows leaves them out");
}

TEST_CASE("SWF: requested before allocated processors, -1 for unknown, parts of jobs") {
  const ImportedJobs got = import_text_of("auto",
                                          "; Version: 2.2\n"
                                          ";  MaxProcs: 128\n"
                                          " 1 0 10 300 16 -1 -1 32 3600 2048 1 7 1 -1 2 -1 -1 -1\n"
                                          " 2\t5 -1 60.5 4 -1 -1 -1 -1 -1 0 -1 -1 -1 -1 -1 -1 -1\n"
                                          "; a comment between\n"
                                          " 3 6 0 100 4 -1 -1 4 -1 -1 3 -1 -1 -1 -1 -1 -1 -1\n"
                                          " 4 6 -1 -1 -1 -1 -1 4 -1 -1 5 -1 -1 -1 -1 -1 -1 -1\n"
                                          " 5 6 0 0 -1 -1 -1 -1 -1 -1 5 -1 -1 -1 -1 -1 -1 -1\n");
  CHECK(got.format->name == "swf");
  REQUIRE(got.jobs.size() == 2);
  CHECK(got.jobs[0].gpus == 32);
  CHECK(got.jobs[0].duration == Time::seconds(300));
  CHECK(got.jobs[0].limit == Time::seconds(3600));
  CHECK(got.jobs[0].host_memory == Bytes::mebibytes(2));
  CHECK(got.jobs[0].user == "user7");
  CHECK(got.jobs[0].vc == "queue2");
  CHECK(got.jobs[1].gpus == 4);
  CHECK(got.jobs[1].duration == Time::milliseconds(60'500));
  CHECK(got.jobs[1].outcome == JobOutcome::failed);
  CHECK(!got.jobs[1].limit);
  CHECK(reasons_text(got.report.left_out()) ==
        "a part of a job that has a line of its own: 1 (6); "
        "no run time: it never started, or the log does not say: 1 (7); it requests no processors: 1 (8)");
  CHECK(trace_complaints("swf", "1 2 3\n1 -5 0 1 1 1 1 1 1 1 9 1 1 1 1 1 -1 -1\n") ==
        "trace:1: expected 18 fields, got 3\n"
        "trace:2: submit time: expected a number >= 0, or -1, got \"-5\"\n"
        "trace:2: status: unknown state, got 9\n"
        "trace: 2 of 2 rows are bad; --skip-bad-rows leaves them out");
}

TEST_CASE("SWF: the preceding job and the think time, as far as that job is kept") {
  const ImportedJobs got = import_text_of("swf",
                                          "1 0 7 100 4 -1 -1 4 -1 -1 1 1 1 -1 1 -1 -1 -1\n"
                                          "2 110 0 100 4 -1 -1 4 -1 -1 1 1 1 -1 1 -1 1 3\n"
                                          "3 110 0 100 4 -1 -1 4 -1 -1 1 1 1 -1 1 -1 1 -1\n"
                                          "4 0 -1 -1 4 -1 -1 4 -1 -1 5 1 1 -1 1 -1 -1 -1\n"
                                          "5 110 0 100 4 -1 -1 4 -1 -1 1 1 1 -1 1 -1 4 9\n");
  REQUIRE(got.jobs.size() == 4);
  CHECK(got.jobs[0].after.empty());
  CHECK(got.jobs[1].after == std::vector<std::string>{"1"});
  CHECK(got.jobs[1].think == Time::seconds(3));
  CHECK(got.jobs[2].after == std::vector<std::string>{"1"});
  CHECK(got.jobs[2].think == Time{});
  CHECK(got.jobs[3].after.empty());  // job 4 never ran
  CHECK(got.jobs[3].think == Time{});
  CHECK(trace_complaints("swf", "7 0 7 100 4 -1 -1 4 -1 -1 1 1 1 -1 1 -1 7 -1\n") ==
        "trace:1: preceding job: a job can't come after itself\n"
        "trace: 1 of 1 rows are bad; --skip-bad-rows leaves them out");
}

TEST_CASE("Slurm: GPUs from trackable resources, steps, jobs that never started") {
  const ImportedJobs got = import_text_of(
      "auto",
      "JobID|User|Partition|Submit|Start|End|Elapsed|Timelimit|State|AllocTRES|ReqTRES|JobName\n"
      "10|ann|gpu|2024-03-01T10:00:00|2024-03-01T10:00:30|2024-03-01T11:00:30|01:00:00|1-12:00:00|COMPLETED|"
      "billing=80,cpu=32,gres/gpu:a100=8,gres/gpu=8,mem=320G,node=1|gres/gpu=8|a \"name\", with commas\n"
      "10.batch|||2024-03-01T10:00:30|2024-03-01T10:00:30|2024-03-01T11:00:30|01:00:00||COMPLETED|cpu=32||batch\n"
      "11|bob|cpu|2024-03-01T10:00:01|2024-03-01T10:00:30|2024-03-01T11:00:30|01:00:00|UNLIMITED|COMPLETED|cpu=1||x\n"
      "12|bob|gpu|2024-03-01T10:00:02|Unknown|2024-03-01T10:05:00|00:00:00|10:00|CANCELLED by 1000||gres/gpu=2|x\n"
      "13_4|bob|gpu|2024-03-01T10:00:03|2024-03-01T10:00:30|2024-03-01T10:00:40|00:00:10|10:00|CANCELLED by 1000|"
      "gres/gpu:h100=2,mem=1536M||x\n"
      "14|bob|gpu|2024-03-01T10:00:04|Unknown|Unknown|00:00:00|10:00|PENDING||gres/gpu=2|x\n");
  CHECK(got.format->name == "slurm");
  REQUIRE(got.jobs.size() == 2);
  CHECK(got.jobs[0].name == "10");
  CHECK(got.jobs[0].gpus == 8);
  CHECK(got.jobs[0].gpu_type == "a100");
  CHECK(got.jobs[0].milli_cpus == 4000);
  CHECK(got.jobs[0].host_memory == Bytes{40LL << 30});
  CHECK(got.jobs[0].duration == Time::seconds(3600));
  CHECK(got.jobs[0].limit == Time::seconds(129'600));
  CHECK(got.jobs[0].vc == "gpu");
  CHECK(got.jobs[1].name == "13_4");
  CHECK(got.jobs[1].gpus == 2);
  CHECK(got.jobs[1].gpu_type == "h100");
  CHECK(got.jobs[1].host_memory == Bytes::mebibytes(768));
  CHECK(got.jobs[1].submit == Time::seconds(3));
  CHECK(got.jobs[1].limit == Time::seconds(600));
  CHECK(got.jobs[1].outcome == JobOutcome::cancelled);
  CHECK(reasons_text(got.report.left_out()) ==
        "a step of a job that has a row of its own: 1 (3); it requests no GPUs: 1 (4); "
        "no duration: it never started, or was still running when the trace was taken: 1 (5); "
        "still waiting when the trace was taken: 1 (7)");
}

TEST_CASE("Slurm: Elapsed gives how long a job ran, also after suspensions and clocks that were put back") {
  const ImportedJobs got =
      import_text_of("slurm",
                     "JobID|Submit|Start|End|Elapsed|State|AllocTRES\n"
                     "1|2024-03-31T01:00:00|2024-03-31T01:59:00|2024-03-31T03:01:00|00:02:00|COMPLETED|gres/gpu=1\n"
                     "2|2024-03-31T01:00:00|2024-03-31T04:00:00|2024-03-31T05:00:00||COMPLETED|gres/gpu=1\n");
  REQUIRE(got.jobs.size() == 2);
  CHECK(got.jobs[0].duration == Time::seconds(120));
  CHECK(got.jobs[1].duration == Time::seconds(3600));
}

TEST_CASE("Slurm: older columns") {
  const ImportedJobs got = import_text_of("slurm",
                                          "JobIDRaw|Submit|ElapsedRaw|TimelimitRaw|State|AllocGRES|\n"
                                          "5|2017-01-04T16:57:11|90|10|TIMEOUT|gpu:k80:2|\n"
                                          "6|2017-01-04T16:57:12|91|Partition_Limit|OUT_OF_MEMORY|gpu|\n");
  REQUIRE(got.jobs.size() == 2);
  CHECK(got.jobs[0].gpus == 2);
  CHECK(got.jobs[0].gpu_type == "k80");
  CHECK(got.jobs[0].duration == Time::seconds(90));
  CHECK(got.jobs[0].limit == Time::seconds(600));
  CHECK(got.jobs[1].gpus == 1);
  CHECK(!got.jobs[1].limit);
}

TEST_CASE("points in time and lengths of it") {
  // date -ud '2017-10-07 01:11:39' +%s
  CHECK(parse_timestamp("2017-10-07 01:11:39") == Time::seconds(1'507'338'699));
  CHECK(parse_timestamp("2017-10-07T01:11:39Z") == Time::seconds(1'507'338'699));
  CHECK(parse_timestamp("2017-10-07 01:11") == Time::seconds(1'507'338'660));
  CHECK(parse_timestamp("2017-10-07 01:11:39.25") == Time::milliseconds(1'507'338'699'250));
  CHECK(parse_timestamp("2017-10-07 09:11:39+08:00") == Time::seconds(1'507'338'699));
  CHECK(parse_timestamp("2017-10-06 18:11:39-0700") == Time::seconds(1'507'338'699));
  CHECK(parse_timestamp("2020-02-29 00:00:00") == Time::seconds(1'582'934'400));
  for (const char* wrong :
       {"", "2017-10-07", "2017-10-07 24:00:00", "2019-02-29 00:00:00", "2017-10-07 01:11:39 PDT", "17-10-07 01:11:39",
        "2017-10-07 01:11:39.", "2017-10-07 01:11:39+8", "1899-01-01 00:00:00"})
    CHECK_MESSAGE(!parse_timestamp(wrong), wrong);
  CHECK(format_timestamp(Time::seconds(1'507'338'699)) == "2017-10-07 01:11:39");
  CHECK(format_timestamp(Time::seconds(-1)) == "1969-12-31 23:59:59");

  CHECK(parse_slurm_duration("02:03") == Time::seconds(123));
  CHECK(parse_slurm_duration("01:02:03.5") == Time::milliseconds(3'723'500));
  CHECK(parse_slurm_duration("2-01:02:03") == Time::seconds(176'523));
  CHECK(parse_slurm_duration("2-01:02") == Time::seconds(176'520));
  CHECK(parse_slurm_duration("2-01") == Time::seconds(176'400));
  for (const char* wrong : {"", "5", "1:2:3:4", "x", "1-", "-1:00"}) CHECK_MESSAGE(!parse_slurm_duration(wrong), wrong);
}

TEST_CASE("Slurm: the rows of a requeued job are attempts of one job, and steps between them don't matter") {
  const ImportedJobs got =
      import_text_of("slurm",
                     "JobID|Submit|Start|End|Elapsed|State|AllocTRES\n"
                     "1|2024-03-01T10:00:00|2024-03-01T10:00:30|2024-03-01T10:01:30|00:01:00|REQUEUED|gres/gpu=2\n"
                     "1.batch|2024-03-01T10:00:30|2024-03-01T10:00:30|2024-03-01T10:01:30|00:01:00|CANCELLED|cpu=4\n"
                     "1|2024-03-01T10:01:30|2024-03-01T10:02:00|2024-03-01T10:04:00|00:02:00|NODE_FAIL|gres/gpu=2\n"
                     "1|2024-03-01T10:04:00|2024-03-01T10:05:00|2024-03-01T10:10:00|00:05:00|COMPLETED|gres/gpu=2\n"
                     "2|2024-03-01T10:00:05|2024-03-01T10:00:30|2024-03-01T10:01:30|00:01:00|REQUEUED|gres/gpu=1\n"
                     "3|2024-03-01T10:00:06|2024-03-01T10:00:30|2024-03-01T10:01:30|00:01:00|REQUEUED|gres/gpu=1\n"
                     "3|2024-03-01T10:01:30|2024-03-01T10:02:00|Unknown|00:05:00|RUNNING|gres/gpu=1\n"
                     "4|2024-03-01T10:00:07|2024-03-01T10:00:30|2024-03-01T10:01:30|00:01:00|FAILED|gres/gpu=1\n");
  REQUIRE(got.jobs.size() == 2);
  CHECK(got.jobs[0].name == "1");
  CHECK(got.jobs[0].submit == Time{});
  CHECK(got.jobs[0].attempts == std::vector{Time::seconds(60), Time::seconds(120)});
  CHECK(got.jobs[0].duration == Time::seconds(300));
  CHECK(got.jobs[0].outcome == JobOutcome::completed);
  CHECK(got.jobs[0].measured_wait == Time::seconds(30));
  CHECK(got.jobs[1].name == "4");
  CHECK(reasons_text(got.report.left_out()) ==
        "a step of a job that has a row of its own: 1 (3); "
        "an earlier run of a job that was requeued: it becomes an attempt of that job: 2 (2, 4); "
        "still waiting when the trace was taken: 1 (6); "
        "still running when the trace was taken: 1 (8); "
        "an earlier run of a job whose last run had not ended, or is not a job: 1 (7)");
  CHECK(got.report.rows() == 8);
  // A job that completed is not run again.
  CHECK(contains(trace_complaints("slurm",
                                  "JobID|Submit|ElapsedRaw|State|AllocTRES\n"
                                  "1|2024-03-01T10:00:00|5|COMPLETED|gres/gpu=2\n"
                                  "1|2024-03-01T10:00:00|5|COMPLETED|gres/gpu=2\n"),
                 "trace:3: job \"1\" was on line 2 already"));
}

TEST_CASE("Slurm: GPUs of two types in one row are refused, not read as GPUs of the last") {
  const std::string header = "JobID|Submit|ElapsedRaw|State|AllocTRES|AllocGRES\n";
  const auto complaint = [&](const std::string& resources) {
    return trace_complaints("slurm", header + "1|2024-03-01T10:00:00|5|COMPLETED|" + resources + "\n");
  };
  CHECK(contains(complaint("gres/gpu:a100=4,gres/gpu:v100=2|"),
                 "trace:2: AllocTRES: expected GPUs of one type in a job, got GPUs of the types a100 and v100 in "
                 "\"gres/gpu:a100=4,gres/gpu:v100=2\""));
  CHECK(contains(complaint("gres/gpu=6,gres/gpu:a100=4,gres/gpu:v100=2|"), "types a100 and v100"));
  CHECK(contains(complaint("gres/gpu:a100=1,gres/gpu:a100_3g.20gb=1|"), "types a100 and a100_3g.20gb"));
  CHECK(contains(complaint("gres/gpu=6,gres/gpu:a100=4|"), "got 6 GPUs, of which 4 are of type a100, in"));
  CHECK(contains(complaint("|gpu:a100:4,gpu:v100:2"), "trace:2: AllocGRES: expected GPUs of one type in a job"));
  // One type, however it is written, stays.
  const ImportedJobs got =
      import_text_of("slurm", header +
                                  "1|2024-03-01T10:00:00|5|COMPLETED|gres/gpu:a100=4,gres/gpu=4|\n"
                                  "2|2024-03-01T10:00:00|5|COMPLETED|gres/gpu:a100=4,gres/gpu:v100=0|\n"
                                  "3|2024-03-01T10:00:00|5|COMPLETED||gpu:a100:4\n");
  REQUIRE(got.jobs.size() == 3);
  for (const JobRequest& job : got.jobs) {
    CHECK(job.gpus == 4);
    CHECK(job.gpu_type == "a100");
  }
}

TEST_CASE("Slurm: components of a heterogeneous job with GPUs are no jobs of their own") {
  const std::string header = "JobID|Submit|ElapsedRaw|State|AllocTRES\n";
  const std::string both =
      "7|2024-03-01T10:00:00|5|COMPLETED|gres/gpu=1\n"
      "123+0|2024-03-01T10:00:00|5|COMPLETED|gres/gpu=8\n"
      "123+0.batch|2024-03-01T10:00:00|5|COMPLETED|cpu=4\n"
      "123+1|2024-03-01T10:00:00|5|COMPLETED|gres/gpu=4\n"
      "123+2|2024-03-01T10:00:00|5|COMPLETED|gres/gpu=4\n"
      "124|2024-03-01T10:00:00|5|COMPLETED|gres/gpu=2\n";
  const std::string complaints = trace_complaints("slurm", header + both);
  for (const char* const place : {"trace:3: JobID: a component of a heterogeneous job", "got \"123+0\"",
                                  "trace:5: JobID: a component of a heterogeneous job", "got \"123+1\"",
                                  "trace:6: JobID: a component of a heterogeneous job", "got \"123+2\""})
    CHECK_MESSAGE(contains(complaints, place), place);
  const ImportedJobs others = import_text_of("slurm", header + both, {.skip_bad_rows = true});
  REQUIRE(others.jobs.size() == 2);
  CHECK(others.jobs[0].name == "7");
  CHECK(others.jobs[1].name == "124");
  CHECK(others.report.bad_rows() == 3);
  // A component that has all of the GPUs is the job; requeued, its rows are attempts.
  const ImportedJobs alone = import_text_of("slurm", header +
                                                         "9+0|2024-03-01T10:00:00|5|NODE_FAIL|cpu=8\n"
                                                         "9+1|2024-03-01T10:00:00|5|NODE_FAIL|gres/gpu=4\n"
                                                         "9+0|2024-03-01T10:00:00|6|COMPLETED|cpu=8\n"
                                                         "9+1|2024-03-01T10:00:00|6|COMPLETED|gres/gpu=4\n");
  REQUIRE(alone.jobs.size() == 1);
  CHECK(alone.jobs[0].name == "9+1");
  CHECK(alone.jobs[0].gpus == 4);
  CHECK(alone.jobs[0].attempts == std::vector{Time::seconds(5)});
}

TEST_CASE("Slurm: MIG slices are shares of a GPU") {
  const ImportedJobs got = import_text_of("slurm",
                                          "JobID|Submit|ElapsedRaw|State|AllocTRES\n"
                                          "1|2024-03-01T10:00:00|5|COMPLETED|gres/gpu:a100_3g.20gb=1,gres/gpu=1\n"
                                          "2|2024-03-01T10:00:00|5|COMPLETED|gres/gpu:1g.10gb=2\n"
                                          "3|2024-03-01T10:00:00|5|COMPLETED|gres/gpu:a30_2g.12gb=1\n"
                                          "4|2024-03-01T10:00:00|5|COMPLETED|gres/gpu:7g.80gb=1\n"
                                          "5|2024-03-01T10:00:00|5|COMPLETED|gres/gpu:rtx4090=1\n");
  REQUIRE(got.jobs.size() == 5);
  CHECK(got.jobs[0].gpu_share == 428);  // 3/7, rounded down
  CHECK(got.jobs[0].gpus == 1);
  CHECK(got.jobs[0].gpu_type == "a100_3g.20gb");
  CHECK(got.jobs[1].gpu_share == 142);
  CHECK(got.jobs[1].gpus == 2);
  CHECK(got.jobs[2].gpu_share == 500);
  CHECK(got.jobs[3].gpu_share == 0);
  CHECK(got.jobs[4].gpu_share == 0);
  CHECK(reasons_text(got.report.notes()) == "MIG slices of GPUs: each is read as a share of a GPU: 3 (2, 3, 4)");
}

TEST_CASE("waits that a trace measured: from submission to the first start") {
  const ImportedJobs philly = import_text_of("philly", R"([
    {"status": "Pass", "vc": "ee", "jobid": "j1", "user": "u1", "submitted_time": "2017-10-07 01:11:39", "attempts": [
      {"start_time": "2017-10-07 01:12:00", "end_time": "2017-10-07 01:13:00",
       "detail": [{"ip": "m1", "gpus": ["gpu0"]}]},
      {"start_time": "2017-10-07 01:14:00", "end_time": "2017-10-07 02:14:01",
       "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}]}
  ])");
  REQUIRE(philly.jobs.size() == 1);
  CHECK(philly.jobs[0].measured_wait == Time::seconds(21));
  const ImportedJobs swf = import_text_of("swf",
                                          "1 0 7 100 4 -1 -1 4 -1 -1 1 1 1 -1 1 -1 -1 -1\n"
                                          "2 5 -1 100 4 -1 -1 4 -1 -1 1 1 1 -1 1 -1 -1 -1\n");
  REQUIRE(swf.jobs.size() == 2);
  CHECK(swf.jobs[0].measured_wait == Time::seconds(7));
  CHECK_FALSE(swf.jobs[1].measured_wait.has_value());
  const ImportedJobs slurm = import_text_of("slurm",
                                            "JobID|Submit|Start|ElapsedRaw|State|AllocTRES\n"
                                            "1|2024-03-01T10:00:00|2024-03-01T09:00:00|5|COMPLETED|gres/gpu=1\n"
                                            "2|2024-03-01T10:00:00|2024-03-01T10:00:09|5|COMPLETED|gres/gpu=1\n");
  REQUIRE(slurm.jobs.size() == 2);
  CHECK_FALSE(slurm.jobs[0].measured_wait.has_value());
  CHECK(slurm.jobs[1].measured_wait == Time::seconds(9));
  CHECK(reasons_text(slurm.report.notes()) ==
        "it started before it was submitted, or 100 years later: its wait is not known: 1 (2)");
}
