#include "network/routing/shortest_paths.hpp"

#include "network/routing/near_interfaces.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <tuple>

namespace contend {

ShortestPaths::ShortestPaths(const Topology& topology)
    : topology_{topology},
      up_(topology.links().size(), 1),
      goals_(topology.nodes().size()),
      own_{near_interfaces(topology).own} {
  sort_nodes();
  sort_links();
  sort_steps();
  fields_.resize(switches_);
  for (std::size_t server = 0; server < topology_.servers(); ++server) measure_server(server);
}

void ShortestPaths::sort_nodes() {
  const auto nodes = topology_.nodes();
  const std::size_t servers = topology_.servers();
  places_.reserve(nodes.size());
  first_node_.assign(servers + 1, 0);
  for (const Node& node : nodes) {
    const bool inside = node.server.valid();
    const std::size_t local = inside ? first_node_[node.server.index() + 1]++ : switches_++;
    if (!inside) tiers_.push_back(node.tier);
    places_.push_back({inside ? node.server.value() : kNone, static_cast<std::uint32_t>(local), node.relays});
  }
  first_inner_.assign(servers + 1, 0);
  for (std::size_t s = 0; s < servers; ++s) {
    first_inner_[s + 1] = first_inner_[s] + first_node_[s + 1] * first_node_[s + 1];
    first_node_[s + 1] += first_node_[s];
  }
  inner_.resize(first_inner_[servers]);
  server_nodes_.resize(first_node_[servers]);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].server != kNone) server_nodes_[first_node_[places_[i].server] + places_[i].local] = NodeId{i};
  }
}

void ShortestPaths::sort_steps() {
  first_step_.assign(1, 0);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    for (const LinkId link : topology_.out(NodeId{i})) {
      const NodeId to = topology_.links()[link.index()].to;
      const Place& there = place(to);
      steps_.push_back({to.value(), there.server == kNone ? there.local : kNone, link});
    }
    if (places_[i].server == kNone) {
      const auto begin = steps_.begin() + static_cast<std::ptrdiff_t>(first_step_.back());
      std::sort(begin, steps_.end(), [&](const Step& a, const Step& b) {
        return std::tuple{a.to_switch == kNone, a.to_switch, places_[a.to].server, a.link} <
               std::tuple{b.to_switch == kNone, b.to_switch, places_[b.to].server, b.link};
      });
      const auto door = std::find_if(begin, steps_.end(), [](const Step& step) { return step.to_switch == kNone; });
      first_to_door_.push_back(static_cast<std::size_t>(door - steps_.begin()));
    }
    first_step_.push_back(steps_.size());
  }
}

void ShortestPaths::sort_links() {
  const auto links = topology_.links();
  const std::size_t servers = topology_.servers();
  first_exit_.assign(servers + 1, 0);
  first_entry_.assign(servers + 1, 0);
  first_into_.assign(switches_ + 1, 0);
  // Two passes over the links: the first counts the links of each sort, the second puts each in its place.
  for (const bool placing : {false, true}) {
    std::vector<std::size_t> exit = first_exit_;
    std::vector<std::size_t> entry = first_entry_;
    std::vector<std::size_t> into = first_into_;
    for (std::size_t i = 0; i < links.size(); ++i) {
      const auto& [from, to, bandwidth, latency] = links[i];
      const std::uint32_t a = place(from).server;
      const std::uint32_t b = place(to).server;
      if (a == b && a != kNone) continue;
      if (a == kNone && b == kNone && !placing) {
        const int below = tiers_[place(from).local], above = tiers_[place(to).local];
        CONTEND_CHECK(std::abs(above - below) == (below > 0 || above > 0 ? 1 : 0) && (below > 0) == (above > 0),
                      "a link between switches of tiers joins two that follow each other");
      }
      if (!placing) {
        if (a != kNone) ++first_exit_[a + 1];
        if (b != kNone) ++first_entry_[b + 1];
        if (a == b) ++first_into_[place(to).local + 1];
      } else {
        if (a != kNone) exits_[exit[a]++] = {from, to, LinkId{i}};
        if (b != kNone) entries_[entry[b]++] = {to, from, LinkId{i}};
        if (a == b) into_[into[place(to).local]++] = LinkId{i};
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
  for (const LinkId link : into_) before_.push_back(place(links[link.index()].from).local);
}

void ShortestPaths::measure_server(std::size_t server) {
  const auto nodes =
      std::span{server_nodes_}.subspan(first_node_[server], first_node_[server + 1] - first_node_[server]);
  std::vector<NodeId> queue;
  for (const NodeId start : nodes) {
    Hops* row = &inner_[first_inner_[server] + place(start).local * nodes.size()];
    std::fill_n(row, nodes.size(), static_cast<Hops>(kFar));
    row[place(start).local] = 0;
    queue.assign(1, start);
    for (std::size_t head = 0; head < queue.size(); ++head) {
      const NodeId at = queue[head];
      if (at != start && !place(at).relays) continue;
      for (const Step& step : steps(at)) {
        const Place& there = places_[step.to];
        if (up_[step.link.index()] == 0 || there.server != server || row[there.local] != kFar) continue;
        row[there.local] = static_cast<Hops>(row[place(at).local] + 1);
        queue.emplace_back(step.to);
      }
    }
  }
}

const ShortestPaths::Hops* ShortestPaths::field(std::uint32_t goal) {
  std::vector<Hops>& hops = fields_[goal];
  if (!hops.empty()) return hops.data();
  hops.assign(switches_, static_cast<Hops>(kFar));
  hops[goal] = 0;
  queue_.assign(1, goal);
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const std::uint32_t at = queue_[head];
    if (hops[at] + 1U == kFar) break;
    for (std::size_t i = first_into_[at]; i < first_into_[at + 1]; ++i) {
      if (up_[into_[i].index()] == 0 || hops[before_[i]] != kFar) continue;
      if (!may_step(hops.data(), goal, before_[i], at)) continue;
      hops[before_[i]] = static_cast<Hops>(hops[at] + 1);
      queue_.push_back(before_[i]);
    }
  }
  return hops.data();
}

std::uint32_t ShortestPaths::inner_distance(NodeId from, NodeId to) const {
  const std::uint32_t server = place(from).server;
  const std::size_t size = first_node_[server + 1] - first_node_[server];
  return inner_[first_inner_[server] + place(from).local * size + place(to).local];
}

std::uint32_t ShortestPaths::fabric_distance(std::uint32_t at) const {
  std::uint32_t best = kFar;
  for (const Aim& aim : aims_) best = std::min(best, aim.field[at] + aim.rest);
  return best;
}

/// From a switch to the end of the path, if that only goes down.
std::uint32_t ShortestPaths::descent(std::uint32_t at) const {
  std::uint32_t best = kFar;
  for (const Aim& aim : aims_)
    if (aim.field[at] + tiers_[aim.at] == tiers_[at]) best = std::min(best, aim.field[at] + aim.rest);
  return best;
}

bool ShortestPaths::goes_down(LinkId link) const {
  const Link& it = topology_.links()[link.index()];
  return topology_.nodes()[it.from.index()].tier > topology_.nodes()[it.to.index()].tier;
}

std::uint32_t ShortestPaths::distance(NodeId at, bool has_gone_down) const {
  const Place& here = place(at);
  if (here.server == kNone) return has_gone_down ? descent(here.local) : fabric_distance(here.local);
  std::uint32_t best = here.server == place(to_).server ? inner_distance(at, to_) : kFar;
  if (has_gone_down || here.server != place(from_).server) return best;
  for (const Exit& exit : ways_out_) best = std::min(best, inner_distance(at, exit.node) + exit.rest);
  return best;
}

bool ShortestPaths::owns(NodeId gpu, NodeId interface) const {
  const auto& own = own_[gpu.index()];
  return std::find(own.begin(), own.end(), interface) != own.end();
}

const ShortestPaths::Goals& ShortestPaths::goals_of(NodeId gpu) {
  Goals& known = goals_[gpu.index()];
  if (known.version == version_) return known;
  known.version = version_;
  find_goals(gpu, false, known.goals);
  find_goals(gpu, true, known.own);
  return known;
}

void ShortestPaths::find_goals(NodeId gpu, bool only_own, std::vector<Goal>& goals) {
  std::vector<Goal> found;
  const std::uint32_t server = place(gpu).server;
  for (std::size_t i = first_entry_[server]; i < first_entry_[server + 1]; ++i) {
    const auto& [inside, outside, link] = entries_[i];
    if (up_[link.index()] == 0 || place(outside).server != kNone || !(inside == gpu || place(inside).relays)) continue;
    if (only_own && !owns(gpu, inside)) continue;
    const std::uint32_t rest = 1 + inner_distance(inside, gpu);
    if (rest < kFar) found.push_back({place(outside).local, rest});
  }
  // A switch is not a goal of a shortest path if the way through another goal is shorter, unless that way goes up from
  // where the path has come down. Of equal ones the first stays.
  goals.clear();
  for (std::size_t i = 0; i < found.size(); ++i) {
    bool useful = true;
    for (std::size_t j = 0; j < found.size() && useful; ++j) {
      const bool is_same = found[i].at == found[j].at;
      if (tiers_[found[i].at] > 0 && !is_same) continue;
      const std::uint32_t through = field(found[j].at)[found[i].at] + found[j].rest;
      useful = through >= found[i].rest && !(is_same && found[i].rest == found[j].rest && j < i);
    }
    if (useful) goals.push_back(found[i]);
  }
}

void ShortestPaths::take_aims(const std::vector<Goal>& goals) {
  aims_.clear();
  for (const Goal& goal : goals) aims_.push_back({field(goal.at), goal.at, goal.rest});
}

void ShortestPaths::find_exits(bool only_own) {
  ways_out_.clear();
  const std::uint32_t a = place(from_).server;
  const std::uint32_t b = place(to_).server;
  std::uint32_t best = kFar;
  for (std::size_t i = first_exit_[a]; i < first_exit_[a + 1]; ++i) {
    const auto& [inside, outside, link] = exits_[i];
    if (up_[link.index()] == 0 || !(inside == from_ || place(inside).relays)) continue;
    if (only_own && !owns(from_, inside)) continue;
    const Place& there = place(outside);
    std::uint32_t rest = kFar;
    if (there.server == kNone) {
      rest = 1 + fabric_distance(there.local);
    } else if (there.server == b && (outside == to_ || there.relays) && (!enters_own_ || owns(to_, outside))) {
      rest = 1 + inner_distance(outside, to_);
    }
    // Only exits on a shortest path from the source matter.
    const std::uint32_t whole = rest + inner_distance(from_, inside);
    if (whole > best || whole >= kFar) continue;
    if (whole < best) ways_out_.clear();
    best = whole;
    ways_out_.push_back({inside, rest});
  }
}

void ShortestPaths::prefer_own(const Goals& goals) {
  if (place(from_).server == place(to_).server) return;
  const std::uint32_t shortest = distance(from_);
  const auto holds_with = [&](bool leave_own, bool enter_own) {
    enters_own_ = enter_own;
    take_aims(enter_own ? goals.own : goals.goals);
    find_exits(leave_own);
    return distance(from_) == shortest;
  };
  if (holds_with(true, true) || holds_with(true, false) || holds_with(false, true)) return;
  static_cast<void>(holds_with(false, false));
}

void ShortestPaths::find_widths() {
  widths_.clear();
  const std::uint32_t server = place(from_).server;
  if (server != place(to_).server) return;
  const std::uint32_t hops = inner_distance(from_, to_);
  if (hops >= kFar || hops > distance(from_)) return;
  const auto nodes =
      std::span{server_nodes_}.subspan(first_node_[server], first_node_[server + 1] - first_node_[server]);
  widths_.assign(nodes.size(), 0);
  widths_[place(to_).local] = std::numeric_limits<double>::infinity();
  // From the end backwards, so that what lies behind a link is known.
  for (std::uint32_t left = 1; left <= hops; ++left) {
    for (const NodeId at : nodes) {
      if (inner_distance(at, to_) != left || !(at == from_ || place(at).relays)) continue;
      double& width = widths_[place(at).local];
      for (const Step& step : steps(at)) {
        if (up_[step.link.index()] == 0 || places_[step.to].server != server) continue;
        if (inner_distance(NodeId{step.to}, to_) + 1 == left) width = std::max(width, width_over(step));
      }
    }
  }
}

double ShortestPaths::width_over(const Step& step) const {
  return std::min(topology_.links()[step.link.index()].bandwidth.bytes_per_second(), widths_[places_[step.to].local]);
}

bool ShortestPaths::is_wide(const Step& step) const {
  if (widths_.empty()) return true;
  return places_[step.to].server == place(from_).server && width_over(step) >= widths_[place(from_).local];
}

std::vector<std::uint32_t> ShortestPaths::contact(NodeId gpu) const {
  const std::uint32_t server = place(gpu).server;
  std::vector<std::uint32_t> all;
  const auto add = [&](const Crossing& crossing, std::uint32_t inside, std::uint32_t direction) {
    if (up_[crossing.link.index()] == 0) return;
    all.insert(all.end(), {direction, crossing.outside.value(), inside});
  };
  for (std::size_t i = first_exit_[server]; i < first_exit_[server + 1]; ++i) {
    add(exits_[i], inner_distance(gpu, exits_[i].inside), 0);
  }
  for (std::size_t i = first_entry_[server]; i < first_entry_[server + 1]; ++i) {
    add(entries_[i], inner_distance(entries_[i].inside, gpu), 1);
  }
  return all;
}

bool ShortestPaths::aim(NodeId from, NodeId to) {
  const auto nodes = topology_.nodes();
  CONTEND_CHECK(nodes[from.index()].server.valid() && nodes[to.index()].server.valid() && from != to,
                "a route joins two different devices of servers");
  from_ = from;
  to_ = to;
  const Goals& goals = goals_of(to);
  enters_own_ = false;
  take_aims(goals.goals);
  find_exits(false);
  prefer_own(goals);
  find_widths();
  return distance(from) < kFar;
}

std::span<const LinkId> ShortestPaths::next(NodeId at, bool has_gone_down) {
  next_.clear();
  const std::uint32_t left = distance(at, has_gone_down);
  if (place(at).server == kNone) {
    add_next_of_switch(at, left, has_gone_down);
  } else {
    for (const Step& step : steps(at)) add_if_next(step, left, has_gone_down);
  }
  CONTEND_DCHECK(!next_.empty(), "a node on a shortest path has a path on");
  return next_;
}

void ShortestPaths::add_if_next(const Step& step, std::uint32_t left, bool has_gone_down) {
  ++examined_;
  std::uint32_t rest = kFar;
  const bool is_down = goes_down(step.link);
  if (step.to_switch != kNone ? is_down || !has_gone_down : step.to == to_.value() || places_[step.to].relays)
    rest = distance(NodeId{step.to}, has_gone_down || is_down);
  if (rest + 1 != left || up_[step.link.index()] == 0 || !is_wide(step)) return;
  const Link& link = topology_.links()[step.link.index()];
  const bool arrives = place(link.from).server != place(to_).server && places_[step.to].server == place(to_).server;
  if (!(arrives && enters_own_) || owns(to_, link.to)) next_.push_back(step.link);
}

void ShortestPaths::add_next_of_switch(NodeId at, std::uint32_t left, bool has_gone_down) {
  const std::size_t door = first_to_door_[place(at).local];
  const auto to_switches = std::span{steps_}.subspan(first_step_[at.index()], door - first_step_[at.index()]);
  const auto to_servers = std::span{steps_}.subspan(door, first_step_[at.index() + 1] - door);
  // Adds the sorted steps that have this key.
  const auto add_with = [&](std::span<const Step> sorted, std::uint32_t key, auto key_of) {
    auto step = std::lower_bound(sorted.begin(), sorted.end(), key,
                                 [&](const Step& a, std::uint32_t least) { return key_of(a) < least; });
    for (; step != sorted.end() && key_of(*step) == key; ++step) add_if_next(*step, left, has_gone_down);
  };
  const auto to_server = [&](std::uint32_t server) {
    add_with(to_servers, server, [&](const Step& step) { return places_[step.to].server; });
  };
  std::uint32_t nearest = kFar;
  for (const Aim& aim : aims_) nearest = std::min(nearest, aim.rest);
  if (left == nearest + 1) {
    // No other switch is as near to the end as the nearest goals.
    for (const Aim& aim : aims_) {
      if (aim.rest != nearest) continue;
      add_with(to_switches, aim.at, [](const Step& step) { return step.to_switch; });
    }
  } else if (left > nearest + 1) {
    for (const Step& step : to_switches) add_if_next(step, left, has_gone_down);
  }
  to_server(place(to_).server);
  if (place(from_).server != place(to_).server) to_server(place(from_).server);
  std::sort(next_.begin(), next_.end());
}

bool ShortestPaths::loses_paths(std::uint32_t goal, const Link& link) const {
  const std::vector<Hops>& field = fields_[goal];
  const std::uint32_t from = place(link.from).local, before = field[from];
  if (field[place(link.to).local] + 1U != before) return false;
  const auto out = steps(link.from);
  return std::none_of(out.begin(), out.end(), [&](const Step& step) {
    return up_[step.link.index()] != 0 && step.to_switch != kNone && field[step.to_switch] + 1U == before &&
           may_step(field.data(), goal, from, step.to_switch);
  });
}

void ShortestPaths::set_link_up(LinkId link, bool up) {
  if ((up_[link.index()] != 0) == up) return;
  up_[link.index()] = up ? 1 : 0;
  ++version_;
  const Link& changed = topology_.links()[link.index()];
  const Place& from = place(changed.from);
  const Place& to = place(changed.to);
  if (from.server != kNone || to.server != kNone) {
    if (from.server == to.server) measure_server(from.server);
    return;  // crossings between servers and fabric are checked in aim()
  }
  for (std::uint32_t goal = 0; goal < fields_.size(); ++goal) {
    std::vector<Hops>& hops = fields_[goal];
    if (hops.empty()) continue;
    const bool gains = up && hops[to.local] + 1U < hops[from.local];
    if (gains || (!up && loses_paths(goal, changed))) hops = {};
  }
}

}  // namespace contend
