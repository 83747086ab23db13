// Link events: reading, and names against a topology.
#include "traces/link_events.hpp"

#include "network/topologies/topology_spec.hpp"
#include "sim/error.hpp"
#include "tests/complaint_lines.hpp"

#include <string>

#include <doctest/doctest.h>

namespace contend {
namespace {

/// Four servers of one GPU on two leaves, two spines, two cables between each leaf and spine.
Topology two_leaves() {
  TopologySpec spec;
  spec.fabric.kind = "leaf-spine";
  spec.fabric.servers_per_leaf = 2;
  spec.fabric.spines = 2;
  spec.fabric.parallel_links = 2;
  return build_topology(spec, 4, 1);
}

TEST_CASE("events are read exactly, whatever the order of columns") {
  const auto events = parse_link_events("factor,link,time_s\n0,leaf0->spine1,10\n0.25,spine0,0.000000001\n", "e.csv");
  REQUIRE(events.size() == 2);
  CHECK(events[0].time == Time::seconds(10));
  CHECK(events[0].name == "leaf0->spine1");
  CHECK(events[0].factor == 0);
  CHECK(events[1].time == Time::nanoseconds(1));
  CHECK(events[1].factor == 0.25);
  CHECK(events[1].line == 3);
  CHECK(parse_link_events("time_s,link,factor\n", "e.csv").empty());
}

TEST_CASE("a server stands for its links to the fabric, both ways") {
  const Topology topology = two_leaves();
  const auto changes = resolve_link_events({{Time::seconds(1), "server3", 0, 2}}, topology, "e.csv");
  REQUIRE(changes.size() == 2);
  CHECK(topology.link_name(changes[0].link) == "server3/nic0->leaf1");
  CHECK(topology.link_name(changes[1].link) == "leaf1->server3/nic0");
}

TEST_CASE("every bad row is reported") {
  const auto read = [](const char* text) {
    return complaint_lines([=] { static_cast<void>(parse_link_events(text, "e.csv")); });
  };
  CHECK(read("time_s,link,factor\n-1,a,1\nx,a,1\n1,,1\n1,a,-0.5\n1,a,1001\n1e12,a,1\n") ==
        "e.csv:2: time_s: expected a number >= 0, got -1\n"
        "e.csv:3: time_s: expected a number >= 0, got \"x\"\n"
        "e.csv:4: link: expected a link or node, got nothing\n"
        "e.csv:5: factor: expected a number >= 0, got -0.5\n"
        "e.csv:6: factor: expected a number from 0 to 1000, got 1001\n"
        "e.csv:7: time_s: expected a number from 0 to 3153600000, got 1e12\n");
  CHECK(read("time_s,lnk,factor,factor\n") ==
        "e.csv:1: unknown column \"lnk\"; did you mean \"link\"?\n"
        "e.csv:1: column \"factor\" appears twice\n");
}

TEST_CASE("names are links or nodes of the topology, and changes are sorted by time") {
  const Topology topology = two_leaves();
  const auto changes = resolve_link_events(
      {{Time::seconds(2), "spine1", 0, 2}, {Time::seconds(1), "leaf1->spine0#2", 0.5, 3}}, topology, "e.csv");
  // One link alone, then all of spine1: 2 leaves x 2 cables x 2 directions.
  REQUIRE(changes.size() == 9);
  CHECK(topology.link_name(changes[0].link) == "leaf1->spine0#2");
  CHECK(changes[0].factor == 0.5);
  for (std::size_t i = 1; i < changes.size(); ++i) {
    CHECK(changes[i].time == Time::seconds(2));
    CHECK(topology.link_name(changes[i].link).find("spine1") != std::string::npos);
  }
}

TEST_CASE("all unknown names are reported, with the nearest") {
  const Topology topology = two_leaves();
  CHECK(complaint_lines([&] {
          static_cast<void>(resolve_link_events(
              {{Time{}, "spin1", 0, 2}, {Time{}, "leaf0->spine1", 0, 3}, {Time{}, "leaf0->spine1#3", 0, 4}}, topology,
              "e.csv"));
        }) ==
        "e.csv:2: link: the topology has no node \"spin1\"; did you mean \"spine1\"?\n"
        "e.csv:4: link: the topology has no link \"leaf0->spine1#3\"; did you mean \"leaf0->spine1#2\"?\n");
}

}  // namespace
}  // namespace contend
