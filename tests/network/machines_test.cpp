#include "network/topologies/machines.hpp"
#include "network/library/nccl_machine.hpp"
#include "network/routing/near_interfaces.hpp"
#include "network/topology_report.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;

namespace {

Topology two_of(std::string_view machine, std::size_t gpus) {
  TopologySpec spec;
  spec.server = default_server(machine);
  return build_topology(spec, 2, gpus);
}

double rate_of(const Topology& topology, std::string_view from, std::string_view to) {
  for (const Link& link : topology.links()) {
    if (topology.nodes()[link.from.index()].name == from && topology.nodes()[link.to.index()].name == to)
      return link.bandwidth.bytes_per_second();
  }
  return 0;
}

}  // namespace

TEST_CASE("machines have the links of their data sheets") {
  const Topology volta = two_of("dgx-1v", 8);
  CHECK(rate_of(volta, "server1/gpu0", "server1/gpu3") == near(50e9));  // two NVLinks of 25 GB/s
  CHECK(rate_of(volta, "server1/gpu0", "server1/gpu1") == near(25e9));
  CHECK(rate_of(volta, "server1/gpu0", "server1/pcie0") == near(8e9 * 16 * 128 / 130 / 8, 1e-4));
  CHECK(rate_of(volta, "server1/nic3", "server1/pcie3") == near(15.754e9));
  const Topology ampere = two_of("dgx-a100", 8);
  CHECK(rate_of(ampere, "server0/gpu7", "server0/nvswitch0") == near(300e9));  // 600 GB/s both ways
  CHECK(rate_of(ampere, "server0/gpu7", "server0/pcie3") == near(31.508e9));
  const Topology hopper = two_of("dgx-h100", 8);
  CHECK(rate_of(hopper, "server0/gpu7", "server0/nvswitch0") == near(450e9));  // 900 GB/s both ways
  CHECK(rate_of(hopper, "server0/gpu7", "server0/pcie3") == near(63.015e9));
  // Links between sockets: two QPI, three xGMI-2 and three UPI links of 2 bytes a transfer.
  CHECK(rate_of(volta, "server0/socket0", "server0/socket1") == near(2 * 9.6e9 * 2));
  CHECK(rate_of(ampere, "server0/socket0", "server0/socket1") == near(3 * 16e9 * 2));
  CHECK(rate_of(hopper, "server0/socket0", "server0/socket1") == near(3 * 16e9 * 2));
  CHECK(report_topology(hopper).nics == 16);
  CHECK(report_topology(two_of("hgx-h100-4", 8)).nics == 8);
  CHECK(report_topology(two_of("hgx-a100-4", 8)).nics == 8);
  const Topology box = two_of("pcie-2080ti", 4);
  CHECK(rate_of(box, "server0/gpu2", "server0/pcie2") == near(6.5e9));
  CHECK(rate_of(box, "server0/pcie0", "server0/pcie1") == 0);
}

TEST_CASE("the dies of four MI250X have 4, 2 or 1 links, and reach others through each other") {
  const Topology node = two_of("mi250x", 8);
  const auto links = [&](int a, int b) {
    return rate_of(node, fmt::format("server1/gpu{}", a), fmt::format("server1/gpu{}", b)) / 50e9;
  };
  // Seven links of a die at most, one of which may lead to an interface instead (ROCm documentation of the MI250).
  for (int die = 0; die < 8; ++die) {
    CAPTURE(die);
    double sum = 0;
    for (int other = 0; other < 8; ++other) {
      CHECK(links(die, other) == links(other, die));
      sum += links(die, other);
    }
    CHECK(links(die, die ^ 1) == near(4));  // the other die of the package
    CHECK(sum == near(die % 2 == 0 ? 7 : 6));
  }
  CHECK(links(0, 6) == near(2));
  CHECK(links(2, 4) == near(2));
  CHECK(links(0, 2) == near(1));
  CHECK(links(0, 3) == 0);
  CHECK(rate_of(node, "server0/gpu4", "server0/pcie4") == near(36e9));
  CHECK(report_topology(node).nics == 8);
  // GPU 2 reaches the interface of its package through GPU 3, whose link is as wide as four.
  const NearInterfaces near_nics = near_interfaces(node);
  for (std::size_t die = 0; die < 8; ++die) {
    const std::vector<NodeId>& own = near_nics.own[node.gpus_of(ServerId{0U})[die].index()];
    REQUIRE(own.size() == 1);
    CHECK(node.nodes()[own.front().index()].name == fmt::format("server0/nic{}", die / 2));
  }
}

TEST_CASE("a machine has its number of GPUs, and its parameters can be set") {
  for (const auto& each :
       {std::pair{"dgx-1v", 4}, {"dgx-a100", 4}, {"dgx-h100", 16}, {"pcie-2080ti", 8}, {"mi250x", 4}}) {
    const std::string name = each.first;
    const int gpus = each.second;
    CAPTURE(name);
    try {
      static_cast<void>(two_of(name, static_cast<std::size_t>(gpus)));
      FAIL("no complaint");
    } catch (const InputError& error) {
      const std::string what = error.what();
      CHECK(what.find(name) != std::string::npos);
      CHECK(what.find("GPUs, not " + std::to_string(gpus)) != std::string::npos);
    }
  }
  TopologySpec spec;
  spec.server = default_server("dgx-h100");
  spec.server.nics = 4;
  spec.server.nvlink_bandwidth = ByteRate{20e9};
  const Topology fewer = build_topology(spec, 1, 8);
  CHECK(report_topology(fewer).nics == 4);
  CHECK(rate_of(fewer, "server0/gpu0", "server0/nvswitch0") == near(360e9));
}

TEST_CASE("machines that the model of NCCL has, too, have as many devices there") {
  int both = 0;
  for (const NcclMachine& machine : nccl_machines()) {
    const auto kinds = server_kinds();
    const auto kind = std::ranges::find_if(kinds, [&](const auto& each) { return each.name == machine.name; });
    if (kind == kinds.end()) continue;
    ++both;
    CAPTURE(machine.name);
    const ServerSpec spec = default_server(machine.name);
    CHECK(spec.nics == static_cast<std::size_t>(machine.nics));
    const TopologyReport report = report_topology(two_of(machine.name, static_cast<std::size_t>(machine.gpus)));
    const bool nvlink =
        std::ranges::any_of(report.cables, [](const CableCount& each) { return each.place == LinkPlace::gpu_link; });
    CHECK(nvlink == (machine.link == InsideLink::nvlink));
    // NCCL plans with less than the nameplate, never with more.
    if (machine.nvswitch)
      CHECK(machine.gpu_rate * 1e9 <=
            static_cast<double>(spec.nvlinks_per_gpu) * spec.nvlink_bandwidth.bytes_per_second());
    CHECK(machine.nic_slot * 1e9 <= spec.pcie_bandwidth.bytes_per_second());
  }
  CHECK(both == 23);
}

TEST_CASE("inside servers, cables are named by what they are") {
  const TopologyReport report = report_topology(two_of("dgx-1v", 8));
  const auto cables = [&](LinkPlace place) {
    std::size_t sum = 0;
    for (const CableCount& each : report.cables) sum += each.place == place ? each.cables : 0;
    return sum;
  };
  // Two servers: 16 pairs of GPUs with NVLinks each; 8 GPUs, 4 interfaces and 4 switches on PCIe; two sockets.
  CHECK(cables(LinkPlace::gpu_link) == 32);
  CHECK(cables(LinkPlace::pcie) == 32);
  CHECK(cables(LinkPlace::between_sockets) == 2);
  CHECK(cables(LinkPlace::server_to_fabric) == 8);
  CHECK(name_of(LinkPlace::gpu_link) == "NVLink or xGMI");
}

TEST_CASE("an interface that no cable joins to the fabric is nobody's nearest one") {
  Topology topology;
  const NodeId gpu = topology.add_node("gpu", NodeKind::gpu, ServerId{0U});
  const NodeId unused = topology.add_node("unused", NodeKind::nic, ServerId{0U});
  const NodeId bridge = topology.add_node("bridge", NodeKind::bridge, ServerId{0U});
  const NodeId used = topology.add_node("used", NodeKind::nic, ServerId{0U});
  const NodeId fabric = topology.add_node("switch", NodeKind::fabric_switch);
  for (const auto& [a, b] : {std::pair{gpu, unused}, {gpu, bridge}, {bridge, used}, {used, fabric}})
    topology.add_cable(a, b, ByteRate{1e9}, Time{});
  topology.finish();
  const NearInterfaces near_nics = near_interfaces(topology);
  CHECK(near_nics.nearest[gpu.index()] == std::vector<NodeId>{used});
  CHECK(near_nics.own[gpu.index()] == std::vector<NodeId>{used});
}
