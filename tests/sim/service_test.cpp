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
