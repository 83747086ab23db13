// Columns of jobs that train, worked out by hand.

#include "results/result_columns.hpp"

#include <algorithm>
#include <string_view>
#include <variant>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("columns of training: tokens, flops, and shares of the peak with and without what is computed again") {
  JobResult job;
  job.gpus = 4;
  job.iterations = job.iterations_done = 5;
  job.held = Time::seconds(10);  // two seconds an iteration
  job.traffic.emplace();
  job.notes.work =
      TrainingWork{.tokens = 1000, .model_flops = 8e12, .hardware_flops = 12e12, .peak_flops = 2e12, .memory_gib = 3};
  const auto value = [&](std::string_view name) {
    const auto columns = job_columns();
    const auto column = std::ranges::find(columns, name, &Column<JobResult>::name);
    REQUIRE(column != columns.end());
    return std::get<double>(column->value(job));
  };
  CHECK(value("tokens_per_second") == 500);
  CHECK(value("tflops_per_gpu") == 1);
  CHECK(value("mfu") == 0.5);
  CHECK(value("hfu") == 0.75);

  // 3 x 5e-9 / 5e-9 is 3.0000000000000004 in floating point.
  job.elastic = true;
  job.held = Time::nanoseconds(5);
  job.gpu_time = GpuTime{job.held, 3};
  CHECK(*job.mean_gpus() != 3);
  CHECK(value("mean_gpus") == 3);
  job.gpu_time += GpuTime{Time::nanoseconds(2), 1};
  CHECK(value("mean_gpus") == 17.0 / 5);
}
