#include "models/overlap/phases.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace contend {
namespace {

bool same_channels(const IterationGraph& a, const IterationGraph& b) {
  return std::ranges::equal(a.channels(), b.channels(), [](const Channel& x, const Channel& y) {
    return std::tie(x.name, x.messages, x.window) == std::tie(y.name, y.messages, y.window);
  });
}

/// What names operations apart in timelines and recordings.
class UniqueNames {
 public:
  std::string of(std::string name, std::size_t phase) {
    if (!used_.insert(name).second) {
      name += " in phase " + std::to_string(phase);
      CONTEND_CHECK(used_.insert(name).second, "an iteration names its operations apart");
    }
    return name;
  }

 private:
  std::set<std::string> used_;
};

}  // namespace

FusedIteration join_phases(const IterationPhases& phases, std::vector<FusedIteration> planned) {
  CONTEND_CHECK(planned.size() == phases.count(), "each phase has its iteration");
  if (planned.size() == 1) return std::move(planned.front());
  const std::size_t common = planned.front().common;
  const IterationGraph& first = planned.front().graph;
  FusedIteration joined{first.without_operations(), {}, common};
  joined.graph.set_phases(phases);
  UniqueNames names;
  for (std::size_t i = 0; i < common; ++i) {
    Op op = first.ops()[i];
    op.name = names.of(std::move(op.name), 0);
    joined.graph.add(std::move(op));
  }
  std::set<std::tuple<OpId, OpId, int>> known;  // dependencies between passes of layers
  for (std::size_t phase = 0; phase < planned.size(); ++phase) {
    const FusedIteration& from = planned[phase];
    CONTEND_CHECK(from.graph.roles().size() == first.roles().size(), "the phases of a job have the same roles");
    // A planner may choose other channels for a phase. They are channels of their own then.
    const bool are_same = same_channels(from.graph, first);
    const std::size_t shift = are_same ? 0 : joined.graph.channels().size();
    if (!are_same)
      for (const Channel& each : from.graph.channels())
        joined.graph.add_channel(each.name + " in phase " + std::to_string(phase), each.messages, each.window);
    std::vector<OpId> becomes;
    for (std::size_t i = 0; i < common; ++i) becomes.emplace_back(i);
    for (std::size_t i = common; i < from.graph.ops().size(); ++i) {
      Op op = from.graph.ops()[i];
      op.name = names.of(std::move(op.name), phase);
      if (op.channel.valid()) op.channel = ChannelId{op.channel.index() + shift};
      becomes.push_back(joined.graph.add(std::move(op)));
      joined.graph.put_into_phase(phase, becomes.back());
    }
    for (const Dependency& each : from.graph.dependencies()) {
      const bool is_common = each.before.index() < common && each.after.index() < common;
      if (is_common && !known.insert({each.before, each.after, each.lag}).second) continue;
      CONTEND_CHECK(!is_common || phase == 0,
                    "the passes of layers depend on each other in the same way in all phases");
      joined.graph.add_dependency(becomes[each.before.index()], becomes[each.after.index()], each.lag);
    }
    for (SentMessage message : from.messages) {
      for (OpId& op : message.ops) op = becomes[op.index()];
      message.phase = phase;
      joined.messages.push_back(std::move(message));
    }
  }
  return joined;
}

IterationGraph graph_of_phase(const IterationGraph& graph, std::size_t phase) {
  IterationGraph only = graph.without_operations();
  std::vector<OpId> becomes;
  for (Op op : graph.ops()) {
    const bool stays = op.is_in(phase);
    op.phase = kEveryPhase;
    becomes.push_back(stays ? only.add(std::move(op)) : OpId::none());
  }
  for (const Dependency& each : graph.dependencies()) {
    const OpId before = becomes[each.before.index()], after = becomes[each.after.index()];
    if (before.valid() && after.valid()) only.add_dependency(before, after, each.lag);
  }
  return only;
}

std::vector<SharedGraph> repeating_graphs(const IterationGraph& graph) {
  if (graph.phases().repeats()) return {{graph, 1}};
  const std::vector<double> shares = graph.phases().shares();
  std::vector<SharedGraph> graphs;
  for (std::size_t phase = 0; phase < shares.size(); ++phase) {
    if (shares[phase] > 0) graphs.push_back({graph_of_phase(graph, phase), shares[phase]});
  }
  return graphs;
}

double mean_compute_s(const IterationGraph& graph) {
  const std::vector<double> shares = graph.phases().shares();
  double mean = 0;
  for (std::size_t phase = 0; phase < shares.size(); ++phase)
    mean += shares[phase] * graph.compute_per_rank(RoleId{0U}, phase).to_seconds();
  return mean;
}

}  // namespace contend
