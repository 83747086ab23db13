#pragma once
// Runs a study of one iteration (`overlap.*`): its model, one problem for each number of workers, one row a policy.

#include "models/layers.hpp"
#include "models/overlap/bound.hpp"
#include "models/overlap/steady_state.hpp"
#include "scenarios/scenario.hpp"
#include "scenarios/study/study_messages.hpp"
#include "sim/graph.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace contend {

/// Whether a study has a file of times for some layers of its model and a calibrated device for the others.
[[nodiscard]] bool completes_table(const IterationStudy& study);
/// The model with its layer times, scaled if the study says so. Throws InputError.
[[nodiscard]] TimedModel overlap_model(const IterationStudy& study);
/// Throws InputError, e.g. for a network that no closed form describes. `peers` says who swaps with whom where links
/// differ (overlap.links).
[[nodiscard]] ExchangeCost overlap_cost(const Scenario& scenario, int workers, const PeerRule& peers = {});
[[nodiscard]] OverlapProblem overlap_problem(const Scenario& scenario, const TimedModel& model, int workers);

struct StudyRow {
  int workers = 1;
  int per_server = 1;          ///< workers on each server
  std::string compression;     ///< method, and its parameters that are not the usual ones
  std::string policy;          ///< of fusion, likewise
  double iteration_s = 0;      ///< mean over the phases of the compression method
  double compute_s = 0;        ///< forward and backward
  double compression_s = 0;    ///< kernels of compression
  double exposed_s = 0;        ///< iteration without computing and those kernels: communication that nothing hides
  double throughput = 0;       ///< samples per second of all workers
  double efficiency = 0;       ///< throughput over workers x that of one worker alone, 0..1
  std::size_t messages = 0;    ///< collectives an iteration, of the phase that has most
  double sent_bytes = 0;       ///< by a worker over its links: SentVolume::by_worker
  double interface_bytes = 0;  ///< by a server through its interface: SentVolume::by_interface
  /// Iteration x iterations_to_target of the method: time for the progress of one iteration without compression. NaN if
  /// the study doesn't say.
  double progress_s = std::numeric_limits<double>::quiet_NaN();
  double bound_s = 0;   ///< IterationBound for the staleness of the policy; with compression: computing
  bool stale = false;   ///< it trains with gradients that are a step old
  bool settled = true;  ///< the state recurred; else the time is a mean over many iterations
  std::string refused;  ///< why the policy can't work here; then there are no figures

  /// How far from the best that any schedule could reach: iteration / bound - 1.
  [[nodiscard]] double above_bound() const { return iteration_s / bound_s - 1; }
  std::vector<OverlapPhase> phases;  ///< the messages of each phase, if asked for
};

enum class StudyDetail : std::uint8_t { figures, messages };

/// How many rows a study has.
[[nodiscard]] std::size_t overlap_rows(const IterationStudy& study);
/// By workers, then compression, then fusion policies, in the order of the study.
[[nodiscard]] std::vector<StudyRow> run_overlap(const Scenario& scenario, StudyDetail detail = StudyDetail::figures);
/// The same with the overlap_model() of the study, for those who have it already. `ended` is called after each row;
/// false ends the study there.
[[nodiscard]] std::vector<StudyRow> run_overlap(const Scenario& scenario, const TimedModel& model,
                                                StudyDetail detail = StudyDetail::figures,
                                                const std::function<bool()>& ended = {});

/// One settled iteration of one policy for a timeline: what begins between the ends of two backward passes.
struct StudyTimeline {
  IterationGraph graph;
  std::vector<Span> spans;  ///< in order of their ends; time 0 is the end of the backward pass before
  Time iteration;
};
/// Of the first number of workers and the first policies; of several phases the last. Throws InputError.
[[nodiscard]] StudyTimeline overlap_timeline(const Scenario& scenario);

}  // namespace contend
