#pragma once
// The jobs of a list whose model is an entry of `serving`, `rl` or `federated`.

#include "scenarios/spec/training_system.hpp"
#include "traces/job_list.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace contend {

/// What the services of a run have in common.
struct ServingRun {
  std::uint64_t seed = 1;
  bool leaps = true;         ///< engine.leap
  std::string source;        ///< of the jobs, for messages: the job list
  std::string scheduling{};  ///< the policy
};

/// The jobs with their services. Their durations: for how long requests come, or what RL or federated training takes
/// undisturbed. Throws InputError with the rows that can't be, and with the requests that no replica can hold.
[[nodiscard]] std::shared_ptr<const JobList> with_services(const TrainingSystem& system, const ServingRun& run,
                                                           std::shared_ptr<const JobList> list);

}  // namespace contend
