// `contend flows` as a user meets it.

#include "tests/cli/program.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace contend;

namespace {

// Interfaces of 1 GB/s on one switch; a flow waits 10 us and 1.3 us of latency.
constexpr const char* kSwitchOfFour =
    "schema_version: 1\ncluster: {servers: 4, gpus_per_server: 1}\nnetwork:\n  fidelity: flow\n  nic: 8Gbps\n"
    "  alpha: 10us\n  fabric: {kind: single-switch}\n";
constexpr const char* kTwoFlows =
    "flow,start_s,bytes,source,destination\nlong,0,1000000,server0,server2\nshort,0.0005,250000,server1,server2\n";

}  // namespace

TEST_CASE("flows: completion times, slowdowns and the summary" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("fabric.yaml", kSwitchOfFour);
  here.write("flows.csv", kTwoFlows);
  const Outcome table = here.contend("flows fabric.yaml flows.csv --sizes 250KB --csv out.csv");
  CAPTURE(table.err);
  CHECK(table.code == 0);
  CHECK(here.read("out.csv") ==
        "flow,start_s,bytes,source,destination,end_s,fct_s,ideal_s,slowdown\n"
        "long,0,1000000,server0/gpu0,server2/gpu0,0.0012613,0.0012613,0.0010113,1.2472065658063878\n"
        "short,0.0005,250000,server1/gpu0,server2/gpu0,0.0010113,0.0005113,0.0002613,1.9567546880979716\n");
  CHECK(contains(table.out, "up to 250KB"));
  CHECK(contains(table.out, "above 250KB"));
  CHECK(contains(table.out, "makespan      1261.3 us\n"));
  CHECK(contains(table.out, "bytes in all  1250000\n"));
  const Outcome json = here.contend("flows fabric.yaml flows.csv --sizes 250KB --json");
  CHECK(contains(json.out, "\"makespan_s\": 0.0012613"));
  CHECK(contains(json.out, "\"mean\": 0.0008863"));  // of 1261.3 and 511.3 us
  CHECK(contains(json.out, "\"at_most_bytes\": 250000"));
  CHECK(here.contend("flows fabric.yaml flows.csv --set network.nic=80Gbps --json").out != json.out);
}

TEST_CASE("flows: a route that is gone for ever" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("fabric.yaml", std::string{kSwitchOfFour} + "  events: down.csv\n");
  here.write("down.csv", "time_s,link,factor\n0.0001,server1,0\n");
  here.write("flows.csv", kTwoFlows);
  const Outcome stalled = here.contend("flows fabric.yaml flows.csv --csv out.csv");
  CHECK(stalled.code == 4);
  CHECK(contains(stalled.err, "1 of 2 flows never end"));
  CHECK(contains(stalled.out, "makespan      -"));
  CHECK(contains(here.read("out.csv"), "short,0.0005,250000,server1/gpu0,server2/gpu0,,,0.0002613,\n"));
}

TEST_CASE("flows: what is wrong, and where" * doctest::skip(!has_program())) {
  const Workplace here;
  here.write("fabric.yaml", kSwitchOfFour);
  here.write("flows.csv", "start_s,bytes,source,destination\n0,1 MB/s,server0,server7\n");
  const Outcome bad = here.contend("flows fabric.yaml flows.csv");
  CHECK(bad.code == 3);
  CHECK(contains(bad.err, "flows.csv:2: bytes: expected whole bytes >= 1, got \"1 MB/s\"; such as 1048576 or 25MiB\n"));
  CHECK(contains(bad.err, "flows.csv:2: destination: the topology has no GPU \"server7\""));
  here.write("good.csv", kTwoFlows);
  CHECK(contains(here.contend("flows fabric.yaml good.csv --set network.fidelity=contention").err,
                 "only fidelity `flow` has a fabric; add --set network.fidelity=flow"));
  CHECK(contains(here.contend("flows fabric.yaml good.csv --csv good.csv").err, "good.csv"));
  CHECK(here.read("good.csv") == kTwoFlows);
  const Outcome sizes = here.contend("flows fabric.yaml good.csv --sizes 1MB,1KB");
  CHECK(sizes.code == 2);
  CHECK(contains(sizes.err, "--sizes: expected ascending sizes such as 100KB,10MB, got \"1MB,1KB\""));
  CHECK(contains(here.contend("flows fabric.yaml good.csv --sizes 12").err, "--sizes: expected sizes such as"));
}
