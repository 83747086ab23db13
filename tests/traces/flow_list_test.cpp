// Lists of flows: reading, and names of GPUs against a topology.
#include "traces/flow_list.hpp"

#include "network/topologies/topology_spec.hpp"
#include "sim/error.hpp"
#include "tests/complaint_lines.hpp"

#include <string>

#include <doctest/doctest.h>

namespace contend {
namespace {

Topology servers_of(std::size_t gpus) {
  TopologySpec spec;
  return build_topology(spec, 4, gpus);
}

std::string complaints_of_flows(const char* text, std::size_t gpus = 1) {
  const Topology topology = servers_of(gpus);
  return complaint_lines([&] { static_cast<void>(parse_flow_list(text, "f.csv", topology)); });
}

TEST_CASE("flow list: times, sizes and GPUs are read exactly, whatever the order of columns") {
  const auto flows = parse_flow_list(
      "destination,bytes,start_s,source\nserver1/gpu1,1,0.000000001,server0/gpu0\n"
      "server0/gpu1,25MiB,10,server3/gpu0\n",
      "f.csv", servers_of(2));
  REQUIRE(flows.size() == 2);
  CHECK(flows[0].name == "0");
  CHECK(flows[0].start == Time::nanoseconds(1));
  CHECK(flows[0].bytes == Bytes{1});
  CHECK(flows[0].source == GpuId{0U});
  CHECK(flows[0].destination == GpuId{3U});
  CHECK(flows[1].name == "1");
  CHECK(flows[1].start == Time::seconds(10));
  CHECK(flows[1].bytes == Bytes::mebibytes(25));
  CHECK(flows[1].source == GpuId{6U});
}

TEST_CASE("flow list: a server stands for its only GPU, and flows may have names") {
  const auto flows = parse_flow_list("flow,start_s,bytes,source,destination\nfirst,0,8,server2,server0/gpu0\n", "f.csv",
                                     servers_of(1));
  REQUIRE(flows.size() == 1);
  CHECK(flows[0].name == "first");
  CHECK(flows[0].source == GpuId{2U});
  CHECK(flows[0].destination == GpuId{0U});
}

TEST_CASE("flow list: every bad row is reported with its line, its column and what would be right") {
  CHECK(complaints_of_flows("start_s,bytes,source,destination\n1.0000000001,1,server0,server1\n") ==
        "f.csv:2: start_s: expected at most 9 decimals, because times are whole nanoseconds, got 1.0000000001\n");
  CHECK(complaints_of_flows("start_s,bytes,source,destination\n-1,1,server0,server1\nx,1,server0,server1\n"
                            "4e9,1,server0,server1\n0,0,server0,server1\n0,1 GiB/s,server0,server1\n"
                            "0,1,server9,server1\n0,1,server0,server0/gpu0\n0,1,,spine0\n") ==
        "f.csv:2: start_s: expected seconds >= 0, got -1\n"
        "f.csv:3: start_s: expected seconds >= 0, got \"x\"\n"
        "f.csv:4: start_s: 4e9 is more than 100 years\n"
        "f.csv:5: bytes: expected whole bytes >= 1, got \"0\"; such as 1048576 or 25MiB\n"
        "f.csv:6: bytes: expected whole bytes >= 1, got \"1 GiB/s\"; such as 1048576 or 25MiB\n"
        "f.csv:7: source: the topology has no GPU \"server9\"; such as server0/gpu0\n"
        "f.csv:8: destination: server0/gpu0 is the source, too; a flow joins two different GPUs\n"
        "f.csv:9: source: the topology has no GPU \"\"; such as server0/gpu0\n"
        "f.csv:9: destination: the topology has no GPU \"spine0\"; such as server0/gpu0\n");
  CHECK(complaints_of_flows("start_s,bytes,source,destination\n0,1,server0,server1/gpu0\n", 2) ==
        "f.csv:2: source: server0 has 2 GPUs; name one, such as server0/gpu0\n");
  CHECK(complaints_of_flows("flow,start_s,bytes,source,destination\na,0,1,server0,server1\na,0,1,server0,server1\n"
                            ",0,1,server0,server1\nb\x1b,0,1,server0,server1\n") ==
        "f.csv:3: flow: \"a\" was used on line 2 already\n"
        "f.csv:4: flow: expected a name, got nothing\n"
        "f.csv:5: flow: expected a name of printable UTF-8 text, got \"b\\x1b\": byte 2 is the control character "
        "U+001B\n");
}

TEST_CASE("flow list: bad columns and empty lists") {
  CHECK(complaints_of_flows("start,bytes,source,destination,bytes\n0,1,server0,server1,1\n") ==
        "f.csv:1: unknown column \"start\"; did you mean \"start_s\"?\n"
        "f.csv:1: column \"bytes\" appears twice\n");
  CHECK(complaints_of_flows("start_s,bytes,source,destination\n") ==
        "f.csv:2: expected a row for each flow below the header, got none; such as "
        "0.5,1048576,server0/gpu0,server1/gpu0\n");
}

}  // namespace
}  // namespace contend
