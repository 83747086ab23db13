#pragma once
// Runs a study of one iteration (`overlap.*`): a row of figures for each number of workers and each pair of policies.

#include "models/layers.hpp"
#include "scenarios/scenario.hpp"
#include "scenarios/study/study_messages.hpp"
#include "sim/result.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace contend {

struct StudyRow {
  int workers = 1;
  int per_server = 1;        ///< workers on each server
  std::string compression;   ///< method, and its parameters that are not the usual ones
  std::string policy;        ///< of fusion, likewise
  double iteration_s = 0;    ///< mean over the phases of the compression method
  double compute_s = 0;      ///< forward and backward
  double compression_s = 0;  ///< kernels of compression
  double exposed_s = 0;      ///< iteration without computing and those kernels: communication that nothing hides
  double throughput = 0;     ///< samples per second of all workers
  double efficiency = 0;     ///< throughput over workers x that of one worker alone, 0..1
  IterationTraffic traffic;
  /// Iteration x iterations_to_target of the method: time for the progress of one iteration without compression. NaN if
  /// the study doesn't say.
  double progress_s = std::numeric_limits<double>::quiet_NaN();
  double bound_s = 0;   ///< IterationBound for the staleness of the policy; with compression: computing
  bool stale = false;   ///< it trains with gradients that are a step old
  bool settled = true;  ///< the state recurred; else the time is a mean over many iterations
  std::string refused;  ///< why the policy can't work here; then there are no figures

  /// How far from the best that any schedule could reach: iteration / bound - 1.
  [[nodiscard]] double above_bound() const { return iteration_s / bound_s - 1; }
  std::vector<StudyPhase> phases;  ///< the messages of each phase, if asked for
};

enum class StudyDetail : std::uint8_t { figures, messages };

/// How many rows a study has.
[[nodiscard]] std::size_t study_row_count(const IterationStudy& study);
/// By workers, then compression, then fusion policies, in the order of the study.
[[nodiscard]] std::vector<StudyRow> run_study(const Scenario& scenario, StudyDetail detail = StudyDetail::figures);
struct StudyHooks {
  unsigned threads = 1;              ///< does not change the rows
  std::function<bool()> ended = {};  ///< called after each row, by one thread at a time; false ends the study
};
/// The same with the study_model() of the study, for those who have it already. A study that ends early has the rows
/// before the first that is missing.
[[nodiscard]] std::vector<StudyRow> run_study(const Scenario& scenario, const TimedModel& model,
                                              StudyDetail detail = StudyDetail::figures, const StudyHooks& hooks = {});

}  // namespace contend
