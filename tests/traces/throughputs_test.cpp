// Tables of throughputs, and deadlines of job lists.

#include "traces/throughputs.hpp"

#include "sim/error.hpp"
#include "tests/complaint_lines.hpp"
#include "traces/job_list.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

std::string refused_table(const std::string& text) {
  return complaint_lines([&] { static_cast<void>(parse_throughputs(text, "t.csv")); });
}

std::string refused_jobs(const std::string& rows) {
  return complaint_lines(
      [&] { static_cast<void>(parse_job_list("job_id,submit_s,gpus,duration_s,deadline_s\n" + rows, "jobs.csv")); });
}

}  // namespace

TEST_CASE("throughputs: rows are found by model, GPUs and type; what has no row is 0") {
  const ThroughputTable table = parse_throughputs(
      "model,type,gpus,iterations_per_s,spread_iterations_per_s\n"
      "resnet,v100,4,10,8\n"
      "resnet,k80,4,,\n"
      "resnet,v100,1,3,\n",
      "t.csv");
  CHECK(table.of("resnet", 4, "v100").together == 10);
  CHECK(table.of("resnet", 4, "v100").spread == 8);
  CHECK(table.of("resnet", 4, "k80").together == 0);
  CHECK(table.of("lstm", 1, "v100").together == 0);
  CHECK(table.models() == std::vector<std::string>{"resnet"});
  CHECK(table.sizes("resnet") == std::vector<int>{1, 4});
}

TEST_CASE("throughputs: every bad row is named with its line and column") {
  CHECK(refused_table("model,type,gpus,iterations_per_s\n"
                      "resnet,v100,0,10\n"
                      "resnet,v100,2,-1\n"
                      ",v100,2,1\n"
                      "resnet,k80,2,1\n"
                      "resnet,k80,2,2\n") ==
        "t.csv:2: gpus: expected a whole number from 1 to 1000000, got \"0\"\n"
        "t.csv:3: iterations_per_s: expected a number from 0 to 1e+09, got \"-1\"\n"
        "t.csv:4: model: expected a name, got nothing\n"
        "t.csv:6: model: the throughput of \"resnet\" on 2 GPUs of type \"k80\" is on line 5 already\n");
  CHECK(refused_table("model,type,gpu,iterations_per_s\n") ==
        "t.csv:1: unknown column \"gpu\"; did you mean \"gpus\"?\n");
  CHECK(refused_table("model,type,gpus,iterations_per_s,spread_iterations_per_s\nresnet,v100,2,0,1\n") ==
        "t.csv:2: spread_iterations_per_s: a rate on several servers without one on as few as can hold the job\n");
}

TEST_CASE("job lists: a deadline is after the submission, and is written as it was read") {
  const std::string list = "job_id,submit_s,gpus,duration_s,deadline_s\na,10,1,5,20.5\nb,0,1,5,\n";
  const auto jobs = parse_job_list(list, "jobs.csv");
  CHECK(jobs[0].deadline == Time::milliseconds(10'500));  // after its submission
  CHECK_FALSE(jobs[1].deadline);
  CHECK(job_list_csv(jobs) == list);
  CHECK(refused_jobs("a,10,1,5,10\nb,10,1,5,soon\n") ==
        "jobs.csv:2: deadline_s: expected a time after the submission at 10 s, got 10\n"
        "jobs.csv:3: deadline_s: expected a number >= 0, got \"soon\"\n");
}
