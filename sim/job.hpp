#pragma once
// A job as it is submitted, and the states of its life.

#include "sim/graph.hpp"
#include "sim/ids.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace contend {

/// submitted -> queued -> running -> finished; running -> preempted -> running; submitted -> failed when the cluster
/// could never run the job. No other step is legal.
enum class JobState : std::uint8_t { submitted, queued, running, preempted, finished, failed };

[[nodiscard]] const char* to_string(JobState state);
[[nodiscard]] bool is_legal_step(JobState from, JobState to);

/// A training job: a gang of `gpus` ranks that runs `iterations` of one graph.
struct JobSpec {
  std::string name;             ///< unique in the workload
  std::string model;            ///< for people and tables
  Time submit;                  ///< >= 0
  int gpus = 1;                 ///< equals the ranks of the graph
  std::int64_t iterations = 1;  ///< >= 1
  Bytes memory_per_gpu;         ///< held on every GPU of the job from start to end
  std::size_t graph = 0;        ///< index into Workload::graphs
};

/// The jobs of a run in order of their ids, and the graphs that they share.
struct Workload {
  std::vector<IterationGraph> graphs;
  std::vector<JobSpec> jobs;
};

}  // namespace contend
