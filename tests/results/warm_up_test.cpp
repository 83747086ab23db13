// Where a warm-up ends: cuts by hand, and a queue whose waits are known.
#include "results/warm_up.hpp"

#include "sim/random_stream.hpp"
#include "sim/statistics.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace contend {
namespace {

/// Five values around each mean.
std::vector<double> batches(const std::vector<double>& means) {
  std::vector<double> values;
  for (const double each : means)
    for (const double off : {-2.0, 1.0, 0.0, 2.0, -1.0}) values.push_back(each + off);
  return values;
}

/// `count` batches with the means 9, 11, 9, ... after those given.
std::vector<double> then_even(std::vector<double> first, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) first.push_back(i % 2 == 0 ? 9 : 11);
  return first;
}

/// A run of jobs that are submitted every second and wait so long; each runs for 10 s.
StoredReplica waiting_run(const std::vector<double>& waits_s) {
  StoredReplica run;
  for (std::size_t i = 0; i < waits_s.size(); ++i) {
    StoredJob job;
    job.name = fmt::format("j{}", i);
    job.state = JobState::finished;
    job.submit = Time::seconds(static_cast<std::int64_t>(i));
    job.waited = Time::nanoseconds(static_cast<std::int64_t>(waits_s[i] * 1e9));
    job.start = job.submit + *job.waited;
    job.finish = *job.start + Time::seconds(10);
    run.jobs.push_back(job);
  }
  return run;
}

}  // namespace

TEST_CASE("MSER-5 cuts where the rest is known best, by hand") {
  // Four batches of 0, then sixteen around 10. After the fourth the squares are 16 / 16^2 = 0.0625; after the third one
  // 0 is left: (16 + 100 * 16 / 17) / 17^2 = 0.381; after the fifth (15 - 1 / 15) / 15^2 = 0.0664.
  CHECK(mser_5(batches(then_even({0, 0, 0, 0}, 16))) == 20);
  CHECK(mser_5(batches(then_even({}, 20))) == 0);
  // Three last batches that are alike have no scatter, but are too few to be left alone: 0.0425 of all beats 2 / 5^2.
  std::vector<double> means = then_even({}, 17);
  means.insert(means.end(), 3, 10.0);
  CHECK(mser_5(batches(means)) == 0);
  // Values after the last whole batch don't count.
  std::vector<double> values = batches(then_even({0, 0, 0, 0}, 16));
  values.insert(values.end(), 4, 1e6);
  CHECK(mser_5(values) == 20);
  // Of equal cuts the first: nothing varies.
  CHECK(mser_5(std::vector<double>(100, 3.0)) == 0);
  values.resize(99);
  CHECK_FALSE(mser_5(values).has_value());
}

TEST_CASE("the window begins at the first job after the cut, at a handy time, and its mean is the mean of the rest") {
  std::vector<double> waits = batches(then_even(std::vector<double>(24, 2), 96));
  const WarmUp found = find_warm_up(std::vector{waiting_run(waits)});
  CHECK(found.verdict == WarmUp::Verdict::found);
  CHECK(found.of_waiting);
  CHECK(found.jobs == 600);
  CHECK(found.cut == 120);
  CHECK(found.from == Time::seconds(120));
  CHECK(found.mean_s == near(0.2 * 2 + 0.8 * 10));
  CHECK(found.mean_after_s == near(10));

  // A second run whose jobs come 1000 s later: its time counts, rounded up to whole minutes beyond 100 of them.
  StoredReplica later = waiting_run(waits);
  for (StoredJob& job : later.jobs)
    for (Time* time : {&job.submit, &*job.start, &*job.finish}) *time += Time::seconds(6000);
  CHECK(find_warm_up(std::vector{waiting_run(waits), later}).from == Time::seconds(6120));
  for (StoredJob& job : later.jobs) job.submit += Time::seconds(1);
  CHECK(find_warm_up(std::vector{waiting_run(waits), later}).from == Time::seconds(6180));
}

TEST_CASE("only measured jobs that finished are in the series, in order of submission; without waits their JCT is") {
  const std::vector<double> waits = batches(then_even(std::vector<double>(4, 2), 16));
  StoredReplica run = waiting_run(waits);
  std::reverse(run.jobs.begin(), run.jobs.end());
  CHECK(find_warm_up(std::vector{run}).cut == 20);
  for (StoredJob& job : run.jobs)
    if (job.submit < Time::seconds(5)) job.measured = false;
  CHECK(find_warm_up(std::vector{run}).verdict == WarmUp::Verdict::too_few);

  StoredReplica idle = waiting_run(std::vector<double>(100, 0));
  for (std::size_t i = 0; i < idle.jobs.size(); ++i) *idle.jobs[i].finish += Time::seconds(i < 20 ? 100 : 0);
  const WarmUp found = find_warm_up(std::vector{idle});
  CHECK_FALSE(found.of_waiting);
  CHECK(found.cut == 20);
  CHECK(found.mean_after_s == near(10));
}

TEST_CASE("a trend that lasts to the end is no warm-up that has ended") {
  std::vector<double> waits;
  for (int i = 0; i < 200; ++i) waits.push_back(i);
  const WarmUp found = find_warm_up(std::vector{waiting_run(waits)});
  CHECK(found.verdict == WarmUp::Verdict::undecided);
  CHECK(found.from == Time{});
  CHECK(found.mean_after_s == found.mean_s);
}

TEST_CASE("what is left of a queue that begins empty has its long-run mean wait") {
  // M/M/1 at load 0.7 with services of 1 s: the mean wait is 0.7 / (1 - 0.7) s (Kleinrock, 1975). Waits by Lindley.
  constexpr int kRuns = 200, kJobs = 600;
  constexpr double kLoad = 0.7, kMeanWait = kLoad / (1 - kLoad);
  std::vector<StoredReplica> runs;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    RandomStream stream{seed, "warm-up/test"};
    std::vector<double> waits;
    double wait = 0;
    for (int i = 0; i < kJobs; ++i) {
      waits.push_back(wait);
      const double service = stream.exponential(1), gap = stream.exponential(1 / kLoad);
      wait = std::max(0.0, wait + service - gap);
    }
    runs.push_back(waiting_run(waits));
  }
  const WarmUp found = find_warm_up(runs);
  CHECK(found.verdict == WarmUp::Verdict::found);
  CHECK(found.cut >= 10);
  CHECK(found.cut <= 200);
  CHECK(found.mean_after_s > found.mean_s);
  CHECK(found.mean_after_s == near(kMeanWait, 0.06));
  REQUIRE(found.tenths_s.size() == 10);
  CHECK(found.tenths_s.front() < found.mean_after_s);
  CHECK(mean(found.tenths_s) == near(found.mean_s));
}

}  // namespace contend
