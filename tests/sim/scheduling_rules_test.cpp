// Tests the rules of scheduling outside the policy: checkpoints, the penalty for scattered jobs, and the reasons for
// which jobs wait. Times are in ns.

#include "sim/scheduling_rules.hpp"

#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/sim/test_kit.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// The progress of a segment after each ns, one after the other, until its end.
std::vector<WorkDone> every_ns(const WorkSegment& segment, const PreemptionCosts& costs) {
  std::vector<WorkDone> all{{}};
  const auto pass = [&](std::int64_t ns, auto change) {
    for (std::int64_t i = 1; i <= ns; ++i) {
      all.push_back(all.back());
      change(all.back(), i);
    }
  };
  const auto pause = [&](Time length) {
    pass(length.ns(), [](WorkDone& now, std::int64_t) { now.overhead += Time::nanoseconds(1); });
  };
  pause(segment.restart);
  const bool is_saved_continuously = costs.checkpoint_interval == Time{};
  for (Time left = segment.work; left > Time{};) {
    const Time chunk = is_saved_continuously ? left : std::min(left, costs.checkpoint_interval);
    const Time before = all.back().done;
    pass((chunk.ns() * segment.pace + 999) / 1000, [&](WorkDone& now, std::int64_t ns) {
      now.done = before + std::min(chunk, Time::nanoseconds(ns * 1000 / segment.pace));
      if (is_saved_continuously) now.saved = now.done;
    });
    left -= chunk;
    if (left == Time{}) break;  // no checkpoint at the end
    pause(costs.checkpoint);
    all.back().saved = all.back().done;
  }
  all.back().saved = all.back().done;
  return all;
}

JobSpec timed_job(std::int64_t submit, std::int64_t duration, int gpus) {
  JobSpec job;
  job.submit = Time::nanoseconds(submit);
  job.duration = Time::nanoseconds(duration);
  job.gpus = gpus;
  job.memory_per_gpu = Bytes{1};
  return job;
}

}  // namespace

TEST_CASE("the delay of retries grows by its factor up to a limit") {
  RetryRule rule;
  rule.delay = Time::seconds(10);
  for (const int retry : {1, 2, 50}) CHECK(rule.delay_before(retry) == Time::seconds(10));
  rule.growth = 2000;
  rule.max_delay = Time::seconds(360);  // as Kubernetes: 10 s, 20 s, 40 s, ... 6 min
  const std::vector<int> seconds{10, 20, 40, 80, 160, 320, 360, 360};
  for (std::size_t i = 0; i < seconds.size(); ++i)
    CHECK(rule.delay_before(static_cast<int>(i) + 1) == Time::seconds(seconds[i]));
  CHECK(rule.delay_before(1000) == Time::seconds(360));
  rule.max_delay = Time::seconds(5);
  CHECK(rule.delay_before(1) == Time::seconds(5));
  rule.delay = Time{};
  CHECK(rule.delay_before(1000) == Time{});
  rule = {.delay = Time::nanoseconds(3), .growth = 1500};  // 3, 4.5, which is rounded up, 7.5
  CHECK(rule.delay_before(2).ns() == 5);
  CHECK(rule.delay_before(3).ns() == 8);
}

TEST_CASE("a job without retries left ends with the attempt that fails") {
  JobSpec job;
  job.attempts = {Time::seconds(1), Time::seconds(2), Time::seconds(3)};
  job.duration = Time::seconds(9);
  JobSpec same = job;
  limit_attempts({}, same);
  CHECK(same.attempts == job.attempts);
  limit_attempts({.times = 3}, same);
  CHECK(same.attempts == job.attempts);
  CHECK(same.outcome == JobOutcome::completed);
  limit_attempts({.times = 1}, same);
  CHECK(same.attempts == std::vector{Time::seconds(1)});
  CHECK(*same.duration == Time::seconds(2));
  CHECK(same.outcome == JobOutcome::failed);
  limit_attempts({.times = 0}, job);
  CHECK(job.attempts.empty());
  CHECK(*job.duration == Time::seconds(1));
}

TEST_CASE("the work after a restart of 3, with a checkpoint of 2 after each 10 of it but the last, by hand") {
  const PreemptionCosts costs{Time::nanoseconds(3), Time::nanoseconds(10), Time::nanoseconds(2)};
  const WorkSegment segment{Time::nanoseconds(30), Time::nanoseconds(3)};
  // 0-3 restart, 3-13 work, 13-15 checkpoint, 15-25 work, 25-27 checkpoint, 27-37 work.
  CHECK(length_of(segment, costs) == Time::nanoseconds(37));
  const auto check = [&](std::int64_t at, std::int64_t done, std::int64_t saved, std::int64_t overhead) {
    CAPTURE(at);
    const WorkDone now = work_after(segment, costs, Time::nanoseconds(at));
    CHECK(now.done.ns() == done);
    CHECK(now.saved.ns() == saved);
    CHECK(now.overhead.ns() == overhead);
  };
  check(0, 0, 0, 0);
  check(3, 0, 0, 3);
  check(12, 9, 0, 3);
  check(13, 10, 0, 3);
  check(14, 10, 0, 4);
  check(15, 10, 10, 5);
  check(26, 20, 10, 6);
  check(27, 20, 20, 7);
  check(36, 29, 20, 7);
  check(37, 30, 30, 7);
  check(99, 30, 30, 7);
}

TEST_CASE("a month of work at two thirds of the pace takes a month and a half, to the ns") {
  const Time month = Time::seconds(30LL * 86'400);
  const WorkSegment segment{month, Time{}, 1500};
  CHECK(length_of(segment, {}) == month + Time::seconds(15LL * 86'400));
  // Of 3 n + 2 ns, 2 n + 1 are work; the rest of a third is rounded down.
  const WorkDone done = work_after(segment, {}, Time::nanoseconds(3 * 1'000'000'000'000 + 2));
  CHECK(done.done == Time::nanoseconds(2 * 1'000'000'000'000 + 1));
  CHECK(done.saved == done.done);
}

TEST_CASE(
    "the last checkpoint has been saved if the work after it takes as long as saving, at the pace of the servers") {
  PreemptionCosts costs;
  costs.checkpoint_interval = Time::nanoseconds(10);
  costs.persist = Time::nanoseconds(8);
  WorkSegment segment;
  segment.work = Time::nanoseconds(25);  // checkpoints after 10 and 20, and 5 behind them
  CHECK(saved_before_end(segment, costs) == Time::nanoseconds(10));
  segment.type_pace = 2 * kNominalPace;
  CHECK(saved_before_end(segment, costs) == Time::nanoseconds(20));
  segment.type_pace = kNominalPace;
  segment.pace = 1600;  // as on more servers than necessary: 8 ns
  CHECK(saved_before_end(segment, costs) == Time::nanoseconds(20));
}

TEST_CASE("the progress of random segments equals going through them ns by ns") {
  RandomStream stream{1, "scheduling_rules_test"};
  const auto some = [&](std::int64_t most) { return Time::nanoseconds(stream.uniform_integer(0, most)); };
  for (int i = 0; i < effort(1000); ++i) {
    const PreemptionCosts costs{some(5), some(12), some(4)};
    // In quarters, so that the time of most intervals is rounded up.
    const auto pace = static_cast<std::int32_t>(1000 + 250 * stream.uniform_integer(0, 6));
    const WorkSegment segment{some(60), stream.uniform() < 0.5 ? Time{} : costs.restart, pace};
    const std::vector<WorkDone> expected = every_ns(segment, costs);
    REQUIRE(length_of(segment, costs).ns() == std::ssize(expected) - 1);
    for (std::size_t ns = 0; ns + 1 < expected.size(); ++ns) {
      const WorkDone now = work_after(segment, costs, Time::nanoseconds(static_cast<std::int64_t>(ns)));
      CHECK(now.done == expected[ns].done);
      CHECK(now.saved == expected[ns].saved);
      CHECK(now.overhead == expected[ns].overhead);
      // It works in the next ns, or stands still, until the stretch is over.
      const Time at = Time::nanoseconds(static_cast<std::int64_t>(ns));
      const WorkStretch stretch = stretch_at(segment, costs, at);
      CHECK(stretch.until > at);
      CHECK(expected[ns + 1].overhead == expected[ns].overhead + (stretch.works ? Time{} : Time::nanoseconds(1)));
      if (stretch.until < length_of(segment, costs))
        CHECK(stretch_at(segment, costs, stretch.until).works != stretch.works);
    }
    const WorkDone end = work_after(segment, costs, length_of(segment, costs));
    CHECK(end.done == segment.work);
    CHECK(end.saved == segment.work);
  }
}

TEST_CASE("work in parts of different paces equals going through them unit by unit") {
  RandomStream stream{3, "scheduling_rules_test parts"};
  const auto some = [&](std::int64_t most) { return Time::nanoseconds(stream.uniform_integer(0, most)); };
  for (int i = 0; i < effort(600); ++i) {
    PreemptionCosts costs{some(5), some(12), some(4)};
    if (costs.checkpoint_interval == Time{}) costs.checkpoint = Time{};
    std::vector<PacedWork> parts;
    std::vector<std::int64_t> unit;  // ns that each ns of the job's work takes
    for (int p = 0; p < 3; ++p) {
      const std::int64_t pace = stream.uniform_integer(1, 4);
      unit.insert(unit.end(), static_cast<std::size_t>(stream.uniform_integer(1, 20)), pace);
      parts.push_back({Time::nanoseconds(std::ssize(unit)), pace * kNominalPace});
    }
    const Time done = some(std::ssize(unit) - 1);
    const WorkSegment segment{Time::nanoseconds(std::ssize(unit)) - done, some(3), 1000, 7, done, parts};
    std::vector<WorkDone> expected(static_cast<std::size_t>(segment.restart.ns()) + 1);
    const auto pause = [&] { return expected.back().overhead + Time::nanoseconds(1); };
    for (std::size_t ns = 0; ns < expected.size(); ++ns)
      expected[ns].overhead = Time::nanoseconds(static_cast<std::int64_t>(ns));
    for (std::int64_t w = 1; w <= segment.work.ns(); ++w) {
      const Time before = expected.back().done, saved = expected.back().saved;
      for (std::int64_t ns = 1; ns <= unit[static_cast<std::size_t>((done.ns() + w) - 1)]; ++ns)
        expected.push_back({before, saved, expected.back().overhead, {}});
      expected.back().done = Time::nanoseconds(w);
      const bool is_checkpoint = costs.checkpoint_interval > Time{} && w % costs.checkpoint_interval.ns() == 0;
      if (costs.checkpoint_interval == Time{}) expected.back().saved = expected.back().done;
      if (!is_checkpoint || w == segment.work.ns()) continue;
      for (std::int64_t ns = 0; ns < costs.checkpoint.ns(); ++ns)
        expected.push_back({expected.back().done, expected.back().saved, pause(), {}});
      expected.back().saved = expected.back().done;
    }
    REQUIRE(length_of(segment, costs).ns() == std::ssize(expected) - 1);
    for (std::size_t ns = 0; ns + 1 < expected.size(); ++ns) {
      const WorkDone now = work_after(segment, costs, Time::nanoseconds(static_cast<std::int64_t>(ns)));
      CHECK(now.done == expected[ns].done);
      CHECK(now.saved == expected[ns].saved);
      CHECK(now.overhead == expected[ns].overhead);
    }
    CHECK(work_after(segment, costs, length_of(segment, costs)).saved == segment.work);
    CHECK(at_pace(segment.work, segment) == length_of({segment.work, Time{}, 1000, 7, done, parts}, {}));
  }
}

TEST_CASE("a checkpoint counts once it has been written, which takes a while beside the work, at any pace") {
  RandomStream stream{5, "scheduling_rules_test persist"};
  const auto some = [&](std::int64_t least, std::int64_t most) {
    return Time::nanoseconds(stream.uniform_integer(least, most));
  };
  int not_written = 0;
  for (int i = 0; i < effort(600); ++i) {
    PreemptionCosts costs{some(0, 5), some(1, 12), some(0, 4)};
    costs.persist = some(0, costs.checkpoint_interval.ns());
    std::vector<PacedWork> parts;
    std::vector<std::int64_t> unit;  // ns that each ns of the job's work takes
    const bool has_parts = i % 2 == 0;
    for (int p = 0; p < (has_parts ? 3 : 1); ++p) {
      const std::int64_t pace = stream.uniform_integer(1, 4);
      unit.insert(unit.end(), static_cast<std::size_t>(stream.uniform_integer(1, 30)), pace);
      parts.push_back({Time::nanoseconds(std::ssize(unit)), pace * kNominalPace});
    }
    const Time done = has_parts ? some(0, std::ssize(unit) - 1) : Time{};
    WorkSegment segment{Time::nanoseconds(std::ssize(unit)) - done, some(0, 3), 1000, 7, done, parts};
    if (!has_parts) segment = {segment.work, segment.restart, 1000, parts[0].type_pace, {}, {}};
    // Through the work, nanosecond by nanosecond: what is saved is what has been written by then.
    std::vector<std::pair<std::int64_t, std::int64_t>> written;  // from when on, and the work
    std::int64_t now = segment.restart.ns();
    const auto saved_at = [&](std::int64_t time) {
      std::int64_t saved = 0;
      for (const auto& [from, work] : written) saved = from <= time ? work : saved;
      return saved;
    };
    const std::int64_t interval = costs.checkpoint_interval.ns();
    for (std::int64_t w = 1; w <= segment.work.ns(); ++w) {
      for (std::int64_t ns = 0; ns < unit[static_cast<std::size_t>(done.ns() + w - 1)]; ++ns, ++now)
        CHECK(work_after(segment, costs, Time::nanoseconds(now)).saved.ns() == saved_at(now));
      if (w % interval != 0 || w == segment.work.ns()) continue;
      for (std::int64_t ns = 0; ns < costs.checkpoint.ns(); ++ns, ++now)
        CHECK(work_after(segment, costs, Time::nanoseconds(now)).saved.ns() == saved_at(now));
      written.emplace_back(now + costs.persist.ns(), w);
    }
    CHECK(length_of(segment, costs).ns() == now);
    CHECK(saved_before_end(segment, costs).ns() == saved_at(now));
    not_written += !written.empty() && saved_at(now) < written.back().second ? 1 : 0;
  }
  CHECK(not_written >= effort(30));
  // Without an interval all is saved as it is done.
  CHECK(saved_before_end({Time::nanoseconds(9), Time{}}, {}) == Time::nanoseconds(9));
  CHECK(saved_before_end({Time{}, Time{}}, {Time{}, Time::nanoseconds(3), Time{}}) == Time{});
}

TEST_CASE("checkpoints that cost something need an interval") {
  const auto complaint = [](std::int64_t interval, std::int64_t cost) {
    SimulationOptions options;
    options.rules.preemption = {Time{}, Time::nanoseconds(interval), Time::nanoseconds(cost)};
    Workload workload;
    workload.jobs = {timed_job(0, 10, 1)};
    try {
      const Simulation simulation{{1, 1, Bytes{100}},
                                  std::move(workload),
                                  policies_of({}, {}),
                                  std::make_unique<FixedNetwork>(1, 1, 1),
                                  std::move(options)};
    } catch (const InputError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  CHECK(complaint(0, 1) == "checkpoints have a cost but no interval");
  CHECK(complaint(1, 1) == "");
  CHECK(complaint(1, 0) == "");
  CHECK(complaint(0, 0) == "");
}

TEST_CASE("a job on more servers than it needs takes longer, as the list of penalties says, by hand") {
  // Servers of two GPUs; a job of 10 ns.
  const auto length = [](std::vector<std::uint32_t> gpus, std::vector<std::int32_t> penalty) {
    Workload workload;
    workload.jobs = {timed_job(0, 10, static_cast<int>(gpus.size()))};
    workload.jobs[0].name = "A";
    SimulationOptions options;
    options.rules.scatter_penalty = std::move(penalty);
    Simulation simulation{{4, 2, Bytes{100}},
                          std::move(workload),
                          policies_of({}, {TestJob{"", std::move(gpus)}}),
                          std::make_unique<FixedNetwork>(1, 4, 1),
                          std::move(options)};
    return simulation.run().end.ns();
  };
  CHECK(length({0, 1}, {1500, 2000}) == 10);
  CHECK(length({0, 1, 2}, {1500, 2000}) == 10);  // two servers are the fewest for three
  CHECK(length({0, 2}, {1500, 2000}) == 15);
  CHECK(length({0, 2, 4}, {1500, 2000}) == 15);
  CHECK(length({0, 2, 4, 6}, {1500, 2000}) == 20);
  CHECK(length({0, 2, 4, 6}, {1500}) == 15);  // the last of the list holds for all further servers
  CHECK(length({0, 2, 4, 6}, {}) == 10);
  CHECK(length({0, 2}, {1000}) == 10);
  CHECK_THROWS_WITH_AS(length({0, 2}, {999}), "a scatter penalty makes a job on more servers faster", InputError);
}

namespace {

/// Starts A and says of all others that they have no place.
class StartsA final : public SchedulingPolicy {
 public:
  [[nodiscard]] PolicyKey key(const JobView&) const override { return 0; }
  void queued(const JobView& job) override { waiting_.push_back(job.id); }
  void pass(const ClusterView&, SchedulingActions& actions) override {
    std::erase_if(waiting_, [&](JobId job) { return job == JobId{0U} && actions.start(job); });
    for (const JobId job : waiting_) actions.blocked(job, Why::no_place);
  }

 private:
  std::vector<JobId> waiting_;
};

class Reasons final : public DecisionObserver {
 public:
  explicit Reasons(std::map<std::uint32_t, Why>& last) : last_{last} {}
  void queued(Time, JobId) override {}
  void started(Time, JobId, std::span<const GpuId>, Time) override {}
  void preempted(Time, JobId, JobId) override {}
  void ended(Time, JobId, bool) override {}
  void rejected(Time, JobId, std::string_view) override {}
  void blocked(Time, JobId job, Why why, JobId) override { last_[job.value()] = why; }

 private:
  std::map<std::uint32_t, Why>& last_;
};

}  // namespace

TEST_CASE("a job waits for the quota or for GPUs only if it needs more than are left, else for what the policy says") {
  // Six GPUs, of which A, of a virtual cluster with a quota of 3, holds one: 2 are left of the quota, 5 are free.
  Workload workload;
  workload.vcs = {"small"};
  workload.jobs = {timed_job(0, 100, 1), timed_job(1, 10, 2), timed_job(1, 10, 3), timed_job(1, 10, 5),
                   timed_job(1, 10, 6)};
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    workload.jobs[j].name = static_cast<char>('A' + static_cast<int>(j));
    workload.jobs[j].vc = j <= 2 ? 0 : -1;
  }
  ClusterSpec cluster{1, 6, Bytes{100}};
  cluster.vcs = {{.quota = 3}};
  PolicySet policies = policies_of({}, std::vector<TestJob>(5));
  policies.scheduling = std::make_unique<StartsA>();
  std::map<std::uint32_t, Why> last;
  Reasons reasons{last};
  SimulationOptions options;
  options.until = Time::nanoseconds(50);
  options.decisions = &reasons;
  Simulation simulation{cluster, std::move(workload), std::move(policies), std::make_unique<FixedNetwork>(1, 1, 5),
                        std::move(options)};
  static_cast<void>(simulation.run());
  CHECK(last ==
        std::map<std::uint32_t, Why>{{1, Why::no_place}, {2, Why::quota}, {3, Why::no_place}, {4, Why::no_gpus}});
}
