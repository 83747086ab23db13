// Job lists that are scaled: jobs of iterations, loads, and what can't be scaled.
#include "models/workloads/scaling.hpp"

#include "sim/error.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

using namespace contend;

namespace {

JobRequest iterating(const char* name, std::int64_t submit_s, std::int64_t iterations) {
  JobRequest job;
  job.name = name;
  job.submit = Time::seconds(submit_s);
  job.model = "vgg16";  // 36 ms forward, 54 ms backward
  job.iterations = iterations;
  return job;
}

}  // namespace

TEST_CASE("jobs of iterations are scaled by their iterations, and count with the time that they compute") {
  const std::vector<JobRequest> list{iterating("a", 0, 1000), iterating("b", 90, 10)};
  WorkloadScaling scaling;
  scaling.durations = 2.5;
  scaling.longest = Time::seconds(90);
  const ScaledList longer = scale_list(list, scaling, {}, 1, 1);
  CHECK(longer.jobs[0].iterations == 1000);  // 2500 would compute for 225 s, 1000 for 90
  CHECK(longer.jobs[1].iterations == 25);
  CHECK(longer.rows == std::vector<std::size_t>{0, 1});

  // 1010 iterations compute for 90.9 s; on 2 GPUs at load 0.1 they arrive in 454.5 s.
  WorkloadScaling load;
  load.load = 0.1;
  CHECK(scale_list(list, load, {}, 2, 1).jobs[1].submit.to_seconds() == near(454.5, 1e-9));
}

TEST_CASE("the iterations of a job with a duration are scaled with it, and stay known if one is left") {
  std::vector<JobRequest> list{iterating("a", 0, 1), iterating("b", 0, 4), iterating("c", 0, 1)};
  for (JobRequest& job : list) job.duration = Time::seconds(100);
  list[0].tells_iterations = list[1].tells_iterations = true;
  WorkloadScaling scaling;
  scaling.durations = 3;
  const ScaledList longer = scale_list(list, scaling, {}, 1, 1);
  CHECK(longer.jobs[0].iterations == 3);
  CHECK(longer.jobs[1].iterations == 12);
  CHECK(longer.jobs[2].iterations == 1);  // not known
  scaling.durations = 0.25;
  const ScaledList shorter = scale_list(list, scaling, {}, 1, 1);
  CHECK(shorter.jobs[1].iterations == 1);
  CHECK(shorter.jobs[1].tells_iterations);
}

TEST_CASE("a factor of 1 changes no nanosecond, and times beyond the clock are refused") {
  std::vector<JobRequest> list{iterating("a", 0, 1), iterating("b", 3'000'000'000, 1)};
  list[1].submit += Time::nanoseconds(1);
  list[1].duration = Time::nanoseconds(2'000'000'000'000'000'001);
  const ScaledList same = scale_list(list, {}, {.subset = 1, .bootstrap = false}, 1, 1);
  CHECK(same.jobs[1].submit == list[1].submit);
  CHECK(same.jobs[1].duration == list[1].duration);
  WorkloadScaling slow, longer;
  slow.rate = 0.5;
  longer.durations = 5;
  CHECK_THROWS_WITH_AS(static_cast<void>(scale_list(list, slow, {}, 1, 1)),
                       "the jobs would arrive over more than 100 years: workload.scaling.rate or load is too small",
                       InputError);
  CHECK_THROWS_WITH_AS(static_cast<void>(scale_list(list, longer, {}, 1, 1)),
                       "workload.scaling.durations: job \"b\" would take more than 292 years", InputError);
}

TEST_CASE("a bootstrap of a subset takes both names and demands from the list") {
  std::vector<JobRequest> list;
  for (int i = 0; i < 100; ++i) list.push_back(iterating("", i, i + 1));
  const ScaledList drawn = scale_list(list, {}, {.subset = 0.5, .bootstrap = true}, 1, 7);
  REQUIRE(drawn.jobs.size() == 50);
  std::size_t moved = 0;
  for (std::size_t i = 0; i < drawn.jobs.size(); ++i) {
    CHECK(drawn.jobs[i].iterations == static_cast<std::int64_t>(drawn.rows[i]) + 1);
    if (drawn.jobs[i].submit != list[drawn.rows[i]].submit) ++moved;
    if (i > 0) CHECK(drawn.jobs[i].submit > drawn.jobs[i - 1].submit);
  }
  CHECK(moved > 40);
}

TEST_CASE("each limit on scaled times is allowed, and a little more is refused with its key") {
  WorkloadScaling twice;
  twice.durations = 2;
  // 9.2e18 is 2 x 4.6e18, and 4.6e18 + 512 the next double.
  std::vector<JobRequest> list{iterating("a", 0, 4'600'000'000'000'000'000)};
  CHECK(scale_list(list, twice, {}, 1, 1).jobs[0].iterations == 9'200'000'000'000'000'000);
  list[0].iterations += 512;
  CHECK_THROWS_WITH_AS(static_cast<void>(scale_list(list, twice, {}, 1, 1)),
                       "workload.scaling.durations: job \"a\" would have 9.2e+18 iterations", InputError);

  list[0].duration = Time::nanoseconds(4'600'000'000'000'000'000);
  CHECK(scale_list(list, twice, {}, 1, 1).jobs[0].duration == Time::nanoseconds(9'200'000'000'000'000'000));
  *list[0].duration += Time::nanoseconds(512);
  CHECK_THROWS_WITH_AS(static_cast<void>(scale_list(list, twice, {}, 1, 1)),
                       "workload.scaling.durations: job \"a\" would take more than 292 years", InputError);

  // At half the rate the last of two jobs comes at exactly 100 years, or 2 us later.
  WorkloadScaling half;
  half.rate = 0.5;
  list = {iterating("a", 1000, 1), iterating("b", 0, 1)};
  list[1].submit = list[0].submit + Time::nanoseconds((kLongestJobTime - list[0].submit).ns() / 2);
  CHECK(scale_list(list, half, {}, 1, 1).jobs[1].submit == kLongestJobTime);
  list[1].submit += Time::microseconds(1);
  CHECK_THROWS_WITH_AS(static_cast<void>(scale_list(list, half, {}, 1, 1)), doctest::Contains("100 years"), InputError);
}

TEST_CASE("the largest size counts as small enough, and jobs at one time or without GPU time give no load") {
  std::vector<JobRequest> list{iterating("a", 5, 10), iterating("b", 5, 10)};
  list[0].gpus = 4;
  list[1].gpus = 5;
  WorkloadScaling scaling;
  scaling.largest = 4;
  const ScaledList small = scale_list(list, scaling, {}, 1, 1);
  REQUIRE(small.jobs.size() == 1);
  CHECK(small.jobs[0].name == "a");
  scaling.largest = 3;
  CHECK_THROWS_WITH_AS(static_cast<void>(scale_list(list, scaling, {}, 1, 1)),
                       "workload.scaling.largest: the list has no job of at most 3 GPUs", InputError);

  WorkloadScaling load;
  load.load = 1;
  CHECK_THROWS_WITH_AS(static_cast<void>(scale_list(list, load, {}, 1, 1)),
                       doctest::Contains("all jobs of the list are submitted at the same time"), InputError);
  list[1].submit = Time::seconds(6);
  for (JobRequest& job : list) job.duration = Time{};
  CHECK_THROWS_WITH_AS(static_cast<void>(scale_list(list, load, {}, 1, 1)),
                       "workload.scaling.load: the jobs of the list need no GPU time", InputError);
}

TEST_CASE("a bootstrap draws from the first job to the last, and from no other") {
  const std::vector<JobRequest> list{iterating("a", 0, 1), iterating("b", 1, 2), iterating("c", 2, 3)};
  std::vector<std::size_t> times(3);
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    for (const std::size_t row : scale_list(list, {}, {.subset = 1, .bootstrap = true}, 1, seed).rows) {
      REQUIRE(row < 3);
      ++times[row];
    }
  }
  // A third of 300 each, with a standard deviation of 8.
  for (const std::size_t each : times) CHECK(each > 60);
  const ScaledList alone = scale_list(std::span{list}.first(1), {}, {.subset = 1, .bootstrap = true}, 1, 1);
  CHECK(alone.rows == std::vector<std::size_t>{0});
}
