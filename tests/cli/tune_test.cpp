// `contend tune` as a user meets it.

#include "tests/cli/program.hpp"
#include "tests/text_checks.hpp"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr const char* kTuneScenario = R"(schema_version: 1
name: small
cluster: {servers: 4}
workload: {generate: {sizes: {1: 3, 2: 2, 4: 2, 8: 1}, iterations: [100, 500], arrivals: 10s}}
sweep:
  grid: {network.nic: [1Gbps, 10Gbps, 100Gbps], policies.placement: [lwf, first-fit]}
  repeat: 2
)";

}  // namespace

TEST_CASE("tune finds what the whole sweep finds, goes on, and leaves a store for the sweep" *
          doctest::skip(!has_program())) {
  const Workplace here;
  here.write("small.yaml", kTuneScenario);
  const Outcome few = here.contend("tune small.yaml --minimise avg_jct_s --trials 3 -j 1");
  CHECK(few.code == 0);
  CHECK(contains(few.out, "tried 4 of 6 points in 6 runs"));
  CHECK(here.contend("tune small.yaml --minimise avg_jct_s --trials 3 -j 2 -o other.sqlite").out == few.out);
  const Outcome again = here.contend("tune small.yaml --minimise avg_jct_s --trials 3");
  CHECK(again.code == 3);
  CHECK(contains(again.err, "--resume continues it"));
  const Outcome all = here.contend("tune small.yaml --minimise avg_jct_s --trials 6 --resume");
  CHECK(contains(all.out, "tried 6 of 6 points in 12 runs"));
  CHECK(contains(here.contend("sweep small.yaml -o small.sqlite --resume").err, "12 runs are done already, 0 remain"));
  const Outcome halving = here.contend("tune small.yaml --maximise avg_jct_s --method halving -o h.sqlite --json");
  CHECK(halving.code == 0);
  CHECK(contains(halving.out, "\"tried\": 6"));
}

TEST_CASE("tune refuses what means nothing" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("small.yaml", kTuneScenario);
  const auto refused = [&](const std::string& options, const std::string& why) {
    const Outcome outcome = here.contend("tune small.yaml " + options);
    INFO(options, ": ", outcome.err);
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, why));
  };
  refused("", "expected --minimise METRIC or --maximise METRIC");
  refused("--minimise avg_jct_s --minimise avg_jct_s", "avg_jct_s is a goal twice");
  refused("--minimise avg_jct_s --maximise makespan_s --method halving", "halving has one goal");
  refused("--minimise avg_jct_s --subject-to 'p95_jct 3h'", "expected a metric, one of < <= > >= and a level");
  refused("--minimise avg_jct_s --subject-to 'p95_jt < 3h'", "did you mean");
  refused("--minimise avg_jct_s --subject-to 'p95_jct < 3'", "--subject-to \"p95_jct < 3\": expected");
  refused("--minimise avg_jct", "did you mean \"avg_jct_s\"?");
  refused("--minimise avg_jct_s --method brute", "expected bayes, halving or random");
  refused("--minimise avg_jct_s --eta 2", "--eta has no effect with --method bayes");
  refused("--minimise avg_jct_s --method halving --eta 1", "expected a number above 1");
  refused("--minimise avg_jct_s --method halving --repeat 1", "needs --repeat 2 or more");
}

TEST_CASE("tune: bounds, several goals, the difference to the best, CSV" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("small.yaml", kTuneScenario);
  const Outcome all = here.contend("tune small.yaml --minimise avg_jct_s --trials 6 -o a.sqlite");
  CHECK(contains(all.out, "to the best"));
  CHECK(contains(all.out, "best"));
  const Outcome bound = here.contend(
      "tune small.yaml --minimise avg_jct_s --trials 6 --subject-to 'network_utilisation > 0.1%' -o b.sqlite");
  CHECK(bound.code == 0);
  CHECK(contains(bound.out, "hold the bounds"));
  const Outcome none =
      here.contend("tune small.yaml --minimise avg_jct_s --trials 6 --subject-to 'p95_jct < 1s' -o c.sqlite");
  CHECK(none.code == 1);
  CHECK(contains(none.out, "; 0 hold the bounds"));
  CHECK(contains(none.err, "none of the 6 points that ran holds the bounds"));
  const Outcome front = here.contend(
      "tune small.yaml --minimise avg_jct_s --maximise network_utilisation --trials 6 -o d.sqlite --csv front.csv "
      "--svg front.svg");
  CHECK(front.code == 0);
  CHECK(contains(front.out, "on the Pareto front"));
  CHECK(contains(here.read("front.svg"), "average JCT, less is better ["));
  CHECK(contains(here.read("front.svg"), "network utilisation, more is better"));
  CHECK(here.contend("tune small.yaml --minimise avg_jct_s --svg f.svg").code == 2);
  CHECK(here.contend("tune small.yaml --minimise avg_jct_s --maximise gpu_utilisation --svg f.png").code == 2);
  const std::string csv = here.read("front.csv");
  CHECK(contains(csv, "avg_jct_s,avg_jct_s_ci95,network_utilisation,network_utilisation_ci95,seeds,holds,front,tie\n"));
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 7);
  const std::string random = "tune small.yaml --minimise avg_jct_s --trials 3 --method random -o ";
  CHECK(here.contend(random + "e.sqlite").out != here.contend(random + "f.sqlite --start 1").out);
}

TEST_CASE("tune says why points have no value, and shows shares as per cent" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("small.yaml", kTuneScenario);
  const Outcome all = here.contend(
      "tune small.yaml --maximise gpu_utilisation --trials 12 -o a.sqlite --set cluster.servers=1,4 --set "
      "policies.placement=lwf");
  REQUIRE_MESSAGE(all.code == 0, all.err);
  CHECK(contains(all.out, "GPU utilisation [%]"));
  CHECK_MESSAGE(contains(all.out, "3 points have no value:\n  point "), all.out);
  CHECK(contains(all.out, "cluster.servers=1"));
  CHECK(contains(all.out, ": seed 1: 7 of 8 jobs finished\n"));
  CHECK(contains(here.contend("results a.sqlite --metric gpu_utilisation").out, "gpu_utilisation [%]"));
  const Outcome json = here.contend(
      "tune small.yaml --maximise gpu_utilisation --trials 12 -o b.sqlite --set cluster.servers=1,4 --set "
      "policies.placement=lwf --json");
  CHECK(contains(json.out, "\"reason\": \"seed 1: 7 of 8 jobs finished\""));
}
