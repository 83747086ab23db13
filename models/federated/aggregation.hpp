#pragma once
// How long the server of federated training takes to make one version of the updates that it has: a time, work for each
// pair of them, and a tree of aggregators.

#include "sim/units.hpp"

#include <cstdint>

namespace contend {

/// A tree of aggregators on nodes, as in LIFL (Qi et al., arXiv 2405.10968): each adds up to `fan_in` payloads, which
/// it reads from the memory of its node. A node is filled before the next one has any, so that a level whose inputs
/// are on one node moves nothing between nodes; other levels send a payload from each of their aggregators.
struct AggregationTree {
  std::int64_t fan_in = 2;    ///< >= 2
  std::int64_t per_node = 1;  ///< aggregators that a node has at most, >= 1
  ByteRate memory{};          ///< at which an aggregator adds up payloads; 0: at once
  ByteRate link{};            ///< between nodes; 0: at once
  Time start{};               ///< of aggregators that aren't there yet, all at once
  Time keep{};                ///< for which aggregators stay after their last version
  bool operator==(const AggregationTree&) const = default;
};

/// Levels of the tree: ceil(log_fan_in updates); one update needs none. Aggregators of all levels together.
[[nodiscard]] int tree_levels(const AggregationTree& tree, std::int64_t updates);
[[nodiscard]] std::int64_t tree_aggregators(const AggregationTree& tree, std::int64_t updates);
/// The time in which aggregators that have started add up so many updates of so many bytes each.
[[nodiscard]] Time tree_time(const AggregationTree& tree, std::int64_t updates, Bytes update);

/// The aggregators that are there, from version to version.
class WarmAggregators {
 public:
  /// For how long a version that begins now waits for aggregators to start. It ends after further `busy`.
  [[nodiscard]] Time wait(const AggregationTree& tree, std::int64_t updates, Time now, Time busy);

 private:
  std::int64_t there_ = 0;
  Time until_;
};

}  // namespace contend
