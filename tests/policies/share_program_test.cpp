// Shares of time on types of servers: cases worked by hand, a slow reference, and what must hold for every input.

#include "policies/scheduling/share_program.hpp"

#include "policies/scheduling/type_allocation.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/policies/simplex.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using contend::test::simplex;

namespace {

/// Jobs on types as a full linear program. Without `values` the last variable is the level of all.
double slow_optimum(const TypedCluster& cluster, const std::vector<double>& values) {
  const std::size_t n = cluster.jobs.size(), k = cluster.capacity.size();
  const bool has_level = values.empty();
  std::vector<double> c = has_level ? std::vector<double>(n * k) : values;
  if (has_level) c.push_back(1);
  std::vector<std::vector<double>> a;
  std::vector<double> b;
  for (std::size_t j = 0; j < k; ++j) {
    std::vector<double> row(c.size());
    for (std::size_t i = 0; i < n; ++i) row[i * k + j] = cluster.jobs[i].gpus;
    a.push_back(row);
    b.push_back(cluster.capacity[j]);
  }
  for (const TypedHosts& hosts : cluster.hosts) {
    std::vector<double> row(c.size());
    for (std::size_t i = 0; i < n; ++i) row[i * k + hosts.type] = hosts.parts[i];
    a.push_back(row);
    b.push_back(1);
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> row(c.size()), level(c.size());
    for (std::size_t j = 0; j < k; ++j) {
      row[i * k + j] = 1;
      level[i * k + j] = -rate_on(cluster, cluster.jobs[i], j);
    }
    a.push_back(row);
    b.push_back(1);
    if (!has_level) continue;
    level.back() = 1;
    a.push_back(level);
    b.push_back(0);
  }
  return simplex(a, b, c);
}

ShareProgram program_of(const TypedCluster& cluster) {
  ShareProgram program{cluster.capacity};
  for (const TypedJob& job : cluster.jobs) {
    std::vector<double> rates;
    for (std::size_t j = 0; j < cluster.capacity.size(); ++j) rates.push_back(rate_on(cluster, job, j));
    program.add(job.gpus, rates);
  }
  for (const TypedHosts& hosts : cluster.hosts) program.add(hosts);
  return program;
}

TypedCluster random_typed(std::uint64_t seed) {
  RandomStream stream{seed, "share-program"};
  TypedCluster cluster;
  const auto types = static_cast<std::size_t>(stream.uniform_integer(1, 4));
  for (std::size_t j = 0; j < types; ++j) cluster.capacity.push_back(static_cast<double>(stream.uniform_integer(1, 8)));
  const std::int64_t jobs = stream.uniform_integer(1, 12);
  for (std::int64_t i = 0; i < jobs; ++i) {
    TypedJob job;
    job.gpus = static_cast<double>(std::int64_t{1} << stream.uniform_integer(0, 2));
    for (std::size_t j = 0; j < types; ++j) {
      const bool is_round = stream.uniform() < 0.4;  // ties are common then
      const double rate = is_round ? static_cast<double>(stream.uniform_integer(0, 3)) : 0.1 + 5 * stream.uniform();
      job.rates.push_back(rate);
    }
    if (std::ranges::all_of(job.rates, [](double rate) { return rate == 0; })) job.rates[0] = 1;
    job.gpus = std::min(job.gpus, *std::ranges::min_element(cluster.capacity));
    job.left = 1 + 100 * stream.uniform();
    cluster.jobs.push_back(job);
  }
  return cluster;
}

/// CPUs and memory of some types, of which jobs want up to some times of what there is.
void add_random_hosts(std::uint64_t seed, TypedCluster& cluster) {
  RandomStream stream{seed, "hosts"};
  for (std::size_t j = 0; j < cluster.capacity.size(); ++j) {
    for (std::int64_t of_type = stream.uniform_integer(0, 2); of_type > 0; --of_type) {
      TypedHosts hosts{.type = j, .parts = {}};
      for (std::size_t i = 0; i < cluster.jobs.size(); ++i)
        hosts.parts.push_back(stream.uniform() < 0.3   ? 0
                              : stream.uniform() < 0.4 ? 0.25 * static_cast<double>(stream.uniform_integer(1, 4))
                                                       : stream.uniform());
      cluster.hosts.push_back(std::move(hosts));
    }
  }
}

/// Shares that no type and no job can have. Empty if there are none.
std::string faults(const TypedCluster& cluster, const TimeShares& shares) {
  const std::size_t k = cluster.capacity.size();
  std::vector<double> used(k);
  for (std::size_t i = 0; i < cluster.jobs.size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < k; ++j) {
      const double x = shares.x[i * k + j];
      if (x < 0) return "a negative share";
      sum += x;
      used[j] += x * cluster.jobs[i].gpus;
    }
    if (sum > 1 + 1e-9) return "a job with more than its whole time";
  }
  for (std::size_t j = 0; j < k; ++j)
    if (used[j] > cluster.capacity[j] + 1e-9 * (1 + cluster.capacity[j])) return "a type with more than its GPUs";
  for (const TypedHosts& hosts : cluster.hosts) {
    double needed = 0;
    for (std::size_t i = 0; i < cluster.jobs.size(); ++i) needed += hosts.parts[i] * shares.x[i * k + hosts.type];
    if (needed > 1 + 1e-9) return "a type with more than its hosts";
  }
  return {};
}

TypedCluster two_jobs(std::vector<double> capacity) {
  TypedCluster cluster{.capacity = std::move(capacity), .prices = {}, .jobs = {}};
  for (const std::vector<double>& rates : {std::vector<double>{0.5, 1, 2}, std::vector<double>{1, 2, 3}}) {
    TypedJob job;
    job.rates = rates;
    cluster.jobs.push_back(job);
  }
  cluster.jobs[0].left = 300;
  cluster.jobs[1].left = 500;
  return cluster;
}

}  // namespace

TEST_CASE("shares: two jobs on three types, as fractions") {
  CHECK(max_min_shares(two_jobs({3, 2, 1}), false, false).value == near(48.0 / 31));
  CHECK(max_min_shares(two_jobs({1, 1, 1}), false, false).value == near(24.0 / 19));
  for (const auto& capacity : {std::vector<double>{3, 2, 1}, std::vector<double>{1, 1, 1}}) {
    CHECK(makespan_shares(two_jobs(capacity)).value == near(200));
    CHECK(least_cost_shares(two_jobs(capacity)).value == near(4));
  }
  CHECK(finish_time_fair_shares(two_jobs({3, 2, 1})).value == near(31.0 / 48));
  CHECK(finish_time_fair_shares(two_jobs({1, 1, 1})).value == near(19.0 / 24));
}

TEST_CASE("shares: on one type max-min is equal shares up to the demand, and the makespan a bound") {
  TypedCluster cluster{.capacity = {4}, .prices = {}, .jobs = {}};
  for (const double left : {100.0, 10.0, 30.0, 20.0, 40.0, 60.0}) {
    TypedJob job;
    job.rates = {1};
    job.left = left;
    cluster.jobs.push_back(job);
  }
  const TimeShares fair = max_min_shares(cluster, false, false);
  for (const double x : fair.x) CHECK(x == near(4.0 / 6));
  CHECK(makespan_shares(cluster).value == near(100));  // the longest
  cluster.capacity = {2};
  CHECK(makespan_shares(cluster).value == near(130));  // all work over the GPUs
}

TEST_CASE("shares: twice the weight is twice the level") {
  TypedCluster cluster{.capacity = {1, 1}, .prices = {}, .jobs = {}};
  for (int i = 0; i < 4; ++i) {
    TypedJob job;
    job.rates = {1, 3};
    job.weight = i == 0 ? 2 : 1;
    cluster.jobs.push_back(job);
  }
  const TimeShares shares = max_min_shares(cluster, false, true);
  const auto rate = [&](std::size_t i) { return shares.x[2 * i] + 3 * shares.x[2 * i + 1]; };
  CHECK(rate(0) == near(2 * rate(1), 1e-9));
}

TEST_CASE("shares: the optimum is the optimum of the whole linear program by a plain simplex method") {
  const std::uint64_t rounds = effort<std::uint64_t>(400);
  for (std::uint64_t seed = 0; seed < rounds; ++seed) {
    CAPTURE(seed);
    TypedCluster cluster = random_typed(seed);
    if (seed % 2 == 1) add_random_hosts(seed, cluster);
    const ShareProgram program = program_of(cluster);
    const std::vector<double> none(cluster.jobs.size()), all(cluster.jobs.size(), 1);
    const TimeShares level = program.max_level(none, all);
    CHECK(level.value == near_absolute(slow_optimum(cluster, {}), 1e-9));
    CHECK(faults(cluster, level) == "");
    CHECK(level.prices.size() == cluster.capacity.size() + cluster.hosts.size());
    std::vector<double> values;
    for (const TypedJob& job : cluster.jobs)
      for (std::size_t j = 0; j < cluster.capacity.size(); ++j)
        values.push_back(rate_on(cluster, job, j) / static_cast<double>(j + 1));
    const TimeShares sum = program.max_sum(values, none);
    CHECK(sum.value == near_absolute(slow_optimum(cluster, values), 1e-8));
    CHECK(faults(cluster, sum) == "");
  }
}

namespace {

struct NamedShares {
  std::string name;
  TimeShares shares;
};

/// Those of all objectives that keep to what there is.
std::vector<NamedShares> all_shares(const TypedCluster& cluster) {
  TimeShares traded = equal_shares(cluster, true);
  trade(cluster, traded);
  const auto weight = [](std::int32_t) { return 1.0; };
  return {{"max-min", max_min_shares(cluster, false, false)},
          {"water filling", max_min_shares(cluster, false, true)},
          {"agnostic", max_min_shares(cluster, true, false)},
          {"hierarchical", hierarchical_shares(cluster, Entities::users, weight, false)},
          {"makespan", makespan_shares(cluster)},
          {"finish-time fairness", finish_time_fair_shares(cluster)},
          {"cost", least_cost_shares(cluster)},
          {"equal", equal_shares(cluster, true)},
          {"traded", std::move(traded)}};
}

}  // namespace

TEST_CASE(
    "shares: no objective divides more CPUs or memory than there are, and hosts that are never short change none") {
  const std::uint64_t rounds = effort<std::uint64_t>(200);
  std::uint64_t short_ones = 0;
  for (std::uint64_t seed = 5000; seed < 5000 + rounds; ++seed) {
    CAPTURE(seed);
    const TypedCluster free = random_typed(seed);
    TypedCluster cluster = free;
    add_random_hosts(seed, cluster);
    for (std::size_t i = 0; i < cluster.jobs.size() && seed % 2 == 1; ++i) {
      cluster.jobs[i].age = static_cast<double>(10 * i);
      cluster.jobs[i].isolated = static_cast<double>(3 * i);
    }
    for (const NamedShares& each : all_shares(cluster)) {
      CAPTURE(each.name);
      CHECK(faults(cluster, each.shares) == "");
    }
    TypedCluster without = cluster;
    without.hosts.clear();
    if (max_min_shares(cluster, false, false).value < max_min_shares(without, false, false).value * (1 - 1e-6))
      ++short_ones;
    for (TypedHosts& hosts : cluster.hosts)
      for (double& part : hosts.parts) part /= 2 * static_cast<double>(cluster.jobs.size());
    const std::vector<NamedShares> expected = all_shares(without), got = all_shares(cluster);
    for (std::size_t o = 0; o < expected.size(); ++o) {
      CAPTURE(expected[o].name);
      CHECK(got[o].shares.value == near_absolute(expected[o].shares.value, 1e-8 * (1 + expected[o].shares.value)));
    }
    CHECK(got[7].shares.x == expected[7].shares.x);
    CHECK(got[8].shares.x == expected[8].shares.x);
  }
  CHECK(10 * short_ones > rounds);
}

TEST_CASE("shares: two jobs of which a server has CPUs for one have half of it each") {
  // Both are twice as fast on the first type, which has GPUs for both and CPUs for one.
  TypedCluster cluster{.capacity = {2, 2}, .prices = {}, .jobs = {}};
  for (int i = 0; i < 2; ++i) {
    TypedJob job;
    job.rates = {2, 1};
    job.left = 30;
    cluster.jobs.push_back(job);
  }
  cluster.hosts = {{0, {1, 1}}, {1, {1, 1}}};
  for (const NamedShares& each : all_shares(cluster)) {
    CAPTURE(each.name);
    if (each.name == "cost" || each.name == "agnostic") continue;  // they have several optima
    for (const double x : each.shares.x) CHECK(x == near(0.5, 1e-9));
  }
  CHECK(makespan_shares(cluster).value == near(20));
  CHECK(least_cost_shares(cluster).value == near(3));
  // Of three thirds that the second job doesn't need the first one has two.
  cluster.hosts = {{0, {1, 1.0 / 3}}, {1, {1, 1.0 / 3}}};
  CHECK(equal_shares(cluster, true).x == std::vector<double>{0.5, 0.5, 0.5, 0.5});
  cluster.jobs[1].rates = {2, 0};
  const TimeShares equal = equal_shares(cluster, true);  // the second runs all the time on the first type
  CHECK(equal.x[2] == 1);
  cluster.hosts = {{0, {2, 1.0 / 3}}};
  CHECK(equal_shares(cluster, true).x[0] == near(1.0 / 3));  // it wants all of 2/2, and has two thirds
}

TEST_CASE("shares: a sum with bases gives each job its base, or says that it can't") {
  TypedCluster cluster = two_jobs({1, 1, 1});
  const ShareProgram program = program_of(cluster);
  const std::vector<double> values = {0.5, 1, 2, 1, 2, 3};
  // Free, the first job has the third type and the second job the second one: 2 + 2. The second needs 2.5 for itself.
  const TimeShares bound = program.max_sum(values, std::vector<double>{0, 2.5});
  CHECK(bound.feasible);
  double second = 0;
  for (std::size_t j = 0; j < 3; ++j) second += program.rate(1, j) * bound.x[3 + j];
  CHECK(second >= 2.5 - 1e-9);
  CHECK(bound.value == near(4, 1e-9));  // half of the time they change places: 1.5 + 2.5
  CHECK_FALSE(program.max_sum(values, std::vector<double>{2, 2.5}).feasible);
}

TEST_CASE(
    "shares: two types that only together give the base are mixed only if that is worth more than the faster one") {
  TypedCluster cluster{.capacity = {1, 1}, .prices = {}, .jobs = {}};
  TypedJob job;
  job.rates = {2, 1};
  cluster.jobs.push_back(job);
  const ShareProgram program = program_of(cluster);
  const std::vector<double> base = {1.5};
  CHECK(program.max_sum(std::vector<double>{3, 1.2}, base).value == near(3, 1e-9));
  CHECK(program.max_sum(std::vector<double>{1, 3}, base).value == near(2, 1e-9));  // half of the time on each
}

TEST_CASE("shares: water filling leaves no level that could rise without lowering one that is not larger") {
  const std::uint64_t rounds = effort<std::uint64_t>(150);
  for (std::uint64_t seed = 1000; seed < 1000 + rounds; ++seed) {
    CAPTURE(seed);
    TypedCluster cluster = random_typed(seed);
    if (seed % 2 == 1) add_random_hosts(seed, cluster);
    const ShareProgram program = program_of(cluster);
    const std::size_t n = cluster.jobs.size();
    std::vector<double> levels;
    const TimeShares shares = program.water_fill(std::vector<double>(n, 1), levels);
    CHECK(faults(cluster, shares) == "");
    for (std::size_t i = 0; i < n; ++i) {
      double reached = 0;
      for (std::size_t j = 0; j < cluster.capacity.size(); ++j)
        reached += program.rate(i, j) * shares.x[i * cluster.capacity.size() + j];
      CHECK(reached >= levels[i] - 1e-9 * (1 + levels[i]));
      // Hold those that are not larger, forget the others, and let this one rise.
      std::vector<double> base(n), slope(n);
      for (std::size_t other = 0; other < n; ++other)
        if (other != i && levels[other] <= levels[i] * (1 + 1e-9)) base[other] = levels[other] * (1 - 1e-12);
      slope[i] = 1;
      CHECK(program.max_level(base, slope, shares.x).value <= levels[i] * (1 + 1e-7));
    }
  }
}

namespace {

/// Jobs of one GPU type that are 1 as fast as can be on it, with their entity and GPUs.
TypedCluster entities_on(double gpus, const std::vector<std::pair<std::int32_t, double>>& jobs) {
  TypedCluster cluster{.capacity = {gpus}, .prices = {}, .jobs = {}};
  for (const auto& [entity, size] : jobs) {
    TypedJob job;
    job.gpus = size;
    job.rates = {1};
    job.user = entity;
    cluster.jobs.push_back(job);
  }
  return cluster;
}

/// GPUs that each job has on average.
std::vector<double> gpus_of(const TypedCluster& cluster, const TimeShares& shares) {
  std::vector<double> gpus;
  for (std::size_t i = 0; i < cluster.jobs.size(); ++i) gpus.push_back(shares.x[i] * cluster.jobs[i].gpus);
  return gpus;
}

void check_gpus(const std::vector<double>& got, const std::vector<double>& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i] == near(expected[i], 1e-9));
  }
}

}  // namespace

TEST_CASE("shares: entities share by their weights, and the jobs of each share its part") {
  const auto weight = [](std::int32_t entity) { return entity == 0 ? 1.0 : 2.0; };
  const auto divided = [&](const TypedCluster& cluster, bool first_come) {
    const TimeShares shares = hierarchical_shares(cluster, Entities::users, weight, first_come);
    CHECK(faults(cluster, shares) == "");
    return gpus_of(cluster, shares);
  };
  // 6 GPUs: 2 for entity 0 with two jobs of one GPU, 4 for entity 1 with two of four.
  const TypedCluster cluster = entities_on(6, {{0, 1}, {0, 1}, {1, 4}, {1, 4}});
  check_gpus(divided(cluster, false), {1, 1, 2, 2});
  // First come: the first job of entity 1 has all that the entity gets.
  check_gpus(divided(cluster, true), {1, 1, 4, 0});
  // 9 GPUs, of which entity 0 uses 2 alone: the first job of entity 1 has its 4, and the second 3.
  check_gpus(divided(entities_on(9, {{0, 1}, {0, 1}, {1, 4}, {1, 4}}), true), {1, 1, 4, 3});
  // A job that uses up its share leaves the rest to the jobs of its own entity first: 3 for entity 0, one of which can
  // use 1.
  check_gpus(divided(entities_on(9, {{0, 1}, {0, 8}, {1, 8}, {1, 8}}), false), {1, 2, 3, 3});
  // Of weights of jobs within an entity.
  TypedCluster weighted = entities_on(6, {{0, 4}, {0, 4}});
  weighted.jobs[1].weight = 2;
  check_gpus(divided(weighted, false), {2, 4});
}

TEST_CASE("shares: entities of one job each are the jobs themselves") {
  for (std::uint64_t seed = 3000; seed < 3000 + effort<std::uint64_t>(60); ++seed) {
    CAPTURE(seed);
    TypedCluster cluster = random_typed(seed);
    for (std::size_t i = 0; i < cluster.jobs.size(); ++i) {
      cluster.jobs[i].user = static_cast<std::int32_t>(i);
      cluster.jobs[i].weight = 1;
    }
    const TimeShares plain = max_min_shares(cluster, false, true);
    for (const bool first_come : {false, true}) {
      const TimeShares shares = hierarchical_shares(
          cluster, Entities::users, [](std::int32_t) { return 1.0; }, first_come);
      CHECK(faults(cluster, shares) == "");
      const std::vector<double> expected = levels_of(cluster, plain, false), got = levels_of(cluster, shares, false);
      for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == near(expected[i], 1e-7));
    }
  }
}

TEST_CASE("shares: faster GPUs for all by the same factor change no share, and knowing types never costs fairness") {
  for (std::uint64_t seed = 2000; seed < 2000 + effort<std::uint64_t>(50); ++seed) {
    CAPTURE(seed);
    const TypedCluster cluster = random_typed(seed);
    TypedCluster faster = cluster;
    for (TypedJob& job : faster.jobs)
      for (double& rate : job.rates) rate *= 4;  // a power of two: exact
    CHECK(max_min_shares(cluster, false, true).x == max_min_shares(faster, false, true).x);
    const TimeShares aware = max_min_shares(cluster, false, false), agnostic = max_min_shares(cluster, true, false);
    const std::vector<double> levels = levels_of(cluster, agnostic, false);
    CHECK(aware.value >= *std::ranges::min_element(levels) - 1e-9);
    // A job can always have its part of the whole cluster.
    double gpus = 0;
    for (const double each : cluster.capacity) gpus += each;
    CHECK(aware.value >= std::min(1.0, gpus / static_cast<double>(cluster.jobs.size())) - 1e-9);
  }
}

TEST_CASE("shares: with ages the finish-time fairness is the least for which the rates can be had") {
  TypedCluster cluster = two_jobs({1, 1, 1});
  cluster.jobs[0].age = 400;
  cluster.jobs[0].isolated = 100;
  const TimeShares fair = finish_time_fair_shares(cluster);
  const std::vector<double> equal = equal_share_rates(cluster);
  double worst = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const TypedJob& job = cluster.jobs[i];
    double rate = 0;
    for (std::size_t j = 0; j < 3; ++j) rate += job.rates[j] * fair.x[3 * i + j];
    worst = std::max(worst, (job.age + job.left / rate) / (job.isolated + job.left / equal[i]));
  }
  CHECK(worst == near(fair.value, 1e-9));
  // The first job can't be faster than on the third type: (400 + 300 / 2) / (100 + 300 / (7 / 6)).
  CHECK(equal[0] == near(3.5 / 3));
  CHECK(fair.value >= 550 / (100 + 300 / (3.5 / 3)) - 1e-9);
}

TEST_CASE("shares: deadlines that can't all be met are dropped, and jobs that can't run get nothing") {
  TypedCluster cluster = two_jobs({1, 1, 1});
  cluster.prices = {1, 1, 1};
  cluster.jobs[1].time_left = 500 / 2.5;
  CHECK(least_cost_shares(cluster).feasible);
  cluster.jobs[0].time_left = 150;
  cluster.jobs[1].time_left = 170;
  CHECK(least_cost_shares(cluster).value == near(4));
  cluster.jobs[0].rates = {0, 0, 0};
  for (const TimeShares& shares :
       {max_min_shares(cluster, false, false), max_min_shares(cluster, false, true), makespan_shares(cluster),
        finish_time_fair_shares(cluster), equal_shares(cluster, true)})
    for (std::size_t j = 0; j < 3; ++j) CHECK(shares.x[j] == 0);
}

TEST_CASE("trade: jobs buy time on the fast type from the one that is least faster there, at the next buyer's price") {
  TypedCluster cluster{.capacity = {1, 1}, .prices = {}, .jobs = {}};
  for (const std::vector<double>& rates : {std::vector<double>{1, 4}, {1, 1.5}, {1, 2}}) {
    TypedJob job;
    job.rates = rates;
    cluster.jobs.push_back(job);
  }
  TimeShares shares = equal_shares(cluster, true);  // each has a third of both types
  trade(cluster, shares);
  // A pays 2 slow GPUs for a fast one, the speedup of the next buyer, and has enough for 1/6.
  CHECK(shares.x[0] == near_absolute(0, 1e-12));
  CHECK(shares.x[1] == near(1.0 / 2));
  // The third pays what B would lose, 1.5, for the last 1/6 that B has.
  CHECK(shares.x[4] == near(1.0 / 12));
  CHECK(shares.x[5] == near(1.0 / 2));
  CHECK(shares.x[2] == near(11.0 / 12));
  CHECK(shares.x[3] == near_absolute(0, 1e-12));
}

TEST_CASE("trade: of two types on which equally many jobs are faster, the later one is sold") {
  TypedCluster cluster{.capacity = {1, 1}, .prices = {}, .jobs = {}};
  for (const std::vector<double>& rates : {std::vector<double>{1, 4}, {2, 1}, {1, 2}, {3, 1}}) {
    TypedJob job;
    job.rates = rates;
    cluster.jobs.push_back(job);
  }
  TimeShares shares = equal_shares(cluster, true);  // each has a quarter of both types
  trade(cluster, shares);
  // A pays the fourth job 2 slow GPUs for a fast one and has enough for 1/8; the third pays 1/2 for what is left.
  const std::vector<double> expected{0, 3.0 / 8, 3.0 / 8, 0, 1.0 / 16, 5.0 / 8, 9.0 / 16, 0};
  for (std::size_t k = 0; k < expected.size(); ++k) CHECK(shares.x[k] == near_absolute(expected[k], 1e-12));
}

TEST_CASE("trade: no job does less work than before, no type is used more, and no job runs more than all the time") {
  for (std::uint64_t seed = 0; seed < effort<std::uint64_t>(200); ++seed) {
    RandomStream stream{seed, "trade"};
    CAPTURE(seed);
    TypedCluster cluster;
    const std::size_t types = 1 + seed % 4;
    for (std::size_t t = 0; t < types; ++t)
      cluster.capacity.push_back(static_cast<double>(stream.uniform_integer(1, 9)));
    for (std::int64_t j = stream.uniform_integer(2, 12); j > 0; --j) {
      TypedJob job;
      job.gpus = static_cast<double>(stream.uniform_integer(1, 3));
      for (std::size_t t = 0; t < types; ++t)
        job.rates.push_back(stream.uniform() < 0.2 ? 0 : static_cast<double>(stream.uniform_integer(1, 6)));
      cluster.jobs.push_back(job);
    }
    const TimeShares before = equal_shares(cluster, true);
    TimeShares after = before;
    trade(cluster, after);
    std::vector<double> used(types);
    for (std::size_t i = 0; i < cluster.jobs.size(); ++i) {
      double worked = 0, works = 0, time = 0;
      for (std::size_t t = 0; t < types; ++t) {
        const double rate = rate_on(cluster, cluster.jobs[i], t);
        CHECK(after.x[i * types + t] >= 0);
        worked += rate * before.x[i * types + t];
        works += rate * after.x[i * types + t];
        time += after.x[i * types + t];
        used[t] += cluster.jobs[i].gpus * (after.x[i * types + t] - before.x[i * types + t]);
      }
      CHECK(works >= worked * (1 - 1e-12));
      CHECK(time <= 1 + 1e-12);
    }
    for (const double more : used) CHECK(more == near_absolute(0, 1e-9));
  }
}
