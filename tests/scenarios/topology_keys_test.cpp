// Topologies in scenarios: every kind reads back as itself, errors have their places, and keys that mean nothing at a
// fidelity are refused.
#include "scenarios/keys/keys.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/keys/topology_codec.hpp"
#include "scenarios/run/fabric.hpp"
#include "tests/scenarios/scenario_text.hpp"

#include <doctest/doctest.h>

#include <type_traits>
#include <variant>

namespace contend {
namespace {

const std::string kFlow = "network:\n  fidelity: flow\n";

/// The errors of `network: {fidelity: flow}` with one override.
std::string errors_with(const std::string& override) {
  return errors_of("network: {fidelity: flow}\n", {override});
}

TEST_CASE("a name, a map, a later layer: parameters stay as long as the kind does") {
  const Scenario s = parsed(kFlow + "  fabric: {kind: leaf-spine, spines: 2, servers_per_leaf: 4}\n",
                            {"network.fabric.spines=8", "network.server={kind: pcie, nics: 2}"});
  CHECK(s.network.topology.fabric.spines == 8);
  CHECK(s.network.topology.fabric.servers_per_leaf == 4);
  CHECK(s.network.topology.server.kind == "pcie");
  CHECK(s.network.topology.server.nics == 2);
  const Scenario other =
      parsed(kFlow + "  fabric: {kind: leaf-spine, spines: 2, servers_per_leaf: 4}\n",
             {"network.fabric=ring", "network.fabric={kind: leaf-spine, servers_per_leaf: 4, spines: 1}"});
  CHECK(other.network.topology.fabric.spines == 1);
}

/// Another value than the default, within the range.
template <class Spec>
void change(Spec& spec, const TopologyParameter<Spec>& row) {
  std::visit(
      [&](auto field) {
        auto& value = spec.*field;
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, std::size_t>) value = 2;
        if constexpr (std::is_same_v<Value, double>) value = 1.5;
        if constexpr (std::is_same_v<Value, bool>) value = !value;
        if constexpr (std::is_same_v<Value, ByteRate> || std::is_same_v<Value, std::optional<ByteRate>>)
          value = ByteRate{1.25e9};
        if constexpr (std::is_same_v<Value, Time>) value = Time::microseconds(3);
        if constexpr (std::is_same_v<Value, std::vector<std::size_t>>) value = {4, 4};
        if constexpr (std::is_same_v<Value, std::vector<std::string>>) value = {"a", "b"};
        if constexpr (std::is_same_v<Value, WanMatrix>) {
          value.sites = {"a", "b"};
          value.bandwidth = {ByteRate{}, ByteRate{1e8}, ByteRate{2e8}, ByteRate{}};
          value.latency = {Time{}, Time::milliseconds(5), Time::milliseconds(7), Time{}};
        }
        if constexpr (std::is_same_v<Value, GraphSpec>) {
          GraphNode core;
          core.name = "core";
          value.nodes = {core};
          GraphLink up{"server0", "core", ByteRate{1e9}, Time::microseconds(2), false, 3};
          value.links = {up, GraphLink{"core", "server1/nic0", {}, {}, true, 1}};
        }
      },
      row.field);
}

/// Each parameter of each kind, alone and changed, printed and read back by the codec. Returns their number.
template <class Spec>
int check_round_trips(const std::vector<TopologyKind<Spec>>& kinds, const Codec<Spec>& codec) {
  int parameters = 0;
  for (const auto& kind : kinds) {
    for (const auto& row : kind.parameters) {
      CAPTURE(kind.name);
      CAPTURE(row.name);
      if (row.name == "nic_bandwidth") continue;  // network.nic
      Spec spec;
      spec.kind = kind.name;
      change(spec, row);
      const std::string text = codec.print(spec);
      CAPTURE(text);
      CHECK(text.find(std::string{row.name} + ": ") != std::string::npos);
      const SourceText source{"a.yaml", text};
      std::vector<Complaint> complaints;
      const auto node = parse_yaml(source.text(), source, 1, complaints);
      REQUIRE(node);
      Spec again;
      const std::string key = "key";
      codec.read(*node, Reading{source, key, complaints}, again);
      CHECK(complaints.empty());
      CHECK(codec.print(again) == text);
      CHECK(std::visit([&](auto field) { return again.*field == spec.*field; }, row.field));
      ++parameters;
    }
  }
  return parameters;
}

TEST_CASE("every parameter of every kind reads back as printed") {
  CHECK(check_round_trips(fabric_kinds(), fabric_codec()) > 30);
  CHECK(check_round_trips(server_kinds(), server_codec()) > 10);
}

TEST_CASE("keys that need a wrong value of another key are no complaints of their own") {
  const std::string wrong = errors_of("network: {fidelity: flwo, routing: ecmp, fabric: {kind: single-switch}}\n");
  CHECK(wrong.starts_with("a.yaml:2:21: network.fidelity: expected one of analytic, contention, flow, got \"flwo\""));
  CHECK_MESSAGE(wrong.find('\n') == std::string::npos, wrong);
  // What needs something else is one.
  const std::string both = errors_of("network: {fidelity: flwo, routing: ecmp}\ncheckpoints: {persist: 1s}\n");
  CHECK_MESSAGE(both.find("checkpoints.persist: needs `") != std::string::npos, both);
}

TEST_CASE("a printed scenario with a topology reads back as itself") {
  const char* const fabrics[] = {
      "single-switch",
      "{kind: leaf-spine, servers_per_leaf: 4, spines: 2, oversubscription: 2}",
      "{kind: rail-optimised, servers_per_leaf: 8, spines: 4, parallel_links: 2}",
      "{kind: fat-tree, ports: 8, link_bandwidth: 100Gbps}",
      "{kind: clos, servers_per_leaf: 2, leaves_per_pod: 2, aggregations_per_pod: 2, cores: 4, planes: 2}",
      "{kind: dragonfly, routers_per_group: 4, servers_per_router: 2, global_links: 2}",
      "{kind: torus, dimensions: [4, 4]}",
      "{kind: ring, link_latency: 2us}",
      "dumbbell",
      "fully-connected",
      "{kind: multi-cluster, sites: [oregon, tokyo]}",
      "{kind: custom, graph: {nodes: [a], links: [{from: a, to: server0, count: 2}]}}",
  };
  for (const char* fabric : fabrics) {
    for (const char* server : {"plain", "{kind: nvswitch, nics: 2}"}) {
      CAPTURE(fabric);
      const Scenario s =
          parsed(kFlow + "  routing: spraying\n  routes: r.yaml\n  events: e.csv\n  efficiency: [1, 0.9]\n",
                 {std::string{"network.fabric="} + fabric, std::string{"network.server="} + server});
      const std::string text = to_yaml(s);
      CHECK(text.find("routes: r.yaml") != std::string::npos);
      const Scenario again = parse_scenario(text, "a.yaml");
      CHECK(to_yaml(again) == text);
      CHECK(again.network.topology.fabric.graph == s.network.topology.fabric.graph);
      CHECK(again.network.efficiency == std::vector<double>{1, 0.9});
    }
  }
  CHECK(fabric_kinds().size() == std::size(fabrics));
}

TEST_CASE("a machine starts from its own figures, and each of them can be set") {
  const ServerSpec usual =
      topology_spec(parsed("cluster: {gpus_per_server: 8}\nnetwork: {fidelity: flow, server: dgx-a100}\n").network)
          .server;
  CHECK(usual.nvlinks_per_gpu == 12);
  CHECK(usual.nics == 8);
  CHECK(usual.pcie_bandwidth == ByteRate{31.508e9});
  const ServerSpec fewer =
      topology_spec(
          parsed("cluster: {gpus_per_server: 8}\nnetwork: {fidelity: flow, server: {kind: dgx-a100, nics: 4}}\n")
              .network)
          .server;
  CHECK(fewer.nics == 4);
  CHECK(fewer.nvlinks_per_gpu == 12);
  CHECK(errors_with("network.server={kind: dgx-1v, nvlinks_per_gpu: 3}").find("has no such parameter") !=
        std::string::npos);
  CHECK(json_schema().find("number of NVLinks of a GPU (default: 12)") != std::string::npos);
}

TEST_CASE("unknown kinds and parameters") {
  const std::string plin = errors_with("network.server=plin");
  CHECK(
      plin.starts_with("--set: network.server: expected one of plain, pcie, nvswitch, hybrid-cube-mesh, dgx-1v, "
                       "dgx-a100, hgx-a100-4, dgx-h100, "));
  CHECK(plin.ends_with("pcie-2080ti, mi250x, got \"plin\"; did you mean \"plain\"?"));
  CHECK(errors_with("network.fabric.ports=8") ==
        "--set: network.fabric.ports: the fabric single-switch has no such parameter; kinds that have it: fat-tree");
  CHECK(errors_of(kFlow + "  fabric: {kind: ring, link_latncy: 5us}\n") ==
        "a.yaml:4:24: network.fabric.link_latncy: the fabric ring has no such parameter; did you mean "
        "\"link_latency\"?");
  CHECK(errors_with("network.server.nic_bandwidth=1Gbps") ==
        "--set: network.server.nic_bandwidth: the server plain has no such parameter; it is the key `network.nic`");
  CHECK(errors_with("network.routing=ecpm") ==
        "--set: network.routing: expected one of shortest-path, ecmp, spraying, ethereal, planned, got \"ecpm\"; did "
        "you mean \"ecmp\"?");
}

TEST_CASE("values out of range") {
  CHECK(errors_with("network.fabric={kind: ring, link_bandwidth: 0bps}") ==
        "--set: network.fabric.link_bandwidth: expected a rate >= 1Kbps, got \"0bps\"; `auto` is possible, too");
  CHECK(errors_with("network.fabric.link_latency=-1us") ==
        "--set: network.fabric.link_latency: expected a time such as 50us, got \"-1us\"; it is never below 0");
  CHECK(errors_with("network.efficiency=[1, 0]") == "--set: network.efficiency: expected a number >= 1e-06, got \"0\"");
}

TEST_CASE("complaints that need all layers name the place of the key") {
  CHECK(errors_of(kFlow + "  fabric: leaf-spine\n") ==
        "a.yaml:4:11: network.fabric.servers_per_leaf: missing; kind leaf-spine requires it\n"
        "a.yaml:4:11: network.fabric.spines: missing; kind leaf-spine requires it");
  // 16 servers, each with one NIC: a fat-tree of 2-port switches has room for 2.
  const std::string full = errors_of(kFlow + "  fabric: {kind: fat-tree, ports: 2}\ncluster: {servers: 16}\n");
  CAPTURE(full);
  CHECK(full.starts_with("a.yaml:4:35: network.fabric.ports: "));
  CHECK(errors_with("cluster.servers=1000000") ==
        "--set: cluster.servers: 5000000 GPUs and interfaces in all; a topology has at most 1000000");
}

TEST_CASE("graphs: duplicates and unknown ends, inline and in a file of their own") {
  const std::string graph =
      "nodes: [core]\n"
      "links:\n"
      "- {from: server0, to: core}\n"
      "- {from: core, to: server0}\n"
      "- {from: servr1, to: core}\n";
  const std::string fabric = "network.fabric={kind: custom, graph: g.yaml}";
  CHECK(errors_of("network: {fidelity: flow}\n", {fabric}, {{"g.yaml", graph}}) ==
        "--set: network.fabric.graph.links[1]: core -> server0: these nodes are joined in this direction already; "
        "`count` makes parallel links\n"
        "--set: network.fabric.graph.links[2].from: there is no node `servr1`; did you mean \"server1\"?");
  CHECK(errors_of("network: {fidelity: flow}\n", {fabric}, {{"g.yaml", "nodes: [a b]\nlinks: [{form: a}]\n"}}) ==
        "g.yaml:1:9: network.fabric.graph.nodes[0]: expected a name of 1 to 32 letters, digits and _ - . /, got \"a "
        "b\"\n"
        "g.yaml:2:10: network.fabric.graph.links[0].form: unknown key; did you mean \"from\"?");
  CHECK(errors_of("network: {fidelity: flow}\n", {fabric}) ==
        "--set: network.fabric.graph: can't read g.yaml: no such file");
  const Scenario s = parsed("network: {fidelity: flow}\n", {fabric},
                            {{"g.yaml", "nodes: [core]\nlinks: [{from: server0, to: core, latency: 1us}]\n"}});
  CHECK(s.network.topology.fabric.graph.links.at(0).latency == Time::microseconds(1));
  CHECK(to_yaml(s).find("graph: {nodes: [core], links: [{from: server0, to: core, latency: 1us}]}") !=
        std::string::npos);
}

TEST_CASE("matrices have a value off the diagonal and none on it") {
  const std::string wan =
      "network.fabric={kind: multi-cluster, wan: {sites: [a, b], bandwidth: [[none, 1Gbps], [1Gbps, ";
  CHECK(errors_with(wan + "none]], latency: [[none, 1ms], [2ms, none]]}}").empty());
  CHECK(errors_with(wan + "1Gbps]], latency: [[none, none], [2ms]]}}") ==
        "--set: network.fabric.wan.bandwidth: expected none on the diagonal\n"
        "--set: network.fabric.wan.latency: expected a value, got none\n"
        "--set: network.fabric.wan.latency: expected 2 entries in row 2, one a row, got 1");
}

TEST_CASE("a key that means nothing at the fidelity is refused, unless a later layer changed the fidelity") {
  CHECK(errors_of("network: {fabric: ring}\n") == "a.yaml:2:11: network.fabric: needs `network.fidelity: flow`");
  CHECK(errors_of("network: {fidelity: flow, tick: 1ms}\n") ==
        "a.yaml:2:27: network.tick: needs `network.fidelity: analytic or contention`");
  CHECK(errors_of("network: {fabric: ring}\n", {"network.fidelity=flow"}).empty());

  const Scenario plain = parsed("network: {fidelity: flow, fabric: ring}\n", {"network.fidelity=contention"});
  CHECK(plain.network.topology.fabric.kind == "single-switch");
  CHECK(to_yaml(plain).find("fabric") == std::string::npos);
  const Scenario flow = parsed("network: {beta: 2ns/B, eta: 1ns/B, tick: 1ms}\n", {"network.fidelity=flow"});
  CHECK_FALSE(flow.network.beta.has_value());
  CHECK(flow.network.nic == ByteRate{1.25e9});
  CHECK(flow.network.tick == Time{});
  CHECK(errors_of("network: {fidelity: flow}\n", {"network.fidelity=contention", "network.fabric=ring"}) ==
        "--set: network.fabric: needs `network.fidelity: flow`");
}

TEST_CASE("the rate of interfaces is network.nic at every fidelity") {
  const Scenario s = parsed("network: {fidelity: flow, nic: 25Gbps}\n");
  CHECK(topology_spec(s.network).server.nic_bandwidth == ByteRate{3.125e9});
  const Topology topology = build_topology(s.cluster, s.network);
  CHECK(topology.gpus().size() == 64);
  double least = 1e300;
  for (const Link& link : topology.links()) least = std::min(least, link.bandwidth.bytes_per_second());
  CHECK(least == 3.125e9);
}

TEST_CASE("lists and the reference page name every kind and parameter") {
  const std::string page = keys_markdown();
  const std::string schema = json_schema();
  for (const auto& infos : {fabric_infos(), server_infos()}) {
    for (const TopologyKindInfo& kind : infos) {
      CAPTURE(kind.name);
      CHECK(schema.find("\"const\": \"" + std::string{kind.name} + "\"") != std::string::npos);
      for (const TopologyParameterInfo& each : kind.parameters) {
        CHECK(page.find("| `" + std::string{kind.name} + "` | `" + std::string{each.name} + "` |") !=
              std::string::npos);
        CHECK(schema.find("\"" + std::string{each.name} + "\": {") != std::string::npos);
      }
    }
  }
}

}  // namespace
}  // namespace contend
