// Bounds that no policy beats: by hand, and against the best of all schedules of short lists.

#include "sim/bounds.hpp"
#include "sim/graph.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

LeastWork least_of_gang(std::int64_t submit_s, std::int64_t time_s, int gpus) {
  const Time time = Time::seconds(time_s);
  return {Time::seconds(submit_s), time, GpuTime{time, gpus}};
}

/// A job of a list in whole seconds.
struct SlotJob {
  int submit = 0, time = 1, gpus = 1;
};

/// The least sum of completion times, and the least last end, over all schedules that may preempt at whole seconds. It
/// goes through all sets of jobs that fit in each second.
class BestSchedule {
 public:
  BestSchedule(std::vector<SlotJob> jobs, int gpus) : jobs_{std::move(jobs)}, gpus_{gpus} {}

  std::pair<int, int> best() {
    std::vector<int> left;
    for (const SlotJob& job : jobs_) left.push_back(job.time);
    return best(0, left);
  }

 private:
  std::pair<int, int> best(int now, const std::vector<int>& left) {
    if (std::ranges::all_of(left, [](int each) { return each == 0; })) return {0, 0};
    const auto [known, is_new] = known_.try_emplace({now, left}, std::pair{INT_MAX, INT_MAX});
    if (!is_new) return known->second;
    std::pair<int, int> least{INT_MAX, INT_MAX};
    bool waits_for_some = false;
    for (std::size_t j = 0; j < jobs_.size(); ++j) waits_for_some = waits_for_some || jobs_[j].submit > now;
    for (unsigned set = waits_for_some ? 0 : 1; set < 1U << jobs_.size(); ++set) {
      std::vector<int> after = left;
      int used = 0, ends = 0;
      bool fits = true;
      for (std::size_t j = 0; j < jobs_.size(); ++j) {
        if ((set >> j & 1U) == 0) continue;
        fits = fits && left[j] > 0 && jobs_[j].submit <= now;
        used += jobs_[j].gpus;
        if (--after[j] == 0) ends += now + 1;
      }
      if (!fits || used > gpus_) continue;
      const auto [sum, last] = best(now + 1, after);
      if (sum == INT_MAX) continue;
      least.first = std::min(least.first, ends + sum);
      least.second = std::min(least.second, std::max(last, ends > 0 ? now + 1 : 0));
    }
    return known_[{now, left}] = least;
  }

  std::vector<SlotJob> jobs_;
  int gpus_;
  std::map<std::pair<int, std::vector<int>>, std::pair<int, int>> known_;
};

RunResult finished_as_submitted(const Workload& workload) {
  RunResult result;
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    JobResult job;
    job.id = JobId{j};
    job.state = JobState::finished;
    job.submit = workload.jobs[j].submit;
    job.finish = Time::seconds(1000);
    job.follows = !workload.jobs[j].after.empty();
    result.jobs.push_back(job);
  }
  return result;
}

ClusterSpec two_gpus() {
  ClusterSpec cluster;
  cluster.servers = 1;
  cluster.gpus_per_server = 2;
  cluster.gpu_memory = Bytes{1};
  return cluster;
}

JobSpec lasting_job(int gpus, std::int64_t duration_s) {
  JobSpec job;
  job.gpus = gpus;
  job.duration = Time::seconds(duration_s);
  return job;
}

LowerBounds bounds_of(const Workload& workload, const BoundRules& rules = {}) {
  RunResult result = finished_as_submitted(workload);
  add_lower_bounds(two_gpus(), workload, rules, result);
  return result.bounds;
}

}  // namespace

TEST_CASE("bounds of two gangs on two GPUs by hand") {
  // 4 s on one GPU and 2 s on two: 8 GPU seconds, so both end at 4 or later. On one machine of twice the speed each
  // takes 2 s: ends 2 + 4 = 6, mean busy times 1 + 3 = 4, with half of the least times 7. The best schedule ends at 2
  // and 6.
  const LowerBounds bounds = lower_bounds(std::vector{least_of_gang(0, 4, 1), least_of_gang(0, 2, 2)}, 2, Time{});
  CHECK(bounds.avg_jct_s == near(3.5));
  CHECK(bounds.makespan_s == near(4));
  // Without relaxations: (4 + 2) / 2.
  CHECK(lower_bounds(std::vector{least_of_gang(0, 4, 1), least_of_gang(0, 2, 2)}, 2, Time{}, false).avg_jct_s ==
        near(3));
}

TEST_CASE("bounds with submissions by hand") {
  // One GPU: 10 s from 0, 2 s from 1. By shortest remaining work the second ends at 3, the first at 12.
  const LowerBounds one = lower_bounds(std::vector{least_of_gang(0, 10, 1), least_of_gang(1, 2, 1)}, 1, Time{});
  CHECK(one.avg_jct_s == near((12 + 2) / 2.0));
  CHECK(one.makespan_s == near(12));
  // Area after a late submission: 2 jobs of 3 s on one GPU from 20 on; the makespan counts from the first submission.
  const std::vector late{least_of_gang(5, 1, 1), least_of_gang(20, 3, 1), least_of_gang(20, 3, 1)};
  CHECK(lower_bounds(late, 1, Time::seconds(5)).makespan_s == near(21));
  CHECK(std::isnan(lower_bounds({}, 1, Time{}).avg_jct_s));
}

TEST_CASE("no schedule of a short list is below its bounds, and on one GPU the best one meets them") {
  RandomStream random{68, "bounds"};
  for (int round = 0; round < effort(10'000); ++round) {
    const int gpus = static_cast<int>(random.uniform_integer(1, 3));
    std::vector<SlotJob> jobs(static_cast<std::size_t>(random.uniform_integer(1, 4)));
    std::vector<LeastWork> least;
    int submits = 0, first = INT_MAX;
    for (SlotJob& job : jobs) {
      job = {static_cast<int>(random.uniform_integer(0, 3)), static_cast<int>(random.uniform_integer(1, 3)),
             static_cast<int>(random.uniform_integer(1, gpus))};
      least.push_back(least_of_gang(job.submit, job.time, job.gpus));
      submits += job.submit;
      first = std::min(first, job.submit);
    }
    const auto [sum, last] = BestSchedule{jobs, gpus}.best();
    const LowerBounds bounds = lower_bounds(least, gpus, Time::seconds(first));
    const double best_jct = (sum - submits) / static_cast<double>(jobs.size());
    CHECK(bounds.avg_jct_s <= best_jct * (1 + 1e-12));
    CHECK(bounds.makespan_s <= (last - first) * (1 + 1e-12));
    if (gpus > 1) continue;
    CHECK(bounds.avg_jct_s == near(best_jct));
    CHECK(bounds.makespan_s == near(last - first));
  }
}

TEST_CASE("what a job with a duration needs at least") {
  Workload workload;
  workload.jobs = {lasting_job(2, 100)};
  CHECK(bounds_of(workload).makespan_s == near(100));
  workload.jobs[0].attempts = {Time::seconds(30)};  // before the last one
  CHECK(bounds_of(workload).makespan_s == near(130));
  CHECK(bounds_of(workload, {.limits_attempts = true}).makespan_s == near(30));  // it may end after the first
  workload.jobs[0].limit = Time::seconds(20);
  CHECK(bounds_of(workload).makespan_s == near(130));
  CHECK(bounds_of(workload, {.kills_at_limit = true}).makespan_s == near(20));

  workload.jobs = {lasting_job(2, 100), lasting_job(2, 100)};
  CHECK(bounds_of(workload).makespan_s == near(200));
  CHECK(bounds_of(workload).avg_jct_s == near(150));
  CHECK(bounds_of(workload, {.counts_gpu_time = false}).makespan_s == near(100));  // they may share GPUs
  for (JobSpec& job : workload.jobs) job.gpu_share = 250;
  CHECK(bounds_of(workload).makespan_s == near(100));
  // A job that comes after another: policies decide when it is submitted, so shortest remaining work says nothing.
  for (JobSpec& job : workload.jobs) job.gpu_share = 0;
  workload.jobs[1].after = {JobId{0u}};
  CHECK(bounds_of(workload).makespan_s == near(200));
  CHECK(bounds_of(workload).avg_jct_s == near(100));
}

TEST_CASE("the fastest servers and the best number of GPUs bound a job") {
  Workload workload;
  workload.jobs = {lasting_job(2, 100)};
  workload.jobs[0].pace = 0;
  workload.paces = {{JobPace{kNominalPace, 0, -1}, JobPace{kNominalPace / 4, 0, -1}, JobPace{0, 0, -1}}};
  CHECK(bounds_of(workload).makespan_s == near(25));
  // Elastic: 100 s on 2 GPUs, 150 s on 1. Two of them need 2 x 150 GPU seconds at least, and 100 s each.
  workload.jobs = {lasting_job(2, 100), lasting_job(2, 100)};
  for (JobSpec& job : workload.jobs) job.sizes = 0;
  workload.sizes = {{JobSize{1, {JobPace{kNominalPace * 3 / 2, 0, -1}}}, JobSize{2, {JobPace{}}}}};
  CHECK(bounds_of(workload).makespan_s == near(150));
}

TEST_CASE("the computing of its ranks bounds a job of iterations") {
  Workload workload;
  workload.graphs.push_back(graph_from_text("role w 2 | compute f w 3 | all-reduce g w 8 | f -> g | g => f"));
  JobSpec job;
  job.gpus = 2;
  job.iterations = 1'000'000'000;  // 3 ns each
  workload.jobs = {job, job};
  CHECK(bounds_of(workload).makespan_s == near(6));
  CHECK(bounds_of(workload).avg_jct_s == near(4.5));
}
