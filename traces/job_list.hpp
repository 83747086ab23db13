#pragma once
// Job lists: what was submitted when, as CSV. One row a job, columns found by name in any order, and no others:
//   job_id        unique name of the job
//   submit_s      time of submission in seconds from the start of the run, or `submit_ms` in milliseconds; decimals may
//                 reach to the nanosecond
//   gpus          size of the gang, 1 to 1,000,000
// and what there is to do, in each row one of
//   model, iterations  its model: a training profile (`contend list models`) or an entry of the scenario's
//                 `training`; and how many of its iterations, >= 1
//   fusion, compression, batch  where they differ from the entry: values as in `training`, such as dear or
//                 {policy: ddp, mib: 10}
//   model         alone, without iterations: an entry of the scenario's `serving`; the job answers requests
//   duration_s    seconds that its last attempt takes on its GPUs, whatever the network; `model` may then be any text,
//                 and `iterations` say how many it does in them, which is its training rate
// and, where wanted (an empty field is as good as no column):
//   attempts_s    seconds of earlier attempts, which failed: `120;3600`. Needs duration_s
//   outcome       of the last attempt: completed (as without it), failed, cancelled
//   limit_s       seconds that the user asked for
//   elapsed_s     seconds of duration_s that it has done when the run begins: it runs then, and its submit_s is 0
//   measured_wait_s  seconds from submission to start on the real cluster, for comparison
//   vc, user      virtual cluster and user, any text
//   gpu_type      kind of GPU it must have, any text: the name of one of the scenario's `cluster.types`, if there are
//                 any, or several with `+` between them, of which the GPUs of the job may be a mix
//   gpu_share     part of each GPU that it takes, above 0 to 1, in thousandths
//   cpus          CPUs for each GPU, in thousandths
//   host_memory   memory of the server for each GPU: bytes, or with a unit, 64GiB
//   gpu_memory    memory that a job with a duration takes on each GPU: bytes, or with a unit, 12GiB
//   priority      whole number; larger is more urgent; 0 without it
//   min_gpus, max_gpus  numbers of GPUs that it may have, with min_gpus <= gpus <= max_gpus; `gpus` is the number
//                 that it prefers. One of them alone: the other is `gpus`. Without both it always has `gpus`
//   batch_rule    rule of the scenario's `workload.regimes` by which the batch of a job of iterations changes;
//   iterations
//                 count at its first batch
//   deadline_s    time by which it should end, on the clock of submit_s and after it; it counts in results, and
//                 policies may use it
//   after         jobs that must have ended, one way or the other, before it is submitted: `prepare;train`. Its
//                 submit_s then only counts where the list is cut, scaled or resampled
//   think_s       seconds from then to its submission, 0 without it. Needs `after`
//   required_level   a name of the scenario's `cluster.levels`, such as rack: all its GPUs lie in one rack
//   preferred_level  they lie in one rack if there is room
//   segment_gpus, segment_level  groups of so many GPUs, in the order of ranks; each lies in one domain of that level
//   place         the GPUs on which it must run, rank by rank: server0:0-3;server1 (all GPUs of a server)

#include "models/workload.hpp"
#include "traces/jobs/trace_format.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// Reads a job list, compressed with gzip or not, in the order of its rows. Throws InputError with the first bad rows
/// and the number of the others.
[[nodiscard]] std::vector<JobRequest> read_job_list(const std::string& path);

/// A job list and the name of its content: jobs and hash are of the same bytes, because they were read once.
struct JobList {
  std::string sha256;  ///< of the file as it is, compressed or not
  std::vector<JobRequest> jobs;
  std::vector<int> lines;  ///< of the file, on which each job begins
};

/// Reads a file, compressed with gzip or not, as read_job_list() does, but for the models: jobs of iterations may name
/// the entries of `models`, or any if that is empty. `file` gives the bytes, `name` is for messages.
[[nodiscard]] JobList read_hashed_job_list(ByteSource& file, const std::string& name,
                                           std::span<const std::string> models = {});

/// The text of usual_columns.txt.
[[nodiscard]] std::string_view usual_columns_text();

/// The jobs of a text in memory; `name` stands for the file in messages.
[[nodiscard]] std::vector<JobRequest> parse_job_list(std::string_view text, const std::string& name);

/// The jobs in the format that read_job_list() reads, with `submit_s`; reading it back gives the same jobs. Columns
/// that no job needs are left out.
[[nodiscard]] std::string job_list_csv(const std::vector<JobRequest>& jobs);

/// The reader behind both, row by row: format `jobs` of traces/jobs/trace_format.hpp.
void read_jobs(ByteSource& source, RowReport& report, const TraceSink& sink);
/// What is meant by a model that is not among `known`: a network of the catalogue needs an entry of training. Else the
/// nearest of the known names, or an empty text.
[[nodiscard]] std::string unknown_model_hint(const std::string& model, std::span<const std::string> known);
/// Reports the row of a job whose model is not among `known`.
void report_unknown_model(RowReport& report, int line, const std::string& model, std::span<const std::string> known);

}  // namespace contend
