// `expect`: its forms, what is wrong with others, and how runs are held against them.
#include "results/expectations.hpp"

#include "scenarios/keys/print.hpp"
#include "sim/random_stream.hpp"
#include "tests/near.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace contend {
namespace {

Replica with(double avg_jct_s, std::size_t finished, double share = 0.5) {
  Replica replica;
  replica.summary.avg_jct_s = avg_jct_s;
  replica.summary.finished = finished;
  replica.summary.gpu_utilisation = share;
  return replica;
}

std::vector<ExpectationOutcome> judged(const std::string& bounds, const std::vector<Replica>& replicas) {
  return judge_expectations(parsed("expect: " + bounds + "\n").expect, replicas);
}

/// The constructor as a function, in which g++ 12 doesn't see an empty optional as one that is read.
Expectation bound(const char* metric, Relation relation, double value, const char* text) {
  Expectation made;
  made.metric = metric;
  made.relation = relation;
  made.level = {value, text};
  return made;
}

TEST_CASE("the forms of a bound") {
  const Scenario s = parsed(
      "expect:\n  avg_jct: < 2h\n  finished: 160\n  p95_jct: [10min, 3h]\n  gpu_utilisation: \">= 60%\"\n"
      "  makespan_s: \"1d\"\n  contended_share: <= 0.07\n  failed: ' > 3 '\n");
  REQUIRE(s.expect.size() == 7);
  CHECK(s.expect[0] == bound("avg_jct_s", Relation::less, 7200, "2h"));
  CHECK(s.expect[1] == bound("finished", Relation::equal, 160, "160"));
  Expectation interval = bound("p95_jct_s", Relation::equal, 600, "10min");
  interval.upper = MetricLevel{10'800, "3h"};
  CHECK(s.expect[2] == interval);
  CHECK(s.expect[3] == bound("gpu_utilisation", Relation::at_least, 0.6, "60%"));
  CHECK(s.expect[4].metric == "makespan_s");
  CHECK(s.expect[5].level.value == 0.07);
  CHECK(s.expect[6].relation == Relation::more);
  CHECK(to_string(s.expect[0]) == "avg_jct < 2h");
  CHECK(to_string(s.expect[1]) == "finished = 160");
  CHECK(to_string(s.expect[2]) == "p95_jct in [10min, 3h]");
  const std::string text = to_yaml(s);
  CHECK(text.find("\nexpect: {avg_jct: \"< 2h\", finished: 160, p95_jct: [10min, 3h], gpu_utilisation: \">= 60%\", "
                  "makespan: 1d, contended_share: \"<= 0.07\", failed: \"> 3\"}\n") != std::string::npos);
  CHECK(parse_scenario(text, "again.yaml").expect == s.expect);
  CHECK(to_yaml(parsed("")).find("expect") == std::string::npos);
}

TEST_CASE("every bound prints as the text from which it was read") {
  RandomStream random{5, "bounds"};
  for (int round = 0; round < 300; ++round) {
    Scenario s = parsed("");
    for (const Metric& metric : metrics()) {
      const auto level = [&] {
        std::string text = std::to_string(random.uniform());
        if (metric.unit == "s") text = print_quantity(Time::nanoseconds(random.uniform_integer(0, INT64_MAX / 4)));
        if (is_count(metric.unit)) text = std::to_string(random.uniform_integer(0, 1'000'000));
        if (metric.unit == "share") text = std::to_string(random.uniform_integer(0, 10'000)) + "e-" + "6";
        const Parsed<MetricLevel> parsed_level = parse_level(metric, text);
        REQUIRE_MESSAGE(parsed_level.value, text);
        return *parsed_level.value;
      };
      Expectation each{std::string{metric.name}, Relation::equal, level(), std::nullopt};
      each.relation = static_cast<Relation>(random.uniform_integer(0, 4));
      if (each.relation == Relation::equal && random.uniform() < 0.5) {
        each.upper = level();
        if (each.upper->value < each.level.value) std::swap(*each.upper, each.level);
      }
      s.expect.push_back(each);
    }
    CHECK(parse_scenario(to_yaml(s), "again.yaml").expect == s.expect);
  }
}

TEST_CASE("preemptions are counted, waiting and lost GPU time are times") {
  Replica replica;
  replica.summary.preemptions = 3;
  replica.summary.avg_waiting_s = 90;
  replica.summary.lost_gpu_s = 7200;
  const std::vector<ExpectationOutcome> outcomes =
      judged("{preemptions: < 4, avg_waiting: < 1min, lost_gpu: < 3h}", {replica});
  REQUIRE(outcomes.size() == 3);
  CHECK(outcomes[0].met);
  CHECK(outcomes[0].reason == "3");
  CHECK_FALSE(outcomes[1].met);
  CHECK(outcomes[2].met);
  CHECK(errors_of("expect: {preemptions: 2.5}\n").find("expected a whole number of preemptions") != std::string::npos);
}

TEST_CASE("a later layer replaces all bounds") {
  const Scenario s = parsed("expect: {avg_jct: < 2h, finished: 160}\n", {"expect={failed: 0}"});
  REQUIRE(s.expect.size() == 1);
  CHECK(s.expect[0].metric == "failed");
  CHECK(parsed("expect: {failed: 0}\n", {"expect={}"}).expect.empty());
  CHECK(parsed("", {"expect.avg_jct=<2h"}).expect.size() == 1);
}

TEST_CASE("what is no bound") {
  const auto complaint = [](const std::string& bounds) { return errors_of("expect: " + bounds + "\n"); };
  CHECK(complaint("{avg_jtc: 1h}").find("expect.avg_jtc: unknown metric; did you mean \"avg_jct\"?") !=
        std::string::npos);
  CHECK(complaint("{avg_jct: 5}").find("expected a time") != std::string::npos);
  CHECK(complaint("{avg_jct: < }").find("expected a time") != std::string::npos);
  CHECK(complaint("{avg_jct: 5%}").find("expected a time") != std::string::npos);
  CHECK(complaint("{finished: -1}").find("whole number of jobs") != std::string::npos);
  CHECK(complaint("{finished: 1.5}").find("whole number of jobs") != std::string::npos);
  CHECK(complaint("{gpu_utilisation: 101%}").find("from 0% to 100%") != std::string::npos);
  CHECK(complaint("{gpu_utilisation: 2}").find("from 0% to 100%") != std::string::npos);
  CHECK(complaint("{gpu_utilisation: nan}").find("a share") != std::string::npos);
  CHECK(complaint("{avg_jct: [3h, 2h]}").find("the lower end 3h lies above the upper 2h") != std::string::npos);
  CHECK(complaint("{avg_jct: [3h]}").find("expected [lowest, highest]") != std::string::npos);
  CHECK(complaint("{avg_jct: {a: 1}}").find("a bound such as") != std::string::npos);
  CHECK(complaint("{avg_jct: 1h, avg_jct_s: 2h}").find("has a bound already") != std::string::npos);
  CHECK(complaint("[1]").find("expected a map") != std::string::npos);
  CHECK(
      complaint("{jobs: 1, iteration: \"< 1s\"}\ntraining: {it: {model: resnet50}}\noverlap: {training: it}").empty());
}

TEST_CASE("one run is held against its bounds") {
  const std::vector<Replica> run{with(7200, 3)};
  CHECK_FALSE(judged("{avg_jct: < 2h}", run)[0].met);
  CHECK(judged("{avg_jct: <= 2h}", run)[0].met);
  CHECK(judged("{avg_jct: 2h}", run)[0].met);
  CHECK(judged("{avg_jct: [1h, 2h]}", run)[0].met);
  CHECK_FALSE(judged("{avg_jct: [3h, 4h]}", run)[0].met);
  CHECK_FALSE(judged("{finished: 4}", run)[0].met);
  CHECK(judged("{gpu_utilisation: \">= 50%\"}", run)[0].met);
  const auto both = judged("{finished: 3, avg_jct: < 1h}", run);
  CHECK_FALSE(all_met(both));
  CHECK(expectations_text(both) == "ok    finished = 3: 3\nFAIL  avg_jct < 1h: 7200 s\n");
}

TEST_CASE("over replicas the mean counts, with its interval") {
  // Mean 20, standard deviation 10, 3 values: half width 4.3027 x 10 / sqrt(3) = 24.84.
  const std::vector<Replica> runs{with(10, 1), with(20, 1), with(30, 1)};
  const ExpectationOutcome outcome = judged("{avg_jct: < 21s}", runs)[0];
  CHECK(outcome.met);
  CHECK(outcome.value == 20);
  CHECK(outcome.half_width == near(24.84, 2e-4));
  CHECK(outcome.reason == "20 ± 24.8 s over 3 replicas, but not for the whole 95% interval");
  CHECK(judged("{avg_jct: < 1min}", runs)[0].reason == "20 ± 24.8 s over 3 replicas");
}

TEST_CASE("a figure without a value meets nothing") {
  const ExpectationOutcome outcome = judged("{avg_jct: < 2h}", {with(NAN, 0)})[0];
  CHECK_FALSE(outcome.met);
  CHECK(outcome.reason == "no value, because no job finished");
}

}  // namespace
}  // namespace contend
