// contend evaluate: scores of policies on weeks that are worked out by hand, and policies that are not valid.

#include "tests/cli/program.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

TEST_SUITE_BEGIN("cli" * doctest::skip(!has_program()));

TEST_CASE("evaluate: ratios and waits of a list that is worked out by hand") {
  const Workplace here;
  // All jobs take all 4 GPUs. fifo: a ends at 100, b at 200, c at 210 s; completion times 100, 199, 208, mean 169 s.
  // srtf: c goes before b: 100, 108, 209, mean 139 s, and b waits longest, 109 s in place of 198.
  here.write("jobs.csv", "job_id,submit_s,gpus,duration_s\na,0,4,100\nb,1,4,100\nc,2,4,10\n");
  here.write("list.yaml", "schema_version: 2\ncluster: {servers: 1, gpus_per_server: 4}\nworkload: {jobs: jobs.csv}\n");
  const std::string list = "evaluate srtf --baseline fifo --on list.yaml --held-out list.yaml ";
  const Outcome json = here.contend(list + "--json");
  CHECK_MESSAGE(json.code == 0, json.err);
  CHECK(contains(json.out, "\"valid\": true"));
  CHECK(contains(json.out, "\"planned_weeks\": 2"));
  CHECK(contains(json.out, "\"ratio\": 0.8224852"));
  CHECK(contains(json.out, "\"values\": [139]"));
  CHECK(contains(json.out, "\"baseline_values\": [169]"));
  CHECK(contains(json.out, "\"longest_wait_s\": 109"));
  CHECK(contains(json.out, "\"baseline_longest_wait_s\": 198"));
  // Another metric, the other way round: the longest completion time, 208 s, over 209 s.
  const Outcome longest = here.contend("evaluate fifo --on list.yaml --held-out list.yaml --metric max_jct_s");
  CHECK_MESSAGE(contains(longest.out, "0.995"), longest.out);

  const Outcome ended =
      here.contend("evaluate '{policy: external, command: \"exit 7\"}' --on list.yaml --held-out list.yaml");
  CHECK(ended.code == 6);
  CHECK_MESSAGE(contains(ended.out, "not valid: list.yaml, seed 1: "), ended.out);
  CHECK_MESSAGE(contains(ended.out, "ended with exit code 7"), ended.out);

  const Outcome broken = here.contend(
      "evaluate srtf --baseline '{policy: external, command: \"exit 7\"}' --on list.yaml --held-out list.yaml");
  CHECK(broken.code == 3);
  CHECK_MESSAGE(contains(broken.err, "--baseline: scheduling policy `external`"), broken.err);

  const Outcome alone = here.contend("evaluate srtf --on list.yaml");
  CHECK(alone.code == 2);
  CHECK(contains(alone.err, "list.yaml draws no jobs, so no other week is like it"));
  CHECK(contains(here.contend("evaluate sjff --on list.yaml --held-out list.yaml").err, "POLICY: policies.scheduling"));
  CHECK(contains(here.contend(list + "--metric jct").err, "--metric: unknown metric \"jct\""));
}

TEST_CASE("evaluate: drawn weeks are other weeks for each kind, and a policy of its own beats itself nowhere") {
  const Workplace here;
  here.write(
      "drawn.yaml",
      "schema_version: 2\ncluster: {servers: 1, gpus_per_server: 4}\n"
      "workload: {like: philly, jobs: 40, scaling: {load: 0.9, largest: 4}}\npolicies: {placement: first-fit}\n");
  const Outcome outcome = here.contend("evaluate srtf --on drawn.yaml --weeks 2 --json");
  CHECK_MESSAGE(outcome.code == 0, outcome.err);
  CHECK(contains(outcome.out, "\"planned_weeks\": 4"));
  const auto values = [&](std::size_t from) {
    const std::size_t at = outcome.out.find("\"values\": ", from);
    return outcome.out.substr(at, outcome.out.find(']', at) - at);
  };
  const std::size_t second = outcome.out.find("\"held_out\"");
  CHECK(contains(outcome.out, "\"ratio\": 1,"));
  CHECK(values(0) != values(second));
}

TEST_SUITE_END();
