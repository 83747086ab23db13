// The engine against the plain schedulers on random workloads with many ties: each job ends at the same second, and as
// many are preempted, under every set of rules that is held against a released simulator.

#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "validate/schedulers/schedulers.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;

namespace {

const std::uint64_t kWorkloads = effort(std::uint64_t{60});

/// Up to 60 jobs on 2 to 5 servers of 8. Times are multiples of a grain so that events coincide; the longest jobs pass
/// the thresholds of DLAS.
SchedulerTrace random_trace(std::uint64_t seed) {
  RandomStream stream{seed, "test.trace"};
  SchedulerTrace trace;
  trace.title = fmt::format("random {}", seed);
  trace.servers = static_cast<int>(stream.uniform_integer(2, 5));
  const std::int64_t grain = stream.uniform_integer(0, 2) == 0 ? 1 : 250;
  const std::int64_t gap = stream.uniform_integer(1, 2000);
  const std::int64_t jobs = stream.uniform_integer(5, 60);
  std::int64_t now = 0;
  for (std::int64_t i = 0; i < jobs; ++i) {
    if (stream.uniform_integer(0, 3) > 0) now += stream.uniform_integer(0, gap) / grain * grain;
    const std::int64_t size = stream.uniform_integer(0, 9);
    const std::int64_t gpus = size < 5   ? stream.uniform_integer(1, 8)
                              : size < 8 ? std::int64_t{1} << stream.uniform_integer(0, 4)
                                         : stream.uniform_integer(1, trace.servers * 8);
    const std::int64_t most = stream.uniform_integer(0, 3) == 0 ? 12000 : 1500;
    trace.jobs.push_back({.name = fmt::format("job{}", i),
                          .submit = Time::seconds(now),
                          .model = {},
                          .gpus = static_cast<int>(gpus),
                          .duration = Time::seconds((stream.uniform_integer(1, most) + grain - 1) / grain * grain)});
  }
  return trace;
}

/// Rules by which running jobs move, as the simulators of Tiresias and Muri have them.
std::vector<SchedulerCase> cases_that_move() {
  using enum ReferenceOrder;
  using enum ReferencePlacement;
  std::vector<SchedulerCase> cases;
  for (const ReferenceOrder order : {remaining, remaining_service, gpus}) {
    for (const ReferencePlacement placement : {yarn, consolidated, spread}) {
      cases.push_back({TraceKind::tiresias_60, "moves", "0", {SchedulerRules::Kind::walk, order, false, placement, 0}});
    }
  }
  return cases;
}

}  // namespace

TEST_CASE("the engine ends every job of random workloads when the plain schedulers do") {
  int preemptions = 0, waits = 0;
  for (const SchedulerCase& each : scheduler_cases()) {
    if (engine_rules(each.rules).scheduling.empty() || each.trace == TraceKind::muri_trace3) continue;
    for (std::uint64_t seed = 1; seed <= kWorkloads; ++seed) {
      const SchedulerTrace trace = random_trace(seed);
      CAPTURE(std::string{each.name});
      CAPTURE(seed);
      const SchedulerOutcome outcome = run_scheduler_case(each, trace);
      CHECK(outcome.differing.empty());
      CHECK(outcome.engine_preemptions == outcome.plain_preemptions);
      preemptions += outcome.plain_preemptions > 0 ? 1 : 0;
      waits += outcome.plain_queueing_s > 0 ? 1 : 0;
    }
  }
  CHECK(preemptions > effort(200));
  CHECK(waits > effort(1000));
}

TEST_CASE("migrate: the engine ends every job when loops do that place all jobs again at each event") {
  int moves = 0;
  for (const SchedulerCase& each : cases_that_move()) {
    for (std::uint64_t seed = 1; seed <= kWorkloads; ++seed) {
      CAPTURE(static_cast<int>(each.rules.order));
      CAPTURE(static_cast<int>(each.rules.placement));
      CAPTURE(seed);
      const SchedulerOutcome outcome = run_scheduler_case(each, random_trace(seed));
      CHECK(outcome.differing.empty());
      CHECK(outcome.engine_preemptions >= outcome.plain_preemptions);
      moves += outcome.engine_preemptions > outcome.plain_preemptions ? 1 : 0;
    }
  }
  CHECK(moves > effort(200));
}
