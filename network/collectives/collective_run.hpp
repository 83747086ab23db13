#pragma once
// A collective on a topology: its messages as flows that share the links, nothing else on the network.
//
// A message sends from the start of its step; its last byte arrives the latency of its route after it was sent. A step
// ends when all messages have arrived and what they brought is reduced, gamma per byte on the rank that reduces most.
//
// A repeated step (StepForm::steady) runs as one coupled flow: one flow in the sense of fair sharing that crosses each
// link with the share that all its messages together have there, and moves the bytes of one message. Alone on the
// network, where all messages of the step have one size, that is exact but for latency: the slowest of them run at the
// max-min level of the tightest link from the beginning to the end of every step. It takes the largest latency of all
// messages, which is exact if a message across the tightest link has it, as in a ring on symmetric fabric, and too much
// otherwise. Beside other traffic it is an approximation: messages that are faster than the slowest are held back to
// its pace, so the load on their links is spread over the step.

#include "network/collectives/schedule.hpp"
#include "network/routing.hpp"

#include <span>
#include <vector>

namespace contend {

struct CollectiveOptions {
  TimePerByte gamma{};      ///< for reducing
  Time overhead{};          ///< of each step before it sends
  std::uint64_t label = 0;  ///< of the flows, for routers that choose paths by it
};

/// Steps of one shape as one flow.
struct CoupledFlow {
  std::vector<LinkShare> links;  ///< in order of id
  double bytes = 0;              ///< of one rank that sends most, over all steps
  Time fixed;                    ///< latency, overhead and reduction of all steps
};

/// A flow for each step of the schedule; neighbours that load the links equally are one. GPU i is rank i. A ring
/// all-reduce in steady form is a single flow, made in O(ranks x length of a route).
[[nodiscard]] std::vector<CoupledFlow> coupled_flows(const CollectiveSchedule& schedule, std::span<const NodeId> gpus,
                                                     const Topology& topology, const Router& router,
                                                     const CollectiveOptions& options);

struct CollectiveRun {
  Time end;                     ///< it starts at 0
  std::vector<double> carried;  ///< bytes by link
  std::size_t flows = 0;
};

/// Runs the schedule from time 0; GPU i is rank i, as many as ranks and all different. In debug builds the bytes on
/// every link are held against those that routing demands.
[[nodiscard]] CollectiveRun run_collective(const CollectiveSchedule& schedule, std::span<const NodeId> gpus,
                                           const Topology& topology, const Router& router,
                                           const CollectiveOptions& options = {});

}  // namespace contend
