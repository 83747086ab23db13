// Drawings of topologies: the fabric in layers, as a circle or as a grid, and below it the inside of server 0.

#include "report/topology/server_svg.hpp"
#include "report/topology/svg_canvas.hpp"
#include "report/topology/topology_drawing.hpp"
#include "sim/counted.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

namespace contend {

namespace {

constexpr std::size_t kRow = 16;       ///< switches drawn in a row
constexpr std::size_t kCircle = 72;    ///< on a circle
constexpr std::size_t kLabelled = 20;  ///< on a circle with names and servers
constexpr std::size_t kGrid2 = 8;      ///< along a dimension of a grid
constexpr std::size_t kGrid3 = 4;
constexpr double kSwitchGap = 62;   ///< between switches of a row
constexpr double kTierHeight = 96;  ///< between tiers

struct Spot {
  double x = 0;
  double y = 0;
};

/// The last part of a name: "pod0/edge1" is edge1.
std::string short_name(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string::npos ? name : name.substr(slash + 1);
}

double label_width(std::string_view label) {
  return std::max(46.0, 14 + 6.3 * static_cast<double>(label.size()));
}

class FabricDrawing {
 public:
  explicit FabricDrawing(const Topology& topology) : topology_{topology}, tier_{tiers_of(topology)} {
    for (std::size_t i = 0; i < topology.nodes().size(); ++i) {
      if (!topology.nodes()[i].server.valid()) by_tier_[tier_[i]].emplace_back(i);
    }
    std::map<std::size_t, std::set<NodeId>> contacts;
    for (const Link& link : topology.links()) {
      const ServerId server = topology.nodes()[link.from.index()].server;
      if (server.valid() && !topology.nodes()[link.to.index()].server.valid()) contacts[server.index()].insert(link.to);
    }
    for (const auto& [server, switches] : contacts) groups_[switches].push_back(server);
  }

  SvgCanvas draw(std::span<const std::size_t> dimensions) {
    const std::size_t lowest = by_tier_.contains(1) ? by_tier_[1].size() : 0;
    if (!dimensions.empty()) {
      draw_grid(dimensions);
    } else if (by_tier_.size() == 1 && lowest > 1) {
      draw_circle();
    } else {
      draw_layers();
    }
    return std::move(canvas_);
  }

 private:
  /// "4 servers" or "server 7".
  static std::string describe(const std::vector<std::size_t>& servers) {
    return servers.size() == 1 ? fmt::format("server {}", servers[0]) : fmt::format("{} servers", servers.size());
  }
  void draw_switch(NodeId node, const std::string& label) {
    const Spot& at = spots_.at(node);
    canvas_.box(at.x, at.y, std::max(46.0, label_width(label)), kBoxHeight, "switch", label,
                topology_.nodes()[node.index()].name);
  }

  /// Lines between switches that are drawn; parallel ones as a wider one.
  template <class Draw>
  void draw_wires(const Draw& draw) {
    std::map<std::pair<NodeId, NodeId>, double> wires;
    for (const Link& link : topology_.links()) {
      if (!spots_.contains(link.from) || !spots_.contains(link.to)) continue;
      wires[{std::min(link.from, link.to), std::max(link.from, link.to)}] += 0.5;
    }
    for (const auto& [ends, cables] : wires) {
      draw(ends.first, ends.second, std::min(4.0, 0.6 + 0.6 * std::ceil(cables)));
    }
  }
  void straight_wires() {
    draw_wires([&](NodeId a, NodeId b, double width) {
      canvas_.line(spots_[a].x, spots_[a].y, spots_[b].x, spots_[b].y, width);
    });
  }

  void draw_layers() {
    const std::size_t top = by_tier_.empty() ? 0 : by_tier_.rbegin()->first;
    for (const auto& [tier, switches] : by_tier_) {
      if (tier == 0) continue;
      place_row(switches, static_cast<double>(top - tier) * kTierHeight);
    }
    straight_wires();
    for (const auto& [node, at] : spots_) draw_switch(node, short_name(topology_.nodes()[node.index()].name));
    draw_groups(static_cast<double>(top) * kTierHeight - kTierHeight * 0.25);
    for (const auto& [tier, switches] : by_tier_) {
      const double y = static_cast<double>(top - tier) * kTierHeight;
      const double x = -half_width_ - 20;
      canvas_.text(x, y + 4, "end", counted(switches.size(), "switch", "switches"));
      if (tier > 1) canvas_.text(x, y + kTierHeight / 2 + 4, "end", cables_below(tier));
    }
    canvas_.text(-half_width_ - 20, (static_cast<double>(top) - 0.62) * kTierHeight + 4, "end", cables_below(1));
  }

  void place_row(const std::vector<NodeId>& switches, double y) {
    const bool folded = switches.size() > kRow;
    const std::size_t shown = folded ? kRow : switches.size();
    const auto x_of = [&](std::size_t i) {
      return (static_cast<double>(i) - static_cast<double>(shown - 1) / 2) * kSwitchGap;
    };
    for (std::size_t i = 0; i < shown; ++i) {
      if (folded && i == shown - 2) continue;
      spots_[i + 1 == shown ? switches.back() : switches[i]] = {x_of(i), y};
    }
    half_width_ = std::max(half_width_, x_of(shown - 1) + kSwitchGap / 2);
    if (folded)
      canvas_.box(x_of(shown - 2), y, 50, kBoxHeight, "more", fmt::format("+ {}", switches.size() - shown + 1));
  }

  /// "32 x 50 GB/s" for the cables from this tier down.
  [[nodiscard]] std::string cables_below(std::size_t tier) const {
    std::map<ByteRate, std::size_t> cables;
    for (const Link& link : topology_.links()) {
      if (tier_[link.to.index()] != tier || tier_[link.from.index()] + 1 != tier) continue;
      if (tier == 1 && !topology_.nodes()[link.from.index()].server.valid()) continue;
      ++cables[link.bandwidth];
    }
    std::string text;
    for (const auto& [bandwidth, count] : cables) {
      text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", count, format_rate(bandwidth));
    }
    return text;
  }

  /// Servers below the switches of the lowest tier; those on the same switches together.
  void draw_groups(double y) {
    std::size_t hidden = 0;
    for (const auto& [switches, servers] : groups_) {
      double x = 0;
      const bool seen = std::ranges::all_of(switches, [&](NodeId node) { return spots_.contains(node); });
      if (!seen) {
        hidden += servers.size();
        continue;
      }
      for (const NodeId node : switches) x += spots_[node].x / static_cast<double>(switches.size());
      const bool narrow = switches.size() == 1;
      const std::string label = narrow && groups_.size() > 1 ? fmt::format("x {}", servers.size()) : describe(servers);
      const double width = narrow && groups_.size() > 1 ? 46 : label_width(label);
      for (const NodeId node : switches) canvas_.line(spots_[node].x, spots_[node].y, x, y - kBoxHeight / 2, 1.2);
      const std::string range = fmt::format("servers {} to {}", servers.front(), servers.back());
      canvas_.box(x, y, width, kBoxHeight, "servers", label, range);
    }
    canvas_.text(-half_width_ - 20, y + 4, "end", fmt::format("{} servers", topology_.servers()));
    if (hidden > 0)
      canvas_.text(0, y + 30, "middle", fmt::format("and {} servers on switches that are not drawn", hidden));
  }

  void draw_circle() {
    const std::vector<NodeId>& all = by_tier_[1];
    const std::size_t shown = std::min(all.size(), kCircle);
    const bool labelled = shown <= kLabelled;
    const double radius = std::max(90.0, static_cast<double>(shown) * (labelled ? 17 : 6));
    const auto angle = [&](std::size_t i) {
      const double start = shown == 2 ? std::numbers::pi : -std::numbers::pi / 2;
      return start + 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(shown);
    };
    for (std::size_t i = 0; i < shown; ++i) spots_[all[i]] = {radius * std::cos(angle(i)), radius * std::sin(angle(i))};
    straight_wires();
    for (std::size_t i = 0; i < shown; ++i) {
      const Spot at = spots_[all[i]];
      if (!labelled) {
        canvas_.box(at.x, at.y, 9, 9, "switch", "", topology_.nodes()[all[i].index()].name);
        continue;
      }
      const auto group = groups_.find({all[i]});
      if (group != groups_.end()) {
        const double x = at.x + 88 * std::cos(angle(i));
        const double y = at.y + 52 * std::sin(angle(i));
        canvas_.line(at.x, at.y, x, y, 1.2);
        canvas_.box(x, y, label_width(describe(group->second)), kBoxHeight, "servers", describe(group->second));
      }
      draw_switch(all[i], short_name(topology_.nodes()[all[i].index()].name));
    }
    std::string note = fmt::format("{} switches", all.size());
    if (shown < all.size()) note += fmt::format(", the first {} drawn", shown);
    canvas_.text(0, canvas_.bottom() + 26, "middle", note);
  }

  void draw_grid(std::span<const std::size_t> dimensions) {
    const std::size_t depth = dimensions.size() > 2 ? dimensions[2] : 1;
    const std::size_t most = depth > 1 ? kGrid3 : kGrid2;
    const std::array<std::size_t, 3> shown{std::min(dimensions[0], most), std::min(dimensions[1], most),
                                           std::min(depth, most)};
    const double step = depth > 1 ? 112 : 78;
    const std::vector<NodeId>& all = by_tier_[1];
    std::map<NodeId, std::array<std::size_t, 3>> place;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::array<std::size_t, 3> at{i % dimensions[0], i / dimensions[0] % dimensions[1],
                                          i / dimensions[0] / dimensions[1]};
      if (at[0] >= shown[0] || at[1] >= shown[1] || at[2] >= shown[2]) continue;
      const auto z = static_cast<double>(at[2]);
      place[all[i]] = at;
      spots_[all[i]] = {static_cast<double>(at[0]) * step + z * 29, static_cast<double>(at[1]) * step * 0.8 - z * 23};
    }
    draw_wires([&](NodeId a, NodeId b, double width) {
      const Spot from = spots_[a];
      const Spot to = spots_[b];
      std::size_t along = 0;
      while (along < 2 && place[a][along] == place[b][along]) ++along;
      const bool neighbours = place[a][along] + 1 == place[b][along] || place[b][along] + 1 == place[a][along];
      if (neighbours) return canvas_.line(from.x, from.y, to.x, to.y, width);
      // Round the back: to the side of the dimension that it closes.
      const Spot bend = along == 0 ? Spot{0, -46} : along == 1 ? Spot{-52, 0} : Spot{-26, -34};
      canvas_.curve(from.x, from.y, (from.x + to.x) / 2 + bend.x, (from.y + to.y) / 2 + bend.y, to.x, to.y, width);
    });
    for (const auto& [node, at] : spots_) {
      canvas_.box(at.x, at.y, 22, 16, "switch", "", topology_.nodes()[node.index()].name);
    }
    std::string note = fmt::format("{} x {}", dimensions[0], dimensions[1]);
    if (dimensions.size() > 2) note += fmt::format(" x {}", dimensions[2]);
    note += ", a server on each switch";
    if (spots_.size() < all.size()) note += fmt::format("; {} x {} x {} drawn", shown[0], shown[1], shown[2]);
    canvas_.text(0, canvas_.bottom() + 30, "start", note);
  }

  const Topology& topology_;
  std::vector<std::size_t> tier_;
  std::map<std::size_t, std::vector<NodeId>> by_tier_;
  std::map<std::set<NodeId>, std::vector<std::size_t>> groups_;  // servers by the switches they are on
  std::map<NodeId, Spot> spots_;                                 // switches that are drawn
  double half_width_ = 0;
  SvgCanvas canvas_;
};

}  // namespace

std::string topology_svg(const Topology& topology, std::span<const std::size_t> dimensions) {
  const SvgCanvas fabric = FabricDrawing{topology}.draw(dimensions);
  SvgCanvas page;
  page.text(0, 0, "start",
            fmt::format("{}, {}", counted(topology.servers(), "server"), counted(topology.gpus().size(), "GPU")),
            "head");
  page.place(fabric, -fabric.left(), 26 - fabric.top());
  if (topology.gpus_of(ServerId{0U}).size() > 1) {
    const SvgCanvas inside = draw_server(topology, ServerId{0U});
    const double y = page.bottom() + 40;
    page.text(0, y, "start", "inside server 0", "head");
    page.place(inside, -inside.left(), y + 20 - inside.top());
  }
  return page.document();
}

}  // namespace contend
