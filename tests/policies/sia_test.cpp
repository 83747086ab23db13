// Sia on the example that a reader can check by hand, and its program beside a search through all choices.

#include "policies/scheduling/configurations.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/policies/policy_kit.hpp"
#include "tests/policies/scheduling_kit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;
using namespace contend::test;

namespace {

struct Problem {
  std::vector<int> capacity;
  std::vector<std::vector<Configuration>> jobs;
  std::vector<std::int64_t> none;

  [[nodiscard]] ConfigurationChoice solve(double gap, std::size_t states = 50'000) const {
    ConfigurationProgram program{capacity};
    for (std::size_t j = 0; j < jobs.size(); ++j) program.add(jobs[j], none[j]);
    return program.solve(gap, states);
  }

  /// The least cost, by trying everything.
  [[nodiscard]] std::int64_t least(std::vector<int> left, std::size_t job = 0) const {
    if (job == jobs.size()) return 0;
    std::int64_t best = none[job] + least(left, job + 1);
    for (const Configuration& each : jobs[job]) {
      if (each.gpus > left[each.type]) continue;
      left[each.type] -= each.gpus;
      best = std::min(best, each.cost + least(left, job + 1));
      left[each.type] += each.gpus;
    }
    return best;
  }

  void check(const ConfigurationChoice& choice) const {
    std::vector<int> left = capacity;
    std::int64_t cost = 0;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      if (choice.of_job[j] == ConfigurationChoice::kNone) {
        cost += none[j];
        continue;
      }
      const Configuration& each = jobs[j][static_cast<std::size_t>(choice.of_job[j])];
      left[each.type] -= each.gpus;
      cost += each.cost;
    }
    CHECK(cost == choice.cost);
    CHECK(std::ranges::all_of(left, [](int gpus) { return gpus >= 0; }));
    CHECK(choice.bound <= static_cast<double>(choice.cost) + 1e-6);
  }
};

Problem random_problem(std::uint64_t seed) {
  RandomStream stream{seed, "sia-problem"};
  Problem problem;
  const std::int64_t types = stream.uniform_integer(1, 3);
  for (std::int64_t t = 0; t < types; ++t) problem.capacity.push_back(static_cast<int>(stream.uniform_integer(0, 9)));
  const bool has_ties = stream.uniform() < 0.5;
  for (int j = 0; j < 5; ++j) {
    auto& own = problem.jobs.emplace_back();
    for (std::int64_t c = stream.uniform_integer(0, 5); c > 0; --c)
      own.push_back({static_cast<std::size_t>(stream.uniform_integer(0, types - 1)),
                     static_cast<int>(stream.uniform_integer(1, 6)), stream.uniform_integer(-20, has_ties ? 0 : 120)});
    problem.none.push_back(stream.uniform() < 0.7 ? 110 : stream.uniform_integer(0, 110));
  }
  return problem;
}

}  // namespace

TEST_CASE("sia: the program finds the least cost of all choices, and says so") {
  for (std::uint64_t seed = 0; seed < effort<std::uint64_t>(2000); ++seed) {
    CAPTURE(seed);
    const Problem problem = random_problem(seed);
    const ConfigurationChoice choice = problem.solve(0);
    problem.check(choice);
    CHECK(choice.is_optimal);
    CHECK(choice.cost == problem.least(problem.capacity));
    // With room for few states it may be worse, never better, and doesn't claim more than it knows.
    const ConfigurationChoice rough = problem.solve(0, 2);
    problem.check(rough);
    CHECK(rough.cost >= choice.cost);
    if (rough.is_optimal) CHECK(rough.cost == choice.cost);
  }
}

TEST_CASE("sia: a division of many jobs is within the gap that it was asked for") {
  RandomStream stream{7, "sia-many"};
  Problem problem{{400, 240, 120}, {}, {}};
  for (int j = 0; j < 3000; ++j) {
    auto& own = problem.jobs.emplace_back();
    for (std::size_t t = 0; t < 3; ++t) {
      const double speed = stream.uniform() + 0.5, saturation = 0.3 + 0.7 * stream.uniform();
      for (const int gpus : {1, 2, 4, 8})
        own.push_back({t, gpus, std::llround(100 / std::sqrt(speed * std::pow(gpus, saturation)))});
    }
    problem.none.push_back(200);
  }
  const ConfigurationChoice choice = problem.solve(1e-4);
  problem.check(choice);
  CHECK(static_cast<double>(choice.cost) <= choice.bound * (1 + 1.1e-4));
}

namespace {

/// Types a with 4 GPUs and b with 8, and the speeds of three jobs on a 1, 2, 4 and b 1, 2, 4, 8.
struct Example {
  static constexpr double kSpeeds[3][7] = {{3, 5.4, 9, 1, 1.9, 3.5, 6},  //
                                           {2, 3.2, 4.4, 1, 1.8, 2.8, 3.6},
                                           {4, 7.6, 14, 1, 1.95, 3.8, 7.2}};
  static constexpr Configuration kColumns[7] = {{0, 1, 0}, {0, 2, 0}, {0, 4, 0}, {1, 1, 0},
                                                {1, 2, 0}, {1, 4, 0}, {1, 8, 0}};

  /// The program with p = -0.5, where `has` says which column each job has, and others count r times as much.
  static Problem problem(const std::vector<int>& has, double r) {
    Problem made{{4, 8}, {}, {110, 110, 110}};
    for (std::size_t j = 0; j < 3; ++j) {
      auto& own = made.jobs.emplace_back(std::begin(kColumns), std::end(kColumns));
      for (std::size_t c = 0; c < own.size(); ++c) {
        const bool is_other = !has.empty() && has[j] != static_cast<int>(c);
        own[c].cost = std::llround(100 / std::sqrt(kSpeeds[j][c] * (is_other ? r : 1)));
      }
    }
    return made;
  }
};

}  // namespace

TEST_CASE("sia: three jobs on two types, with the objective and the choice of a solver") {
  const ConfigurationChoice fresh = Example::problem({}, 1).solve(0);
  CHECK(fresh.cost == 132);
  CHECK(fresh.of_job == std::vector<std::int32_t>{1, 6, 1});
  // The jobs have a4, b1 and b4; to leave them costs.
  const ConfigurationChoice later = Example::problem({2, 3, 5}, 0.8).solve(0);
  CHECK(later.cost == 148);
  CHECK(later.of_job == std::vector<std::int32_t>{1, 6, 1});
}

TEST_CASE("sia: with a positive power, too, a job has GPUs rather than none") {
  ClusterSpec cluster;
  cluster.servers = 2;
  cluster.gpus_per_server = 4;
  cluster.gpu_memory = Bytes{1};
  for (const double power : {-0.5, 0.5, 1.0, 5.0}) {
    CAPTURE(power);
    std::vector<JobSpec> jobs{timed_job(0, 1, 100), timed_job(0, 4, 100), timed_job(0, 8, 100)};
    const Played played = play({"sia", {{"period_s", 0.0}, {"power", power}}}, cluster, jobs);
    for (const JobResult& job : played.result.jobs) CHECK(job.state == JobState::finished);
  }
}

TEST_CASE("sia: the example in the engine: jobs start on the types and GPUs of the best division") {
  ClusterSpec cluster;
  cluster.servers = 2;
  cluster.gpus_per_server = 8;
  cluster.gpu_memory = Bytes{1};
  cluster.types = {{"a", 1, 4, Bytes{1}, 0}, {"b", 1, 8, Bytes{1}, 0}};
  std::vector<JobSpec> jobs;
  std::vector<std::vector<JobSize>> sizes;
  for (std::size_t j = 0; j < 3; ++j) {
    JobSpec job = timed_job(0, 1, 1000);
    job.sizes = static_cast<std::int32_t>(j);
    auto& own = sizes.emplace_back();
    const auto pace = [&](std::size_t column) {
      return JobPace{.together = std::llround(static_cast<double>(kNominalPace) / Example::kSpeeds[j][column])};
    };
    for (const auto& [gpus, a, b] : {std::tuple{1, 0U, 3U}, {2, 1U, 4U}, {4, 2U, 5U}})
      own.push_back({.gpus = gpus, .paces = {pace(a), pace(b)}});
    own.push_back({.gpus = 8, .paces = {{.together = 0}, pace(6)}});
    jobs.push_back(job);
  }
  const Played played = play({"sia", {{"period_s", 0.0}}}, cluster, jobs, nullptr, {}, sizes);
  CHECK(played.faults.empty());
  std::string starts;
  for (std::size_t i = 0; i < 3; ++i)
    starts += fmt::format("{}{}:{} ", static_cast<char>('A' + static_cast<int>(played.runs[i].job.index())),
                          played.runs[i].gpus.front().index() < 8 ? 'a' : 'b', played.runs[i].gpus.size());
  CHECK(starts ==
        "B"
        "b:8 Aa:2 Ca:2 ");
}
