#pragma once
// What the iteration of a job whose model is spread over GPUs is spent on.

#include "models/parallel/pipeline_plan.hpp"
#include "scenarios/spec/training_system.hpp"
#include "scenarios/training/parallel_job.hpp"
#include "sim/units.hpp"

#include <string_view>
#include <vector>

namespace contend {

/// What an iteration is spent on, on the rank that computes longest.
struct SpentPart {
  const char* key;   ///< of the JSON output
  const char* name;  ///< for people
  Time time;
  std::string_view
      limit;  ///< of the iteration in that part: computing, memory (too little of it), network, host, bubble
};

/// The parts add up to the iteration. The exposed time of a kind of communication is the time by which the iteration is
/// shorter without it: first without launches, then also without the ways to and from the host, then also without the
/// exchange of gradients and weights. The rest beside the passes and the update is messages from stage to stage.
[[nodiscard]] std::vector<SpentPart> parts_of_iteration(const TrainingSystem& system, const TrainingEntry& entry,
                                                        int gpus, const ParallelJob& job, const PipelineTimes& times,
                                                        Time iteration);

}  // namespace contend
