// Shockwave on cases that a reader can work out by hand.

#include "sim/error.hpp"
#include "sim/random_stream.hpp"
#include "tests/effort.hpp"
#include "tests/near.hpp"
#include "tests/policies/scheduling_kit.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

Choice shockwave(double makespan_weight, std::int64_t rounds = 4) {
  return {"shockwave", {{"round_s", 10.0}, {"rounds", rounds}, {"makespan_weight", makespan_weight}, {"gap", 0.0}}};
}

}  // namespace

TEST_CASE("shockwave: jobs that all fit run at once, and later ones wait for the next round") {
  CHECK(play(shockwave(1e-3), 4, {timed_job(0, 2, 30), timed_job(0, 2, 50)}).finishes() == "A30 B50");
  CHECK(play(shockwave(1e-3), 4, {timed_job(0, 2, 30), timed_job(3, 2, 50)}).finishes() == "A30 B60");
}

TEST_CASE("shockwave: the longest job runs first where the makespan counts, so that all are done soonest") {
  // On 2 GPUs: C of 40 s needs every round of a plan of 4; A and B share the other GPU.
  const Played played = play(shockwave(1), 2, {timed_job(0, 1, 20), timed_job(0, 1, 20), timed_job(0, 1, 40)});
  CHECK(played.result.jobs[2].finish == Time::seconds(40));
  CHECK(played.result.end == Time::seconds(40));
}

TEST_CASE("shockwave: what is left of a gang is time, not time of all its GPUs") {
  // Of the first 4 rounds A, which needs both GPUs, has one and B and C three: then each has 10 s left.
  Choice choice = shockwave(1);
  choice.parameters.emplace_back("rho_max", 100.0);  // no promises
  const Played played = play(choice, 2, {timed_job(0, 2, 20), timed_job(0, 1, 40), timed_job(0, 1, 40)});
  std::vector<double> seconds(3);
  for (const Hold& run : played.runs)
    if (run.start < Time::seconds(40))
      seconds[run.job.index()] += (std::min(run.end, Time::seconds(40)) - run.start).to_seconds();
  const double expected[] = {10, 30, 30};
  for (std::size_t i = 0; i < seconds.size(); ++i) CHECK(seconds[i] == near(expected[i]));
  // The fewer rounds a gang has for its GPUs, the sooner it gets them.
  CHECK(played.runs.front().job == JobId{0U});
}

TEST_CASE("shockwave: a plan is made again after replan_rounds of its rounds") {
  const auto first_run_ends = [](std::int64_t replan_rounds) {
    Choice choice = shockwave(1e-3);
    choice.parameters.emplace_back("replan_rounds", replan_rounds);
    const Played played = play(choice, 1, {timed_job(0, 1, 60), timed_job(0, 1, 100)});
    CHECK(played.faults.empty());
    CHECK(played.result.end == Time::seconds(160));
    CHECK(played.runs.front().job == JobId{0U});
    return played.runs.front().end;
  };
  // Each plan of 4 rounds gives 2 to each job. The first plans that are made again each round give A one more than B.
  CHECK(first_run_ends(4) == Time::seconds(20));
  CHECK(first_run_ends(1) == Time::seconds(30));
}

TEST_CASE("shockwave: equal jobs share the rounds, and none waits until the other is done") {
  const Played played = play(shockwave(0), 1, {timed_job(0, 1, 80), timed_job(0, 1, 80)});
  CHECK(played.faults.empty());
  // In each plan of 4 rounds both have 2: at 40 s both have done 20 s.
  double first_s = 0;
  for (const Hold& run : played.runs)
    if (run.job.index() == 0 && run.start < Time::seconds(40))
      first_s += (std::min(run.end, Time::seconds(40)) - run.start).to_seconds();
  CHECK(first_s == near(20));
  CHECK(played.result.end == Time::seconds(160));
}

TEST_CASE("shockwave: GPUs that the plan leaves are used, and a gang that never fits is refused as always") {
  const Played played = play(shockwave(1e-3), 4, {timed_job(0, 3, 40), timed_job(0, 2, 40), timed_job(0, 1, 5)});
  CHECK(played.faults.empty());
  CHECK(played.result.jobs[2].finish == Time::seconds(5));
  for (const JobResult& job : played.result.jobs) CHECK(job.state == JobState::finished);
  CHECK(played.result.end <= Time::seconds(90));
}

TEST_CASE("shockwave: the longest job is the longest of the forecast over its batches") {
  // A takes 50 s for all of its training at the first batch, 200 s at the second; B 75 and 95 s. Before they start half
  // of the training is forecast at each: 125 and 85 s.
  const auto played = [](bool forecasts) {
    ClusterSpec cluster;
    cluster.gpu_memory = Bytes{1};
    const std::vector<std::vector<BatchRegime>> regimes = {
        {{.until = Time::seconds(40), .progress = 0.8}, {.until = Time::seconds(80), .progress = 1}},
        {{.until = Time::seconds(60), .progress = 0.8}, {.until = Time::seconds(79), .progress = 1}}};
    std::vector<JobSpec> jobs{timed_job(0, 1, 80), timed_job(0, 1, 79)};
    for (std::size_t j = 0; j < 2; ++j) jobs[j].regimes = static_cast<std::int32_t>(j);
    Choice choice = shockwave(1);
    choice.parameters.emplace_back("forecast", forecasts);
    choice.parameters.emplace_back("rho_max", 100.0);  // no promises
    return play(choice, cluster, jobs, nullptr, {}, {}, regimes);
  };
  const auto first_s = [](const Played& run, std::size_t job) {
    double seconds = 0;
    for (const Hold& hold : run.runs)
      if (hold.job.index() == job && hold.start < Time::seconds(40))
        seconds += (std::min(hold.end, Time::seconds(40)) - hold.start).to_seconds();
    return seconds;
  };
  const Played forecast = played(true), known = played(false);
  CHECK(forecast.faults.empty());
  CHECK(first_s(known, 0) == near(20));
  CHECK(first_s(known, 1) == near(20));
  CHECK(first_s(forecast, 0) == near(40));  // the longest job runs in all rounds of the plan
  for (const Played* const run : {&forecast, &known}) {
    CHECK(run->result.end >= Time::seconds(80 + 79));
    CHECK(run->result.end <= Time::seconds(80 + 79 + 10));
  }
}

TEST_CASE("shockwave: a plan takes a job to go on at its mean speed so far") {
  // On one GPU A takes 80 s for the first half of its training and 20 s for the second, 160 s for all at its first
  // speed; B takes 90 s. With n of 5 rounds of 10 s A gets to n / 16, so that 3 rounds are worth more to it than to B.
  // By time alone, n / 10, B would have the third.
  ClusterSpec cluster;
  cluster.gpu_memory = Bytes{1};
  const std::vector<std::vector<BatchRegime>> regimes = {
      {{.until = Time::seconds(80), .progress = 0.5}, {.until = Time::seconds(100), .progress = 1}}};
  std::vector<JobSpec> jobs{timed_job(0, 1, 100), timed_job(0, 1, 90)};
  jobs[0].regimes = 0;
  Choice choice = shockwave(0, 5);
  choice.parameters.emplace_back("rho_max", 100.0);  // no promises
  const Played played = play(choice, cluster, jobs, nullptr, {}, {}, regimes);
  double first_s = 0;
  for (const Hold& hold : played.runs)
    if (hold.job.index() == 0 && hold.start < Time::seconds(50))
      first_s += (std::min(hold.end, Time::seconds(50)) - hold.start).to_seconds();
  CHECK(first_s == near(30));
}

TEST_CASE("shockwave: a late job with less than a round left comes before all, by the power 100 of how late it is") {
  // Plans of two rounds of 10 s on one GPU. A and B run for one round each, as they were promised; at 20 s C comes, a
  // job of 30 s, so that A and B are late. A job of T s was promised 2 T for 20 s and now 3 T, that is 2.1 T, and would
  // end at 20 + 3 (T - 10). Two rounds are too few to keep all promises, and where not all can be kept none counts.
  //
  // With T = 15 A has 5 s left and counts (35 / 31.5)^100 = 37,649, with T = 25 it has 15 s left and counts
  // (65 / 52.5)^12 = 13.0; B with T = 40 counts (110 / 84)^12 = 25.4, and C 1. By the logarithms between fifths a round
  // is worth 0.415 or 0.693 to A, 0.723 and then 0.419 to B, 12.7 and then 0.7 to C. With the weights these are
  //
  //     T = 15: A 15,620, B 18.4 and 10.6, C 12.7: A and B have a round each (with the power 12 A would have 1.5)
  //     T = 25: A 9.0, B 18.4 and 10.6, C 12.7: B and C have a round each
  const auto runs = [](std::int64_t first_s) {
    Choice choice = shockwave(0, 2);
    return holds(play(choice, 1, {timed_job(0, 1, first_s), timed_job(0, 1, 40), timed_job(20, 1, 30)}));
  };
  CHECK(runs(15).starts_with("A1 0-10, B1 10-20, A1 20-25, B1 30-40, "));
  CHECK(runs(25).starts_with("A1 0-10, B1 10-30, C1 30-40, "));  // B from 10 to 20 s and again after that
}

TEST_CASE("shockwave: plans are made again by the clock of all rounds, not since the last job came") {
  // A of 60 s has the GPU alone until B of 100 s comes at 10 s; then both are planned two of four rounds, A first. The
  // plan of 30 s, the third round, finds A with half of its training and B with nothing, and has B in all four. That of
  // 60 s finds B with 0.3 and has two rounds for each. (Three rounds after 10 s B would have had one round, and A the
  // next.)
  Choice choice = shockwave(0);
  choice.parameters.emplace_back("rho_max", 100.0);  // no promises
  choice.parameters.emplace_back("replan_rounds", std::int64_t{3});
  const Played played = play(choice, 1, {timed_job(0, 1, 60), timed_job(10, 1, 100)});
  CHECK(holds(played).starts_with("A1 0-30, B1 30-60, A1 60-80, "));
}

TEST_CASE("shockwave: by_epoch the epoch that runs is no progress yet, and no longer left") {
  // By progress, on one GPU A of two epochs of 30 s and B of 100 s first have two of four rounds each. At 40 s A has a
  // third of its training, but no epoch: its third round is worth 0.434, B's second 0.347. By time, A's third round is
  // worth 0.229.
  //
  // By the longest job, A of two epochs of 40 s has only one left from the beginning on, so that B of 60 s is longer.
  ClusterSpec cluster;
  cluster.gpu_memory = Bytes{1};
  const auto seconds = [&](double makespan_weight, std::int64_t epoch, std::int64_t other, bool by_epoch,
                           std::int64_t until) {
    std::vector<JobSpec> jobs{timed_job(0, 1, 2 * epoch), timed_job(0, 1, other)};
    jobs[0].regimes = 0;
    Choice choice = shockwave(makespan_weight);
    choice.parameters.emplace_back("rho_max", 100.0);  // no promises
    choice.parameters.emplace_back("by_epoch", by_epoch);
    const Played played =
        play(choice, cluster, jobs, nullptr, {}, {},
             {{{.until = Time::seconds(epoch), .progress = 0.5}, {.until = Time::seconds(2 * epoch), .progress = 1}}});
    double sum = 0;
    for (const Hold& hold : played.runs)
      if (hold.job.index() == 0 && hold.start < Time::seconds(until))
        sum += (std::min(hold.end, Time::seconds(until)) - hold.start).to_seconds();
    return sum;
  };
  for (const bool by_epoch : {true, false}) {
    CAPTURE(by_epoch);
    CHECK(seconds(0, 30, 100, by_epoch, 40) == near(20));
    CHECK(seconds(0, 30, 100, by_epoch, 80) == near(by_epoch ? 50 : 40));
    CHECK(seconds(1, 40, 60, by_epoch, 40) == near(by_epoch ? 10 : 30));
  }
  Choice known = shockwave(0);
  known.parameters.emplace_back("forecast", false);
  known.parameters.emplace_back("by_epoch", true);
  CHECK_THROWS_WITH_AS(static_cast<void>(play(known, 1, {timed_job(0, 1, 10)})),
                       "policies.scheduling.by_epoch: it has an effect only with `forecast: true`", InputError);
}

TEST_CASE("shockwave: on random jobs all end, gangs stay whole, and no GPU has two jobs") {
  for (std::uint64_t seed = 0; seed < effort<std::uint64_t>(40); ++seed) {
    CAPTURE(seed);
    RandomStream stream{seed, "shockwave"};
    std::vector<JobSpec> jobs;
    std::int64_t submit = 0;
    for (int j = 0; j < 12; ++j) {
      submit += stream.uniform() < 0.5 ? 0 : stream.uniform_integer(1, 30);
      jobs.push_back(timed_job(submit, 1 << stream.uniform_integer(0, 2), stream.uniform_integer(1, 120)));
    }
    const Played played = play(shockwave(stream.uniform() < 0.5 ? 1e-3 : 1), 8, jobs);
    CHECK(played.faults.empty());
    for (const JobResult& job : played.result.jobs) CHECK(job.state == JobState::finished);
  }
}
