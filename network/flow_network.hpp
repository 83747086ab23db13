#pragma once
// Network fidelity `flow`: transfers as fluids on a topology, max-min fair on every link.
//
// A message is a flow along its route. A collective is a sequence of steps (network/collectives), each of them one
// coupled flow over the links of all its messages (collectives/run.hpp): its connections move together, and on a link
// each of them has the share of a single flow. A transfer costs `alpha` once, the latencies of the routes of its steps,
// and then what the bytes take at the rate that fair sharing gives, re-evaluated whenever a flow starts, ends, or a
// link changes. Connections keep their path while the fabric stays as it is: the hash of ECMP sees job, sender and
// receiver.
//
// A link that fails takes new routes off it; flows on it move to another route with what they have still to send, or
// stall until there is one. Leaping over recurring states is not possible with this model: rates are real numbers.
//
// Assumptions: fluid limit (messages much longer than a packet and a window), fair transport, no loss, no cost of
// incast. Wrong for short messages in deep queues, and for the first round trips of a congestion control.

#include "network/collectives/algorithm.hpp"
#include "network/max_min_rates.hpp"
#include "network/topology.hpp"
#include "sim/ports.hpp"
#include "sim/units.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace contend {

/// From `time` on the link has `factor` times its bandwidth; 0: it has failed.
struct LinkEvent {
  Time time;
  LinkId link;
  double factor = 1;
};

struct FlowNetworkOptions {
  Time alpha;                      ///< start-up of a transfer
  Time step_overhead;              ///< of each step of a collective, beside the latency of its routes
  std::vector<double> efficiency;  ///< of every link: LinkEfficiency::factors
  double nic_penalty = 0;          ///< of the links between NICs and fabric: LinkEfficiency::penalty
  Time link_interval;              ///< length of the samples of link utilisation; 0: none
  std::vector<LinkEvent> events;   ///< in any order
  /// The schedule of a collective over these GPUs, in the order of ranks that the function may choose.
  std::function<CollectiveSchedule(CollectiveKind, Bytes, std::vector<NodeId>& gpus)> schedule;
};

/// `gpus` of the topology are those of the cluster, in order of GpuId.
std::unique_ptr<NetworkModel> make_flow_network(std::unique_ptr<const Topology> topology,
                                                std::unique_ptr<Router> router, FlowNetworkOptions options,
                                                std::size_t jobs);

}  // namespace contend
