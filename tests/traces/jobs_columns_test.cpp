// Columns that the user names: of tables with other separators, under the names of a job list, and computed from
// others.
#include "tests/text_checks.hpp"
#include "tests/traces/jobs_test_kit.hpp"

#include <map>
#include <string>
#include <utility>

using namespace contend;

namespace {

using Names = std::map<std::string, std::string>;

ImportedJobs import_columns(const std::string& format, std::string_view text, const Names& names) {
  ImportOptions options;
  options.columns = names;
  return import_text_of(format, text, options);
}

std::string column_complaints(const std::string& format, std::string_view text, const Names& names) {
  ImportOptions options;
  options.columns = names;
  return trace_complaints(format, text, options);
}

/// Jobs of so many workers, each with so many GPUs and CPUs, as the traces of Alibaba's spot GPUs have them.
constexpr const char* kWorkers =
    "job_name,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration\n"
    "501,A10,8,1,1,0,3600\n"
    "502,A100,90,8,4,60,7200\n"
    "503,A100,15,1,16,120,4000\n"
    "504,H800,15,2,5,200,900\n";

Names worker_columns(const std::string& gpus) {
  return {{"job_id", "job_name"}, {"submit_s", "submit_time"}, {"duration_s", "duration"}, {"gpus", gpus}};
}

}  // namespace

TEST_CASE("columns: a header with | between its columns is not split at commas") {
  const std::string text =
      "JobID|User|Account|Submit|Start|End|State|AllocTRES\n"
      "1|u|lab|2025-11-03T08:00:00|2025-11-03T08:00:05|2025-11-03T10:00:05|COMPLETED|gres/gpu=4\n";
  for (const char* const format : {"slurm", "auto"}) {
    const ImportedJobs got = import_columns(format, text, {{"vc", "Account"}});
    REQUIRE(got.jobs.size() == 1);
    CHECK(got.jobs[0].vc == "lab");
    CHECK(got.jobs[0].gpus == 4);
    CHECK(got.jobs[0].duration == Time::seconds(7200));
  }
  // A table with names of its own is read with commas alone, and the message says so.
  const Names own{{"job_id", "a"}, {"submit_s", "b"}, {"gpus", "c"}, {"duration_s", "d"}};
  CHECK(contains(column_complaints("auto", "a|b|c|d\n1|0|1|5\n", own),
                 "A job list has commas between its columns, and this file has |"));
  CHECK(contains(column_complaints("auto", "a;b;c;d\n1;0;1;5\n", {}), "and this file has ;"));
  // The format's own name for it has the same effect, and goes before a column of that meaning which the file has.
  CHECK(import_columns("slurm", text, {{"Partition", "Account"}}).jobs[0].vc == "lab");
  const std::string both =
      "JobID|Partition|Account|Submit|ElapsedRaw|State|AllocTRES\n"
      "1|gpu|lab|2025-11-03T08:00:00|5|COMPLETED|gres/gpu=4\n";
  CHECK(import_columns("slurm", both, {}).jobs[0].vc == "gpu");
  CHECK(import_columns("slurm", both, {{"vc", "Account"}}).jobs[0].vc == "lab");
}

TEST_CASE("columns: a name that the format doesn't have is refused, not accepted and ignored") {
  const std::string text =
      "JobID|Account|Submit|ElapsedRaw|State|AllocTRES\n1|lab|2025-11-03T08:00:00|5|COMPLETED|gres/gpu=4\n";
  const std::string slurm = column_complaints("slurm", text, {{"virtual", "Account"}});
  CHECK_MESSAGE(contains(slurm, "--column virtual=...: the format has no column virtual; it has JobID, "), slurm);
  CHECK(contains(column_complaints("slurm", text, {{"gpus", "Account"}}), "the format has no column gpus"));
  const std::string list = column_complaints("jobs", "job,t,g,d\na,0,1,5\n",
                                             {{"job_id", "job"}, {"submit_s", "t"}, {"gpus", "g"}, {"duration", "d"}});
  CHECK_MESSAGE(contains(list, "unknown column \"duration\"; did you mean \"duration_s\"?"), list);
}

TEST_CASE("columns: what a table says of a worker becomes what a job list says of a job, or is refused") {
  // 1 x 1, 4 x 8, 16 x 1 and 5 x 2 GPUs; 8/1, 90/8 = 11.25, 15 and 7.5 CPUs for each. 307,000 GPU seconds.
  Names names = worker_columns("worker_num*gpu_request");
  names["cpus"] = "cpu_request/gpu_request";
  names["gpu_type"] = "gpu_model";
  const ImportedJobs got = import_columns("auto", kWorkers, names);
  REQUIRE(got.jobs.size() == 4);
  const int gpus[] = {1, 32, 16, 10}, milli_cpus[] = {8'000, 11'250, 15'000, 7'500};
  double gpu_s = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(got.jobs[i].gpus == gpus[i]);
    CHECK(got.jobs[i].milli_cpus == milli_cpus[i]);
    gpu_s += got.jobs[i].duration->to_seconds() * got.jobs[i].gpus;
  }
  CHECK(gpu_s == 307'000);
  CHECK(got.jobs[3].gpu_type == "H800");
  CHECK(got.report.unused_columns().empty());
  // Without the number of workers the GPUs would be the GPUs of one, and the CPUs of a worker are not the CPUs of a
  // GPU.
  const std::string one = column_complaints("auto", kWorkers, worker_columns("gpu_request"));
  CHECK_MESSAGE(
      contains(one,
               "--column gpus=gpu_request: the column \"worker_num\" counts parts of a job, and gpus are those "
               "of all of them; gpus=worker_num*gpu_request, or gpus=gpu_request*1"),
      one);
  names["cpus"] = "cpu_request";
  CHECK(contains(
      column_complaints("auto", kWorkers, names),
      "--column cpus=cpu_request: the column \"worker_num\" counts parts of a job, and cpus are those of a GPU"));
  CHECK(import_columns("auto", kWorkers, worker_columns("gpu_request*1")).jobs[1].gpus == 8);
}

TEST_CASE("columns: computed ones keep their lines, quotes and faults") {
  // Line 2 is blank, the name on line 3 has a comma and the one on line 4 a line end.
  const std::string text =
      "job,t,w,g,d\n"
      "\n"
      "\"a,1\",0,2,4,10\n"
      "\"b\n2\",1,3,1,10\n"
      "c,2,3,x,10\n"
      "d,3,3\n";
  const Names names = {{"job_id", "job"}, {"submit_s", "t"}, {"gpus", "w*g"}, {"duration_s", "d/2.5"}};
  ImportOptions options;
  options.columns = names;
  options.skip_bad_rows = true;
  const std::string complaints = column_complaints("jobs", text, names);
  CHECK_MESSAGE(contains(complaints, "trace:6: gpus: expected a whole number >= 1, got \"3*x\""), complaints);
  CHECK_MESSAGE(contains(complaints, "trace:7: expected 7 fields as in the header, got 5"), complaints);
  const ImportedJobs got = import_text_of("jobs", text, options);
  REQUIRE(got.jobs.size() == 1);  // a name can't have a line end
  CHECK(got.jobs[0].name == "a,1");
  CHECK(got.jobs[0].gpus == 8);
  CHECK(got.jobs[0].duration == Time::seconds(4));
  // What isn't a product of columns and numbers is a column that the file lacks; 0 doesn't divide.
  CHECK(contains(column_complaints("jobs", text, {{"gpus", "w*h"}}), "--column gpus=w*h: there is no column \"h\""));
  CHECK(contains(column_complaints("jobs", text, {{"gpus", "w*"}}), "there is no column \"\""));
  CHECK(contains(column_complaints("jobs", "job,t,w,g,d\na,0,2,0,5\n",
                                   {{"job_id", "job"}, {"submit_s", "t"}, {"gpus", "w/g"}, {"duration_s", "d"}}),
                 "got \"2/0\""));
}

TEST_CASE("columns: a name of the header may be quoted and have a comma") {
  const std::string text = "\"ann, b\",job,ts,w,g,dur\nx,a,0,3,8,500\n";
  const Names names{{"job_id", "job"}, {"submit_s", "ts"}, {"gpus", "w*g"}, {"duration_s", "dur"}, {"user", "ann, b"}};
  const ImportedJobs got = import_columns("jobs", text, names);
  REQUIRE(got.jobs.size() == 1);
  CHECK(got.jobs[0].gpus == 24);
  CHECK(got.jobs[0].user == "x");
}

TEST_CASE("columns: computed times are rounded to nanoseconds, also far from the epoch") {
  const auto times = [](const std::string& submit, const std::string& duration, const std::string& row) {
    const ImportedJobs got =
        import_columns("jobs", "job,ts,g,dur\n" + row,
                       {{"job_id", "job"}, {"submit_s", submit}, {"gpus", "g"}, {"duration_s", duration}});
    REQUIRE(got.jobs.size() == 1);
    return std::pair{got.jobs[0].submit, *got.jobs[0].duration};
  };
  const auto [submit, duration] = times("ts/1000000000", "dur/1000000000", "a,1123456789,4,400\n");
  CHECK(submit == Time::nanoseconds(1'123'456'789));
  CHECK(duration == Time::nanoseconds(400));
  CHECK(times("ts*1", "dur/3", "a,81.978264562,4,2\n") ==
        std::pair{Time::nanoseconds(81'978'264'562), Time::nanoseconds(666'666'667)});
  CHECK(times("ts/1000", "dur*1", "a,1600000123,4,5\n").first == Time::milliseconds(1'600'000'123));
  // A time that vanishes is no time.
  CHECK(contains(
      column_complaints("jobs", "job,ts,g,dur\na,0,4,1\n",
                        {{"job_id", "job"}, {"submit_s", "ts"}, {"gpus", "g"}, {"duration_s", "dur/10000000000"}}),
      "1/10000000000"));
}

TEST_CASE("columns: one column has one meaning, unless it is computed") {
  const std::string text = "job,ts,g,dur\na,0,4,5\n";
  Names names{{"job_id", "job"}, {"submit_s", "ts"}, {"gpus", "g"}, {"duration_s", "dur"}, {"user", "job"}};
  CHECK(contains(column_complaints("jobs", text, names), "the column is \"job_id\" already"));
}
