// Servers that are lent at times: when jobs have them, which go back, and which jobs shrink or are preempted then.

#include "sim/loans.hpp"

#include "sim/error.hpp"
#include "sim/portable_math.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/sim/struck_cluster.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

LoanSpec lent(int servers, const std::vector<std::pair<std::int64_t, int>>& changes,
              ReclaimRule rule = ReclaimRule::least_cost) {
  LoanSpec loans{.servers = servers, .reclaim = rule};
  for (const auto& [second, count] : changes) loans.changes.push_back({Time::seconds(second), count});
  return loans;
}

JobSpec seconds_of(std::int64_t duration, int gpus = 1) {
  JobSpec job = timed_ns(0, duration * kSecond);
  job.gpus = gpus;
  return job;
}

}  // namespace

TEST_CASE("loans: a job waits until a server is lent, and the server is out of service before") {
  StruckCluster two{.servers = 2, .jobs = {seconds_of(100), seconds_of(100)}};
  two.failures.loans = lent(1, {{0, 0}, {50, 1}});
  const RunResult result = two.run();
  CHECK(result.jobs[0].finish.ns() == 100 * kSecond);
  CHECK(result.jobs[1].finish.ns() == 150 * kSecond);
  CHECK(result.gpus[0].down == Time{});
  CHECK(result.gpus[1].down.ns() == 50 * kSecond);
  CHECK(result.failures == 0);
  check_sums(result);
}

TEST_CASE("loans: a job on a server that goes back is preempted, queues at once and is no failure") {
  StruckCluster two{.servers = 2, .jobs = {seconds_of(200), seconds_of(100)}};
  two.failures.loans = lent(1, {{0, 1}, {30, 0}, {80, 1}});
  RunResult result = two.run();
  CHECK(result.jobs[1].finish.ns() == 150 * kSecond);
  CHECK(result.jobs[1].interruptions == 1);
  CHECK(result.jobs[1].away == Time{});
  CHECK(result.failures == 0);
  check_sums(result);
  // Checkpoints of 20 s and 5 s to restart: it goes on from second 20, with 80 + 5 s to run.
  two.costs = {Time::seconds(5), Time::seconds(20), Time{}};
  result = two.run();
  CHECK(result.jobs[1].finish.ns() == 165 * kSecond);
  CHECK(result.jobs[1].lost.ns() == 10 * kSecond);
  check_sums(result);
}

TEST_CASE("loans: the schedule repeats after its period") {
  StruckCluster one{.servers = 1, .jobs = {seconds_of(30)}};
  one.failures.loans = lent(1, {{0, 1}, {10, 0}});
  one.failures.loans.period = Time::seconds(20);
  CHECK(one.run().jobs[0].finish.ns() == 50 * kSecond);
}

TEST_CASE("loans: a job that needs more than is ever lent at once fails, with the reason") {
  StruckCluster three{.servers = 3, .jobs = {seconds_of(30, 3), seconds_of(30, 2)}};
  three.failures.loans = lent(2, {{0, 1}});
  const RunResult result = three.run();
  CHECK(result.jobs[0].state == JobState::failed);
  CHECK(result.jobs[1].finish.ns() == 30 * kSecond);
}

TEST_CASE("loans: servers fail while they are lent and while they are not") {
  StruckCluster two{.servers = 2, .jobs = {seconds_of(100), seconds_of(100)}};
  two.failures.loans = lent(1, {{0, 1}, {40, 0}, {60, 1}});
  two.failures.outages = {outage(30 * kSecond, 70 * kSecond, 1, 2)};
  const RunResult result = two.run();
  CHECK(result.jobs[1].finish.ns() == 140 * kSecond);  // 30 s on it, and 70 from second 70 on
  CHECK(result.gpus[1].down.ns() == 40 * kSecond);
  CHECK(result.failures == 1);
  check_sums(result);
}

TEST_CASE("loans: bad schedules are refused") {
  StruckCluster two{.servers = 2, .jobs = {seconds_of(1)}};
  const auto refuses = [&](const LoanSpec& loans) {
    two.failures.loans = loans;
    CHECK_THROWS_AS(static_cast<void>(two.run()), InputError);
  };
  refuses(lent(3, {{0, 1}}));
  refuses(lent(1, {{0, 2}}));
  refuses(lent(1, {{1, 1}}));
  refuses(lent(1, {{0, 1}, {0, 0}}));
  refuses(lent(1, {}));
  LoanSpec short_period = lent(1, {{0, 1}, {20, 0}});
  short_period.period = Time::seconds(20);
  refuses(short_period);
  two.failures.spares = 1;
  refuses(lent(1, {{0, 1}}));
}

namespace {

std::vector<std::uint32_t> chosen(const std::vector<LoanGuest>& guests, int count, ReclaimRule rule) {
  RandomStream stream{1, "chosen"};
  std::vector<std::uint32_t> all(4);
  for (std::uint32_t s = 0; s < 4; ++s) all[s] = s;
  return servers_to_return(all, guests, count, rule, stream);
}

}  // namespace

TEST_CASE("loans: least-cost counts parts of jobs, fewest-jobs counts jobs, and last looks at neither") {
  // Server 3 has two jobs of four servers each: 1/4 + 1/4. Server 2 has a job of its own: 1. Both jobs are on 0 and 1.
  const std::map<std::uint32_t, int> wide{{0, 1}, {1, 1}, {3, 1}};
  const std::vector<LoanGuest> guests{
      {4, 4, 4, wide}, {4, 4, 4, wide}, {1, 1, 1, {{2, 1}}}, {1, 1, 1, {{0, 1}}}, {1, 1, 1, {{1, 1}}}};
  CHECK(chosen(guests, 1, ReclaimRule::least_cost) == std::vector<std::uint32_t>{3});
  CHECK(chosen(guests, 1, ReclaimRule::fewest_jobs) == std::vector<std::uint32_t>{2});
  CHECK(chosen(guests, 1, ReclaimRule::last) == std::vector<std::uint32_t>{3});
  CHECK(chosen(guests, 2, ReclaimRule::last) == std::vector<std::uint32_t>{3, 2});
  // Once both wide jobs are preempted, 0, 1 and 2 cost one job each.
  CHECK(chosen(guests, 2, ReclaimRule::least_cost) == std::vector<std::uint32_t>{3, 2});
}

TEST_CASE("loans: a server whose jobs shrink costs nothing, until they can't any more") {
  // Job 0 has 2 GPUs elsewhere and one on each of servers 0 and 1, and needs 3; the job of server 2 is on 2 servers.
  const std::vector<LoanGuest> guests{{4, 3, 3, {{0, 1}, {1, 1}}}, {2, 2, 2, {{2, 1}}}, {1, 1, 1, {{3, 1}}}};
  CHECK(chosen(guests, 1, ReclaimRule::least_cost) == std::vector<std::uint32_t>{1});
  CHECK(chosen(guests, 2, ReclaimRule::least_cost) == std::vector<std::uint32_t>{1, 0});  // 1/3 is less than 1/2
  CHECK(chosen(guests, 3, ReclaimRule::least_cost) == std::vector<std::uint32_t>{1, 0, 2});
}

namespace {

/// How many jobs are preempted if these servers go back.
int count_preempted(const std::vector<LoanGuest>& guests, std::uint32_t servers) {
  int count = 0;
  for (const LoanGuest& guest : guests) {
    int lost = 0;
    for (const auto& [server, gpus] : guest.gpus)
      if ((servers >> server & 1U) != 0) lost += gpus;
    count += guest.held - lost < guest.least ? 1 : 0;
  }
  return count;
}

}  // namespace

TEST_CASE("loans: least-cost against the best of all choices, on random clusters of 8 servers") {
  std::int64_t best_sum = 0, least_cost = 0, fewest = 0, last = 0, is_best = 0;
  const std::uint64_t cases = effort<std::uint64_t>(300);
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    RandomStream random{seed, "guests"};
    const auto in = [&](std::int64_t low, std::int64_t high) {
      return static_cast<int>(random.uniform_integer(low, high));
    };
    std::vector<LoanGuest> guests(static_cast<std::size_t>(in(4, 14)));
    for (LoanGuest& guest : guests) {
      const int servers = in(1, 3);
      for (int s = 0; s < servers; ++s) guest.gpus[static_cast<std::uint32_t>(in(0, 7))] = in(1, 4);
      for (const auto& [server, gpus] : guest.gpus) guest.held += gpus;
      guest.servers = static_cast<int>(guest.gpus.size());
      guest.least = in(0, 3) == 0 ? in(1, guest.held) : guest.held;
    }
    const int count = in(1, 6);
    int best = INT32_MAX;
    for (std::uint32_t set = 0; set < 256; ++set)
      if (std::popcount(set) == count) best = std::min(best, count_preempted(guests, set));
    const auto by_rule = [&](ReclaimRule rule) {
      RandomStream stream{seed, "unused"};
      std::uint32_t set = 0;
      const auto returned = servers_to_return({0, 1, 2, 3, 4, 5, 6, 7}, guests, count, rule, stream);
      for (const std::uint32_t server : returned) set |= 1U << server;
      CHECK(std::popcount(set) == count);
      return count_preempted(guests, set);
    };
    const int found = by_rule(ReclaimRule::least_cost);
    CHECK(found >= best);
    best_sum += best;
    least_cost += found;
    fewest += by_rule(ReclaimRule::fewest_jobs);
    last += by_rule(ReclaimRule::last);
    is_best += found == best ? 1 : 0;
  }
  MESSAGE("preempted jobs: best ", best_sum, ", least-cost ", least_cost, ", fewest-jobs ", fewest, ", last ", last,
          "; least-cost is best in ", is_best, " of ", cases);
  CHECK(least_cost <= fewest);
  CHECK(fewest < last);
  CHECK(is_best * 10 > static_cast<std::int64_t>(cases) * 7);
}

TEST_CASE("portable_cos_of_turns: as the cosine of the C library, and exact at quarter turns") {
  CHECK(portable_cos_of_turns(0) == 1);
  CHECK(portable_cos_of_turns(0.5) == -1);
  CHECK(portable_cos_of_turns(-7) == 1);
  for (int i = -300; i <= 300; ++i) {
    const double x = 0.00917 * i;
    CHECK(portable_cos_of_turns(x) == near_absolute(std::cos(2 * std::numbers::pi * x), 1e-14));
  }
}
