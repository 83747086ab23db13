// Every fabric and every server, link by link: a digest of the names of both ends, the bandwidth and the latency; then
// digests of routes by each router, and what the report says. Other tests say what each figure must be; whoever
// changes a builder, a router or the report on purpose changes its line.

#include "network/routing.hpp"
#include "network/routing/rail_proxy.hpp"
#include "network/server_groups.hpp"
#include "network/topology_report.hpp"
#include "tests/network/topology_kit.hpp"

#include <cmath>
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

/// Digests the routes of all pairs of a sample, before and after every fifth link has failed.
std::string routes(const TopologySpec& spec, std::size_t servers, std::size_t each) {
  const Topology topology = build_topology(spec, servers, each);
  const std::size_t n = topology.gpus().size();
  std::string text;
  for (const auto& router :
       {make_shortest_path_router(topology), make_ecmp_router(topology, 3), make_spraying_router(topology),
        make_rail_proxy_router(topology, make_ecmp_router(topology, 4))}) {
    std::uint32_t digest = 2'166'136'261U;
    const auto add = [&](std::uint64_t number) {
      digest = (digest ^ static_cast<std::uint32_t>(number)) * 16'777'619U;
    };
    for (const bool failed : {false, true}) {
      for (std::size_t l = 0; failed && l < topology.links().size(); l += 5) router->set_link_up(LinkId{l}, false);
      for (std::size_t i = 0; i < 2 * n; ++i) {
        const std::size_t from = i % n, to = (3 * i + 1 + i / n) % n;
        if (from == to) continue;
        Route route;
        router->route(topology.gpus()[from], topology.gpus()[to], i, route);
        add(static_cast<std::uint64_t>(route.latency.ns()));
        for (const LinkShare& use : route.links) {
          add(use.link.value());
          add(static_cast<std::uint64_t>(std::llround(1e6 * use.share)));
        }
      }
    }
    text += fmt::format("{:08x} ", digest);
  }
  const TopologyReport report = report_topology(topology);
  text += fmt::format("{} across, {} in {} halvings", report.diameter, format_rate(report.bisection.bandwidth),
                      report.bisection.halvings);
  for (const TierReport& tier : report.tiers) {
    text += fmt::format(", {}: {} {} {} {:.6g}", tier.switches, format_rate(tier.from_below), format_rate(tier.upwards),
                        format_rate(tier.sideways), tier.oversubscription);
  }
  std::size_t cables = 0, groups = 0;
  for (const CableCount& count : report.cables) cables += (2 + static_cast<std::size_t>(count.place)) * count.cables;
  for (const std::vector<std::uint32_t>& tier : server_groups(topology)) {
    for (const std::uint32_t group : tier) groups = 3 * groups + group;
  }
  return text + fmt::format("; {} {}", cables, groups % 1'000'003);
}

struct TopologyLine {
  std::string name;
  TopologySpec spec;
  std::size_t servers, gpus;
  std::string links, routes;
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

TEST_CASE("every fabric and server, link by link, with its routes and its report") {
  const TopologyLine lines[] = {
      {"switch", spec("single-switch"), 5, 2, "16 nodes, 30 links, 473f7963",
       "cb14be6c cb14be6c cb14be6c cb14be6c 4 across, 20 B/s in 1 halvings, 1: 50 B/s 0 B/s 0 B/s 0; 65 0"},
      {"mesh", spec("fully-connected"), 5, 1, "15 nodes, 40 links, 4e1c2f55",
       "dbb7eb8e dbb7eb8e a2f0e119 c278c137 5 across, 20 B/s in 1 halvings, 5: 50 B/s 0 B/s 200 B/s 0; 105 0"},
      {"ring", spec("ring"), 7, 1, "21 nodes, 42 links, 656c07f3",
       "983abf78 983abf78 983abf78 983abf78 7 across, 20 B/s in 1 halvings, 7: 70 B/s 0 B/s 140 B/s 0; 105 0"},
      {"dumbbell", spec("dumbbell"), 7, 1, "16 nodes, 30 links, 5f9ae701",
       "4fdf25c0 4fdf25c0 4fdf25c0 4fdf25c0 5 across, 20 B/s in 1 halvings, 2: 70 B/s 0 B/s 20 B/s 0; 69 0"},
      {"torus", torus({3, 4, 2}), 24, 1, "72 nodes, 216 links, d8633577",
       "fda679fa 6d14e386 a2d13e2b 3f931662 8 across, 120 B/s in 6 halvings, 24: 240 B/s 0 B/s 1.2 kB/s 0; 576 0"},
      {"line", torus({2, 5}), 10, 1, "30 nodes, 70 links, 552a36dd",
       "252ddc85 2db14425 19458df8 62cd0481 7 across, 50 B/s in 2 halvings, 10: 100 B/s 0 B/s 300 B/s 0; 180 0"},
      {"leaf-spine", leaf_spine(3, 2), 8, 1, "21 nodes, 44 links, d44e8c2f",
       "571fa5ff 23368b33 c5c2916c ec5d0863 6 across, 30 B/s in 3 halvings, 3: 80 B/s 60 B/s 0 B/s 1.5, 2: 60 B/s 0 "
       "B/s 0 B/s 0; 108 820125"},
      {"leaf-spine with cables", with_planes(leaf_spine(3, 4), 1, 3), 9, 1, "25 nodes, 108 links, ea301be7",
       "a5c4219a 4f6bc0ee 65de55be 84f48b6c 6 across, 40 B/s in 1 halvings, 3: 90 B/s 360 B/s 0 B/s 0.25, 4: 360 B/s 0 "
       "B/s 0 B/s 0; 297 420470"},
      {"leaf-spine, oversubscribed", oversubscribed(leaf_spine(4, 3), 2.5, 0), 11, 1, "28 nodes, 62 links, 1d536c81",
       "23b2ef8d 97f26e4d f5756ea5 c08b4fe5 6 across, 25 B/s in 1 halvings, 3: 110 B/s 48 B/s 0 B/s 2.5, 3: 48 B/s 0 "
       "B/s 0 B/s 0; 153 923997"},
      {"rails", rails(2, 3, 4), 5, 8, "110 nodes, 362 links, 5fd19fc5",
       "c644b32a f6f706da 0cbb2089 7adff566 8 across, 80 B/s in 1 halvings, 12: 200 B/s 360 B/s 0 B/s 0.666667, 3: 360 "
       "B/s 0 B/s 0 B/s 0; 731 3402"},
      {"fat-tree", fat_tree(4), 13, 1, "46 nodes, 116 links, 25f681bd",
       "ef517a31 68c051f1 8952e009 882d7171 8 across, 60 B/s in 1 halvings, 7: 130 B/s 140 B/s 0 B/s 1, 8: 140 B/s 180 "
       "B/s 0 B/s 1, 5: 180 B/s 0 B/s 0 B/s 0; 309 45498"},
      {"larger fat-tree", fat_tree(6), 40, 1, "125 nodes, 376 links, 0291a2fb",
       "d50032e4 59bc2824 37166247 cbadbc94 8 across, 200 B/s in 6 halvings, 14: 400 B/s 420 B/s 0 B/s 1, 15: 420 B/s "
       "480 B/s 0 B/s 1, 10: 480 B/s 90 B/s 0 B/s 5, 3: 90 B/s 90 B/s 0 B/s 1, 3: 90 B/s 0 B/s 0 B/s 0; 1008 281941"},
      {"Clos", clos(2, 2, 2, 4, 1), 11, 1, "38 nodes, 116 links, 2402acf3",
       "6a1c2908 98d5de8c 1c41c5c8 b8116e80 8 across, 50 B/s in 1 halvings, 6: 110 B/s 120 B/s 0 B/s 1, 6: 120 B/s 240 "
       "B/s 0 B/s 0.5, 4: 240 B/s 0 B/s 0 B/s 0; 315 668297"},
      {"Clos with planes", clos(3, 2, 4, 8, 2), 18, 1, "62 nodes, 216 links, 3be068a1",
       "c238ec65 318bb461 8fcd883c 1eb47a49 8 across, 90 B/s in 3 halvings, 6: 180 B/s 240 B/s 0 B/s 0.75, 12: 240 B/s "
       "480 B/s 0 B/s 0.5, 8: 480 B/s 0 B/s 0 B/s 0; 594 463207"},
      {"Clos, oversubscribed", oversubscribed(clos(3, 2, 2, 4, 1), 2, 3), 18, 1, "52 nodes, 144 links, a31faa55",
       "419e1cd9 4f1967c9 24de703b ebd5e57d 8 across, 24 B/s in 3 halvings, 6: 180 B/s 90 B/s 0 B/s 2, 6: 90 B/s 30 "
       "B/s 0 B/s 3, 4: 30 B/s 0 B/s 0 B/s 0; 378 463207"},
      {"dragonfly", dragonfly(4, 2, 2), 50, 1, "128 nodes, 326 links, 13b9104d",
       "64d43a50 8c7668d1 be01df90 208f8894 7 across, 130 B/s in 3 halvings, 25: 500 B/s 70 B/s 1.06 kB/s 2, 3: 70 B/s "
       "0 B/s 60 B/s 0; 828 0"},
      {"small dragonfly", dragonfly(3, 1, 1), 9, 1, "27 nodes, 60 links, 80e26b2d",
       "390236a6 d66c5c19 28cf93d8 d66c5c19 7 across, 30 B/s in 1 halvings, 9: 90 B/s 0 B/s 240 B/s 0; 153 0"},
      {"multi-cluster", spec("multi-cluster"), 24, 2, "82 nodes, 234 links, a0e089b1",
       "2972a3b6 0617ab79 5d7f5e08 290b6be3 5 across, 120 B/s in 6 halvings, 10: 240 B/s 0 B/s 7.313 GB/s 0; 312 0"},
      {"plain", spec("single-switch"), 2, 4, "11 nodes, 20 links, 7421753d",
       "16968a3a 16968a3a 16968a3a 16968a3a 4 across, 10 B/s in 1 halvings, 1: 20 B/s 0 B/s 0 B/s 0; 42 0"},
      {"pcie", with_server(spec("single-switch"), "pcie", 2), 2, 8, "33 nodes, 68 links, 712ed209",
       "2975ad5f 2975ad5f 2975ad5f 2975ad5f 10 across, 20 B/s in 1 halvings, 1: 40 B/s 0 B/s 0 B/s 0; 138 0"},
      {"nvswitch", with_server(spec("single-switch"), "nvswitch", 4), 2, 8, "39 nodes, 116 links, 6f3cbead",
       "f9bcc8c6 f9bcc8c6 f9bcc8c6 f9bcc8c6 6 across, 40 B/s in 1 halvings, 1: 80 B/s 0 B/s 0 B/s 0; 206 0"},
      {"cube mesh", with_server(spec("single-switch"), "hybrid-cube-mesh", 4), 2, 8, "37 nodes, 148 links, d6a8acb5",
       "12e8389d 12e8389d 12e8389d 12e8389d 6 across, 40 B/s in 1 halvings, 1: 80 B/s 0 B/s 0 B/s 0; 238 0"},
  };
  for (const TopologyLine& line : lines) {
    CAPTURE(line.name);
    CHECK(figures(line.spec, line.servers, line.gpus) == line.links);
    CHECK(routes(line.spec, line.servers, line.gpus) == line.routes);
  }
}
