#pragma once
// Random small clusters combine all features that can interact, for tests that compare two ways to run them. Durations,
// sizes and submit times come from small sets, so that ties and recurrences are common.

#include "network/alpha_beta.hpp"
#include "network/host_links.hpp"
#include "policies/registry.hpp"
#include "sim/simulation.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace contend::test {

/// A policy by name, with the parameters that differ from their defaults.
struct Choice {
  std::string name;
  std::vector<std::pair<std::string, ParameterValue>> parameters;
};

struct RandomCluster {
  std::uint64_t seed = 0;
  ClusterSpec cluster;
  std::vector<std::string> graphs;  ///< as text
  std::vector<JobSpec> jobs;
  Choice scheduling, placement, communication;
  AlphaBeta cost;
  bool contention = true;
  /// Makes the network in place of the network of `cost`, for so many jobs, if given.
  std::function<std::unique_ptr<NetworkModel>(std::size_t)> network;
  Interference interference;  ///< none unless a test sets it
  FailureSpec failures;
  PreemptionCosts costs;
  std::optional<StoreRates> store;
  HostRates hosts;
  std::vector<std::vector<JobSize>> sizes;  ///< of Workload; none unless a test gives jobs some
  /// Puts the scheduling policy inside another one, if given.
  std::function<std::unique_ptr<SchedulingPolicy>(std::unique_ptr<SchedulingPolicy>)> around;
  bool keeps_uses = false;
  Time until = Time::never();
  MeasuredWindow window;  ///< none unless a test sets it

  /// Runs it, with the placement policy inside another one if `wrap` is given.
  using Wrap = std::function<std::unique_ptr<PlacementPolicy>(std::unique_ptr<PlacementPolicy>)>;
  [[nodiscard]] RunResult run(bool leap, const Wrap& wrap = {}) const;
  /// Returns everything that determines the outcome, so that a reader can rebuild the case by hand.
  [[nodiscard]] std::string describe() const;
};

/// Returns the cluster of that seed, which is the same on every platform.
[[nodiscard]] RandomCluster random_cluster(std::uint64_t seed);

/// Has hosts launch operations of the graphs, one after the other or not, and gives ranks copies and further streams.
/// Some graphs get more iterations in flight, and a counter, of each job or of several.
void add_lanes(RandomCluster& cluster);

/// Has some collectives run in listed groups of ranks, which need not have all ranks.
void add_lists(RandomCluster& cluster);

/// Gives the cluster a fabric of flows, on which a cable carries what an interface did.
void add_flows(RandomCluster& cluster);

/// Makes the policy of that name with its default parameters, except for the given ones.
template <class Port>
[[nodiscard]] std::unique_ptr<Port> make_policy(std::span<const PolicyRow<Port>> table, const Choice& choice,
                                                const PolicyContext& context);

}  // namespace contend::test
