// Tests CASSINI's scores and shifts beside values worked by hand, random circles beside a search of all shifts, and the
// affinity graph.

#include "network/routing/cassini.hpp"

#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

LinkDemand demand(std::int64_t period, std::int64_t from, std::int64_t until, double rate = 50) {
  return {Time::nanoseconds(period), {{Time::nanoseconds(from), Time::nanoseconds(until), rate}}};
}

std::vector<Time> ns(std::initializer_list<std::int64_t> values) {
  std::vector<Time> times;
  for (const std::int64_t value : values) times.push_back(Time::nanoseconds(value));
  return times;
}

}  // namespace

TEST_CASE("scores of two jobs on a link, worked by hand") {
  // Unified circle of 120: three iterations of the first job, two of the second.
  const std::vector<LinkDemand> unequal{demand(40, 0, 15), demand(60, 0, 20)};
  CHECK(link_score(unequal, 50, ns({0, 0})) == near(0.875));
  CHECK(best_shifts(unequal, 50).score == near(0.875));
  const std::vector<LinkDemand> short_ones{demand(100, 60, 100), demand(100, 60, 100)};
  CHECK(link_score(short_ones, 50, ns({0, 0})) == near(0.6));
  CHECK(link_score(short_ones, 50, ns({0, 40})) == near(1));
  CHECK(best_shifts(short_ones, 50).score == near(1));
  CHECK(best_shifts(short_ones, 50).shifts == ns({0, 40}));
  const std::vector<LinkDemand> long_ones{demand(100, 0, 60), demand(100, 0, 60)};
  CHECK(link_score(long_ones, 50, ns({0, 0})) == near(0.4));
  CHECK(best_shifts(long_ones, 50).score == near(0.8));
  // Two equal periods T at full rate, up for a and b with a + b > T: the best score is 1 - (a + b - T) / T.
  for (const std::int64_t b : {35, 70, 100})
    CHECK(best_shifts(std::vector{demand(100, 0, 70), demand(100, 0, b)}, 50).score ==
          near(1 - static_cast<double>(std::max<std::int64_t>(0, 70 + b - 100)) / 100));
  // Three jobs that fill the link thrice all the time.
  CHECK(link_score(std::vector{demand(10, 0, 10), demand(10, 0, 10), demand(5, 0, 5)}, 50, ns({0, 3, 4})) == near(-1));
  CHECK(link_score({}, 50, {}) == 1);
}

TEST_CASE("no shift of two jobs is better, and shifts of several are never worse than none") {
  RandomStream random{3, "cassini"};
  const int cases = effort(300);
  int better = 0;
  for (int i = 0; i < cases; ++i) {
    std::vector<LinkDemand> jobs;
    const auto count = static_cast<std::size_t>(random.uniform_integer(2, 4));
    for (std::size_t j = 0; j < count; ++j) {
      const std::int64_t period = 4 * random.uniform_integer(1, 6);
      const std::int64_t from = random.uniform_integer(0, period - 2);
      const std::int64_t middle = random.uniform_integer(from + 1, period - 1);
      jobs.push_back(demand(period, from, middle, static_cast<double>(random.uniform_integer(1, 5))));
      jobs.back().arcs.push_back({Time::nanoseconds(middle), Time::nanoseconds(period), 1});
    }
    const double unshifted = link_score(jobs, 4, std::vector<Time>(count));
    const LinkShifts found = best_shifts(jobs, 4);
    CHECK(found.score >= unshifted);
    CHECK(found.score == near(link_score(jobs, 4, found.shifts)));
    better += found.score > unshifted + 1e-9 ? 1 : 0;
    if (count > 2) continue;
    double best = unshifted;
    for (std::int64_t shift = 0; shift < jobs[1].period.ns(); ++shift)
      best = std::max(best, link_score(jobs, 4, ns({0, shift})));
    CHECK(found.score == near(best));
  }
  CHECK(better * 10 > cases);
}

TEST_CASE("the affinity graph gives a job one shift that agrees with the shifts of all links unless it has a cycle") {
  const std::vector<Time> periods = ns({40, 60, 100});
  const auto edge = [](std::size_t job, std::size_t link, std::int64_t shift) {
    return AffinityEdge{job, link, Time::nanoseconds(shift)};
  };
  // Link 0: jobs 0 and 1, 10 against 30; link 1: jobs 1 and 2, 25 against 5.
  const std::vector<AffinityEdge> chain{edge(0, 0, 10), edge(1, 0, 30), edge(1, 1, 25), edge(2, 1, 5)};
  CHECK(affinity_shifts(periods, 2, chain) == ns({0, 20, 0}));
  std::vector<AffinityEdge> cycle = chain;
  cycle.push_back(edge(0, 1, 7));
  CHECK(affinity_shifts(periods, 2, cycle) == std::nullopt);
  // Jobs that share two links are a cycle as well; jobs without a link keep 0.
  CHECK(affinity_shifts(periods, 2, std::vector{edge(0, 0, 1), edge(1, 0, 2), edge(0, 1, 1), edge(1, 1, 2)}) ==
        std::nullopt);
  CHECK(affinity_shifts(periods, 1, std::vector{edge(2, 0, 90), edge(0, 0, 3)}) == ns({0, 0, 87}));
}

TEST_CASE("demands that no circle holds are refused") {
  const auto refused = [](const std::vector<LinkDemand>& jobs) {
    try {
      static_cast<void>(best_shifts(jobs, 50));
    } catch (const InputError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  CHECK(refused({demand(40, 10, 41)}).find("from 10 to 41 ns is not within the period of 40 ns") != std::string::npos);
  CHECK(refused({demand(999'983, 0, 1), demand(1'000'003, 0, 1)}).find("round them") != std::string::npos);
}
