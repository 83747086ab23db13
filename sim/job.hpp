#pragma once
// A job as it is submitted, and the states of its life.

#include "sim/graph.hpp"
#include "sim/ids.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// submitted -> queued -> running -> finished; running -> preempted -> running; running -> queued after a failed
/// attempt; submitted -> failed when the cluster could never run the job. No other step is legal.
enum class JobState : std::uint8_t { submitted, queued, running, preempted, finished, failed };

[[nodiscard]] const char* to_string(JobState state);
[[nodiscard]] bool is_legal_step(JobState from, JobState to);

/// How the last attempt of a job ends once it has run its time, as a trace tells it. It held its GPUs all the same.
enum class JobOutcome : std::uint8_t { completed, failed, cancelled };

[[nodiscard]] const char* to_string(JobOutcome outcome);

/// A training job: a gang of `gpus` ranks that runs `iterations` of one graph, or that just takes `duration`.
struct JobSpec {
  std::string name;                ///< unique in the workload
  std::string model;               ///< for people and tables
  Time submit;                     ///< >= 0
  int gpus = 1;                    ///< >= 1; equals the ranks of the graph
  std::int64_t iterations = 1;     ///< >= 1
  Bytes memory_per_gpu;            ///< held on every GPU of the job from start to end
  std::size_t graph = 0;           ///< index into Workload::graphs; of no meaning with a duration
  std::optional<Time> duration{};  ///< of the last attempt on its GPUs, >= 0; instead of iterations and graph
  std::vector<Time> attempts{};    ///< of earlier attempts, which ended in failure: after each the job queues again
  std::optional<Time> limit{};     ///< wall-clock limit that the user asked for: what backfilling may rely on
  JobOutcome outcome = JobOutcome::completed;
  std::int32_t gpu_share = 0;   ///< thousandths of each GPU that it reserves, 0..1000; 0: as memory allows
  std::int32_t milli_cpus = 0;  ///< thousandths of a CPU for each GPU, on the server of that GPU
  Bytes host_memory{};          ///< for each GPU, on the server of that GPU
  std::int32_t priority = 0;    ///< larger is more urgent
  std::int32_t vc = -1;         ///< index into Workload::vcs; -1: none
  std::int32_t user = -1;       ///< index into Workload::users; -1: not known
  std::int32_t gpu_type = -1;   ///< index into Workload::gpu_types; -1: any
};

/// The jobs of a run in order of their ids, and what they share.
struct Workload {
  std::vector<IterationGraph> graphs;
  std::vector<JobSpec> jobs;
  std::vector<std::string> vcs, users, gpu_types;  ///< names, in order of appearance
};

}  // namespace contend
