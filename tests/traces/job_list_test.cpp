#include "traces/job_list.hpp"

#include "sim/error.hpp"

#include <cstdlib>
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
constexpr const char* kHeader = "job_id,submit_ms,model,gpus,iterations\n";
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

TEST_CASE("every bad row is reported, with its line, column and a hint") {
  const std::string all = complaints(std::string{kHeader} +
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

TEST_CASE("headers that can't be meant") {
  CHECK(complaints("job_id,submit_ms,modell,gpus,iterations\n") ==
        "jobs.csv:1: unknown column \"modell\"; did you mean \"model\"?\njobs.csv:1: no column \"model\"");
  CHECK(complaints("job_id,model,gpus,iterations\n") == "jobs.csv:1: no column \"submit_ms\" (or \"submit_s\")");
  CHECK(complaints("job_id,submit_ms,submit_s,model,gpus,iterations,gpus\n") ==
        "jobs.csv:1: column \"gpus\" appears twice\n"
        "jobs.csv:1: both submit_ms and submit_s are given; expected one of them");
  CHECK(complaints(kHeader).find("the list has no jobs") != std::string::npos);
  CHECK(complaints("") == "jobs.csv: the file is empty; expected a header line");
}

TEST_CASE("a missing file is an error that names it") {
  CHECK_THROWS_WITH_AS(static_cast<void>(read_job_list("no/such/file.csv")),
                       "no/such/file.csv: can't be read: No such file or directory", InputError);
  CHECK_THROWS_AS(static_cast<void>(read_job_list("tests")), InputError);
}

TEST_CASE("the job lists of the contention study" * doctest::skip(std::getenv("CONTEND_DATA") == nullptr)) {
  const std::string data = std::getenv("CONTEND_DATA");
  for (const char* file : {"jobs_1.csv", "jobs_3.csv", "jobs_5.csv"})
    CHECK(read_job_list(data + "/ada_srsf/" + file).size() == 160);
}
