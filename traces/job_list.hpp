#pragma once
// Reads and writes job lists: CSV files with one row a job. Columns are found by name, in any order; no other columns
// are allowed. Every row has
//   job_id        unique name of the job
//   submit_s      time of submission in seconds from the start of the run, or `submit_ms` in milliseconds; decimals may
//                 reach to the nanosecond
//   gpus          size of the gang, 1 to 1,000,000
// and, as the job's work, either
//   model, iterations  a training profile (`contend list models`), and how many of its iterations, >= 1
//   duration_s    seconds that its last attempt takes on its GPUs, whatever the network; `model` may then be any text
// Optional columns follow; an empty field counts as absent.
//   attempts_s    seconds of earlier attempts, which failed: `120;3600`. Needs duration_s
//   outcome       of the last attempt: completed (the default), failed, cancelled
//   limit_s       time limit that the user requested, in seconds
//   vc, user      virtual cluster and user, any text
//   gpu_type      kind of GPU it must have, any text
//   gpu_share     part of each GPU that the job takes, above 0 to 1, in thousandths
//   cpus          CPUs for each GPU, in thousandths
//   host_memory   memory of the server for each GPU: bytes, or with a unit, 64GiB
//   priority      whole number; larger is more urgent; 0 without it

#include "models/workload.hpp"
#include "traces/jobs/trace_format.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// Reads a job list, plain or compressed with gzip; the jobs keep the order of the rows. Throws InputError with the
/// first bad rows and the number of the others.
[[nodiscard]] std::vector<JobRequest> read_job_list(const std::string& path);

/// The same for text in memory; messages call it `name`.
[[nodiscard]] std::vector<JobRequest> parse_job_list(std::string_view text, const std::string& name);

/// Writes jobs in the format that read_job_list() reads, with `submit_s`; reading it back gives the same jobs. Columns
/// that no job needs are left out.
[[nodiscard]] std::string job_list_csv(const std::vector<JobRequest>& jobs);

/// The row-by-row reader behind both, which is also format `jobs` of traces/jobs/trace_format.hpp.
void read_jobs(ByteSource& source, RowReport& report, const TraceSink& sink);

}  // namespace contend
