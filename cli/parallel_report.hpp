#pragma once
// Prints how the models that jobs spread over several GPUs are divided, what their iterations take, and what their GPUs
// hold.

#include "cli/iteration_parts.hpp"
#include "models/prediction_errors.hpp"
#include "models/workload.hpp"
#include "scenarios/spec/training_system.hpp"
#include "scenarios/training/parallel_job.hpp"
#include "text/json_writer.hpp"

#include <span>
#include <string>
#include <vector>

namespace contend {

/// A job of an entry on a number of GPUs, with all that is shown of it.
struct ShownJob {
  ParallelJob job;
  PipelineTimes times;  ///< of its passes
  Time iteration;       ///< lone_iteration()
  std::vector<PartError> errors;
  std::vector<SpentPart> parts;
};
/// Throws InputError as plan_parallel() and lone_iteration() do, with keys of the entry's members. `entry` is one of
/// the system's.
[[nodiscard]] ShownJob shown_job(const TrainingSystem& system, const TrainingEntry& entry, int gpus);
/// An object of the job: an element of `show-parallel` of docs/schema/output.schema.json.
void write_job(JsonWriter& json, const ShownJob& shown, const TrainingEntry& entry, int gpus);

/// A part for each training entry with `parallel` and each number of GPUs on which one of `jobs` trains it; for an
/// entry that no job trains, on as much of the cluster as it can have. Throws InputError if there is no entry with
/// `parallel`, and as the jobs' graphs do. With `as_json` the text is JSON: `show-parallel` of
/// docs/schema/output.schema.json.
[[nodiscard]] std::string parallel_report(const TrainingSystem& system, std::span<const JobRequest> jobs, bool as_json);

/// Their pipelines as one drawing, an SVG: lanes of ranks, boxes of passes with the numbers of the micro-batches.
/// Throws InputError as parallel_report() does, and if a pipeline has too many passes to be drawn.
[[nodiscard]] std::string parallel_svg(const TrainingSystem& system, std::span<const JobRequest> jobs);

}  // namespace contend
