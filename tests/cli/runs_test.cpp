// contend runs: which runs and sweeps lie below a folder.

#include "tests/cli/program.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

TEST_SUITE_BEGIN("cli" * doctest::skip(!has_program()));

TEST_CASE("runs: folders and stores below a folder, with what differs between them") {
  const Workplace here;
  here.write("s.yaml",
             "schema_version: 1\nname: small\ncluster: {servers: 2, gpus_per_server: 2}\n"
             "workload: {generate: {sizes: {1: 3, 2: 2}, iterations: [20, 90], arrivals: 2s}}\n");
  CHECK(here.contend("run s.yaml -q -o all/a").code == 0);
  CHECK(here.contend("run s.yaml -q --repeat 3 -o all/deep/b --set policies.placement=random").code == 0);
  CHECK(here.contend("sweep s.yaml -q --set network.nic=1Gbps,10Gbps -o all/c.sqlite").code == 0);
  here.write("all/manifest.json", "{\"program\": \"another\"}\n");
  here.write("all/other.sqlite", "no database\n");

  const std::string text = here.contend("runs all").out;
  CHECK(contains(text, "policies.placement"));
  CHECK(contains(text, "average JCT [s]"));
  CHECK(text.find("all/a ") < text.find("all/c.sqlite"));
  CHECK(text.find("all/c.sqlite") < text.find("all/deep/b"));
  CHECK(contains(text, "all/other.sqlite"));
  CHECK(contains(text, "can't be used: it is no"));
  const std::string json = here.contend("runs all --json --metric p95_jct").out;
  CHECK(contains(json, "\"runs\": 3"));
  CHECK(contains(json, "\"policies.placement\": \"random\""));
  CHECK(contains(json, "\"p95_jct_s\": "));
  const std::string random = here.contend("runs all --where policies.placement=random").out;
  CHECK(contains(random, "all/deep/b"));
  CHECK_FALSE(contains(random, "all/a "));
  CHECK(
      contains(here.contend("runs all/deep --where seed=77").err, "--where leaves none of the 1 runs below all/deep"));

  // A file of the folder that somebody has changed: the run is listed, and says so.
  here.write("all/a/jobs.csv", "job_id\n");
  const Outcome damaged = here.contend("runs all");
  CHECK(damaged.code == 0);
  CHECK(contains(damaged.out, "can't be read: "));

  CHECK(here.contend("runs nowhere").code == 3);
  const Outcome unknown = here.contend("runs all --where polices.placement=x");
  CHECK(unknown.code == 3);
  CHECK(contains(unknown.err, "--where: polices: unknown key"));
  CHECK(contains(here.contend("runs all --where seed").err, "expected KEY=VALUE, got \"seed\""));
  CHECK(contains(here.contend("runs all --metric nothing").err, "unknown metric \"nothing\""));
}

TEST_SUITE_END();
