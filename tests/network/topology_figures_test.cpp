// Every fabric and every server, link by link: a digest of the names of both ends, the bandwidth and the latency. The
// structure is tested elsewhere; whoever changes a builder on purpose changes its line.

#include "tests/network/topology_kit.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

namespace {

std::string figures(const TopologySpec& spec, std::size_t servers, std::size_t gpus) {
  const Topology topology = build_topology(spec, servers, gpus);
  std::uint32_t digest = 2'166'136'261U;  // FNV-1a
  const auto add = [&](std::string_view text) {
    for (const char c : text) digest = (digest ^ static_cast<std::uint8_t>(c)) * 16'777'619U;
  };
  for (std::size_t l = 0; l < topology.links().size(); ++l) {
    const Link& link = topology.links()[l];
    add(topology.link_name(LinkId{l}));
    add(fmt::format(" {} {} ", link.bandwidth.bytes_per_second(), link.latency.ns()));
  }
  return fmt::format("{} nodes, {} links, {:08x}", topology.nodes().size(), topology.links().size(), digest);
}

struct TopologyLine {
  std::string name;
  TopologySpec spec;
  std::size_t servers, gpus;
  std::string expected;
};

TopologySpec with_planes(TopologySpec made, std::size_t planes, std::size_t cables) {
  made.fabric.planes = planes;
  made.fabric.parallel_links = cables;
  return made;
}

TopologySpec oversubscribed(TopologySpec made, double leaves, double cores) {
  made.fabric.oversubscription = leaves;
  made.fabric.core_oversubscription = cores;
  return made;
}

}  // namespace

TEST_CASE("every fabric and server, link by link") {
  const TopologyLine lines[] = {
      {"switch", spec("single-switch"), 5, 2, "16 nodes, 30 links, 473f7963"},
      {"mesh", spec("fully-connected"), 5, 1, "15 nodes, 40 links, 4e1c2f55"},
      {"ring", spec("ring"), 7, 1, "21 nodes, 42 links, 656c07f3"},
      {"dumbbell", spec("dumbbell"), 7, 1, "16 nodes, 30 links, 5f9ae701"},
      {"torus", torus({3, 4, 2}), 24, 1, "72 nodes, 216 links, d8633577"},
      {"line", torus({2, 5}), 10, 1, "30 nodes, 70 links, 552a36dd"},
      {"leaf-spine", leaf_spine(3, 2), 8, 1, "21 nodes, 44 links, d44e8c2f"},
      {"leaf-spine with cables", with_planes(leaf_spine(3, 4), 1, 3), 9, 1, "25 nodes, 108 links, ea301be7"},
      {"leaf-spine, oversubscribed", oversubscribed(leaf_spine(4, 3), 2.5, 0), 11, 1, "28 nodes, 62 links, 1d536c81"},
      {"rails", rails(2, 3, 4), 5, 8, "110 nodes, 362 links, 1718a4bb"},
      {"fat-tree", fat_tree(4), 13, 1, "46 nodes, 116 links, 25f681bd"},
      {"larger fat-tree", fat_tree(6), 40, 1, "125 nodes, 376 links, 0291a2fb"},
      {"Clos", clos(2, 2, 2, 4, 1), 11, 1, "38 nodes, 116 links, 2402acf3"},
      {"Clos with planes", clos(3, 2, 4, 8, 2), 18, 1, "62 nodes, 216 links, 3be068a1"},
      {"Clos, oversubscribed", oversubscribed(clos(3, 2, 2, 4, 1), 2, 3), 18, 1, "52 nodes, 144 links, a31faa55"},
      {"dragonfly", dragonfly(4, 2, 2), 50, 1, "128 nodes, 326 links, 13b9104d"},
      {"small dragonfly", dragonfly(3, 1, 1), 9, 1, "27 nodes, 60 links, 80e26b2d"},
      {"multi-cluster", spec("multi-cluster"), 24, 2, "82 nodes, 234 links, a0e089b1"},
      {"plain", spec("single-switch"), 2, 4, "11 nodes, 20 links, 7421753d"},
      {"pcie", with_server(spec("single-switch"), "pcie", 2), 2, 8, "33 nodes, 68 links, c461386d"},
      {"nvswitch", with_server(spec("single-switch"), "nvswitch", 4), 2, 8, "39 nodes, 116 links, aeaeb8c1"},
      {"cube mesh", with_server(spec("single-switch"), "hybrid-cube-mesh", 4), 2, 8, "37 nodes, 148 links, df727e29"},
  };
  for (const TopologyLine& line : lines) {
    CAPTURE(line.name);
    CHECK(figures(line.spec, line.servers, line.gpus) == line.expected);
  }
}
