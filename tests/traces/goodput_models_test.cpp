// Tables of goodput models, and elastic jobs in job lists.

#include "traces/goodput_models.hpp"

#include "sim/error.hpp"
#include "tests/complaint_lines.hpp"
#include "tests/near.hpp"
#include "traces/job_list.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

const std::string kGoodputHeader =
    "model,type,alpha_c_s,beta_c_s,alpha_n_s,beta_n_s,alpha_r_s,beta_r_s,gamma,batch,min_local_batch,max_local_batch,"
    "max_batch,accumulates,sqr,var\n";

std::string refused_models(const std::string& rows) {
  return complaint_lines([&] { static_cast<void>(parse_goodput_models(kGoodputHeader + rows, "g.csv")); });
}

}  // namespace

TEST_CASE("goodput models: a row has the times of a step, the batches and the noise") {
  const GoodputTable table = parse_goodput_models(
      kGoodputHeader + "m,,1,2,3,4,5,6,1.5,32,2,16,64,1,0.5,0.25\nm,t4,1,2,3,4,5,6,2,32,2,16,,,,\n", "g");
  const GoodputModel& any = table.at({"m", ""});
  CHECK(any.step.alpha_c == 1);
  CHECK(any.step.beta_r == 6);
  CHECK(any.step.gamma == 1.5);
  CHECK(any.batch.initial == 32);
  CHECK(any.batch.largest == 64);
  CHECK(any.batch.least_local == 2);
  CHECK(any.batch.most_local == 16);
  CHECK(any.batch.accumulates);
  CHECK(any.noise.sqr == 0.5);
  CHECK(any.noise.var == 0.25);
  CHECK_FALSE(table.at({"m", "t4"}).batch.largest.has_value());
}

TEST_CASE("goodput models: faults are named with their line and column") {
  CHECK(refused_models("m,,1,2,3,4,5,6,0.5,32,2,16,,,,\n").find("gamma: expected a number from 1 to 10, got \"0.5\"") !=
        std::string::npos);
  CHECK(refused_models("m,,1,2,3,4,5,6,1,32,20,16,,,,\n").find("the largest batch of a GPU is smaller") !=
        std::string::npos);
  CHECK(refused_models("m,,1,2,3,4,5,6,1,32,2,16,8,,1,1\n").find("max_batch: expected at least the batch of 32") !=
        std::string::npos);
  CHECK(refused_models("m,,1,2,3,4,5,6,1,32,2,16,64,,,\n").find("sqr: expected a number") != std::string::npos);
  CHECK(refused_models("m,,1,2,3,4,5,6,1,32,2,16,,,1,1\n").find("noise of gradients counts only where") !=
        std::string::npos);
  CHECK(refused_models("m,,0,0,3,4,5,6,1,32,2,16,,,,\n").find("a gradient takes no time") != std::string::npos);
  CHECK(refused_models("m,,1,2,3,4,5,6,1,3.5,2,16,,,,\n").find("whole number of samples") != std::string::npos);
  CHECK(refused_models("m,,1,2,3,4,5,6,1,32,2,16,,,,\nm,,1,2,3,4,5,6,1,32,2,16,,,,\n").find("on line 2 already") !=
        std::string::npos);
}

TEST_CASE("job lists: elastic jobs come back as they were written") {
  const std::vector<JobRequest> jobs = parse_job_list(
      "job_id,submit_s,gpus,min_gpus,max_gpus,duration_s\na,0,4,1,8,10\nb,1,4,,8,10\nc,2,4,,,10\nd,3,4,2,,10\n", "j");
  CHECK(jobs[0].min_gpus == 1);
  CHECK(jobs[0].max_gpus == 8);
  CHECK(jobs[1].min_gpus == 4);
  CHECK_FALSE(jobs[2].elastic());
  CHECK(jobs[3].max_gpus == 4);
  const std::vector<JobRequest> again = parse_job_list(job_list_csv(jobs), "j");
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    CHECK(again[j].min_gpus == jobs[j].min_gpus);
    CHECK(again[j].max_gpus == jobs[j].max_gpus);
  }
}
