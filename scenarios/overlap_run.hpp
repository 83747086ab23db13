#pragma once
// Runs a study of one iteration (`overlap.*`): its model, one problem for each number of workers, one row a policy.

#include "models/layers.hpp"
#include "models/overlap/bound.hpp"
#include "models/overlap/steady_state.hpp"
#include "scenarios/scenario.hpp"
#include "sim/graph.hpp"

#include <string>
#include <vector>

namespace contend {

/// The model with its layer times, scaled if the study says so. Throws InputError.
[[nodiscard]] TimedModel overlap_model(const OverlapStudy& study);
/// Throws InputError, e.g. for a network that no closed form describes. `peers` says who swaps with whom where links
/// differ (overlap.links).
[[nodiscard]] ExchangeCost overlap_cost(const Scenario& scenario, int workers, const PeerRule& peers = {});
[[nodiscard]] OverlapProblem overlap_problem(const Scenario& scenario, const TimedModel& model, int workers);

struct OverlapRow {
  int workers = 1;
  int per_server = 1;          ///< workers on each server
  std::string compression;     ///< method, and its parameters that are not the usual ones
  std::string policy;          ///< of fusion, likewise
  double iteration_s = 0;      ///< mean over the phases of the compression method
  double compression_s = 0;    ///< kernels of compression
  double exposed_s = 0;        ///< iteration without computing and those kernels: communication that nothing hides
  double throughput = 0;       ///< samples per second of all workers
  double efficiency = 0;       ///< throughput over workers x that of one worker alone, 0..1
  std::size_t messages = 0;    ///< collectives an iteration
  double sent_bytes = 0;       ///< by a worker over its links: SentVolume::by_worker
  double interface_bytes = 0;  ///< by a server through its interface: SentVolume::by_interface
  double bound_s = 0;          ///< IterationBound for the staleness of the policy; with compression: computing
  bool stale = false;          ///< it trains with gradients that are a step old
  bool settled = true;         ///< the state recurred; else the time is a mean over many iterations
  std::string refused;         ///< why the policy can't work here; then there are no figures

  /// How far from the best that any schedule could reach: iteration / bound - 1.
  [[nodiscard]] double above_bound() const { return iteration_s / bound_s - 1; }
};

/// By workers, then compression, then fusion policies, in the order of the study.
[[nodiscard]] std::vector<OverlapRow> run_overlap(const Scenario& scenario);
/// The same with the overlap_model() of the study, for those who have it already.
[[nodiscard]] std::vector<OverlapRow> run_overlap(const Scenario& scenario, const TimedModel& model);

/// One settled iteration of one policy for a timeline: what begins between the ends of two backward passes.
struct OverlapTimeline {
  IterationGraph graph;
  std::vector<Span> spans;  ///< in order of their ends; time 0 is the end of the backward pass before
  Time iteration;
};
/// Of the first number of workers and the first policies; of several phases the last. Throws InputError.
[[nodiscard]] OverlapTimeline overlap_timeline(const Scenario& scenario);

}  // namespace contend
