// These tests compare the backfilling policies with references that examine all jobs at every event, and check that the
// policies keep their promises.

#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/policies/scheduling_kit.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

struct Job {
  std::int64_t submit = 0, width = 0, duration = 0, estimate = 0;
};
using Starts = std::vector<std::int64_t>;

struct Reference {
  Starts starts;
  Starts promised;  ///< the latest start that a job was promised first; -1: it was promised none
};

/// Estimates are never too short.
std::vector<Job> random_jobs(std::uint64_t seed, std::int64_t gpus) {
  RandomStream stream{seed, "backfill"};
  std::vector<Job> jobs;
  std::int64_t submit = 0;
  for (int j = 0; j < 60; ++j) {
    submit += stream.uniform_integer(0, 6);
    const std::int64_t duration = stream.uniform_integer(1, stream.uniform() < 0.3 ? 50 : 8);
    const std::int64_t more = stream.uniform() < 0.5 ? 0 : stream.uniform_integer(0, 30);
    jobs.push_back({submit, stream.uniform_integer(1, stream.uniform() < 0.3 ? gpus : 3), duration, duration + more});
  }
  return jobs;
}

/// The events and the running jobs. Both references use it.
class Stage {
 public:
  Stage(const std::vector<Job>& jobs, std::int64_t gpus) : jobs_{jobs}, free{gpus} {
    reference.starts.assign(jobs.size(), -1);
    reference.promised.assign(jobs.size(), -1);
  }
  /// Moves to the next instant; false at the end.
  bool advance(std::int64_t wakeup = INT64_MAX) {
    std::int64_t next = arrived_ < jobs_.size() ? jobs_[arrived_].submit : INT64_MAX;
    for (const std::size_t j : running) next = std::min(next, end(j));
    if (next == INT64_MAX && waiting.empty()) return false;
    now = std::min(next, wakeup);
    ended_early = false;
    std::erase_if(running, [&](std::size_t j) {
      if (end(j) > now) return false;
      ended_early = ended_early || jobs_[j].duration < jobs_[j].estimate;
      free += jobs_[j].width;
      return true;
    });
    for (; arrived_ < jobs_.size() && jobs_[arrived_].submit <= now; ++arrived_) waiting.push_back(arrived_);
    return true;
  }
  void start(std::size_t j) {
    std::erase(waiting, j);
    reference.starts[j] = now;
    free -= jobs_[j].width;
    running.push_back(j);
  }
  [[nodiscard]] std::int64_t estimated_end(std::size_t j) const { return reference.starts[j] + jobs_[j].estimate; }

 private:
  [[nodiscard]] std::int64_t end(std::size_t j) const { return reference.starts[j] + jobs_[j].duration; }
  const std::vector<Job>& jobs_;
  std::size_t arrived_ = 0;

 public:
  std::int64_t free, now = 0;
  bool ended_early = false;  ///< a job at this instant
  std::vector<std::size_t> waiting, running;
  Reference reference;
};

Reference easy(const std::vector<Job>& jobs, std::int64_t gpus) {
  Stage stage{jobs, gpus};
  while (stage.advance()) {
    while (!stage.waiting.empty() && jobs[stage.waiting.front()].width <= stage.free)
      stage.start(stage.waiting.front());
    if (stage.waiting.empty()) continue;
    const std::size_t first = stage.waiting.front();
    std::multimap<std::int64_t, std::int64_t> ends;
    for (const std::size_t j : stage.running) ends.emplace(stage.estimated_end(j), jobs[j].width);
    std::int64_t then = stage.free, reserved = -1;
    for (const auto& [end, width] : ends) {
      if (reserved >= 0 && end > reserved) break;
      then += width;
      if (then >= jobs[first].width) reserved = end;
    }
    std::int64_t extra = then - jobs[first].width;
    if (stage.reference.promised[first] < 0) stage.reference.promised[first] = reserved;
    const std::vector<std::size_t> behind{stage.waiting.begin() + 1, stage.waiting.end()};
    for (const std::size_t j : behind) {
      const bool ends_before = stage.now + jobs[j].estimate <= reserved;
      if (jobs[j].width > stage.free || !(ends_before || jobs[j].width <= extra)) continue;
      if (!ends_before) extra -= jobs[j].width;
      stage.start(j);
    }
  }
  return stage.reference;
}

/// Returns the first start at which `j` fits beside all running jobs and all other plans, searched second by second.
std::int64_t earliest(const std::vector<Job>& jobs, const Stage& stage, std::int64_t gpus,
                      const std::map<std::size_t, std::int64_t>& plans, std::size_t j) {
  const auto fits = [&](std::int64_t t) {
    std::int64_t used = jobs[j].width;
    for (const std::size_t other : stage.running) used += stage.estimated_end(other) > t ? jobs[other].width : 0;
    for (const auto& [other, start] : plans) {
      if (other != j && start <= t && t < start + jobs[other].estimate) used += jobs[other].width;
    }
    return used <= gpus;
  };
  std::int64_t start = stage.now;
  for (std::int64_t t = start; t < start + jobs[j].estimate; ++t) {
    if (!fits(t)) start = t + 1;
  }
  return start;
}

Reference conservative(const std::vector<Job>& jobs, std::int64_t gpus) {
  Stage stage{jobs, gpus};
  std::map<std::size_t, std::int64_t> plans;
  std::int64_t wakeup = INT64_MAX;
  while (stage.advance(wakeup)) {
    for (const std::size_t j : stage.waiting) {  // jobs with a promise first, then new jobs
      if (plans.contains(j) && !stage.ended_early) continue;
      const std::int64_t start = earliest(jobs, stage, gpus, plans, j);
      if (!plans.contains(j)) stage.reference.promised[j] = start;
      plans[j] = start;
    }
    wakeup = INT64_MAX;
    const std::vector<std::size_t> waiting = stage.waiting;
    for (const std::size_t j : waiting) {
      if (plans[j] == stage.now) {
        stage.start(j);
        plans.erase(j);
      } else {
        wakeup = std::min(wakeup, plans[j]);
      }
    }
  }
  return stage.reference;
}

Starts simulated(const char* policy, const std::vector<Job>& jobs, std::int64_t gpus) {
  std::vector<JobSpec> specs;
  for (const Job& job : jobs) {
    specs.push_back(timed_job(job.submit, static_cast<int>(job.width), job.duration));
    if (job.estimate != job.duration) specs.back().limit = Time::seconds(job.estimate);
  }
  Starts starts;
  for (const JobResult& job : play({policy, {}}, static_cast<int>(gpus), specs).result.jobs) {
    starts.push_back(job.start.ns() / 1'000'000'000);
  }
  return starts;
}

/// The number of promises.
int check_promises(const Reference& reference) {
  int promises = 0;
  for (std::size_t j = 0; j < reference.starts.size(); ++j) {
    if (reference.promised[j] < 0) continue;
    CHECK(reference.starts[j] <= reference.promised[j]);
    ++promises;
  }
  return promises;
}

}  // namespace

TEST_CASE("easy: the same schedule as a reference; the first in the queue starts when it was promised or before") {
  int promises = 0, backfilled = 0;
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{40}); ++seed) {
    const std::int64_t gpus = 4 + static_cast<std::int64_t>(seed % 7);
    const std::vector<Job> jobs = random_jobs(seed, gpus);
    const Reference reference = easy(jobs, gpus);
    INFO("seed ", seed);
    CHECK(simulated("easy", jobs, gpus) == reference.starts);
    promises += check_promises(reference);
    backfilled += std::is_sorted(reference.starts.begin(), reference.starts.end()) ? 0 : 1;
  }
  CHECK(promises > effort(400));
  CHECK(backfilled > effort(20));
}

TEST_CASE("conservative: the same schedule as a reference; every job starts when it was promised or before") {
  int different = 0, promises = 0;
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{40}); ++seed) {
    const std::int64_t gpus = 4 + static_cast<std::int64_t>(seed % 7);
    const std::vector<Job> jobs = random_jobs(seed, gpus);
    const Reference reference = conservative(jobs, gpus);
    INFO("seed ", seed);
    CHECK(simulated("conservative", jobs, gpus) == reference.starts);
    promises += check_promises(reference);
    different += reference.starts != easy(jobs, gpus).starts ? 1 : 0;
  }
  CHECK(different > effort(20));  // the two policies differ
  CHECK(promises > effort(1000));
}
