// Random clusters with and without a log of uses, leaping and not: a meter changes nothing, and reads alike.

#include "models/energy/meter.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/policies/random_cluster.hpp"

#include <algorithm>
#include <cstdint>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

bool same_use(const HeldSpan& a, const HeldSpan& b) {
  return a.job == b.job && a.type == b.type && a.since == b.since && a.until == b.until && a.held == b.held &&
         a.computed == b.computed;
}

/// What tasks of jobs ran is what GPUs were busy, to the nanosecond, and the run draws what its GPUs draw.
void check_energy(RunResult result) {
  const StatePower power{50, 100, 300};
  measure({{power, {}}}, result);
  GpuTime busy, computed, held, held_by_jobs;
  double joule = 0;
  for (const GpuResult& gpu : result.gpus) {
    busy += GpuTime{gpu.busy, 1};
    held += GpuTime{gpu.held, 1};
    joule += *gpu.energy_j;
  }
  for (const HeldSpan& use : result.uses) {
    computed += use.computed;
    held_by_jobs += use.held;
  }
  CHECK(computed == busy);
  CHECK(held <= held_by_jobs);
  CHECK(result.drawn->energy_j >= 50 * result.end.to_seconds() * static_cast<double>(result.gpus.size()) * (1 - 1e-12));
  CHECK(result.drawn->energy_j == near(joule, 1e-12));
  double hours = 0;
  for (const MeteredHour& hour : result.hours) hours += hour.drawn.energy_j;
  CHECK(hours == near(joule, 1e-12));
}

}  // namespace

TEST_CASE("meters: with and without leaping jobs hold and compute alike, and no digest changes") {
  std::uint64_t uses = 0, leaps = 0, interrupted = 0;
  for (std::uint64_t seed = 0; seed < effort(std::uint64_t{200}); ++seed) {
    RandomCluster cluster = random_cluster(seed);
    if (seed % 3 == 1) cluster.interference = {250'000, 100'000};
    INFO(cluster.describe());
    const RunResult plain = cluster.run(true);
    cluster.keeps_uses = true;
    const RunResult slow = cluster.run(false), fast = cluster.run(true);
    CHECK(plain.uses.empty());
    CHECK(plain.digest == fast.digest);
    CHECK(plain.fingerprint == fast.fingerprint);
    CHECK(slow.digest == fast.digest);
    CHECK(std::ranges::equal(slow.uses, fast.uses, same_use));
    check_energy(fast);
    uses += fast.uses.size();
    leaps += fast.leaps;
    for (const JobResult& job : fast.jobs) interrupted += job.preemptions > 0 ? 1 : 0;
  }
  CHECK(uses > effort(std::uint64_t{500}));
  CHECK(leaps > effort(std::uint64_t{100}));
  CHECK(interrupted >= effort(std::uint64_t{5}));
}
