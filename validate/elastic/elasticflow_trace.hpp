#pragma once
// A trace of 195 jobs with deadlines that the authors of ElasticFlow published with their scheduler (Gu et al., ASPLOS
// 2023; pkusys/ElasticFlow at 04a0109, Apache-2.0), with the throughputs that they measured on T4 GPUs. The data are
// not part of the project.

#include "validate/elastic/timed_run.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The cluster of the published comparison.
inline constexpr int kFlowServers = 16, kGpusOfFlowServer = 4;

/// A job of the trace.
struct ElasticFlowRow {
  std::string name, model, batch;
  std::int64_t submit_s = 0, deadline_s = 0;
  std::int64_t duration_s = 0;  ///< on the GPUs that it asks for, as the trace lists it
  double iterations = 0;
  int gpus = 1;                 ///< that it asks for
  std::map<int, double> curve;  ///< iterations a second by GPUs
};

/// The jobs, by time of submission. Empty if the data are not there.
[[nodiscard]] std::vector<ElasticFlowRow> elasticflow_rows();

/// The number of GPUs that a policy gives a job if it doesn't choose one.
enum class FixedSize : std::uint8_t {
  listed,   ///< the number in the trace
  largest,  ///< the largest in the table of throughputs, up to 64, which the released EDF tries first
};

/// Runs the trace on 16 servers of 4 GPUs under a scheduling policy, with the values of its parameters that differ from
/// the defaults. Jobs may have 1 to 64 GPUs, as far as the table goes and a larger number is faster than all smaller
/// ones. The released ElasticFlow bounds jobs by model instead: bert has at most 16 GPUs there (here 32) and ncf 1
/// (here 4, or those that it asks for). Each restart takes so many seconds. Nothing if the data are not there.
[[nodiscard]] std::optional<RunResult> run_elasticflow_trace(const std::string& policy, const PolicyValues& parameters,
                                                             double restart_s, FixedSize fixed = FixedSize::listed);

}  // namespace contend
