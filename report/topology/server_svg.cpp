#include "report/topology/server_svg.hpp"

#include "network/topology_report.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace contend {

namespace {

constexpr double kGpuGap = 74;
constexpr double kRowHeight = 70;

/// Rows from top to bottom.
enum class Row : std::uint8_t { joins_gpus, gpus, near_gpus, far, nics };

std::string_view shape_of(NodeKind kind) {
  return kind == NodeKind::gpu ? "gpu" : kind == NodeKind::nic ? "nic" : "bridge";
}

class ServerDrawing {
 public:
  ServerDrawing(const Topology& topology, ServerId server) : topology_{topology} {
    for (std::size_t i = 0; i < topology.nodes().size(); ++i) {
      if (topology.nodes()[i].server == server) nodes_.emplace_back(i);
    }
    for (const NodeId node : nodes_) {
      for (const LinkId link : topology.out(node)) {
        const Link& it = topology.links()[link.index()];
        if (topology.nodes()[it.to.index()].server != server) continue;
        double& width = wires_[{std::min(it.from, it.to), std::max(it.from, it.to)}];
        width = std::max(width, it.bandwidth.bytes_per_second());
        neighbours_[node].push_back(it.to);
        slowest_ = slowest_ > 0 ? std::min(slowest_, it.bandwidth.bytes_per_second()) : it.bandwidth.bytes_per_second();
      }
    }
  }

  SvgCanvas draw() {
    std::map<Row, std::vector<NodeId>> rows;
    for (const NodeId node : nodes_) rows[row_of(node)].push_back(node);
    place_gpus(rows[Row::gpus]);
    const double arcs = has_arcs() ? 46 + 9 * static_cast<double>(rows[Row::gpus].size()) : kRowHeight;
    double y = 0;
    for (const Row row : {Row::near_gpus, Row::far, Row::nics}) {
      if (!rows[row].empty()) place_below(rows[row], y += kRowHeight);
    }
    place_below(rows[Row::joins_gpus], -arcs);
    for (const auto& [ends, bandwidth] : wires_) draw_wire(ends.first, ends.second, bandwidth);
    for (const NodeId node : nodes_) {
      const std::string& name = topology_.nodes()[node.index()].name;
      const std::size_t slash = name.rfind('/');
      const std::string label = slash == std::string::npos ? name : name.substr(slash + 1);
      const double width = std::max(52.0, 14 + 6.3 * static_cast<double>(label.size()));
      canvas_.box(x_[node], y_[node], width, kBoxHeight, shape_of(topology_.nodes()[node.index()].kind), label, name);
    }
    draw_key();
    return std::move(canvas_);
  }

 private:
  [[nodiscard]] NodeKind kind(NodeId node) const { return topology_.nodes()[node.index()].kind; }

  [[nodiscard]] Row row_of(NodeId node) const {
    if (kind(node) == NodeKind::gpu) return Row::gpus;
    if (kind(node) == NodeKind::nic) return Row::nics;
    const auto found = neighbours_.find(node);
    if (found == neighbours_.end()) return Row::far;
    const auto to_gpu = [&](NodeId other) { return kind(other) == NodeKind::gpu; };
    if (std::ranges::all_of(found->second, to_gpu)) return Row::joins_gpus;
    return std::ranges::any_of(found->second, to_gpu) ? Row::near_gpus : Row::far;
  }
  [[nodiscard]] bool has_arcs() const {
    return std::ranges::any_of(wires_, [&](const auto& wire) {
      return kind(wire.first.first) == NodeKind::gpu && kind(wire.first.second) == NodeKind::gpu;
    });
  }

  void place_gpus(const std::vector<NodeId>& gpus) {
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      x_[gpus[i]] = static_cast<double>(i) * kGpuGap;
      y_[gpus[i]] = 0;
    }
  }

  /// Places each node below the middle of its placed neighbours, without overlaps.
  void place_below(const std::vector<NodeId>& row, double y) {
    std::vector<std::pair<double, NodeId>> wanted;
    for (const NodeId node : row) {
      double sum = 0;
      double count = 0;
      for (const NodeId other : neighbours_[node]) {
        if (!x_.contains(other) || kind(other) == kind(node)) continue;
        sum += x_[other];
        ++count;
      }
      // Sockets know only PCIe switches, which are bridges like them.
      for (const NodeId other : neighbours_[node]) {
        if (kind(node) != NodeKind::bridge || count > 0 || !x_.contains(other)) continue;
        sum = 0;
        for (const NodeId bridge : neighbours_[node]) {
          if (!x_.contains(bridge)) continue;
          sum += x_[bridge];
          ++count;
        }
      }
      wanted.emplace_back(count > 0 ? sum / count : 0, node);
    }
    std::stable_sort(wanted.begin(), wanted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    // Those that want the same place share it side by side.
    for (std::size_t i = 0; i < wanted.size();) {
      std::size_t end = i;
      while (end < wanted.size() && wanted[end].first - wanted[i].first < 1) ++end;
      for (std::size_t j = i; j < end; ++j) {
        const double offset = (static_cast<double>(j - i) - static_cast<double>(end - i - 1) / 2) * 60;
        x_[wanted[j].second] = wanted[j].first + offset;
        y_[wanted[j].second] = y;
      }
      i = end;
    }
  }

  void draw_wire(NodeId a, NodeId b, double bandwidth) {
    const double width = std::clamp(1.0 + 1.2 * std::log2(bandwidth / slowest_), 1.0, 6.0);
    if (kind(a) == NodeKind::gpu && kind(b) == NodeKind::gpu) {
      const double reach = std::abs(x_[a] - x_[b]) / kGpuGap;
      const double top = -kBoxHeight / 2;
      return canvas_.curve(x_[a], top, (x_[a] + x_[b]) / 2, top - 20 - 24 * reach, x_[b], top, width);
    }
    canvas_.line(x_[a], y_[a], x_[b], y_[b], width);
  }

  /// Draws a key of the bandwidths, slowest first.
  void draw_key() {
    std::map<double, double> widths;
    for (const auto& [ends, bandwidth] : wires_) {
      widths[bandwidth] = std::clamp(1.0 + 1.2 * std::log2(bandwidth / slowest_), 1.0, 6.0);
    }
    double x = canvas_.left();
    const double y = canvas_.bottom() + 26;
    for (const auto& [bandwidth, width] : widths) {
      canvas_.line(x, y - 4, x + 26, y - 4, width);
      canvas_.text(x + 32, y, "start", format_rate(ByteRate{bandwidth}));
      x += 124;
    }
  }

  const Topology& topology_;
  std::vector<NodeId> nodes_;
  std::map<NodeId, std::vector<NodeId>> neighbours_;
  std::map<std::pair<NodeId, NodeId>, double> wires_;  // bandwidth of the fastest link
  double slowest_ = 0;
  std::map<NodeId, double> x_;
  std::map<NodeId, double> y_;
  SvgCanvas canvas_;
};

}  // namespace

SvgCanvas draw_server(const Topology& topology, ServerId server) {
  return ServerDrawing{topology, server}.draw();
}

}  // namespace contend
