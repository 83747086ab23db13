#pragma once
// Job lists: what was submitted when, as CSV. One row a job, columns found by name in any order:
//   job_id      unique name of the job
//   submit_ms   time of submission in milliseconds from the start of the run (or `submit_s`, in seconds); decimals may
//               reach to the nanosecond
//   model       a training profile (`contend list models`)
//   gpus        size of the gang, >= 1
//   iterations  >= 1

#include "models/workload.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// Reads a job list, in the order of its rows. Throws InputError with every bad row, not only the first.
[[nodiscard]] std::vector<JobRequest> read_job_list(const std::string& path);

/// The same for text in memory; `name` stands for the file in messages.
[[nodiscard]] std::vector<JobRequest> parse_job_list(std::string_view text, const std::string& name);

/// The jobs in the format that read_job_list() reads, with `submit_s`; reading it back gives the same jobs.
[[nodiscard]] std::string job_list_csv(const std::vector<JobRequest>& jobs);

}  // namespace contend
