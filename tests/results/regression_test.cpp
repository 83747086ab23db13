// Comparisons of two sides: pairs of seeds and of jobs, jobs that come and go, sides that can't be compared, and the
// rules that make a comparison fail.
#include "results/regression.hpp"

#include "results/iteration_figures.hpp"
#include "results/regression_rules.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"
#include "tests/text_checks.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>

namespace contend {
namespace {

struct Ran {
  const char* name;
  int start_s, finish_s;  ///< both from a submission at 0; -1: not finished
  int waited_s = 0;       ///< over all waits
};

/// A run of these jobs, each submitted at 0 and of one GPU.
StoredReplica run_of(std::uint64_t seed, const std::vector<Ran>& jobs) {
  Replica replica;
  replica.seed = seed;
  for (const Ran& each : jobs) {
    JobResult job;
    job.name = each.name;
    job.gpus = 1;
    job.iterations = 1;
    job.state = each.finish_s < 0 ? JobState::queued : JobState::finished;
    if (each.finish_s >= 0) {
      job.start = Time::seconds(each.start_s);
      job.finish = Time::seconds(each.finish_s);
      job.waited = Time::seconds(each.waited_s);
    }
    replica.result.digest = replica.result.digest * 1'000 + static_cast<std::uint64_t>(each.finish_s + 1);
    replica.result.jobs.push_back(job);
  }
  replica.result.gpus.resize(1);
  replica.summary = summarise(replica.result);
  return as_stored(replica);
}

StoredResults side(std::vector<StoredReplica> replicas) {
  StoredResults results;
  results.name = "s";
  results.version = "1";
  results.exit_state = "finished";
  results.replicas = std::move(replicas);
  return results;
}

std::string complaint_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

const PairedChange& figure(const Regression& regression, const char* name) {
  return regression.of(*find_metric(name)).change;
}

TEST_CASE("one seed: figures of the run without intervals, the spread over its jobs, and the jobs that changed most") {
  // JCT: a 10 -> 12, b 20 -> 20, c 40 -> 30, d 30 -> 60. Means 25 and 30.5: 5.5 s more, 22%.
  const StoredResults base = side({run_of(1, {{"a", 0, 10}, {"b", 5, 20}, {"c", 5, 40}, {"d", 0, 30}})});
  const StoredResults other = side({run_of(1, {{"a", 0, 12}, {"b", 5, 20}, {"c", 5, 30}, {"d", 30, 60}})});
  const Regression found = find_regression(base, other, 1);
  CHECK(found.pairs == 1);
  CHECK(found.jobs == 4);
  CHECK(found.slower_jobs == 2);
  CHECK(found.faster_jobs == 1);
  CHECK_FALSE(found.identical);
  const PairedChange& jct = figure(found, "avg_jct");
  CHECK(jct.base == 25);
  CHECK(jct.other == 30.5);
  CHECK(jct.difference.value == 5.5);
  CHECK(jct.relative.value == near(0.22));
  for (const char* name : {"avg_jct", "median_jct", "p95_jct", "max_jct", "makespan", "avg_queueing", "avg_waiting"})
    CHECK_FALSE(figure(found, name).difference.interval_95.exists());
  // Changes of +20%, 0, -25% and +100%, in order -25, 0, 20, 100: the median lies between 0 and 20, the ends at 0.15 of
  // the way from -25 to 0 and at 0.85 of that from 20 to 100.
  CHECK(found.spread.median == near(0.1));
  CHECK(found.spread.p5 == near(-0.2125));
  CHECK(found.spread.p95 == near(0.88));
  CHECK(figure(found, "avg_queueing").difference.value == 7.5);  // d waits 30 s longer
  CHECK(figure(found, "max_jct").difference.value == near(20));  // 40 -> 60
  REQUIRE(found.slowest.size() == 1);
  CHECK(found.slowest[0].job == "d");
  CHECK(found.slowest[0].difference() == Time::seconds(30));
  CHECK(found.slowest[0].relative() == 1);
  REQUIRE(found.fastest.size() == 1);
  CHECK(found.fastest[0].job == "c");
  REQUIRE(found.notes.size() == 1);
  CHECK(contains(found.notes[0], "one run a side has no intervals"));
}

TEST_CASE("waits after the first change the average waiting, and not the average queueing") {
  const StoredResults base = side({run_of(1, {{"a", 0, 10, 0}, {"b", 5, 20, 5}, {"c", 5, 40, 5}})});
  const StoredResults other = side({run_of(1, {{"a", 0, 12, 2}, {"b", 5, 25, 9}, {"c", 5, 48, 11}})});
  const Regression found = find_regression(base, other, 1);
  CHECK(figure(found, "avg_queueing").difference.value == 0);
  CHECK(figure(found, "avg_waiting").difference.value == near(4));  // 2, 4 and 6
}

TEST_CASE("several seeds are the pairs") {
  // Average JCT 10, 20, 30 -> 11, 22, 33.
  const StoredResults base = side({run_of(1, {{"a", 0, 10}}), run_of(2, {{"a", 0, 20}}), run_of(3, {{"a", 0, 30}})});
  const StoredResults other = side({run_of(1, {{"a", 0, 11}}), run_of(2, {{"a", 0, 22}}), run_of(3, {{"a", 0, 33}})});
  const Regression found = find_regression(base, other, 5);
  CHECK(found.pairs == 3);
  CHECK(figure(found, "avg_jct").relative.interval_95.low == near(0.1));
  CHECK(figure(found, "avg_jct").relative.interval_95.high == near(0.1));
  CHECK(found.slowest.size() == 3);
  CHECK(found.slowest[0].seed == 3);
  CHECK(found.fastest.empty());
  REQUIRE(found.notes.size() == 1);
  CHECK(contains(found.notes[0], "3 seeds are few: take 20 or more"));
}

TEST_CASE("seeds that decide nothing are one run, not certainty") {
  const StoredResults base = side({run_of(1, {{"a", 0, 10}, {"b", 0, 20}}), run_of(2, {{"a", 0, 10}, {"b", 0, 20}})});
  const StoredResults other = side({run_of(1, {{"a", 0, 12}, {"b", 0, 20}}), run_of(2, {{"a", 0, 12}, {"b", 0, 20}})});
  const Regression found = find_regression(base, other, 5);
  CHECK(found.pairs == 1);
  CHECK(found.seeds.size() == 2);
  CHECK(found.jobs == 2);
  CHECK_FALSE(figure(found, "avg_jct").difference.interval_95.exists());
  CHECK(contains(found.notes.back(), "the seeds make no difference"));
}

TEST_CASE("jobs that end, appear or vanish on one side only") {
  const StoredResults base = side({run_of(1, {{"a", 0, 10}, {"b", 0, 20}, {"c", 0, -1}, {"old", 0, 1}})});
  const StoredResults other = side({run_of(1, {{"new", 0, 5}, {"a", 0, 10}, {"b", 0, -1}, {"c", 0, 9}})});
  const Regression found = find_regression(base, other, 5);
  CHECK(found.jobs == 1);
  REQUIRE(found.lost.size() == 1);
  CHECK(found.lost[0].job == "b");
  CHECK(found.lost[0].other == "queued");
  REQUIRE(found.gained.size() == 1);
  CHECK(found.gained[0].job == "c");
  REQUIRE(found.only_in_base.size() == 1);
  CHECK(found.only_in_base[0].job == "old");
  REQUIRE(found.only_in_new.size() == 1);
  CHECK(found.only_in_new[0].job == "new");
  CHECK_FALSE(found.same_jobs_finished());
  CHECK(contains(found.notes.back(), "over different jobs on the two sides"));
  // An average over other jobs on the two sides proves nothing, however much it improves; counts are what they are.
  const auto outcomes = judge(parse_rules({"avg_jct > 900%", "finished < -1"}), found, {}, Judgement::significant);
  CHECK(outcomes[0].fails);
  CHECK(contains(outcomes[0].reason, "over different jobs: 2 count in BASE only, 2 in NEW only"));
  CHECK_FALSE(outcomes[1].fails);
}

TEST_CASE("identical sides, and another version of the program") {
  StoredResults base = side({run_of(1, {{"a", 0, 10}})});
  CHECK(find_regression(base, base, 5).identical);
  StoredResults other = base;
  other.version = "2";
  other.git_hash = "beef";
  CHECK(contains(find_regression(base, other, 5).notes.front(), "BASE was run by contend 1, NEW by contend 2 (beef)"));
}

TEST_CASE("sides that can't be compared") {
  const StoredResults base = side({run_of(1, {{"a", 0, 10}, {"b", 0, 10}})});
  const auto complaint = [&](const StoredResults& other) {
    return complaint_of([&] { static_cast<void>(find_regression(base, other, 5)); });
  };
  CHECK(contains(complaint(side({run_of(2, {{"a", 0, 10}, {"b", 0, 10}})})), "BASE has the seeds 1, NEW has 2"));
  CHECK(contains(complaint(side({run_of(1, {{"a", 0, 10}}), run_of(2, {{"a", 0, 10}}), run_of(3, {})})),
                 "NEW has 1 to 3"));
  CHECK(contains(complaint(side({run_of(1, {{"x", 0, 10}})})), "no job of BASE is in NEW"));
  StoredResults other = base;
  other.exit_state = "interrupted";
  CHECK(contains(complaint(other), "NEW (s) was interrupted"));
  other = base;
  other.replicas[0].jobs[0].gpus = 8;
  CHECK(contains(complaint(other), "different workloads: job \"a\" (seed 1): 1 GPUs in BASE, 8 in NEW"));
  other.replicas[0].jobs[1].submit = Time::seconds(3);
  CHECK(contains(complaint(other), "and 1 more jobs differ"));
  StoredResults follower = base;
  follower.replicas[0].jobs[1].follows = true;
  other = follower;
  other.replicas[0].jobs[1].submit = Time::seconds(3);  // the jobs before it ended later there
  CHECK(complaint_of([&] { static_cast<void>(find_regression(follower, other, 5)); }) == "none");
  other = base;
  other.replicas[0].jobs[0].iterations = 0;  // a file that does not say
  CHECK(complaint(other) == "none");
}

TEST_CASE("rules: what they say") {
  const auto rules = parse_rules({"avg_jct > 1%", " makespan_s>=30s", "gpu_utilisation < -2pp", "finished<0",
                                  "avg_queueing > -1.5min", "failed > +2", "contended_share > 10 %"});
  REQUIRE(rules.size() == 7);
  CHECK(rules[0].metric == find_metric("avg_jct_s"));
  CHECK(rules[0].relation == Relation::more);
  CHECK(rules[0].relative);
  CHECK(rules[0].amount == near(0.01));
  CHECK(rules[1].relation == Relation::at_least);
  CHECK_FALSE(rules[1].relative);
  CHECK(rules[1].amount == near(30));
  CHECK(rules[2].amount == near(-0.02));
  CHECK_FALSE(rules[2].relative);
  CHECK(rules[3].relation == Relation::less);
  CHECK(rules[3].amount == 0);
  CHECK(rules[4].amount == near(-90));
  CHECK(rules[5].amount == 2);
  CHECK(rules[6].relative);
}

TEST_CASE("rules: what is wrong with them, with a caret") {
  const auto complaint = [](const std::string& rule) {
    return complaint_of([&] { static_cast<void>(parse_rules({rule})); });
  };
  CHECK(complaint("avg_jtc > 1%") ==
        "--fail-if: unknown metric \"avg_jtc\"; did you mean \"avg_jct\"?\n  avg_jtc > 1%\n  ^");
  CHECK(complaint("avg_jct = 1%") == "--fail-if: expected < or >, got \"= 1%\"\n  avg_jct = 1%\n          ^");
  CHECK(
      contains(complaint("avg_jct >"), "expected a change such as 1% or 30s, got nothing\n  avg_jct >\n           ^"));
  CHECK(contains(complaint("avg_jct > 5"), "got \"5\""));
  CHECK(contains(complaint("avg_jct > 5 sec"), "expected a change such as 1% or 30s"));
  CHECK(contains(complaint("avg_jct > -%"), "got \"-%\""));
  CHECK(contains(complaint("avg_jct > --1%"), "got \"--1%\""));
  CHECK(contains(complaint("gpu_utilisation < 5"), "or 2pp for percentage points"));
  CHECK(contains(complaint("finished < 1s"), "or 3, got \"1s\""));
  CHECK(contains(complaint(""), "expected a metric such as avg_jct"));
  CHECK(contains(complaint("avg_jct > nan%"), "got \"nan%\""));
  // All at once.
  const std::string both = complaint_of([] { static_cast<void>(parse_rules({"x > 1%", "finished < 0", "avg_jct"})); });
  CHECK(contains(both, "unknown metric \"x\""));
  CHECK(contains(both, "expected < or >, got nothing"));
}

/// A job with an iteration of so many seconds, a tenth of which nothing hides; all other figures are 1, but for one
/// that it hasn't.
StoredReplica with_iterations(StoredReplica run, const std::vector<double>& seconds) {
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    run.jobs[i].iteration.assign(iteration_metrics().size(), 1);
    run.jobs[i].iteration[iteration_index("iteration_s")] = seconds[i];
    run.jobs[i].iteration[iteration_index("exposed_communication_s")] = seconds[i] / 10;
    run.jobs[i].iteration[iteration_index("progress_s")] = kNaN;
  }
  return run;
}

TEST_CASE("rules about an iteration of any job hold if they do for one that both sides have, of jobs with iterations") {
  // a 1 -> 1.1 s, b 2 -> 1 s; c has no iteration, d is in NEW only.
  const StoredResults base = side({with_iterations(run_of(1, {{"a", 0, 9}, {"b", 0, 9}, {"c", 0, 9}}), {1, 2})});
  const StoredResults other =
      side({with_iterations(run_of(1, {{"a", 0, 9}, {"b", 0, 9}, {"c", 0, 9}, {"d", 0, 9}}), {1.1, 1})});
  const Regression found = find_regression(base, other, 5);
  const auto judged = [&](const char* rule) {
    std::string of_any = rule;
    of_any.insert(of_any.find(' '), "[any job]");
    return judge(parse_rules({of_any}), found, {&base, &other}, Judgement::significant).front();
  };
  CHECK(judged("iteration > 9%").fails);
  CHECK(judged("iteration > 9%").reason == "iteration changed by +10% (at worst: a)");
  CHECK_FALSE(judged("iteration_s > 11%").fails);
  CHECK(judged("iteration < -40%").reason == "iteration changed by -50% (at worst: b)");
  CHECK(judged("iteration < 11%").reason == "iteration changed by -50% (at worst: b) and fails for 2 of 2 jobs");
  CHECK(judged("exposed_communication > 9ms").fails);
  CHECK_FALSE(judged("exposed_communication > 11ms").fails);
  CHECK_FALSE(judged("throughput_per_s < 0%").fails);
  CHECK(judged("progress > 1%").fails);  // what has no value must not pass
  CHECK(judged("progress > 1%").reason == "progress has no value in BASE (a)");
  CHECK(found.slowest.empty());  // by completion times
  // With several seeds the worst of all of them counts, with its seed.
  StoredResults both = base, after = base;
  both.replicas.push_back(base.replicas.front());
  after.replicas.push_back(other.replicas.front());
  both.replicas[1].seed = after.replicas[1].seed = 2;
  after.replicas[1].jobs.pop_back();
  both.replicas[1].digest = after.replicas[1].digest = "2";
  const auto of_both = judge(parse_rules({"iteration[any job] > 9%"}), find_regression(both, after, 5), {&both, &after},
                             Judgement::significant);
  CHECK(of_both.front().reason == "iteration changed by +10% (at worst: a (seed 2))");
  // No job with iterations on both sides: nothing was judged, which must not pass either.
  const StoredResults none = side({run_of(1, {{"a", 0, 9}})});
  const auto of_none = judge(parse_rules({"iteration[any job] > 1%"}), find_regression(none, none, 5), {&none, &none},
                             Judgement::measured);
  CHECK(of_none.front().fails);
  CHECK(contains(of_none.front().reason, "no job that both sides have completed an iteration"));
}

TEST_CASE("rules about an iteration are about the mean over the jobs, of all or of a group") {
  // a 1 -> 1.1 s, b 2 -> 1 s: the mean falls from 1.5 to 1.05 s, by 30%.
  const auto run = [](std::vector<double> seconds, double mean) {
    StoredReplica replica = with_iterations(run_of(1, {{"a", 0, 9}, {"b", 0, 9}}), seconds);
    replica.figures[metric_index(metric("iteration_s"))] = mean;
    replica.jobs[0].model = "vgg16";
    replica.jobs[1].model = "bert";
    return side({replica});
  };
  const StoredResults base = run({1, 2}, 1.5), other = run({1.1, 1}, 1.05);
  const Regression found = find_regression(base, other, 5);
  const auto judged = [&](const char* rule) {
    return judge(parse_rules({rule}), found, {&base, &other}, Judgement::significant).front();
  };
  CHECK(judged("iteration < -29%").fails);
  CHECK_FALSE(judged("iteration < -31%").fails);
  CHECK(contains(judged("iteration < -29%").reason, "iteration changed by -30%"));
  CHECK(judged("iteration[model=vgg16] > 9%").fails);
  CHECK_FALSE(judged("iteration[model=bert] > 9%").fails);
  CHECK(judged("mfu < 0%").reason == "mfu has no value in BASE");  // what has no value must not pass
  CHECK(judged("mfu < 0%").fails);
  CHECK(contains(complaint_of([] { static_cast<void>(parse_rules({"avg_jct[any job] > 1%"})); }),
                 "an iteration of a job has no avg_jct"));
}

TEST_CASE("jobs that changed tell the figures of their iterations, if they have some on both sides") {
  const StoredResults base = side({with_iterations(run_of(1, {{"a", 0, 9}, {"b", 0, 9}}), {1})});
  const StoredResults other = side({with_iterations(run_of(1, {{"a", 0, 11}, {"b", 0, 12}}), {1.25, 2})});
  const Regression found = find_regression(base, other, 5);
  REQUIRE(found.slowest.size() == 2);
  CHECK(found.slowest[0].job == "b");
  CHECK(found.slowest[0].base_iteration.empty());
  CHECK(found.slowest[0].other_iteration.empty());
  CHECK(found.slowest[1].base_iteration[iteration_index("iteration_s")] == 1);
  CHECK(found.slowest[1].other_iteration[iteration_index("iteration_s")] == 1.25);
}

TEST_CASE("rules: when they hold") {
  // Average JCT 100, 100, 100 -> 99, 102, 108: 3% more on average. The logarithms of the ratios are -0.01005, 0.01980
  // and 0.07696: mean 0.02890, deviation 0.04421, standard error 0.02553.
  const StoredResults base = side({run_of(1, {{"a", 0, 100}}), run_of(2, {{"a", 1, 100}}), run_of(3, {{"a", 2, 100}})});
  StoredResults varied = base;
  for (std::size_t i = 0; i < 3; ++i) varied.replicas[i].digest = std::to_string(i);
  const StoredResults other = side({run_of(1, {{"a", 0, 99}}), run_of(2, {{"a", 1, 102}}), run_of(3, {{"a", 2, 108}})});
  const Regression found = find_regression(varied, other, 5);
  const auto measured = [&](const char* rule) {
    return judge(parse_rules({rule}), found, {}, Judgement::measured).front().fails;
  };
  CHECK(measured("avg_jct > 2.9%"));
  CHECK_FALSE(measured("avg_jct > 3%"));  // the geometric mean is 2.93%
  CHECK(measured("avg_jct > 2.9s"));
  CHECK_FALSE(measured("avg_jct < -1%"));
  CHECK(measured("avg_jct < 5%"));  // a rule means its words: a growth below 5%
  CHECK_FALSE(measured("finished < 0"));
  CHECK(measured("finished <= 0"));
  CHECK_FALSE(measured("failed > 0%"));  // 0 of 0 is no change

  const auto judged = [&](const std::vector<std::string>& rules) {
    return judge(parse_rules(rules), found, {}, Judgement::significant);
  };
  const RuleOutcome outcome = judged({"avg_jct > 2.9%"}).front();
  CHECK_FALSE(outcome.fails);
  CHECK(contains(outcome.reason, "avg_jct changed by +2.933%, 95% interval ["));
  CHECK(contains(outcome.reason, ": not significant (p = "));
  CHECK(outcome.p_value > 0.4);
  CHECK(judged({"finished <= 0"}).front().fails);  // counts are judged as measured
  // The interval is 0.02890 +- 4.3027 * 0.02553 in logarithms, from -7.78% on: a rule about -8% holds, and about -7%
  // not. Beside two other rules, the same change is no longer enough for -8%.
  CHECK(judged({"avg_jct > -8%"}).front().fails);
  CHECK_FALSE(judged({"avg_jct > -7%"}).front().fails);
  const std::vector<RuleOutcome> three = judged({"avg_jct > -8%", "p95_jct > 50%", "max_jct > 50%"});
  CHECK_FALSE(three[0].fails);
  CHECK(contains(three[0].reason, "corrected for 3 rules"));
}

TEST_CASE("rules: a figure without a value fails") {
  const Regression found = find_regression(side({run_of(1, {{"a", 0, 10}})}), side({run_of(1, {{"a", 0, -1}})}), 5);
  const RuleOutcome outcome = judge(parse_rules({"avg_jct > 1%"}), found, {}, Judgement::significant).front();
  CHECK(outcome.fails);
  CHECK(outcome.reason == "avg_jct has no value in NEW");
}

TEST_CASE("changes for people") {
  const Metric &jct = *find_metric("avg_jct"), &share = *find_metric("gpu_utilisation"), &jobs = *find_metric("jobs");
  CHECK(change_text(jct, true, 0.0125) == "+1.25%");
  CHECK(change_text(jct, false, -30) == "-30 s");
  CHECK(change_text(share, false, 0.051) == "+5.1 pp");
  CHECK(change_text(jobs, false, 0) == "0 jobs");
  CHECK(change_text(jct, true, 0.0000001) == "+1.00e-05%");
  CHECK(change_text(jct, true, INFINITY) == "from 0");
  CHECK(change_text(jct, true, NAN) == "-");
  CHECK(interval_text(jct, true, {-0.01, 0.02}) == "[-1, +2]%");
  CHECK(interval_text(jct, true, {}).empty());
}

}  // namespace
}  // namespace contend
