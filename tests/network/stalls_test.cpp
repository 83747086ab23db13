// Tests jobs that fail because a transfer of theirs has had no route for the time-out of their collectives.

#include "network/flow_network.hpp"
#include "sim/error.hpp"
#include "tests/network/flow_kit.hpp"
#include "tests/network/network_kit.hpp"
#include "tests/sim/quiet_observer.hpp"
#include "tests/sim/test_kit.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

namespace {

/// When the interface of the server has no link to the switch.
struct NoLink {
  std::uint32_t server;
  std::int64_t from, until;
};

class StallCauses final : public QuietObserver {
 public:
  void interrupted(Time now, JobId job, std::string_view cause) override {
    lines.push_back(fmt::format("{}: job {}: {}", now.ns(), job.value(), cause));
  }

  std::vector<std::string> lines;
};

/// Servers with one GPU at one switch. By default one job on the first two: 10 us of computing, then 100 us of
/// sending, three times. The first iteration ends at 110 us, and the second one sends from 120 us to 220 us.
struct StallingJobs {
  std::vector<TestJob> jobs{{"role w 2 | compute f w 10000 | all-reduce g w 100000 | f -> g | g => f", {0, 1}, 3}};
  int servers = 2;
  FailureSpec failures{};
  PreemptionCosts costs{};
  DecisionObserver* decisions = nullptr;

  StallingJobs() {
    failures.stalls_fail = true;
    failures.detectors.timeout = Time::nanoseconds(40'000);
  }

  [[nodiscard]] RunResult run(const std::vector<NoLink>& down) const {
    const auto once = [&](bool leap) {
      auto topology = std::make_unique<Topology>(
          build_topology(plain_fabric(spec("single-switch")), static_cast<std::size_t>(servers), 1));
      FlowNetworkOptions network = ring_options();
      for (const NoLink& each : down) {
        for (std::size_t l = 0; l < topology->links().size(); ++l) {
          const std::string nic = fmt::format("server{}/nic0", each.server), name = topology->link_name(LinkId{l});
          if (name != nic + "->switch0" && name != "switch0->" + nic) continue;
          network.events.push_back({Time::nanoseconds(each.from), LinkId{l}, 0});
          network.events.push_back({Time::nanoseconds(each.until), LinkId{l}, 1});
        }
      }
      auto router = make_shortest_path_router(*topology);
      SimulationOptions options;
      options.leap = leap;
      options.failures = failures;
      options.rules.preemption = costs;
      options.decisions = leap ? decisions : nullptr;
      Simulation simulation{{servers, 1, Bytes{100}},
                            workload_of(jobs),
                            policies_of({servers, 1}, jobs),
                            make_flow_network(std::move(topology), std::move(router), network, jobs.size()),
                            std::move(options)};
      return simulation.run();
    };
    RunResult result = once(true);
    CHECK(difference(once(false), result) == "");
    return result;
  }
  /// When the job finishes, and how often it was interrupted.
  [[nodiscard]] std::pair<std::int64_t, int> end_with(std::int64_t from, std::int64_t until) const {
    const RunResult result = run({{0, from, until}});
    return {result.jobs[0].finish.ns(), result.jobs[0].interruptions};
  }
};

using End = std::pair<std::int64_t, int>;

}  // namespace

TEST_CASE("a job with a transfer that has no route for the time-out fails then, and not before") {
  const StallingJobs stalling;
  CHECK(stalling.end_with(400'000, 500'000) == End{330'000, 0});
  // The link fails when 30 of 100 us are through. It comes back before the time-out of 40 us, or just in time.
  CHECK(stalling.end_with(150'000, 180'000) == End{330'000 + 30'000, 0});
  CHECK(stalling.end_with(150'000, 190'000) == End{330'000 + 40'000, 0});
  // It comes back too late: the second iteration begins again at 190 us.
  CHECK(stalling.end_with(150'000, 190'001) == End{190'000 + 2 * 110'000, 1});
  // That one has no route from 200 us on, until 230 us.
  CHECK(stalling.end_with(150'000, 230'000) == End{230'000 + 100'000 + 110'000, 1});
  // It fails again at 240 us and at 290 us, and computes until 300 us.
  CHECK(stalling.end_with(150'000, 300'000) == End{300'000 + 100'000 + 110'000, 3});
}

TEST_CASE("a job that only computes, or sends elsewhere, does not run out of time") {
  // The link fails and comes back while the job computes.
  StallingJobs stalling;
  stalling.failures.detectors.timeout = Time::nanoseconds(1'000);
  CHECK(stalling.end_with(111'000, 119'000) == End{330'000, 0});
  CHECK(stalling.end_with(111'000, 121'000) == End{331'000, 0});  // it had no route for 1 us: in time
  CHECK(stalling.end_with(111'000, 121'001).second == 1);
  stalling = {};
  stalling.servers = 4;
  stalling.jobs.push_back(stalling.jobs[0]);
  stalling.jobs[1].gpus = {2, 3};
  const RunResult two = stalling.run({{0, 150'000, 200'000}});
  CHECK(two.jobs[0].interruptions == 1);
  CHECK(two.jobs[1].interruptions == 0);
  CHECK(two.jobs[1].finish.ns() == 330'000);
}

TEST_CASE("a stall that ends and begins again has the whole time-out again") {
  const StallingJobs stalling;
  const RunResult result = stalling.run({{0, 150'000, 180'000}, {0, 185'000, 220'000}});
  CHECK(result.jobs[0].interruptions == 0);
  CHECK(result.jobs[0].finish.ns() == 330'000 + 30'000 + 35'000);
  // Another link fails meanwhile, so that the transfer still has no route.
  const RunResult both = stalling.run({{0, 150'000, 180'000}, {1, 170'000, 195'000}});
  CHECK(both.jobs[0].interruptions == 1);
  CHECK(both.jobs[0].finish.ns() == 190'000 + 2 * 110'000);
}

TEST_CASE("a job that ran out of time comes back as after other failures") {
  StallingJobs stalling;
  // After a diagnosis of 5 us it stops 7 us for the restart.
  stalling.failures.diagnosis = Time::nanoseconds(5'000);
  stalling.costs.restart = Time::nanoseconds(7'000);
  const RunResult result = stalling.run({{0, 150'000, 190'001}});
  CHECK(result.jobs[0].finish.ns() == 190'000 + 5'000 + 7'000 + 2 * 110'000);
  CHECK(result.jobs[0].away.ns() == 5'000);
  CHECK(result.jobs[0].undetected == Time{});  // the time-out is when the failure is noticed
  // Nothing was saved, so that the first iteration is lost, too.
  stalling.costs.iterations = kNoIterationSaved;
  CHECK(stalling.end_with(150'000, 190'001) == End{190'000 + 5'000 + 7'000 + 3 * 110'000, 1});
  stalling.failures.retries = 0;
  const RunResult failed = stalling.run({{0, 150'000, 190'001}});
  CHECK(failed.jobs[0].state == JobState::given_up);
  CHECK(failed.jobs[0].finish.ns() == 190'000);
}

TEST_CASE("a time-out may be counted in iterations, and says its length") {
  StallingJobs stalling;
  StallCauses causes;
  stalling.decisions = &causes;
  // A quarter of the one iteration that has ended; after the restart none has, and the time-out holds.
  stalling.failures.detectors.timeout_iterations = 0.25;
  CHECK(stalling.end_with(150'000, 240'000) == End{240'000 + 2 * 110'000 - 10'000, 2});
  CHECK(causes.lines ==
        std::vector<std::string>{"177500: job 0: a transfer has had no route for 2.75e-05 s, its time-out",
                                 "227500: job 0: a transfer has had no route for 4e-05 s, its time-out"});
}

TEST_CASE("without time-outs a job waits for its route, however long that takes") {
  StallingJobs stalling;
  stalling.failures.stalls_fail = false;
  CHECK(stalling.end_with(150'000, 1'000'000) == End{330'000 + 850'000, 0});
  stalling.failures.stalls_fail = true;
  stalling.failures.detectors.timeout = Time{};
  CHECK_THROWS_AS(static_cast<void>(stalling.run({})), InputError);
}
