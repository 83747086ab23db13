#pragma once
// Runs a collective on an idle topology: its messages are flows that share the links, and there is no other traffic.
//
// The last byte of a message arrives the latency of its route after it was sent, and is then reduced at gamma per byte.
// In lock-step a message starts to send at the start of its step, which ends when all messages have arrived and are
// reduced on the rank that reduces most. By rank (CollectiveSchedule::by_rank) a message starts when its ranks let it.
//
// A repeated step (StepForm::steady) runs as one coupled flow. In fair sharing it is one flow; it crosses each link
// with the share that all its messages together have there, and moves the bytes of one message. Alone on the network,
// if all messages of the step have one size, this is exact except for latency: the slowest messages run at the max-min
// level of the tightest link during all of every step. In lock-step the coupled flow takes the largest latency of all
// messages. By rank it takes the latencies (and reductions) that follow each other on the way of the data from rank to
// rank, beside the time to send: for a ring the latencies of as many hops as there are steps. Both are exact if the
// messages with the largest latency are as slow as the slowest, as in a ring on a symmetric fabric, and otherwise too
// much, but by no more than the latencies, because fast messages gain time on the tightest link.
// With other traffic it is an approximation: messages faster than the slowest are slowed down to its pace, so the load
// on their links is spread over the step.

#include "network/collectives/schedule.hpp"
#include "network/routing.hpp"

#include <span>
#include <vector>

namespace contend {

/// The parameters of a run.
struct CollectiveOptions {
  TimePerByte gamma{};      ///< time to reduce a byte
  Time overhead{};          ///< time of each step before it sends
  std::uint64_t label = 0;  ///< label of the flows for Router::route
  double in_flight = 0;     ///< bytes of a message that may be under way; 0: any number

  /// Bound on the rate of a message in bytes per second, if its route takes so long: what may be under way over the
  /// round trip, which takes twice as long. 0: none.
  [[nodiscard]] double most_over(Time latency) const {
    return in_flight > 0 && latency > Time{} ? in_flight / (2 * latency.to_seconds()) : 0;
  }
};

/// Steps of one shape as one flow.
struct CoupledFlow {
  std::vector<LinkShare> links;  ///< in order of id
  double bytes = 0;              ///< sent by a rank that sends most, over all steps
  double cap = 0;                ///< bound on its rate in bytes per second; 0: none
  Time fixed;                    ///< latency, overhead and reduction of all steps
};

/// The coupled flows of the schedule, one for each step; consecutive steps that load the links equally are one flow.
/// If the schedule has LibraryTime, all are one, which takes that time if the links allow it.
/// GPU i is rank i. A ring all-reduce in steady form is a single flow, made in O(ranks x length of a route).
[[nodiscard]] std::vector<CoupledFlow> coupled_flows(const CollectiveSchedule& schedule, std::span<const NodeId> gpus,
                                                     const Topology& topology, const Router& router,
                                                     const CollectiveOptions& options);

/// The result of a run.
struct CollectiveRun {
  Time end;                     ///< duration; the run starts at 0
  std::vector<double> carried;  ///< bytes by link
  std::size_t flows = 0;        ///< number of flows started
};

/// Runs the schedule from time 0. GPU i is rank i; there are as many GPUs as ranks, all different. Debug builds compare
/// the bytes on every link with those that the routes require.
[[nodiscard]] CollectiveRun run_collective(const CollectiveSchedule& schedule, std::span<const NodeId> gpus,
                                           const Topology& topology, const Router& router,
                                           const CollectiveOptions& options = {});

}  // namespace contend
