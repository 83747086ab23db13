// Tests jobs whose work is a service (sim/service.hpp): what the engine does with them, with a service of one request
// after the other. Times are in ns.

#include "sim/service.hpp"
#include "tests/near.hpp"
#include "tests/sim/struck_cluster.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// One replica on all GPUs of its job answers one request after the other, each in 10 ns and with a single token.
class OneByOne final : public Service {
 public:
  explicit OneByOne(const std::vector<std::int64_t>& arrivals, Time submitted) {
    for (const std::int64_t each : arrivals) {
      report_.requests.emplace_back().arrival = submitted + Time::nanoseconds(each);
    }
  }

  void begin(Time now) override {
    busy_ = {};
    gave_ = false;
    start(now);
  }
  [[nodiscard]] Time next() const override { return done() ? Time::never() : ends_; }
  void advance(Time now) override {
    report_.requests[answered_].first = report_.requests[answered_].end = now;
    ++report_.tokens;
    ++answered_;
    gave_ = true;
    busy_ += kStep;
    if (!done()) start(now);
  }
  [[nodiscard]] bool done() const override { return answered_ == report_.requests.size(); }
  [[nodiscard]] Time earliest_end() const override { return report_.requests.back().arrival; }
  bool lose(Time now) override {
    busy_ = busy(0, now);
    report_.busy += busy_;
    ends_ = Time::never();
    return gave_;
  }
  [[nodiscard]] Time busy(std::size_t /*rank*/, Time now) const override {
    if (done() || ends_ == Time::never()) return busy_;
    return busy_ + std::max(Time{}, now - (ends_ - kStep));
  }
  [[nodiscard]] ServiceReport report(Time now) override {
    ServiceReport all = report_;
    if (done() || ends_ != Time::never()) all.busy += busy(0, now);
    return all;
  }

 private:
  static constexpr Time kStep = Time::nanoseconds(10);
  void start(Time now) { ends_ = std::max(now, report_.requests[answered_].arrival) + kStep; }

  ServiceReport report_;
  std::size_t answered_ = 0;
  Time busy_, ends_ = Time::never();
  bool gave_ = false;
};

ServiceMaker one_by_one(std::vector<std::int64_t> arrivals) {
  return [arrivals = std::move(arrivals)](Time submitted) { return std::make_unique<OneByOne>(arrivals, submitted); };
}

JobSpec serving_job(std::int64_t submit, std::int64_t duration, int gpus) {
  JobSpec job = timed_ns(submit, duration, gpus);
  job.service = 0;
  return job;
}

std::vector<std::int64_t> answer_ends(const RunResult& result) {
  std::vector<std::int64_t> ends;
  for (const RequestResult& each : result.services.front().requests) ends.push_back(each.end.ns());
  return ends;
}
using Ends = std::vector<std::int64_t>;

Outage outage_at(std::int64_t at, std::int64_t repaired) {
  return Outage{.from = Time::nanoseconds(at), .until = Time::nanoseconds(repaired), .first = 0, .last = 1};
}

}  // namespace

TEST_CASE("a job ends when its service is done, and its GPUs are busy while they answer") {
  const StruckCluster cluster{
      .gpus_per_server = 2, .jobs = {serving_job(100, 40, 2)}, .services = {one_by_one({0, 5, 40})}};
  const RunResult result = cluster.run_both_ways();
  CHECK(answer_ends(result) == Ends{110, 120, 150});
  const JobResult& job = result.jobs[0];
  CHECK(job.finish.ns() == 150);
  CHECK(job.held.ns() == 50);
  CHECK(job.compute.ns() == 2 * 30);
  CHECK(result.gpus[0].busy.ns() == 30);
  CHECK(result.gpus[1].busy.ns() == 30);
  REQUIRE(job.answers.has_value());
  CHECK(job.answers->answered == 3);
  CHECK(job.answers->ttft.mean_s == near((10 + 15 + 10) / 3.0 * 1e-9));
  CHECK(job.answers->tokens_per_s == near(3 / 50e-9));
}

TEST_CASE("requests that come before a service has GPUs wait for it") {
  const StruckCluster cluster{.jobs = {timed_ns(0, 25), serving_job(0, 40, 1)}, .services = {one_by_one({0, 5, 40})}};
  const RunResult result = cluster.run_both_ways();
  CHECK(answer_ends(result) == Ends{35, 45, 55});
  CHECK(result.jobs[1].queueing().ns() == 25);
  CHECK(result.jobs[1].compute.ns() == 30);
}

TEST_CASE("a service goes on after a failure, when it has restarted, and answers the rest") {
  // The server is down from 15 to 30, in the second answer, which begins again after the restart of 4.
  StruckCluster cluster{.jobs = {serving_job(0, 40, 1)}, .services = {one_by_one({0, 5, 40})}};
  cluster.failures.outages = {outage_at(15, 30)};
  cluster.costs.restart = Time::nanoseconds(4);
  const RunResult result = cluster.run_both_ways();
  CHECK(answer_ends(result) == Ends{10, 44, 54});
  const JobResult& job = result.jobs[0];
  CHECK(job.interruptions == 1);
  CHECK(job.overhead.ns() == 4);
  CHECK(job.compute.ns() == 15 + 20);
  CHECK(job.held.ns() == 15 + 24);
  CHECK(result.gpus[0].busy.ns() == 35);
}

TEST_CASE("a service is preempted and comes back") {
  // The shorter job comes at 12 and takes the GPU until 18; of the second answer 2 of 10 are lost.
  StruckCluster cluster{.jobs = {serving_job(0, 40, 1), timed_ns(12, 6)},
                        .shortest_first = true,
                        .preemptive = true,
                        .services = {one_by_one({0, 5, 40})}};
  const RunResult result = cluster.run_both_ways();
  CHECK(answer_ends(result) == Ends{10, 28, 50});
  CHECK(result.jobs[0].preemptions == 1);
  CHECK(result.jobs[0].compute.ns() == 12 + 20);
}

TEST_CASE("a run that is cut counts what a service has done by then") {
  StruckCluster cluster{.jobs = {serving_job(0, 40, 1)}, .services = {one_by_one({0, 5, 40})}};
  cluster.until = Time::nanoseconds(43);
  const RunResult result = cluster.run();
  CHECK(result.jobs[0].state == JobState::running);
  CHECK(result.jobs[0].compute.ns() == 23);
  CHECK(result.gpus[0].busy.ns() == 23);
  CHECK(result.services[0].busy.ns() == 23);
  CHECK(summarise(result).answers.answered == 2);
}

namespace {

/// Replicas of one GPU that are always busy, and whose number follows a script: from each of these times on so many.
class ScriptedReplicas final : public Service {
 public:
  ScriptedReplicas(std::vector<std::pair<std::int64_t, int>> script, std::int64_t end)
      : script_{std::move(script)}, end_{end} {
    report_.requests.emplace_back();
  }
  void begin(Time now) override { since_ = now; }
  [[nodiscard]] Time next() const override {
    return Time::nanoseconds(at_ < script_.size() ? script_[at_].first : end_);
  }
  void advance(Time now) override {
    if (at_ < script_.size() && now.ns() == script_[at_].first) wanted_ = script_[at_++].second;
    if (now.ns() == end_) report_.requests.front().first = report_.requests.front().end = now;
  }
  [[nodiscard]] bool done() const override { return report_.requests.front().has_ended(); }
  [[nodiscard]] Time earliest_end() const override { return Time::nanoseconds(end_); }
  bool lose(Time now) override {
    since_ = now;
    return true;
  }
  [[nodiscard]] std::vector<int> asks() const override {
    return std::vector<int>(static_cast<std::size_t>(std::max(0, wanted_ - held_)), 1);
  }
  [[nodiscard]] std::vector<std::size_t> unused() const override {
    std::vector<std::size_t> ranks;
    for (int rank = wanted_; rank < held_; ++rank) ranks.push_back(static_cast<std::size_t>(rank));
    return ranks;
  }
  [[nodiscard]] std::vector<std::size_t> left_without(std::span<const std::size_t> lost) const override {
    std::vector<std::size_t> ranks;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(held_); ++rank)
      if (std::ranges::find(lost, rank) == lost.end()) ranks.push_back(rank);
    return ranks;
  }
  void move(Time now, const ServiceMove& to) override {
    held_ = static_cast<int>(to.from.size());
    since_ = now;
  }
  [[nodiscard]] Time busy(std::size_t /*rank*/, Time now) const override { return now - since_; }
  [[nodiscard]] ServiceReport report(Time /*now*/) override { return report_; }

 private:
  std::vector<std::pair<std::int64_t, int>> script_;
  std::int64_t end_;
  std::size_t at_ = 0;
  int held_ = 1, wanted_ = 1;
  Time since_;
  ServiceReport report_;
};

ServiceMaker scripted_replicas(std::vector<std::pair<std::int64_t, int>> script, std::int64_t end) {
  return [script = std::move(script), end](Time) { return std::make_unique<ScriptedReplicas>(script, end); };
}

/// A service on one of three GPUs that wants three from 10 to 40, and ends at 60, and a job on two of them for 100.
StruckCluster lending_service(std::int32_t priority) {
  StruckCluster cluster{.gpus_per_server = 3,
                        .jobs = {serving_job(0, 60, 1), timed_ns(0, 100, 2)},
                        .services = {scripted_replicas({{10, 3}, {40, 1}}, 60)}};
  cluster.jobs[0].priority = priority;
  return cluster;
}

}  // namespace

TEST_CASE("a service takes GPUs back from jobs of lower priority, and lends them again") {
  const RunResult result = lending_service(1).run_both_ways();
  const JobResult& service = result.jobs[0];
  CHECK(service.compute.ns() == 10 + 3 * 30 + 20);
  CHECK(service.preemptions == 0);
  CHECK(service.held.ns() == 60);
  CHECK(result.jobs[1].preemptions == 1);
  CHECK(result.jobs[1].finish.ns() == 130);
  CHECK(result.gpus[2].busy.ns() == 130);
}

TEST_CASE("a service takes nothing from jobs of its own priority") {
  const RunResult result = lending_service(0).run_both_ways();
  CHECK(result.jobs[0].compute.ns() == 60);
  CHECK(result.jobs[1].preemptions == 0);
  CHECK(result.jobs[1].finish.ns() == 100);
}

TEST_CASE("a service takes GPUs from an elastic job, which goes on with the rest") {
  StruckCluster cluster = lending_service(1);
  cluster.jobs[1].duration = Time::nanoseconds(200);
  cluster.sizes = {{{1, {{2 * kNominalPace, 0, -1}}}, {2, {{kNominalPace, 0, -1}}}}};
  cluster.jobs[1].sizes = 0;
  cluster.services = {scripted_replicas({{10, 2}}, 60)};
  const RunResult result = cluster.run_both_ways();
  CHECK(result.jobs[1].preemptions == 0);
  CHECK(result.jobs[1].resizes == 1);
  CHECK(result.jobs[0].compute.ns() == 10 + 2 * 50);
}

TEST_CASE("a GPU that fails stops its replica alone, and another GPU takes its place") {
  // Server 0 is down from 15 to 30; server 2 is free, or has a job of 20.
  StruckCluster cluster{.servers = 3, .jobs = {serving_job(0, 60, 1)}, .services = {scripted_replicas({{5, 2}}, 60)}};
  cluster.failures.outages = {outage_at(15, 30)};
  RunResult result = cluster.run_both_ways();
  CHECK(result.jobs[0].interruptions == 0);
  CHECK(result.jobs[0].finish.ns() == 60);
  CHECK(result.jobs[0].compute.ns() == 5 + 2 * 55);
  CHECK(result.gpus[0].busy.ns() == 15);
  CHECK(result.gpus[2].busy.ns() == 45);
  cluster.jobs.push_back(timed_ns(10, 10, 1));
  result = cluster.run_both_ways();
  CHECK(result.jobs[0].compute.ns() == 5 + 2 * 10 + 5 + 2 * 40);
}

TEST_CASE("a training job leaps beside a service") {
  StruckCluster cluster{.gpus_per_server = 3,
                        .jobs = {serving_job(0, 4000, 1), {}},
                        .graphs = {"role w 2 | compute f w 7"},
                        .services = {one_by_one({0, 5, 40, 4000})}};
  cluster.jobs[1].gpus = 2;
  cluster.jobs[1].iterations = 10'000;
  const RunResult result = cluster.run_both_ways();
  CHECK(result.jobs[1].finish.ns() == 70'000);
  CHECK(result.events < 1000);
  CHECK(answer_ends(result).back() == 4010);
}

TEST_CASE("what can't be of a job with a service is refused") {
  const auto refusal = [](auto change) {
    StruckCluster cluster{.jobs = {serving_job(0, 40, 1)}, .services = {one_by_one({0})}};
    change(cluster);
    return cluster.refusal();
  };
  CHECK(refusal([](StruckCluster& c) { c.services.clear(); }).find("it has no service") != std::string::npos);
  CHECK(refusal([](StruckCluster& c) { c.jobs[0].gpu_share = 500; }).find("GPUs whole") != std::string::npos);
  CHECK(refusal([](StruckCluster& c) { c.jobs[0].outcome = JobOutcome::failed; }).find("outcome") != std::string::npos);
  CHECK(refusal([](StruckCluster& c) { c.jobs[0].duration = Time{}; }).find("duration > 0") != std::string::npos);
}
