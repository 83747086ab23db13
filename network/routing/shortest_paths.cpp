#include "network/routing/shortest_paths.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <numeric>

namespace contend {

ShortestPaths::ShortestPaths(const Topology& topology) : topology_{topology}, up_(topology.links().size(), 1) {
  sort_nodes();
  sort_links();
  fields_.resize(switches_);
  for (std::size_t server = 0; server < topology_.servers(); ++server) measure_server(server);
}

void ShortestPaths::sort_nodes() {
  const auto nodes = topology_.nodes();
  const std::size_t servers = topology_.servers();
  local_.resize(nodes.size());
  first_node_.assign(servers + 1, 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool inside = nodes[i].server.valid();
    local_[i] = static_cast<std::uint32_t>(inside ? first_node_[nodes[i].server.index() + 1]++ : switches_++);
  }
  first_inner_.assign(servers + 1, 0);
  for (std::size_t s = 0; s < servers; ++s) {
    first_inner_[s + 1] = first_inner_[s] + first_node_[s + 1] * first_node_[s + 1];
    first_node_[s + 1] += first_node_[s];
  }
  inner_.resize(first_inner_[servers]);
  server_nodes_.resize(first_node_[servers]);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].server.valid()) server_nodes_[first_node_[nodes[i].server.index()] + local_[i]] = NodeId{i};
  }
}

void ShortestPaths::sort_links() {
  const auto links = topology_.links();
  const std::size_t servers = topology_.servers();
  first_exit_.assign(servers + 1, 0);
  first_entry_.assign(servers + 1, 0);
  first_into_.assign(switches_ + 1, 0);
  // Twice over the links: how many there are of each, then each to its place.
  for (const bool placing : {false, true}) {
    std::vector<std::size_t> exit = first_exit_;
    std::vector<std::size_t> entry = first_entry_;
    std::vector<std::size_t> into = first_into_;
    for (std::size_t i = 0; i < links.size(); ++i) {
      const auto& [from, to, bandwidth, latency] = links[i];
      const ServerId a = server(from);
      const ServerId b = server(to);
      if (a == b && a.valid()) continue;
      if (!placing) {
        if (a.valid()) ++first_exit_[a.index() + 1];
        if (b.valid()) ++first_entry_[b.index() + 1];
        if (!a.valid() && !b.valid()) ++first_into_[local_[to.index()] + 1];
      } else {
        if (a.valid()) exits_[exit[a.index()]++] = {from, to, LinkId{i}};
        if (b.valid()) entries_[entry[b.index()]++] = {to, from, LinkId{i}};
        if (!a.valid() && !b.valid()) into_[into[local_[to.index()]]++] = LinkId{i};
      }
    }
    if (placing) break;
    for (auto* first : {&first_exit_, &first_entry_, &first_into_}) {
      std::partial_sum(first->begin(), first->end(), first->begin());
    }
    exits_.resize(first_exit_.back());
    entries_.resize(first_entry_.back());
    into_.resize(first_into_.back());
  }
}

void ShortestPaths::measure_server(std::size_t server_index) {
  const ServerId own{server_index};
  const auto nodes = std::span{server_nodes_}.subspan(first_node_[server_index],
                                                      first_node_[server_index + 1] - first_node_[server_index]);
  std::vector<NodeId> queue;
  for (const NodeId start : nodes) {
    Hops* row = &inner_[first_inner_[server_index] + local_[start.index()] * nodes.size()];
    std::fill_n(row, nodes.size(), static_cast<Hops>(kFar));
    row[local_[start.index()]] = 0;
    queue.assign(1, start);
    for (std::size_t head = 0; head < queue.size(); ++head) {
      const NodeId at = queue[head];
      if (at != start && !relays(at)) continue;
      for (const LinkId link : topology_.out(at)) {
        const NodeId to = topology_.links()[link.index()].to;
        if (up_[link.index()] == 0 || server(to) != own || row[local_[to.index()]] != kFar) continue;
        row[local_[to.index()]] = static_cast<Hops>(row[local_[at.index()]] + 1);
        queue.push_back(to);
      }
    }
  }
}

const ShortestPaths::Hops* ShortestPaths::field(NodeId attachment) {
  const std::uint32_t goal = local_[attachment.index()];
  std::vector<Hops>& hops = fields_[goal];
  if (!hops.empty()) return hops.data();
  hops.assign(switches_, static_cast<Hops>(kFar));
  hops[goal] = 0;
  queue_.assign(1, goal);
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const std::uint32_t at = queue_[head];
    if (hops[at] + 1U == kFar) break;
    for (std::size_t i = first_into_[at]; i < first_into_[at + 1]; ++i) {
      if (up_[into_[i].index()] == 0) continue;
      const std::uint32_t before = local_[topology_.links()[into_[i].index()].from.index()];
      if (hops[before] != kFar) continue;
      hops[before] = static_cast<Hops>(hops[at] + 1);
      queue_.push_back(before);
    }
  }
  return hops.data();
}

std::uint32_t ShortestPaths::inner_distance(NodeId from, NodeId to) const {
  const std::size_t server_index = server(from).index();
  const std::size_t size = first_node_[server_index + 1] - first_node_[server_index];
  return inner_[first_inner_[server_index] + local_[from.index()] * size + local_[to.index()]];
}

std::uint32_t ShortestPaths::fabric_distance(NodeId at) const {
  std::uint32_t best = kFar;
  for (const Goal& goal : goals_) best = std::min(best, goal.field[local_[at.index()]] + goal.rest);
  return best;
}

std::uint32_t ShortestPaths::distance(NodeId at) const {
  const ServerId place = server(at);
  if (!place.valid()) return fabric_distance(at);
  std::uint32_t best = place == server(to_) ? inner_distance(at, to_) : kFar;
  if (place != server(from_)) return best;
  for (const Exit& exit : ways_out_) best = std::min(best, inner_distance(at, exit.node) + exit.rest);
  return best;
}

void ShortestPaths::find_goals() {
  goals_.clear();
  const std::size_t b = server(to_).index();
  for (std::size_t i = first_entry_[b]; i < first_entry_[b + 1]; ++i) {
    const auto& [inside, outside, link] = entries_[i];
    if (up_[link.index()] == 0 || server(outside).valid() || !(inside == to_ || relays(inside))) continue;
    const std::uint32_t rest = 1 + inner_distance(inside, to_);
    if (rest >= kFar) continue;
    const Hops* hops = field(outside);
    const auto same = std::find_if(goals_.begin(), goals_.end(), [&](const Goal& goal) { return goal.field == hops; });
    if (same == goals_.end()) {
      goals_.push_back({hops, rest});
    } else {
      same->rest = std::min(same->rest, rest);
    }
  }
}

void ShortestPaths::find_exits() {
  ways_out_.clear();
  const std::size_t a = server(from_).index();
  for (std::size_t i = first_exit_[a]; i < first_exit_[a + 1]; ++i) {
    const auto& [inside, outside, link] = exits_[i];
    if (up_[link.index()] == 0 || !(inside == from_ || relays(inside))) continue;
    std::uint32_t rest = kFar;
    if (!server(outside).valid()) {
      rest = 1 + fabric_distance(outside);
    } else if (server(outside) == server(to_) && (outside == to_ || relays(outside))) {
      rest = 1 + inner_distance(outside, to_);
    }
    if (rest < kFar) ways_out_.push_back({inside, rest});
  }
}

bool ShortestPaths::aim(NodeId from, NodeId to) {
  const auto nodes = topology_.nodes();
  CONTEND_CHECK(nodes[from.index()].kind == NodeKind::gpu && nodes[to.index()].kind == NodeKind::gpu && from != to,
                "a route joins two different GPUs");
  from_ = from;
  to_ = to;
  find_goals();
  find_exits();
  return distance(from) < kFar;
}

std::span<const LinkId> ShortestPaths::next(NodeId at) {
  next_.clear();
  const std::uint32_t left = distance(at);
  for (const LinkId link : topology_.out(at)) {
    const NodeId to = topology_.links()[link.index()].to;
    if (up_[link.index()] == 0 || !(to == to_ || relays(to))) continue;
    if (distance(to) + 1 == left) next_.push_back(link);
  }
  CONTEND_DCHECK(!next_.empty(), "a node on a shortest path has a way on");
  return next_;
}

bool ShortestPaths::loses_paths(const std::vector<Hops>& field, const Link& link) const {
  const std::uint32_t before = field[local_[link.from.index()]];
  if (field[local_[link.to.index()]] + 1U != before) return false;
  const auto out = topology_.out(link.from);
  return std::none_of(out.begin(), out.end(), [&](LinkId other) {
    const NodeId to = topology_.links()[other.index()].to;
    return up_[other.index()] != 0 && !server(to).valid() && field[local_[to.index()]] + 1U == before;
  });
}

void ShortestPaths::set_link_up(LinkId link, bool up) {
  if ((up_[link.index()] != 0) == up) return;
  up_[link.index()] = up ? 1 : 0;
  const Link& changed = topology_.links()[link.index()];
  const ServerId a = server(changed.from);
  const ServerId b = server(changed.to);
  if (a == b && a.valid()) return measure_server(a.index());
  if (a.valid() || b.valid()) return;  // crossings are looked at when a pair is asked for
  for (std::vector<Hops>& hops : fields_) {
    if (hops.empty()) continue;
    const bool gains = up && hops[local_[changed.to.index()]] + 1U < hops[local_[changed.from.index()]];
    if (gains || (!up && loses_paths(hops, changed))) hops = {};
  }
}

}  // namespace contend
