#include "models/federated/aggregation.hpp"

#include "models/federated/federated_loop.hpp"

#include <algorithm>

namespace contend {
namespace {

/// Calls `level(inputs, aggregators)` from the leaves up.
template <class Level>
void for_levels(const AggregationTree& tree, std::int64_t updates, const Level& level) {
  for (std::int64_t inputs = updates; inputs > 1;) {
    const std::int64_t aggregators = (inputs + tree.fan_in - 1) / tree.fan_in;
    level(inputs, aggregators);
    inputs = aggregators;
  }
}

Time moved(Bytes bytes, ByteRate rate) {
  return rate == ByteRate{} ? Time{} : transfer_time(bytes, rate);
}

}  // namespace

int tree_levels(const AggregationTree& tree, std::int64_t updates) {
  int levels = 0;
  for_levels(tree, updates, [&](std::int64_t, std::int64_t) { ++levels; });
  return levels;
}

std::int64_t tree_aggregators(const AggregationTree& tree, std::int64_t updates) {
  std::int64_t all = 0;
  for_levels(tree, updates, [&](std::int64_t, std::int64_t aggregators) { all += aggregators; });
  return all;
}

Time tree_time(const AggregationTree& tree, std::int64_t updates, Bytes update) {
  Time time;
  bool is_leaf = true;
  for_levels(tree, updates, [&](std::int64_t inputs, std::int64_t) {
    time += moved(update, tree.memory) * std::min(inputs, tree.fan_in);
    if (!is_leaf && inputs > tree.per_node) time += moved(update, tree.link);
    is_leaf = false;
  });
  return time;
}

Time WarmAggregators::wait(const AggregationTree& tree, std::int64_t updates, Time now, Time busy) {
  const std::int64_t needed = tree_aggregators(tree, updates);
  if (needed == 0) return {};
  const std::int64_t there = now <= until_ ? there_ : 0;
  const Time wait = needed > there ? tree.start : Time{};
  there_ = std::max(there, needed);
  until_ = now + wait + busy + tree.keep;
  return wait;
}

}  // namespace contend
