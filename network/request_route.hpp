#pragma once
// A RequestRoute is what a fabric carries for one request of a job: steps of coupled flows, with their links. It is
// kept, because a job repeats its requests.

#include "network/collectives/collective_run.hpp"
#include "network/collectives/hosted_servers.hpp"
#include "network/flow_network.hpp"
#include "network/link_ledger.hpp"
#include "network/routing.hpp"
#include "network/topology.hpp"
#include "sim/ports.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace contend {

/// The route of the messages of one request at one age of the fabric.
struct RequestRoute {
  struct Step {
    CoupledFlow flow;
    double solo_rate = 0;  ///< bytes per nanosecond on the idle network
    std::uint64_t solo_age = 0;
    double before = 0;  ///< bytes of the steps before
    FlowHistory history;
    std::size_t logged = 0;  ///< number in the TransferLog, plus 1
  };
  JobId job;
  OpKind kind = OpKind::collective;
  CollectiveKind collective = CollectiveKind::all_reduce;
  CollectiveScope scope = CollectiveScope::all;
  RankGroups groups;
  Bytes bytes;
  int times = 1;
  std::vector<GpuId> gpus, peers;
  Time start_up;  ///< before the first step
  Time solo;
  std::vector<Step> steps;
  double total = 0;                              ///< bytes over all steps, of the rank that sends most
  std::optional<std::pair<NodeId, NodeId>> cut;  ///< the first pair without a route; none: every message has one
  bool is_claimed = false;                       ///< its links are among the LinkClaims of the job
  std::uint64_t age = 0;
  std::size_t logged = 0;  ///< as of a step, if there are none

  [[nodiscard]] bool serves(const TransferRequest& request) const;
  /// The request that it serves, without the servers. It refers to this object.
  [[nodiscard]] TransferRequest request() const;
};

/// Finds the routes of requests. Refers to its arguments.
class RouteFinder {
 public:
  RouteFinder(const Topology& topology, const Router& router, const FlowNetworkOptions& options);

  /// The messages of the request: the messages of each of its groups; none of a request without bytes.
  [[nodiscard]] std::vector<ServedExchange> parts_of(const TransferRequest& request) const;
  /// The route, with what `solo_rate` says of each step on the idle network, and with the solo time that follows.
  [[nodiscard]] RequestRoute find(const TransferRequest& request,
                                  const std::function<double(const CoupledFlow&)>& solo_rate) const;

 private:
  [[nodiscard]] std::vector<std::vector<NodeId>> groups_of(const TransferRequest& request) const;

  const Topology& topology_;
  const Router& router_;
  const FlowNetworkOptions& options_;
  std::vector<NodeId> hosts_;  // by server, if any job has parameter servers
};

}  // namespace contend
