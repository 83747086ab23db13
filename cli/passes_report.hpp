#pragma once
// Prints the passes that make the iteration graphs of jobs, with the sizes of the graph before and after
// each.

#include "models/workload.hpp"
#include "scenarios/spec/training_system.hpp"

#include <span>
#include <string>

namespace contend {

/// A table for each job: trained_jobs() of `jobs`, or the jobs of an iteration study; or with `as_json` as JSON,
/// `show-passes` of docs/schema/output.schema.json. Throws InputError if there is none, and as the jobs' graphs do.
[[nodiscard]] std::string passes_report(const TrainingSystem& system, std::span<const JobRequest> jobs, bool as_json);

}  // namespace contend
