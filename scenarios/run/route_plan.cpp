#include "scenarios/run/route_plan.hpp"

#include "scenarios/yaml/map_codec.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

namespace contend {
namespace {

constexpr std::size_t kMaxRoutes = 100'000;

/// A route as it stands in the file.
struct RouteRow {
  std::string from;
  std::string to;
  std::optional<std::int64_t> label;
  std::vector<std::vector<std::string>> paths;
  std::vector<double> shares;
};

Codec<std::vector<RouteRow>> rows_codec() {
  const Codec<std::string> name = text_codec();
  return numbered_list(
      map_codec<RouteRow>(
          {field("from", &RouteRow::from, name, true), field("to", &RouteRow::to, name, true),
           field("label", &RouteRow::label, optional_codec(integer_codec<std::int64_t>(0, INT64_MAX), ""), false),
           field("paths", &RouteRow::paths, list_codec(list_codec(name, "nodes"), "paths"), true),
           field("shares", &RouteRow::shares, list_codec(number_codec(0, 1), "shares"))},
          "{from: server0/gpu0, to: server1/gpu0, paths: [[...]]}"),
      "routes", kMaxRoutes);
}

/// Names to nodes and links, with complaints at their places.
class Resolver {
 public:
  Resolver(const Topology& topology, const SourceText& source, const YamlNode& root, std::vector<Complaint>& complaints)
      : topology_{topology}, source_{source}, root_{root}, complaints_{complaints} {
    for (std::size_t i = 0; i < topology.nodes().size(); ++i) nodes_.emplace(topology.nodes()[i].name, NodeId{i});
  }

  PlannedRoute resolve(const RouteRow& row, std::size_t index) {
    const std::string key = fmt::format("[{}]", index);
    PlannedRoute route{node(row.from, key + ".from"), node(row.to, key + ".to"), std::nullopt, {}};
    if (row.label) route.label = static_cast<std::uint64_t>(*row.label);
    if (row.paths.empty()) complain(key + ".paths", "expected at least one path");
    if (!row.shares.empty() && row.shares.size() != row.paths.size()) {
      complain(key + ".shares",
               fmt::format("expected {} shares, one a path, got {}", row.paths.size(), row.shares.size()));
      return route;
    }
    const double equal = 1 / static_cast<double>(row.paths.size());
    for (std::size_t i = 0; i < row.paths.size(); ++i) {
      const double share = row.shares.empty() ? equal : row.shares[i];
      route.paths.push_back({links(row.paths[i], route, fmt::format("{}.paths[{}]", key, i)), share});
    }
    return route;
  }

 private:
  void complain(const std::string& key, std::string reason, std::string hint = {}) {
    complaints_.push_back(source_.complaint(follow(root_, key).second->place, key, std::move(reason), std::move(hint)));
  }

  NodeId node(const std::string& name, const std::string& key) {
    const auto found = nodes_.find(name);
    if (found != nodes_.end()) return found->second;
    std::vector<std::string> names;
    for (const auto& [known, id] : nodes_) names.push_back(known);
    complain(key, fmt::format("the topology has no node {}", quote(name)), did_you_mean(name, names));
    return NodeId::none();
  }

  /// The links from node to node; the last name is the receiver, which the list leaves out.
  std::vector<LinkId> links(const std::vector<std::string>& names, const PlannedRoute& route, const std::string& key) {
    std::vector<LinkId> path;
    NodeId at = route.from;
    for (std::size_t i = 0; i <= names.size(); ++i) {
      const std::string here = i < names.size() ? fmt::format("{}[{}]", key, i) : key;
      NodeId next = route.to;
      std::size_t number = 1;
      if (i < names.size()) {
        const std::size_t hash = names[i].find('#');
        next = node(names[i].substr(0, hash), here);
        if (hash != std::string::npos) number = parallel(names[i].substr(hash + 1), here);
      }
      if (at.valid() && next.valid()) add_link(at, next, number, here, path);
      at = next;
    }
    return path;
  }

  std::size_t parallel(const std::string& text, const std::string& key) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < 1) {
      complain(key, fmt::format("expected the number of a parallel link after #, got {}", quote(text)));
    }
    return number;
  }

  void add_link(NodeId from, NodeId to, std::size_t number, const std::string& key, std::vector<LinkId>& path) {
    std::size_t seen = 0;
    for (const LinkId link : topology_.out(from)) {
      if (topology_.links()[link.index()].to == to && ++seen == number) return path.push_back(link);
    }
    if (seen == 0 && cross_server(from, to, path)) return;
    const auto name = [&](NodeId node) { return topology_.nodes()[node.index()].name; };
    complain(key, seen == 0 ? fmt::format("no link from {} to {}", name(from), name(to))
                            : fmt::format("only {} links from {} to {}", seen, name(from), name(to)));
  }

  /// Appends the fewest links over bridges from one node of a server to another; of equal paths the first links win.
  bool cross_server(NodeId from, NodeId to, std::vector<LinkId>& path) const {
    const auto node = [&](NodeId id) -> const Node& { return topology_.nodes()[id.index()]; };
    if (!node(from).server.valid() || node(from).server != node(to).server) return false;
    std::map<NodeId, LinkId> into;  // the link that first reached a node
    std::vector<NodeId> reached{from};
    for (std::size_t i = 0; i < reached.size() && !into.contains(to); ++i) {
      if (reached[i] != from && node(reached[i]).kind != NodeKind::bridge) continue;
      for (const LinkId link : topology_.out(reached[i])) {
        const NodeId next = topology_.links()[link.index()].to;
        if (next == from || node(next).server != node(from).server || into.contains(next)) continue;
        into.emplace(next, link);
        reached.push_back(next);
      }
    }
    if (!into.contains(to)) return false;
    const std::size_t start = path.size();
    for (NodeId at = to; at != from; at = topology_.links()[into.at(at).index()].from) path.push_back(into.at(at));
    std::reverse(path.begin() + static_cast<std::ptrdiff_t>(start), path.end());
    return true;
  }

  const Topology& topology_;
  const SourceText& source_;
  const YamlNode& root_;
  std::vector<Complaint>& complaints_;
  std::map<std::string, NodeId, std::less<>> nodes_;
};

}  // namespace

std::vector<PlannedRoute> parse_route_plan(std::string_view text, const std::string& name, const Topology& topology) {
  const SourceText source{name, std::string{text}};
  std::vector<Complaint> complaints;
  std::vector<PlannedRoute> plan;
  if (const std::optional<YamlNode> root = parse_yaml(source.text(), source, 1, complaints)) {
    std::vector<RouteRow> rows;
    const std::string key;
    rows_codec().read(*root, Reading{source, key, complaints}, rows);
    if (complaints.empty()) {
      Resolver resolver{topology, source, *root, complaints};
      for (std::size_t i = 0; i < rows.size(); ++i) plan.push_back(resolver.resolve(rows[i], i));
    }
  }
  if (!complaints.empty()) throw InputError{std::move(complaints)};
  return plan;
}

std::vector<PlannedRoute> read_route_plan(const std::string& path, const Topology& topology) {
  const FileText file = read_text_file(path);
  if (!file.text) throw InputError{{SourceText{path, {}}.complaint({}, {}, "can't read it: " + file.reason)}};
  return parse_route_plan(*file.text, path, topology);
}

}  // namespace contend
