// Where drawings put what, by hand: boxes by the middle, wires by their ends.

#include "report/topology/server_svg.hpp"
#include "report/topology/topology_drawing.hpp"
#include "tests/network/topology_kit.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;
using namespace contend::test;

namespace {

/// The number behind the next ` name="` after `at`.
double attribute(std::string_view text, std::size_t at, const std::string& name) {
  const std::size_t begin = text.find(" " + name + "=\"", at);
  return begin == text.npos ? 1e9 : std::strtod(std::string{text.substr(begin + name.size() + 3, 20)}.c_str(), nullptr);
}

/// `leaf0 -62,96` of each box of the class, by the text in it, in the order in which they are drawn.
std::vector<std::string> boxes(std::string_view svg, std::string_view shape) {
  std::vector<std::string> found;
  const std::string open = fmt::format("<g class=\"{}\"><rect", shape);
  for (std::size_t at = svg.find(open); at != svg.npos; at = svg.find(open, at + 1)) {
    const std::size_t text = svg.find('>', svg.find("<text", at)) + 1;
    const double x = attribute(svg, at, "x") + attribute(svg, at, "width") / 2;
    const double y = attribute(svg, at, "y") + attribute(svg, at, "height") / 2;
    found.push_back(fmt::format("{} {:.0f},{:.0f}", svg.substr(text, svg.find('<', text) - text), x, y));
  }
  return found;
}

/// `-62,96 -31,0 1.2`: ends and width of each straight wire.
std::vector<std::string> wires(std::string_view svg) {
  std::vector<std::string> found;
  for (std::size_t at = svg.find("<line"); at != svg.npos; at = svg.find("<line", at + 1)) {
    found.push_back(fmt::format("{:.0f},{:.0f} {:.0f},{:.0f} {:.1f}", attribute(svg, at, "x1"),
                                attribute(svg, at, "y1"), attribute(svg, at, "x2"), attribute(svg, at, "y2"),
                                attribute(svg, at, "stroke-width")));
  }
  return found;
}

/// `M0.0 -12.0Q37.0 -56.0 74.0 -12.0 1.0`: the path and the width of each curve.
std::vector<std::string> curves(std::string_view svg) {
  std::vector<std::string> found;
  for (std::size_t at = svg.find("<path d=\""); at != svg.npos; at = svg.find("<path d=\"", at + 1)) {
    const std::size_t end = svg.find('"', at + 9);
    found.push_back(fmt::format("{} {:.1f}", svg.substr(at + 9, end - at - 9), attribute(svg, at, "stroke-width")));
  }
  return found;
}

/// `4.0,52.0 end` of the text.
std::string place_of(std::string_view svg, const std::string& words) {
  const std::size_t end = svg.find(">" + words + "<");
  if (end == svg.npos) return "none";
  const std::size_t at = svg.rfind("<text", end);
  const std::size_t anchor = svg.find("text-anchor=\"", at) + 13;
  return fmt::format("{:.1f},{:.1f} {}", attribute(svg, at, "x"), attribute(svg, at, "y"),
                     svg.substr(anchor, svg.find('"', anchor) - anchor));
}

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("layers: a row a tier, 96 apart, switches 62 apart around the middle, and the servers below") {
  const std::string svg = topology_svg(build_topology(leaf_spine(4, 2), 12, 1));
  CHECK(boxes(svg, "switch") == Strings{"leaf0 -62,96", "leaf1 0,96", "leaf2 62,96", "spine0 -31,0", "spine1 31,0"});
  CHECK(boxes(svg, "servers") == Strings{"x 4 -62,168", "x 4 0,168", "x 4 62,168"});
  CHECK(wires(svg) == Strings{"-62,96 -31,0 1.2", "-62,96 31,0 1.2", "0,96 -31,0 1.2", "0,96 31,0 1.2",
                              "62,96 -31,0 1.2", "62,96 31,0 1.2", "-62,96 -62,156 1.2", "0,96 0,156 1.2",
                              "62,96 62,156 1.2"});
  // Left of the widest row, which ends half a gap beyond its last switch.
  CHECK(place_of(svg, "3 switches") == "-113.0,100.0 end");
  CHECK(place_of(svg, "2 switches") == "-113.0,4.0 end");
  CHECK(place_of(svg, "6 x 10 B/s") == "-113.0,52.0 end");
  CHECK(place_of(svg, "12 x 10 B/s") == "-113.0,136.5 end");
  CHECK(place_of(svg, "12 servers") == "-113.0,172.0 end");
}

TEST_CASE("layers: parallel cables are a wider line, up to a limit; servers on the same switches are one box") {
  TopologySpec made = leaf_spine(2, 1);
  made.fabric.parallel_links = 3;
  CHECK(contains(wires(topology_svg(build_topology(made, 4, 1))), "-31,96 0,0 2.4"));
  made.fabric.parallel_links = 30;
  CHECK(contains(wires(topology_svg(build_topology(made, 4, 1))), "-31,96 0,0 4.0"));
  // Two rails: every server has a NIC on each of two leaves.
  const std::string svg = topology_svg(build_topology(rails(2, 1, 2), 2, 2));
  CHECK(boxes(svg, "servers") == Strings{"2 servers 0,168"});
  CHECK(contains(wires(svg), "-31,96 0,156 1.2"));
  CHECK(contains(wires(svg), "31,96 0,156 1.2"));
}

TEST_CASE("layers: a long row shows its first 14 switches and its last, and between them how many are left out") {
  const std::string svg = topology_svg(build_topology(leaf_spine(1, 1), 20, 1));
  const Strings switches = boxes(svg, "switch");
  REQUIRE(switches.size() == 15 + 1);
  CHECK(switches[0] == "leaf0 -465,96");
  CHECK(switches[13] == "leaf13 341,96");
  CHECK(switches[14] == "leaf19 465,96");
  CHECK(boxes(svg, "more") == Strings{"+ 5 403,96"});
  CHECK(place_of(svg, "20 switches") == "-516.0,100.0 end");
  CHECK(place_of(svg, "and 5 servers on switches that are not drawn") == "0.0,198.0 middle");
  // Sixteen fit.
  CHECK(boxes(topology_svg(build_topology(leaf_spine(1, 1), 16, 1)), "more").empty());
}

TEST_CASE("a circle of up to 20 switches with their servers outside, of up to 72 without") {
  // Radius 17 a switch; servers 88 further out sideways, 52 up or down.
  const std::string svg = topology_svg(build_topology(spec("ring"), 8, 1));
  const Strings switches = boxes(svg, "switch");
  REQUIRE(switches.size() == 8);
  CHECK(switches[0].ends_with(" 0,-136"));
  CHECK(switches[1].ends_with(" 96,-96"));
  CHECK(switches[2].ends_with(" 136,0"));
  CHECK(switches[7].ends_with(" -96,-96"));
  CHECK(boxes(svg, "servers")[0] == "server 0 0,-188");
  CHECK(boxes(svg, "servers")[2] == "server 2 224,0");
  CHECK(contains(wires(svg), "0,-136 96,-96 1.2"));
  CHECK(contains(wires(svg), "136,0 224,0 1.2"));
  CHECK(place_of(svg, "8 switches") == "0.0,226.0 middle");
  // A small circle isn't smaller than 90.
  CHECK(boxes(topology_svg(build_topology(spec("ring"), 4, 1)), "switch")[0].ends_with(" 0,-90"));
  // Two stand side by side.
  const Strings two = boxes(topology_svg(build_topology(spec("dumbbell"), 4, 1)), "switch");
  REQUIRE(two.size() == 2);
  CHECK(two[0].ends_with(" -90,0"));
  CHECK(two[1].ends_with(" 90,0"));
  CHECK(boxes(topology_svg(build_topology(spec("ring"), 20, 1)), "servers").size() == 20);
  CHECK(boxes(topology_svg(build_topology(spec("ring"), 21, 1)), "servers").empty());
  // Without names: radius 6 a switch.
  const std::string large = topology_svg(build_topology(spec("ring"), 300, 1));
  CHECK(boxes(large, "switch").size() == 72);
  CHECK(boxes(large, "switch")[18].ends_with(" 432,0"));
  CHECK(place_of(large, "300 switches, the first 72 drawn") == "0.0,462.5 middle");
}

TEST_CASE("a grid of two dimensions, whose last cables come back in a bend") {
  const std::string svg = topology_svg(build_topology(torus({6, 4}), 24, 1), std::vector<std::size_t>{6, 4});
  const Strings switches = boxes(svg, "switch");
  REQUIRE(switches.size() == 24);
  CHECK(switches[1] == " 78,0");
  CHECK(switches[6] == " 0,62");
  CHECK(switches[23] == " 390,187");
  CHECK(wires(svg).size() == 5 * 4 + 6 * 3);
  CHECK(contains(wires(svg), "0,0 78,0 1.2"));
  CHECK(contains(wires(svg), "78,62 78,125 1.2"));
  CHECK(curves(svg).size() == 4 + 6);
  CHECK(contains(curves(svg), "M0.0 62.4Q195.0 16.4 390.0 62.4 1.2"));
  CHECK(contains(curves(svg), "M78.0 0.0Q26.0 93.6 78.0 187.2 1.2"));
  CHECK(svg.find(">6 x 4, a server on each switch<") != svg.npos);
  // Eight are drawn along each of two dimensions.
  const std::string wide = topology_svg(build_topology(torus({9, 3}), 27, 1), std::vector<std::size_t>{9, 3});
  CHECK(boxes(wide, "switch").size() == 8 * 3);
  CHECK(curves(wide).size() == 8);
}

TEST_CASE("a grid of three dimensions goes back to the upper right; four are drawn along each") {
  const std::vector<std::size_t> sizes{5, 4, 3};
  const std::string svg = topology_svg(build_topology(torus(sizes), 60, 1), sizes);
  const Strings switches = boxes(svg, "switch");
  REQUIRE(switches.size() == 4 * 4 * 3);
  CHECK(switches[0] == " 0,0");
  CHECK(switches[3] == " 336,0");
  CHECK(switches[4] == " 0,90");
  CHECK(switches[16] == " 29,-23");
  CHECK(switches[47] == " 394,223");
  // Along the first only 4 of 5, so no cable back.
  CHECK(wires(svg).size() == 3 * 12 + 3 * 12 + 2 * 16);
  CHECK(curves(svg).size() == 12 + 16);
  CHECK(contains(curves(svg), "M0.0 0.0Q-52.0 134.4 0.0 268.8 1.2"));
  CHECK(contains(curves(svg), "M0.0 0.0Q3.0 -57.0 58.0 -46.0 1.2"));
  CHECK(svg.find(">5 x 4 x 3, a server on each switch; 4 x 4 x 3 drawn<") != svg.npos);
}

TEST_CASE("inside a DGX-1: GPUs in a row, their NVLinks above, PCIe switches, sockets and NICs below") {
  TopologySpec made = with_server(spec("single-switch"), "hybrid-cube-mesh", 4);
  const std::string svg = draw_server(build_topology(made, 1, 8), ServerId{0U}).document();
  Strings gpus;
  for (int i = 0; i < 8; ++i) gpus.push_back(fmt::format("gpu{} {},0", i, 74 * i));
  CHECK(boxes(svg, "gpu") == gpus);
  // Each switch below the middle of its two GPUs, each socket below the middle of its two switches.
  Strings bridges = boxes(svg, "bridge");
  std::sort(bridges.begin(), bridges.end());
  CHECK(bridges ==
        Strings{"pcie0 37,70", "pcie1 185,70", "pcie2 333,70", "pcie3 481,70", "socket0 111,140", "socket1 407,140"});
  CHECK(boxes(svg, "nic") == Strings{"nic0 37,210", "nic1 185,210", "nic2 333,210", "nic3 481,210"});
  // The slowest, NVLink with 25 GB/s, is 1 wide; 1.2 more for each doubling.
  CHECK(contains(curves(svg), "M0.0 -12.0Q37.0 -56.0 74.0 -12.0 1.0"));
  CHECK(contains(curves(svg), "M0.0 -12.0Q111.0 -104.0 222.0 -12.0 2.2"));
  // PCIe: 1 + 1.2 log2(63.015 / 25) = 2.6, sockets: 1 + 1.2 log2(96 / 25) = 3.3.
  CHECK(contains(wires(svg), "0,0 37,70 2.6"));
  CHECK(contains(wires(svg), "111,140 407,140 3.3"));
  // The key begins at the left end of the drawing, half a box left of the first GPU, 26 below the lowest box.
  CHECK(place_of(svg, "25 GB/s") == "6.0,248.0 start");
  CHECK(place_of(svg, "50 GB/s") == "130.0,248.0 start");
  CHECK(place_of(svg, "96 GB/s") == "378.0,248.0 start");
  CHECK(contains(wires(svg), "-26,244 0,244 1.0"));
  CHECK(contains(wires(svg), "98,244 124,244 2.2"));
}

TEST_CASE("inside other servers: an NVSwitch stands above its GPUs; what wants one place stands side by side") {
  TopologySpec made = with_server(spec("single-switch"), "nvswitch", 3);
  made.server.nic_near_gpu = {0, 0, 2};
  const std::string svg = draw_server(build_topology(made, 1, 4), ServerId{0U}).document();
  CHECK(contains(boxes(svg, "bridge"), "nvswitch0 111,-70"));
  CHECK(boxes(svg, "nic") == Strings{"nic0 7,210", "nic1 67,210", "nic2 185,210"});
  const std::string plain = draw_server(build_topology(spec("single-switch"), 1, 4), ServerId{0U}).document();
  CHECK(boxes(plain, "nic") == Strings{"nic0 111,70"});
  CHECK(contains(wires(plain), "222,0 111,70 1.0"));
}
