// Defines plan_splits (network/routing/planned_routes.hpp), which splits few flows and gives links the loads of ideal
// packet spraying.

#include "network/routing/planned_routes.hpp"
#include "network/routing/shortest_paths.hpp"
#include "sim/complaints.hpp"

#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr std::size_t kMostPaths = 65'536;

using Path = std::vector<LinkId>;

/// All shortest paths of a pair, in order of the ids of their links. False if there are too many.
bool list_paths(ShortestPaths& shortest, NodeId at, NodeId to, bool has_gone_down, Path& path,
                std::vector<Path>& paths) {
  if (at == to) {
    paths.push_back(path);
    return paths.size() <= kMostPaths;
  }
  const auto next = shortest.next(at, has_gone_down);
  for (const LinkId link : std::vector<LinkId>(next.begin(), next.end())) {
    path.push_back(link);
    const bool all = list_paths(shortest, shortest.topology().links()[link.index()].to, to,
                                has_gone_down || shortest.goes_down(link), path, paths);
    path.pop_back();
    if (!all) return false;
  }
  return true;
}

/// A piece of a flow on one of the paths of its group.
struct Piece {
  std::size_t path;
  double share;
};

/// The flows of a group and their assignment to paths.
class Group {
 public:
  explicit Group(std::size_t paths) : paths_{paths} {}

  void add(std::size_t flow, double bytes) { by_size_[bytes].push_back(flow); }

  /// Calls `place(flow, pieces)` for every flow.
  template <class Place>
  void spread(const Place& place) const {
    std::vector<std::pair<std::size_t, double>> left;  // flow and bytes
    std::size_t sizes_left = 0;
    for (const auto& [bytes, flows] : by_size_) {
      const std::size_t whole = flows.size() / paths_ * paths_;
      for (std::size_t i = 0; i < whole; ++i) place(flows[i], std::vector<Piece>{{i % paths_, 1}});
      for (std::size_t i = whole; i < flows.size(); ++i) left.emplace_back(flows[i], bytes);
      if (whole < flows.size()) ++sizes_left;
    }
    if (sizes_left == 1) {
      cut_equally(left, place);
    } else {
      wrap_around(left, place);
    }
  }

 private:
  /// Splits r flows of one size into n/g pieces each, r/g pieces a path.
  template <class Place>
  void cut_equally(const std::vector<std::pair<std::size_t, double>>& left, const Place& place) const {
    const std::size_t pieces_each = paths_ / std::gcd(left.size(), paths_);
    for (std::size_t i = 0; i < left.size(); ++i) {
      std::vector<Piece> pieces;
      for (std::size_t j = 0; j < pieces_each; ++j) {
        pieces.push_back({(i * pieces_each + j) % paths_, 1.0 / static_cast<double>(pieces_each)});
      }
      place(left[i].first, pieces);
    }
  }

  template <class Place>
  void wrap_around(const std::vector<std::pair<std::size_t, double>>& left, const Place& place) const {
    double total = 0;
    for (const auto& [flow, bytes] : left) total += bytes;
    const auto end_of = [&](std::size_t path) {
      return total * static_cast<double>(path + 1) / static_cast<double>(paths_);
    };
    std::size_t path = 0;
    double start = 0;
    for (const auto& [flow, bytes] : left) {
      const double end = start + bytes;
      std::vector<Piece> pieces;
      double cut = start;
      // A remainder from rounding beyond a cut is not a piece of its own.
      for (; path + 1 < paths_ && end_of(path) < end - bytes * kCrumb; ++path) {
        if (end_of(path) - cut <= bytes * kCrumb) continue;
        pieces.push_back({path, (end_of(path) - cut) / bytes});
        cut = end_of(path);
      }
      pieces.push_back({path, (end - cut) / bytes});
      // A flow much smaller than the others is cut in the right places only approximately, but no byte of it may be
      // lost.
      double sum = 0;
      for (const Piece& piece : pieces) sum += piece.share;
      for (Piece& piece : pieces) piece.share /= sum;
      place(flow, pieces);
      start = end;
    }
  }

  static constexpr double kCrumb = 1e-12;
  std::size_t paths_;
  std::map<double, std::vector<std::size_t>> by_size_;  // flows in order
};

class Planner {
 public:
  Planner(ShortestPaths& shortest, std::span<const Demand> demands)
      : demands_{demands}, shortest_{shortest}, routes_(demands.size()) {}

  std::vector<PlannedRoute> plan() {
    std::map<std::vector<Path>, Group> groups;
    std::map<std::pair<NodeId, NodeId>, std::uint64_t> labels;
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      const Demand& demand = demands_[i];
      if (!find_paths(i)) continue;
      routes_[i] = {demand.from, demand.to, labels[{demand.from, demand.to}]++, {}};
      const std::vector<Path> middles = between_switches(paths_);
      groups.try_emplace(middles, middles.size()).first->second.add(i, demand.bytes);
    }
    complaints_.throw_if_any();
    for (const auto& [middles, group] : groups) {
      group.spread([&](std::size_t flow, const std::vector<Piece>& pieces) {
        find_paths(flow);  // again: the paths of all flows at once could take gigabytes
        for (const auto& [path, share] : pieces) routes_[flow].paths.push_back({paths_[path], share});
      });
    }
    return std::move(routes_);
  }

 private:
  bool find_paths(std::size_t i) {
    const Demand& demand = demands_[i];
    const auto complain = [&](std::string reason) {
      complaints_.add(fmt::format("demands[{}]", i), std::move(reason));
      return false;
    };
    if (!(demand.bytes > 0) || !std::isfinite(demand.bytes)) return complain(fmt::format("{} bytes", demand.bytes));
    if (!shortest_.aim(demand.from, demand.to)) return complain("there is no path");
    Path path;
    paths_.clear();
    if (!list_paths(shortest_, demand.from, demand.to, false, path, paths_))
      return complain("more than 65,536 shortest paths");
    return true;
  }

  /// The paths without their links at servers, which flows between the same leaves have in common.
  [[nodiscard]] std::vector<Path> between_switches(const std::vector<Path>& paths) const {
    std::vector<Path> middles = paths;
    for (Path& path : middles) {
      std::erase_if(path, [&](LinkId link) {
        const Link& it = shortest_.topology().links()[link.index()];
        const auto nodes = shortest_.topology().nodes();
        return nodes[it.from.index()].server.valid() || nodes[it.to.index()].server.valid();
      });
    }
    return middles;
  }

  std::span<const Demand> demands_;
  ShortestPaths& shortest_;
  std::vector<PlannedRoute> routes_;
  std::vector<Path> paths_;  // of one demand
  Complaints complaints_;
};

}  // namespace

std::vector<PlannedRoute> plan_splits(const Topology& topology, std::span<const Demand> demands) {
  ShortestPaths shortest{topology};
  return plan_splits(shortest, demands);
}

std::vector<PlannedRoute> plan_splits(ShortestPaths& shortest, std::span<const Demand> demands) {
  return Planner{shortest, demands}.plan();
}

}  // namespace contend
