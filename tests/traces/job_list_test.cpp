#include "traces/job_list.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {
std::string complaints(const std::string& text) {
  try {
    static_cast<void>(parse_job_list(text, "jobs.csv"));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}
constexpr const char* kJobHeader = "job_id,submit_ms,model,gpus,iterations\n";
}  // namespace

TEST_CASE("a job list is read in the order of its rows") {
  const std::vector<JobRequest> jobs = read_job_list("tests/traces/data/jobs_small.csv");
  REQUIRE(jobs.size() == 3);
  CHECK(jobs[1].name == "second");
  CHECK(jobs[1].submit == Time::microseconds(1'500'250));
  CHECK(jobs[1].model == "vgg16");
  CHECK(jobs[1].gpus == 8);
  CHECK(jobs[1].iterations == 12);
  CHECK(jobs[2].name == "third, quoted");
}

TEST_CASE("what is written reads back the same") {
  std::vector<JobRequest> jobs = parse_job_list(
      "gpus,iterations,model,submit_s,job_id\n2,30,lstm,0.000000001,\"a,b\"\n1,1,vgg16,1e3,c\n", "jobs.csv");
  const std::string csv = job_list_csv(jobs);
  CHECK(csv == "job_id,submit_s,model,gpus,iterations\n\"a,b\",0.000000001,lstm,2,30\nc,1000,vgg16,1,1\n");
  CHECK(job_list_csv(parse_job_list(csv, "again.csv")) == csv);
}

TEST_CASE("places are read, and written as they were") {
  const char* const csv =
      "job_id,submit_s,gpus,duration_s,place\na,0,5,1,server0:0-3;server12:2\nb,0,4,1,server3\nc,0,1,1,\n";
  const std::vector<JobRequest> jobs = parse_job_list(csv, "jobs.csv");
  REQUIRE(jobs.at(0).place.size() == 2);
  CHECK(gpus_of_place(jobs[0].place, 4) == std::vector<GpuId>{GpuId{0U}, GpuId{1U}, GpuId{2U}, GpuId{3U}, GpuId{50U}});
  CHECK(gpus_of_place(jobs[1].place, 2) == std::vector<GpuId>{GpuId{6U}, GpuId{7U}});
  CHECK(jobs[2].place.empty());
  CHECK(job_list_csv(jobs) == csv);
  for (const char* const bad : {"server", "server0:", "server0:1-", "server0:3-1", "node0", "server0;", "0-3",
                                "server0:0-3-5", "server-1", "server99999999999"}) {
    CAPTURE(bad);
    CHECK(complaints(std::string{"job_id,submit_s,gpus,duration_s,place\na,0,1,1,"} + bad + "\n")
              .find("jobs.csv:2: place: expected GPUs of servers such as server0:0-3;server1, got ") == 0);
  }
}

TEST_CASE("jobs that come after others are read and written, and wrong orders are told") {
  const std::string header = "job_id,submit_s,gpus,duration_s,after,think_s\n";
  const std::string csv = header + "a,0,1,5,,\nb,0,1,5,,\nc,0,1,5,a;b,2.5\nd,0,1,5,c,\n";
  const std::vector<JobRequest> jobs = parse_job_list(csv, "jobs.csv");
  CHECK(jobs[2].after == std::vector<std::string>{"a", "b"});
  CHECK(jobs[2].think == Time::milliseconds(2500));
  CHECK(jobs[3].think == Time{});
  CHECK(job_list_csv(jobs) == csv);
  CHECK(complaints(header + "aa,0,1,5,,\nb,0,1,5,ab,\nc,0,1,5,d,\nd,0,1,5,e,\ne,0,1,5,d,\n") ==
        "jobs.csv:3: after: the list has no job \"ab\"; did you mean \"aa\"?\n"
        "jobs.csv:4: after: job \"c\" comes after jobs that come after it, so it is never submitted\n"
        "jobs.csv:5: after: job \"d\" comes after jobs that come after it, so it is never submitted\n"
        "jobs.csv:6: after: job \"e\" comes after jobs that come after it, so it is never submitted");
  CHECK(complaints(header + "a,0,1,5,a,\nb,0,1,5,,3\nc,0,1,5,a;;b,\nd,0,1,5,a,-1\n") ==
        "jobs.csv:2: after: a job can't come after itself\n"
        "jobs.csv:3: think_s: there is no job after which it comes; name jobs in the column `after`\n"
        "jobs.csv:4: after: expected names of jobs such as prepare;train, got \"a;;b\"\n"
        "jobs.csv:5: think_s: expected a number >= 0, got -1");
}

TEST_CASE("every bad row is reported, with its line, column and a hint") {
  const std::string all = complaints(std::string{kJobHeader} +
                                     "a,0,resnet5,1,10\n"
                                     "b,-1,vgg16,0,10\n"
                                     "a,nan,vgg16,1.5,-3\n"
                                     ",1e30,vgg16,99999999999,99999999999999999999\n");
  CHECK(all ==
        "jobs.csv:2: model: unknown model \"resnet5\"; did you mean \"resnet50\"?\n"
        "jobs.csv:3: submit_ms: expected a number >= 0, got -1\n"
        "jobs.csv:3: gpus: expected a whole number >= 1, got 0\n"
        "jobs.csv:4: job_id: \"a\" was used on line 2 already\n"
        "jobs.csv:4: submit_ms: expected a number >= 0, got \"nan\"\n"
        "jobs.csv:4: gpus: expected a whole number >= 1, got \"1.5\"\n"
        "jobs.csv:4: iterations: expected a whole number >= 1, got -3\n"
        "jobs.csv:5: job_id: expected a name, got nothing\n"
        "jobs.csv:5: submit_ms: 1e30 is more than 100 years\n"
        "jobs.csv:5: gpus: expected a whole number from 1 to 1000000, got 99999999999\n"
        "jobs.csv:5: iterations: expected a whole number from 1 to 9223372036854775807, got 99999999999999999999");
}

TEST_CASE("names that can't be printed are refused in every column") {
  const std::string header = "job_id,submit_s,gpus,duration_s,model,vc,user,gpu_type\n";
  CHECK(complaints(header + "a,0,1,5,m,v\x1b[2J,u,t\n" + "b,0,1,5,m,v,u\x07,t\n" + "c,0,1,5,m,v,u,\xff\n" +
                   "d,0,1,5,\x7f,v,u,t\n" + "e,0,1,5,m,  ,u,t\n" + "f,0,1,5,,,,\n") ==
        "jobs.csv:2: vc: expected printable UTF-8 text, got \"v\\x1b[2J\": byte 2 is the control character U+001B\n"
        "jobs.csv:3: user: expected printable UTF-8 text, got \"u\\x07\": byte 2 is the control character U+0007\n"
        "jobs.csv:4: gpu_type: expected printable UTF-8 text, got \"\xff\": byte 1 is not UTF-8\n"
        "jobs.csv:5: model: expected printable UTF-8 text, got \"\\x7f\": byte 1 is the control character U+007F\n"
        "jobs.csv:6: vc: expected printable UTF-8 text, got \"  \": it is blank");
  CHECK(parse_job_list(header + "a,0,1,5,\xc3\xa9,v 1,\xe4\xba\xba,A100\n", "jobs.csv").size() == 1);
}

TEST_CASE("headers that can't be meant") {
  CHECK(complaints("job_id,submit_ms,modell,gpus,iterations\n") ==
        "jobs.csv:1: unknown column \"modell\"; did you mean \"model\"?");
  // Words of other lists.
  CHECK(complaints("job_id,submit_ms,Workload,num_gpus,iterations\n") ==
        "jobs.csv:1: unknown column \"Workload\"; did you mean \"model\"?\n"
        "jobs.csv:1: unknown column \"num_gpus\"; did you mean \"gpus\"?");
  CHECK(complaints("job_id,model,gpus,iterations\n") == "jobs.csv:1: no column \"submit_ms\" (or \"submit_s\")");
  CHECK(complaints("job_id,submit_ms,submit_s,model,gpus,iterations,gpus\n") ==
        "jobs.csv:1: column \"gpus\" appears twice\n"
        "jobs.csv:1: both submit_ms and submit_s are given; expected one of them");
  CHECK(complaints(kJobHeader).find("the list has no jobs") != std::string::npos);
  CHECK(complaints("a,0,vgg16,1,100\nb,5,vgg16,1,100\n") ==
        "jobs.csv:1: line 1 must be a header, which names the columns; got \"a\"; such as "
        "job_id,submit_s,gpus,duration_s");
  CHECK(complaints("job_id;submit_ms;model;gpus;iterations\na;0;vgg16;1;1\n") ==
        "jobs.csv:1: line 1 must be a header, which names the columns; got "
        "\"job_id;submit_ms;model;gpus;iterations\"; separate the columns by commas instead of semicolons");
  CHECK(complaints("") == "jobs.csv: the file is empty; expected a header line");
}

TEST_CASE("a missing file is an error that names it") {
  CHECK_THROWS_WITH_AS(static_cast<void>(read_job_list("no/such/file.csv")),
                       "no/such/file.csv: can't be read: No such file or directory", InputError);
  CHECK_THROWS_AS(static_cast<void>(read_job_list("tests")), InputError);
}

TEST_CASE("what a trace tells of a job") {
  const std::string csv =
      "job_id,submit_s,model,gpus,iterations,duration_s,attempts_s,outcome,limit_s,vc,user,gpu_type,gpu_share,cpus,"
      "host_memory,priority\n"
      "a,1,,8,,3600.5,60;0.25,failed,7200,vc1,ann,A100,,3.75,125GiB,-2\n"
      "b,2,anything,1,,0,,cancelled,,,bob,,0.46,0.001,1000,\n"
      "c,3,vgg16,2,500,,,,,vc1,,,1,,,\n";
  const std::vector<JobRequest> jobs = parse_job_list(csv, "jobs.csv");
  REQUIRE(jobs.size() == 3);
  CHECK(jobs[0].duration == Time::milliseconds(3'600'500));
  CHECK(jobs[0].attempts == std::vector{Time::seconds(60), Time::milliseconds(250)});
  CHECK(jobs[0].outcome == JobOutcome::failed);
  CHECK(jobs[0].limit == Time::seconds(7200));
  CHECK(jobs[0].vc == "vc1");
  CHECK(jobs[0].user == "ann");
  CHECK(jobs[0].gpu_type == "A100");
  CHECK(jobs[0].gpu_share == 0);
  CHECK(jobs[0].milli_cpus == 3750);
  CHECK(jobs[0].host_memory == Bytes{125LL << 30});
  CHECK(jobs[0].priority == -2);
  CHECK(jobs[1].duration == Time{});
  CHECK(jobs[1].gpu_share == 460);
  CHECK(jobs[1].milli_cpus == 1);
  CHECK(jobs[1].host_memory == Bytes{1000});
  CHECK(!jobs[2].duration);
  CHECK(jobs[2].iterations == 500);
  CHECK(jobs[2].gpu_share == 1000);
  const std::string written = job_list_csv(jobs);
  CHECK(written ==
        "job_id,submit_s,model,gpus,iterations,duration_s,attempts_s,outcome,limit_s,vc,user,gpu_type,gpu_share,cpus,"
        "host_memory,priority\n"
        "a,1,,8,,3600.5,60;0.25,failed,7200,vc1,ann,A100,,3.75,128000MiB,-2\n"
        "b,2,anything,1,,0,,cancelled,,,bob,,0.46,0.001,1000,\n"
        "c,3,vgg16,2,500,,,,,vc1,,,1,,,\n");
  CHECK(job_list_csv(parse_job_list(written, "again.csv")) == written);
}

TEST_CASE("the memory that a job with a duration takes on each GPU is read and written") {
  const std::string csv = "job_id,submit_s,gpus,duration_s,gpu_memory\na,0,1,5,3072MiB\nb,0,1,5,\n";
  const std::vector<JobRequest> jobs = parse_job_list(csv, "jobs.csv");
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0].gpu_memory == Bytes::mebibytes(3072));
  CHECK(jobs[1].gpu_memory == Bytes{});
  CHECK(job_list_csv(jobs) == csv);
  CHECK(build_workload(jobs).jobs[0].memory_per_gpu == Bytes::mebibytes(3072));
  CHECK(complaints("job_id,submit_s,gpus,duration_s,gpu_memory\na,0,1,5,4 GB\n") ==
        "jobs.csv:2: gpu_memory: expected whole bytes, KiB, MiB, GiB or TiB, got \"4 GB\"");
}

TEST_CASE("the wait that a trace measured is read and written") {
  const std::string csv = "job_id,submit_s,gpus,duration_s,measured_wait_s\na,0,1,5,0.25\nb,0,1,5,\nc,0,1,5,0\n";
  const std::vector<JobRequest> jobs = parse_job_list(csv, "jobs.csv");
  REQUIRE(jobs.size() == 3);
  CHECK(jobs[0].measured_wait == Time::milliseconds(250));
  CHECK_FALSE(jobs[1].measured_wait.has_value());
  CHECK(jobs[2].measured_wait == Time{});
  CHECK(job_list_csv(jobs) == csv);
  CHECK(complaints("job_id,submit_s,gpus,duration_s,measured_wait_s\na,0,1,5,-1\n") ==
        "jobs.csv:2: measured_wait_s: expected a number >= 0, got -1");
}

TEST_CASE("iterations beside a duration say how fast a job trains, and a job may hold any number of GPUs for years") {
  const std::string csv =
      "job_id,submit_s,gpus,iterations,duration_s\na,0,16384,,4665600\nb,0,1,5853661,2868294\nc,0,1,1,60\n";
  const std::vector<JobRequest> jobs = parse_job_list(csv, "jobs.csv");
  REQUIRE(jobs.size() == 3);
  CHECK(jobs[0].duration == Time::seconds(4'665'600));  // 54 days: 2,423 GPU years
  CHECK(jobs[0].iterations == 1);
  CHECK(!jobs[0].tells_iterations);
  CHECK(jobs[1].iterations == 5'853'661);
  CHECK(jobs[2].tells_iterations);
  CHECK(job_list_csv(jobs) == csv);
}

TEST_CASE("a job has either a duration or iterations") {
  CHECK(complaints("job_id,submit_s,gpus\n") ==
        "jobs.csv:1: no column \"duration_s\" (or \"model\" and \"iterations\")");
  CHECK(complaints("job_id,submit_s,gpus,model\n") == "jobs.csv:1: no column \"iterations\"");
  CHECK(complaints("job_id,submit_s,gpus,model,iterations,attempts_s\n") ==
        "jobs.csv:1: the column \"attempts_s\" needs a column \"duration_s\"");
  CHECK(complaints("job_id,submit_s,gpus,model,iterations,duration_s,attempts_s\n"
                   "a,0,1,vgg16,5,5,\n"
                   "b,0,1,vgg16,5,,3\n"
                   "c,0,1,,,,\n"
                   "d,0,1000,,,7e8,7e9\n"
                   "e,0,8,,,2e9,2e9\n"
                   "f,0,8,,x,5,\n") ==
        "jobs.csv:3: attempts_s: earlier attempts need a duration_s\n"
        "jobs.csv:4: duration_s: neither duration_s nor iterations; give one of the two\n"
        "jobs.csv:5: attempts_s: 7e9 is more than 100 years\n"
        "jobs.csv:6: duration_s: the attempts of the job together take more than 100 years\n"
        "jobs.csv:7: iterations: expected a whole number >= 1, got \"x\"");
  CHECK(complaints("job_id,submit_s,gpus,model,iterations\na,0,2,vgg16 {batch: 2},5\n") ==
        "jobs.csv:2: model: \"vgg16 {batch: 2}\" has members, which a list has in columns of their own; such as the "
        "columns batch and fusion");
  CHECK(complaints("job_id,submit_s,gpus,duration_s,outcome,gpu_share,cpus,host_memory,priority,limit_s\n"
                   "a,0,1,-1,done,1.5,-1,5GB,high,-3\n") ==
        "jobs.csv:2: duration_s: expected a number >= 0, got -1\n"
        "jobs.csv:2: limit_s: expected a number >= 0, got -3\n"
        "jobs.csv:2: outcome: expected completed, failed or cancelled, got \"done\"\n"
        "jobs.csv:2: gpu_share: expected a number from 0.001 to 1, got \"1.5\"\n"
        "jobs.csv:2: cpus: expected a number from 0 to 1000000, got \"-1\"\n"
        "jobs.csv:2: host_memory: expected whole bytes, KiB, MiB, GiB or TiB, got \"5GB\"\n"
        "jobs.csv:2: priority: expected a whole number of 32 bits, got \"high\"");
}

TEST_CASE("a list with thousands of bad rows is not explained a thousand times") {
  std::string text = "job_id,submit_s,gpus,duration_s\n";
  for (int i = 0; i < 1000; ++i) text += "a" + std::to_string(i) + ",0,0,1\n";
  const std::string all = complaints(text);
  CHECK(std::count(all.begin(), all.end(), '\n') == 19);
  CHECK(all.ends_with("\njobs.csv: and 981 more; 1000 of 1000 rows are bad"));
}
