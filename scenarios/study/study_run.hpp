#pragma once
// Runs an iteration study (`overlap.*`): a run of one job for each number of workers, compression method and fusion
// policy. The fast executor of one job takes the place of the engine, which gives the same to the nanosecond.

#include "models/layers.hpp"
#include "scenarios/scenario.hpp"
#include "scenarios/study/study_messages.hpp"
#include "sim/job.hpp"
#include "sim/result.hpp"
#include "sim/simulation.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace contend {

/// What one job of a study trains.
struct StudyVariant {
  int workers = 1;
  PolicyChoice compression, fusion;

  [[nodiscard]] std::string name() const;  ///< `8 workers, none, wfbp`: the name of the job
};
/// By workers, then compression, then fusion, in the order of the study.
[[nodiscard]] std::vector<StudyVariant> study_variants(const IterationStudy& study);

struct StudyHooks {
  unsigned threads = 1;                               ///< does not change the results
  std::function<bool(const Progress&)> monitor = {};  ///< called after each job, by one thread at a time; false ends it
  const TimedModel* model = nullptr;                  ///< takes the place of study_model()
};
/// Runs each variant as a job of one iteration, which takes what an iteration takes once training has settled, as a
/// mean over the phases of its method. A job whose policies can't work together has failed, with the reason. Of jobs
/// that start, times of transfers are not known. A study that ends early has the jobs before the first that is missing.
/// Throws InputError.
[[nodiscard]] RunResult run_study(const TrainingSystem& system, const StudyHooks& hooks = {});
/// A variant as a run of a cluster: a job that fills the servers, which are as many as it needs.
struct StudyJob {
  Scenario scenario;  ///< without the study
  Workload workload;
};
/// The job does so many iterations. Throws InputError if its policies can't work together.
[[nodiscard]] StudyJob study_job(const TrainingSystem& system, const StudyVariant& variant, std::int64_t iterations);

/// The policies of one of its jobs: `top-k with dear`, or `dear` if nothing is compressed.
[[nodiscard]] std::string policies_of(const JobResult& job);

/// The complaint that nothing of the study can be done, if so; else nothing. It is at the place of the key to blame.
[[nodiscard]] std::vector<Complaint> why_impossible(const IterationStudy& study, const RunResult& result);

/// Of each job whose policies can work together; without `explained` only the sizes and the closed forms of their
/// messages. Throws InputError.
[[nodiscard]] std::vector<StudyMessages> messages_of_study(const TrainingSystem& system, unsigned threads = 1,
                                                           bool explained = true);

}  // namespace contend
