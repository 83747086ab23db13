#pragma once
// The keys that generate jobs like those of a real trace: `workload: {like: philly, jobs: 100000}`.

#include "scenarios/keys/keys.hpp"

#include <optional>
#include <vector>

namespace contend {

inline constexpr std::int64_t kMaxGpus = 1 << 20;  ///< of a generated job

/// `workload.jobs`: the path of a job list or, together with `workload.like`, the number of jobs to generate.
ScenarioKey jobs_key();
/// `workload.like`, `workload.scaling.*` and `workload.resample.*`.
std::vector<ScenarioKey> like_keys();

/// The complaint about a number of jobs without `workload.like`, about two ways of drawing the jobs of a list, or about
/// a measured window that no time lies in; nothing if all is well.
[[nodiscard]] std::optional<Complaint> jobs_complaint(const WorkloadSetup& workload, const MeasureSetup& measure);

}  // namespace contend
