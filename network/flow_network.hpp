#pragma once
// This is the network model of the fidelity `flow`: transfers are fluids on a topology and share every link max-min
// fairly.
//
// A message is a flow along its route. A collective is a sequence of steps (network/collectives), each of them one
// coupled flow over the links of all its messages (collectives/collective_run.hpp): its connections progress together,
// and on a link each of them has the share of a single flow. A transfer takes `alpha` once, the latencies of the routes
// of its steps, and the time to send its bytes at the fair rate, which is recomputed whenever a flow starts or ends or
// a link changes. A transfer whose time a library expects takes that time instead, or longer where its links are slower
// or shared (CollectiveSchedule::expected). A connection keeps its path while the fabric does not change: the hash of
// ECMP depends on job, sender and receiver.
//
// New routes avoid a link that fails. Flows on it move to another route with their remaining bytes, or stall until
// there is one. take_stalls() tells since when.
//
// A job leaps if no other job has a route over its links and nothing of its own is in the network, because then its
// next iterations depend on itself alone: rates are real numbers, so the state of flows in progress isn't compared.
// The iterations that a leap skips are added to the histories of its flows period by period, so that they equal
// the histories of a run event by event. Nothing leaps if links change, if the router plans with all jobs, or if delays
// are watched.
//
// Assumptions: fluid limit (messages much longer than a packet and a window), fair transport, no loss, no cost of
// incast. The model is wrong for short messages in deep queues, and for the first round trips of a congestion control.

#include "network/collectives/algorithm.hpp"
#include "network/collectives/hosted_servers.hpp"
#include "network/link_changes.hpp"
#include "network/link_use.hpp"
#include "network/max_min_rates.hpp"
#include "network/topology.hpp"
#include "sim/ports.hpp"
#include "sim/units.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace contend {

/// The parameters of the model.
struct FlowNetworkOptions {
  Time alpha;                      ///< start-up time of a transfer
  Time step_overhead;              ///< time of each step of a collective, in addition to the latency of its routes
  double in_flight = 0;            ///< CollectiveOptions::in_flight of every message
  std::vector<double> efficiency;  ///< LinkEfficiency::factors of every link
  double nic_penalty = 0;          ///< LinkEfficiency::penalty of the links between NICs and fabric
  double inside = 1, between = 1;  ///< factors on the bandwidth of links inside servers, and of all others
  Time link_interval;              ///< length of the samples of link utilisation; 0: no samples
  std::vector<LinkEvent> events;   ///< in any order
  std::vector<FailingLinks> failing;
  std::uint64_t failing_seed = 1;
  std::vector<HostedServers> served;           ///< by job; empty: no job has parameter servers
  TakeLinkUses uses;                           ///< gets what jobs sent over links, if given
  TakeStalls stalls;                           ///< gets the transfers that stand still at the end, if given
  std::vector<bool> watched;                   ///< by job: NetworkReport::delays has its delays; empty: none has
  std::function<std::string(JobId)> job_name;  ///< for messages; without, jobs have their numbers
  /// Returns the schedule of a collective over these GPUs and may reorder them: GPU i becomes rank i.
  std::function<CollectiveSchedule(CollectiveKind, Bytes, std::vector<NodeId>& gpus)> schedule;
};

/// A network on the topology, whose gpus() are the GPUs of the cluster in order of GpuId.
std::unique_ptr<NetworkModel> make_flow_network(std::unique_ptr<const Topology> topology,
                                                std::unique_ptr<Router> router, FlowNetworkOptions options,
                                                std::size_t jobs);

}  // namespace contend
