// Shares of time where jobs may share GPUs: cases worked by hand, and the whole program by a slow reference.

#include "policies/scheduling/packed_shares.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/policies/simplex.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using contend::test::simplex;

namespace {

TypedJob packed_job(std::vector<double> rates, double gpus = 1, double left = 1) {
  TypedJob job;
  job.rates = std::move(rates);
  job.gpus = gpus;
  job.left = left;
  return job;
}

/// Fills the rows of an LP whose first columns are the times of jobs and then of pairs on each type: rows of what types
/// have, of the time of jobs, and of their rates with a minus.
void add_times(const TypedCluster& cluster, std::vector<std::vector<double>>& a) {
  const std::size_t n = cluster.jobs.size(), k = cluster.capacity.size(), m = cluster.pairs.size();
  const auto use = [&](std::size_t column, std::size_t job, double rate) {
    a[k + job][column] = 1;
    a[k + n + job][column] = -rate;
  };
  for (std::size_t j = 0; j < k; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      a[j][i * k + j] = cluster.jobs[i].gpus;
      use(i * k + j, i, rate_on(cluster, cluster.jobs[i], j));
    }
    for (std::size_t p = 0; p < m; ++p) {
      const TypedPair& pair = cluster.pairs[p];
      const std::size_t column = (n + p) * k + j;
      a[j][column] = cluster.jobs[pair.first].gpus;
      const bool fits = cluster.capacity[j] >= cluster.jobs[pair.first].gpus;
      use(column, pair.first, fits ? pair.first_rates[j] : 0);
      use(column, pair.second, fits ? pair.second_rates[j] : 0);
    }
  }
}

/// The level to which all jobs get, each in its norm, with every pair as a column.
double slow_level(const TypedCluster& cluster, const std::vector<double>& norms) {
  const std::size_t n = cluster.jobs.size(), k = cluster.capacity.size(), m = cluster.pairs.size();
  const std::size_t columns = (n + m) * k + 1;
  std::vector<std::vector<double>> a(k + 2 * n, std::vector<double>(columns));
  std::vector<double> b(k + 2 * n), c(columns);
  c.back() = 1;
  for (std::size_t j = 0; j < k; ++j) b[j] = cluster.capacity[j];
  for (std::size_t i = 0; i < n; ++i) {
    b[k + i] = 1;
    a[k + n + i].back() = norms[i];
  }
  add_times(cluster, a);
  return simplex(a, b, c);
}

/// The rate of a job with these shares; checks that no type and no job has more than there is.
double rate_of(const TypedCluster& cluster, const TimeShares& shares, std::size_t job) {
  const std::size_t k = cluster.capacity.size();
  double rate = 0, time = 0;
  std::vector<double> used(k);
  for (std::size_t j = 0; j < k; ++j) {
    rate += rate_on(cluster, cluster.jobs[job], j) * shares.x[job * k + j];
    time += shares.x[job * k + j];
    for (std::size_t i = 0; i < cluster.jobs.size(); ++i) used[j] += cluster.jobs[i].gpus * shares.x[i * k + j];
    for (std::size_t p = 0; p < cluster.pairs.size(); ++p) {
      const TypedPair& pair = cluster.pairs[p];
      const double share = shares.pairs[p * k + j];
      used[j] += cluster.jobs[pair.first].gpus * share;
      if (pair.first != job && pair.second != job) continue;
      time += share;
      rate += share * (pair.first == job ? pair.first_rates[j] : pair.second_rates[j]);
    }
    CHECK(used[j] <= cluster.capacity[j] * (1 + 1e-9));
  }
  CHECK(time <= 1 + 1e-9);
  return rate;
}

TypedCluster random_packed(std::uint64_t seed) {
  RandomStream stream{seed, "packed"};
  TypedCluster cluster;
  const auto types = static_cast<std::size_t>(stream.uniform_integer(1, 3));
  for (std::size_t j = 0; j < types; ++j) cluster.capacity.push_back(static_cast<double>(stream.uniform_integer(1, 5)));
  const auto jobs = static_cast<std::size_t>(stream.uniform_integer(1, 8));
  for (std::size_t i = 0; i < jobs; ++i) {
    TypedJob job = packed_job({}, stream.uniform() < 0.7 ? 1 : 2, 1 + 50 * stream.uniform());
    for (std::size_t j = 0; j < types; ++j)
      job.rates.push_back(stream.uniform() < 0.4 ? static_cast<double>(stream.uniform_integer(0, 2))
                                                 : 0.2 + 3 * stream.uniform());
    job.rates[0] = std::max(job.rates[0], 0.1);
    job.gpus = std::min(job.gpus, *std::ranges::min_element(cluster.capacity));
    cluster.jobs.push_back(job);
  }
  for (std::size_t a = 0; a < jobs; ++a) {
    for (std::size_t b = a + 1; b < jobs; ++b) {
      if (cluster.jobs[a].gpus != cluster.jobs[b].gpus || stream.uniform() < 0.2) continue;
      TypedPair pair{.first = a, .second = b, .first_rates = {}, .second_rates = {}};
      for (std::size_t j = 0; j < types; ++j) {
        const bool can = stream.uniform() < 0.8 && cluster.jobs[a].rates[j] > 0 && cluster.jobs[b].rates[j] > 0;
        pair.first_rates.push_back(can ? cluster.jobs[a].rates[j] * (0.3 + 0.7 * stream.uniform()) : 0);
        pair.second_rates.push_back(can ? cluster.jobs[b].rates[j] * (0.3 + 0.7 * stream.uniform()) : 0);
      }
      cluster.pairs.push_back(pair);
    }
  }
  return cluster;
}

/// Gives the jobs ages, which finish-time fairness counts.
void set_ages(TypedCluster& cluster) {
  for (std::size_t i = 0; i < cluster.jobs.size(); ++i) {
    cluster.jobs[i].age = static_cast<double>(10 * i);
    cluster.jobs[i].isolated = static_cast<double>(3 * i);
  }
}

/// The program with a row for each job and the program of shares have the same optimum in every objective.
void check_equal_optima(const TypedCluster& cluster) {
  CHECK(packed_max_min_shares(cluster).value == near(max_min_shares(cluster, false, false).value, 1e-8));
  CHECK(packed_makespan_shares(cluster).value == near(makespan_shares(cluster).value, 1e-8));
  CHECK(packed_finish_time_fair_shares(cluster).value == near(finish_time_fair_shares(cluster).value, 1e-8));
  CHECK(packed_least_cost_shares(cluster).value == near(least_cost_shares(cluster).value, 1e-8));
}

}  // namespace

TEST_CASE("packing: two jobs on one GPU share it where that is better than taking turns") {
  // Alone each does 1. Taking turns they do 0.5 each; beside each other 0.8 and 0.6. With the pair for y of the time
  // and the second alone for the rest, 0.8 y = 0.6 y + (1 - y) gives y = 5/6 and 2/3 each.
  TypedCluster cluster{.capacity = {1}, .prices = {}, .jobs = {packed_job({1}), packed_job({1})}, .pairs = {}};
  cluster.pairs = {{.first = 0, .second = 1, .first_rates = {0.8}, .second_rates = {0.6}}};
  const TimeShares shares = packed_max_min_shares(cluster);
  CHECK(shares.value == near(2.0 / 3, 1e-9));
  CHECK(shares.pairs[0] == near(5.0 / 6, 1e-9));
  CHECK(shares.x[0] == near_absolute(0, 1e-9));
  CHECK(shares.x[1] == near(1.0 / 6, 1e-9));
  // 30 and 20 s of work left, done at t: the pair for y of the time, the first alone for the rest. 0.6 y = 20 / t and
  // 0.8 y + (1 - y) = 30 / t give t = 110/3.
  cluster.jobs[0].left = 30;
  cluster.jobs[1].left = 20;
  CHECK(packed_makespan_shares(cluster).value == near(110.0 / 3, 1e-9));
  // On its half of the GPU each job runs at 1/2. The first is done after 30 t / r, and so is the second: rho = 1/2 / r.
  CHECK(packed_finish_time_fair_shares(cluster).value == near(0.75, 1e-9));
  CHECK(packed_least_cost_shares(cluster).value == near(1.4, 1e-9));
  cluster.jobs[1].time_left = 25;  // it needs 0.8: of the time alone y, with 0.6 (1 - y) + y = 0.8
  CHECK(packed_least_cost_shares(cluster).value == near(0.5 * 1.4 + 0.5, 1e-9));
  cluster.jobs[1].time_left = 10;  // that can't be: no deadline counts
  CHECK(packed_least_cost_shares(cluster).value == near(1.4, 1e-9));
}

TEST_CASE("packing: with nothing gained by sharing the shares are those without pairs") {
  for (std::uint64_t seed = 0; seed < effort<std::uint64_t>(100); ++seed) {
    TypedCluster cluster = random_packed(seed);
    for (TypedPair& pair : cluster.pairs)
      for (std::size_t j = 0; j < cluster.capacity.size(); ++j) {
        pair.first_rates[j] = std::min(pair.first_rates[j], 0.5 * cluster.jobs[pair.first].rates[j]);
        pair.second_rates[j] = std::min(pair.second_rates[j], 0.5 * cluster.jobs[pair.second].rates[j]);
      }
    if (seed % 2 == 1) set_ages(cluster);
    CAPTURE(seed);
    check_equal_optima(cluster);
  }
}

TEST_CASE("packing: without pairs the program of shares and the one with a row for each job agree on hosts") {
  for (std::uint64_t seed = 0; seed < effort<std::uint64_t>(100); ++seed) {
    RandomStream stream{seed, "hosts of shares"};
    TypedCluster cluster = random_packed(seed);
    cluster.pairs.clear();
    for (std::size_t j = 0; j < cluster.capacity.size(); ++j) {
      TypedHosts hosts{.type = j, .parts = {}};
      for (std::size_t i = 0; i < cluster.jobs.size(); ++i)
        hosts.parts.push_back(stream.uniform() < 0.3 ? 0 : stream.uniform());
      cluster.hosts.push_back(std::move(hosts));
    }
    if (seed % 2 == 1) set_ages(cluster);
    CAPTURE(seed);
    check_equal_optima(cluster);
    std::vector<double> levels;
    const TimeShares filled = max_min_shares(cluster, false, true);
    CHECK(packed_water_fill(cluster, levels).value == near(filled.value, 1e-7));
    const std::vector<double> expected = levels_of(cluster, filled, false);
    for (std::size_t i = 0; i < levels.size(); ++i) CHECK(levels[i] == near_absolute(expected[i], 1e-6));
  }
}

TEST_CASE("packing: random clusters against the whole program by a slow simplex method") {
  for (std::uint64_t seed = 0; seed < effort<std::uint64_t>(200); ++seed) {
    const TypedCluster cluster = random_packed(seed);
    std::vector<double> norms;
    for (const TypedJob& job : cluster.jobs) norms.push_back(proportional_rate(cluster, job, false));
    CAPTURE(seed);
    const TimeShares shares = packed_max_min_shares(cluster);
    CHECK(shares.value == near(slow_level(cluster, norms), 1e-8));
    double least = 1e300;
    for (std::size_t i = 0; i < cluster.jobs.size(); ++i)
      least = std::min(least, rate_of(cluster, shares, i) / norms[i]);
    CHECK(least == near(shares.value, 1e-8));
    CHECK(shares.value >= max_min_shares(cluster, false, false).value * (1 - 1e-9));
  }
}

namespace {

/// The largest level above `base` that all `open` jobs can get to together while the others keep their levels.
double slow_rise(const TypedCluster& cluster, const std::vector<double>& norms, const std::vector<double>& base,
                 const std::vector<char>& open) {
  // As slow_level(), with a column z <= 1 for the part of their levels that the others keep, which is worth more than
  // any level of the open jobs.
  const std::size_t n = cluster.jobs.size(), k = cluster.capacity.size(), m = cluster.pairs.size();
  const std::size_t columns = (n + m) * k + 2, z = columns - 2, t = columns - 1;
  std::vector<std::vector<double>> a(k + 2 * n + 1, std::vector<double>(columns));
  std::vector<double> b(k + 2 * n + 1), c(columns);
  c[t] = 1;
  c[z] = 1e5;
  a.back()[z] = 1;
  b.back() = 1;
  for (std::size_t j = 0; j < k; ++j) b[j] = cluster.capacity[j];
  for (std::size_t i = 0; i < n; ++i) {
    b[k + i] = 1;
    a[k + n + i][open[i] != 0 ? t : z] = open[i] != 0 ? norms[i] : norms[i] * base[i];
  }
  add_times(cluster, a);
  return simplex(a, b, c) - 1e5;
}

}  // namespace

TEST_CASE("packing: the least cost with deadlines that need next to nothing, or nearly all, against a slow method") {
  int met = 0, missed = 0;
  for (std::uint64_t seed = 0; seed < effort<std::uint64_t>(300); ++seed) {
    CAPTURE(seed);
    TypedCluster cluster = random_packed(seed);
    RandomStream stream{seed, "packed deadlines"};
    if (seed % 2 == 0)  // sharing is for free
      for (TypedPair& pair : cluster.pairs) {
        pair.first_rates = cluster.jobs[pair.first].rates;
        pair.second_rates = cluster.jobs[pair.second].rates;
      }
    std::vector<double> needed(cluster.jobs.size());
    for (std::size_t i = 0; i < cluster.jobs.size(); ++i) {
      if (stream.uniform() < 0.4) continue;
      TypedJob& job = cluster.jobs[i];
      job.left = stream.uniform() < 0.4 ? 1e-9 : 1 + 50 * stream.uniform();
      job.time_left = 20 + 200 * stream.uniform();
      needed[i] = job.left / *job.time_left;
    }
    // As slow_level(), with a column z <= 1 for the part of the needs that is met.
    const std::size_t n = cluster.jobs.size(), k = cluster.capacity.size(), m = cluster.pairs.size();
    const std::size_t z = (n + m) * k;
    std::vector<std::vector<double>> a(k + 2 * n + 1, std::vector<double>(z + 1));
    std::vector<double> b(k + 2 * n + 1), c(z + 1);
    std::ranges::copy(cluster.capacity, b.begin());
    for (std::size_t i = 0; i < n; ++i) b[k + i] = 1;
    add_times(cluster, a);
    for (std::size_t column = 0; column < z; ++column)
      for (std::size_t i = 0; i < n; ++i) c[column] -= a[k + n + i][column];
    const double without = simplex(a, b, c);
    for (std::size_t i = 0; i < n; ++i) a[k + n + i][z] = needed[i] > 1e-6 ? needed[i] : 0;  // less is next to nothing
    a.back()[z] = b.back() = 1;
    std::vector<double> only_needs(z + 1);
    only_needs[z] = 1;
    const double part = simplex(a, b, only_needs);
    if (std::abs(part - 1) > 1e-12 && part > 1 - 1e-6) continue;  // the slow method can't tell, either
    const TimeShares shares = packed_least_cost_shares(cluster);
    CHECK(shares.misses_deadlines == (part < 1 - 1e-6));
    ++(shares.misses_deadlines ? missed : met);
    c[z] = 1e5;
    CHECK(shares.value == near(shares.misses_deadlines ? without : simplex(a, b, c) - 1e5, 1e-7));
    for (std::size_t i = 0; i < n && !shares.misses_deadlines; ++i)
      CHECK(rate_of(cluster, shares, i) >= needed[i] * (1 - 1e-7) - 1e-9);
  }
  CHECK(met > effort(100));
  CHECK(missed > effort(20));
}

TEST_CASE("packing: a pair takes its GPUs once, and its quotas once for each of its jobs") {
  // Two GPUs, a quota of one, two jobs of one GPU in it that don't slow each other: only one of them can run at a time,
  // so that each does half of its work, and a pair is of no use.
  TypedCluster cluster{.capacity = {2}, .prices = {}, .jobs = {packed_job({1}), packed_job({1})}, .pairs = {}};
  for (TypedJob& job : cluster.jobs) job.vc = 0;
  cluster.pairs = {{.first = 0, .second = 1, .first_rates = {1}, .second_rates = {1}}};
  cluster.quotas = {{0, 1}};
  CHECK(rate_of(cluster, packed_max_min_shares(cluster), 0) == near(0.5, 1e-9));
  CHECK(packed_least_cost_shares(cluster).value == near(1, 1e-9));
  // A quota of two has room for both.
  cluster.quotas = {{0, 2}};
  CHECK(rate_of(cluster, packed_max_min_shares(cluster), 0) == near(1, 1e-9));
  // One GPU, two types of jobs, the second outside of the quota: the pair counts once in it.
  cluster.capacity = {1};
  cluster.quotas = {{0, 1}};
  cluster.jobs[1].vc = -1;
  const TimeShares shares = packed_max_min_shares(cluster);
  CHECK(rate_of(cluster, shares, 0) == near(1, 1e-9));
  CHECK(shares.pairs[0] == near(1, 1e-9));
  // A fast and a slow type, with a quota of two of the three GPUs. Both are on the fast one: 3 each.
  cluster = {.capacity = {1, 2}, .prices = {}, .jobs = {packed_job({3, 1}), packed_job({3, 1})}, .pairs = {}};
  for (TypedJob& job : cluster.jobs) job.vc = 0;
  cluster.pairs = {{.first = 0, .second = 1, .first_rates = {3, 0}, .second_rates = {3, 0}}};
  cluster.quotas = {{0, 2}};
  CHECK(rate_of(cluster, packed_max_min_shares(cluster), 0) == near(3, 1e-9));
}

TEST_CASE("packing: a type that no job may use changes no digit") {
  for (std::uint64_t seed = 0; seed < effort<std::uint64_t>(200); ++seed) {
    CAPTURE(seed);
    const TypedCluster cluster = random_packed(seed);
    for (const bool is_first : {true, false}) {
      TypedCluster more = cluster;
      const auto insert = [&](std::vector<double>& of_types) {
        of_types.insert(is_first ? of_types.begin() : of_types.end(), 0.0);
      };
      insert(more.capacity);
      for (TypedJob& job : more.jobs) insert(job.rates);
      for (TypedPair& pair : more.pairs) {
        insert(pair.first_rates);
        insert(pair.second_rates);
      }
      std::vector<double> levels, levels_of_more;
      const auto same = [&](const TimeShares& before, const TimeShares& after) {
        const std::size_t k = cluster.capacity.size();
        CHECK(before.value == after.value);
        for (std::size_t at = 0; at < before.x.size(); ++at)
          CHECK(before.x[at] == after.x[at / k * (k + 1) + at % k + (is_first ? 1 : 0)]);
        for (std::size_t at = 0; at < before.pairs.size(); ++at)
          CHECK(before.pairs[at] == after.pairs[at / k * (k + 1) + at % k + (is_first ? 1 : 0)]);
      };
      same(packed_max_min_shares(cluster), packed_max_min_shares(more));
      same(packed_makespan_shares(cluster), packed_makespan_shares(more));
      same(packed_finish_time_fair_shares(cluster), packed_finish_time_fair_shares(more));
      same(packed_least_cost_shares(cluster), packed_least_cost_shares(more));
      same(packed_water_fill(cluster, levels), packed_water_fill(more, levels_of_more));
      CHECK(levels == levels_of_more);
    }
  }
}

TEST_CASE("packing: water filling by hand") {
  // Jobs 0 and 1 run on the first type only, where they share the GPU at 0.8 each, job 2 on the second only. A level is
  // the rate over half of that alone, because each type has half of the GPUs: 1.6, 1.6 and 2.
  TypedCluster cluster{.capacity = {1, 1},
                       .prices = {},
                       .jobs = {packed_job({1, 0}), packed_job({1, 0}), packed_job({0, 1})},
                       .pairs = {}};
  cluster.pairs = {{.first = 0, .second = 1, .first_rates = {0.8, 0}, .second_rates = {0.8, 0}}};
  std::vector<double> levels;
  CHECK(packed_water_fill(cluster, levels).value == near(1.6, 1e-9));
  CHECK(levels[0] == near(1.6, 1e-9));
  CHECK(levels[1] == near(1.6, 1e-9));
  CHECK(levels[2] == near(2.0, 1e-9));
  // One type of two GPUs, each job 1 alone. If job 2 leaves its GPU for g of the time, jobs 0 and 1 get 0.8 + 0.2 g
  // each: together for 1 - g, and alone for g each. All are at 5/6 with g = 1/6.
  for (TypedJob& job : cluster.jobs) job.rates = {1};
  cluster.capacity = {2};
  cluster.pairs = {{.first = 0, .second = 1, .first_rates = {0.8}, .second_rates = {0.8}}};
  CHECK(packed_water_fill(cluster, levels).value == near(5.0 / 6, 1e-9));
  for (const double level : levels) CHECK(level == near(5.0 / 6, 1e-9));
}

TEST_CASE("packing: no level of a water filling can rise without lowering one that is not larger, on random clusters") {
  int kinds = 0;
  for (std::uint64_t seed = 0; seed < effort<std::uint64_t>(150); ++seed) {
    CAPTURE(seed);
    const TypedCluster cluster = random_packed(seed);
    std::vector<double> norms, levels;
    for (const TypedJob& job : cluster.jobs) norms.push_back(proportional_rate(cluster, job, false));
    const TimeShares shares = packed_water_fill(cluster, levels);
    CHECK(shares.value == near(packed_max_min_shares(cluster).value, 1e-8));
    for (std::size_t i = 0; i < levels.size(); ++i)
      CHECK(rate_of(cluster, shares, i) >= levels[i] * norms[i] * (1 - 1e-7));
    // Of each level, those that are not larger stay; all larger ones together with this one can't rise above it.
    for (std::size_t i = 0; i < levels.size(); ++i) {
      std::vector<char> open(levels.size());
      std::vector<double> base = levels;
      for (std::size_t o = 0; o < levels.size(); ++o) open[o] = levels[o] > levels[i] * (1 + 1e-7) ? 1 : 0;
      for (std::size_t o = 0; o < levels.size(); ++o)
        if (open[o] != 0) base[o] = levels[i];  // the larger ones may fall as far as this one
      open.assign(levels.size(), 0);
      open[i] = 1;
      CHECK(slow_rise(cluster, norms, base, open) <= levels[i] * (1 + 1e-6) + 1e-7);
    }
    std::ranges::sort(levels);
    if (levels.back() > levels.front() * 1.001) ++kinds;
  }
  CHECK(kinds > effort(50));
}

TEST_CASE("packing: with nothing gained by sharing the water filling is that without pairs, also of entities") {
  for (std::uint64_t seed = 0; seed < effort<std::uint64_t>(100); ++seed) {
    CAPTURE(seed);
    TypedCluster cluster = random_packed(seed);
    cluster.pairs.clear();
    for (std::size_t i = 0; i < cluster.jobs.size(); ++i) cluster.jobs[i].user = static_cast<std::int32_t>(i % 3);
    std::vector<double> levels;
    const TimeShares packed = packed_water_fill(cluster, levels);
    const std::vector<double> expected = levels_of(cluster, max_min_shares(cluster, false, true), false);
    for (std::size_t i = 0; i < levels.size(); ++i) CHECK(levels[i] == near(expected[i], 1e-7));
    CHECK(packed.value == near(max_min_shares(cluster, false, true).value, 1e-8));
    const auto weight = [](std::int32_t entity) { return 1.0 + entity; };
    for (const bool first_come : {false, true}) {
      const TimeShares all = packed_water_fill(with_equal_weights(cluster),
                                               entity_weights(cluster, Entities::users, weight, first_come), levels);
      const TimeShares other = hierarchical_shares(cluster, Entities::users, weight, first_come);
      CHECK(all.value == near_absolute(other.value, 1e-7));
    }
  }
}
