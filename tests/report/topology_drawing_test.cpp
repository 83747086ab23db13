// Drawings are well-formed, name what they show, and fold what is large.

#include "report/topology/topology_drawing.hpp"
#include "network/topology_report.hpp"
#include "report/topology/server_svg.hpp"
#include "tests/network/topology_kit.hpp"
#include "tests/text_checks.hpp"

#include <string_view>
#include <tuple>

#include <doctest/doctest.h>

using namespace contend;
using namespace contend::test;

namespace {

/// Every element is closed in the right order, and no text holds a bare & or <.
bool well_formed(std::string_view text) {
  std::vector<std::string_view> open;
  for (std::size_t at = text.find('<'); at != text.npos; at = text.find('<', at + 1)) {
    const std::size_t end = text.find('>', at);
    if (end == text.npos) return false;
    const std::string_view tag = text.substr(at + 1, end - at - 1);
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(tag.substr(0, tag.find_first_of(" \n")));
    }
  }
  for (std::size_t at = text.find('&'); at != text.npos; at = text.find('&', at + 1)) {
    const std::string_view rest = text.substr(at);
    if (!rest.starts_with("&amp;") && !rest.starts_with("&lt;") && !rest.starts_with("&gt;")) return false;
  }
  return open.empty();
}

Topology with_odd_names() {
  GraphSpec graph;
  graph.nodes = {{"a<b>&\"c\"", NodeKind::gpu, 0, false},
                 {"back\\slash", NodeKind::gpu, 1, false},
                 {"mid</text><dle", NodeKind::fabric_switch, {}, false}};
  graph.links = {{"a<b>&\"c\"", "mid</text><dle", ByteRate{1e9}, {}, true, 2},
                 {"back\\slash", "mid</text><dle", ByteRate{1e9}, {}, false, 1},
                 {"mid</text><dle", "back\\slash", ByteRate{2e9}, {}, false, 1}};
  return build_graph(graph);
}

}  // namespace

TEST_CASE("every kind of fabric and server can be drawn") {
  for (const auto& [made, servers, gpus] :
       {std::tuple<TopologySpec, std::size_t, std::size_t>{spec("single-switch"), 3, 1},
        {spec("ring"), 8, 1},
        {spec("ring"), 300, 1},
        {torus({6, 4}), 24, 1},
        {torus({5, 5, 12}), 300, 2},
        {spec("dumbbell"), 4, 1},
        {fat_tree(4), 16, 1},
        {fat_tree(12), 400, 1},
        {rails(4, 2, 4), 8, 8},
        {with_server(dragonfly(4, 2, 2), "hybrid-cube-mesh", 4), 72, 8},
        {spec("multi-cluster"), 20, 4}}) {
    const Topology topology = build_topology(made, servers, gpus);
    const std::string svg = topology_svg(topology, made.fabric.dimensions);
    CHECK(well_formed(svg));
    CHECK(svg.find("nan") == svg.npos);
    CHECK(svg.size() < 200'000);
    CHECK((svg.find("inside server 0") != svg.npos) == (gpus > 1));
  }
}

TEST_CASE("a leaf-spine shows its switches, its servers by leaf, and the cables of each tier") {
  const std::string svg = topology_svg(build_topology(leaf_spine(4, 2), 12, 1));
  for (const char* label : {">leaf2<", ">spine1<", ">x 4<", ">3 switches<", ">6 x 10 B/s<", ">12 x 10 B/s<"}) {
    CAPTURE(label);
    CHECK(svg.find(label) != svg.npos);
  }
  CHECK(occurrences(svg, "class=\"switch\"") == 5);
  CHECK(occurrences(svg, "<line") == 6 + 3);
}

TEST_CASE("inside a server only links between two GPUs are arcs") {
  // Four GPUs on one NIC, all over PCIe; below it the key with its one bandwidth.
  const std::string plain = draw_server(build_topology(spec("single-switch"), 1, 4), ServerId{0U}).document();
  CHECK(occurrences(plain, "<path") == 0);
  CHECK(occurrences(plain, "<line") == 4 + 1);
  // A DGX-1: 16 pairs of GPUs with NVLinks, single or double. Over PCIe 8 GPUs, 4 NICs and 2 sockets join 4 switches, 2
  // to a socket, and the sockets each other. The key has NVLink, two of them, PCIe and the sockets' link.
  const Topology cube = build_topology(with_server(spec("single-switch"), "hybrid-cube-mesh", 4), 1, 8);
  const std::string mesh = draw_server(cube, ServerId{0U}).document();
  CHECK(occurrences(mesh, "<path") == 16);
  CHECK(occurrences(mesh, "<line") == 8 + 4 + 4 + 1 + 4);
}

TEST_CASE("long rows are folded with the number that is left out") {
  // k = 8: 32 edge switches, 14 and the last are drawn; their 4 servers each, so 60 of 128.
  const std::string svg = topology_svg(build_topology(fat_tree(8), 128, 1));
  CHECK(occurrences(svg, "class=\"switch\"") == 15 + 15 + 16);
  CHECK(occurrences(svg, ">+ 17<") == 2);
  CHECK(svg.find("and 68 servers on switches that are not drawn") != svg.npos);
}

TEST_CASE("names are escaped") {
  const Topology topology = with_odd_names();
  const std::string svg = topology_svg(topology);
  CHECK(well_formed(svg));
  CHECK(svg.find("&lt;/text&gt;") != svg.npos);
  const std::string dot = topology_dot(topology);
  CHECK(dot.find("label=\"a<b>&\\\"c\\\"\"") != dot.npos);
  CHECK(dot.find("label=\"back\\\\slash\"") != dot.npos);
}

TEST_CASE("Graphviz text: a node each, a line for equal cables with their number, single links with one head") {
  const std::string dot = topology_dot(with_odd_names());
  CHECK(occurrences(dot, "shape=box") == 2);
  CHECK(occurrences(dot, "subgraph cluster_server") == 2);
  CHECK(dot.find("n0 -> n2 [label=\"2 x 1 GB/s\", dir=both];") != dot.npos);
  CHECK(dot.find("n1 -> n2 [label=\"1 GB/s\"];") != dot.npos);
  CHECK(dot.find("n2 -> n1 [label=\"2 GB/s\"];") != dot.npos);
  CHECK(occurrences(dot, "->") == 3);
}
