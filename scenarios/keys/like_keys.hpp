#pragma once
// The rows of the key table that draw jobs like those of a real trace: `workload: {like: philly, jobs: 100000}`.

#include "scenarios/keys/keys.hpp"

#include <optional>
#include <vector>

namespace contend {

inline constexpr std::int64_t kMaxGpus = 1 << 20;  ///< of a drawn job

/// `workload.jobs`: a list of jobs or, beside `workload.like`, how many to draw.
ScenarioKey jobs_key();
/// `workload.like` and `workload.scaling.*`.
std::vector<ScenarioKey> like_keys();

/// A number of jobs without a trace to be like.
[[nodiscard]] std::optional<Complaint> jobs_complaint(const Scenario& scenario);

}  // namespace contend
