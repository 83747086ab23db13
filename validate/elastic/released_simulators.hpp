#pragma once
// Released simulators whose averages are published, as plain loops over the traces that they were run on. They share no
// code with sim/ and policies/: their rules charge restarts and end rounds in ways that the engine does not offer, and
// these loops show that those rules, and nothing else, make the published figures.
//
//   Muri (Zhao et al., SIGCOMM 2022; Rivendile/Muri at 4e69a78): at each event every running job loses a start-up time,
//     by its model and GPUs, of the time since the event before. It ends as if it lost nothing until its end.
//   Gavel (Narayanan et al., OSDI 2020; stanford-futuredata/gavel at c4fa400): rounds of 360 s, in which a job runs
//     whole iterations; a round ends with its slowest job. Jobs get their GPUs at most every 1,920 s.
//   ElasticFlow (Gu et al., ASPLOS 2023; pkusys/ElasticFlow): decisions a minute apart, whose plans don't know what
//     decisions cost; also its Tiresias and its Gandiva.
//   Pollux (Qiao et al., OSDI 2021; petuum/adaptdl at c793c70): jobs train epoch by epoch at measured speeds and
//     measured gains of their batches; decisions every minute.
//
// The data are not part of the project.

#include <cstdint>
#include <optional>

namespace contend {

enum class MuriOrder : std::uint8_t {
  remaining,          ///< SRTF
  remaining_service,  ///< SRSF: times GPUs
  attained_service,   ///< Tiresias: three queues by GPU time, which end at 3,250 and 7,200 GPU-seconds
};

struct ReleasedAverage {
  double jct_s = 0;
  std::int64_t preemptions = 0;
};

/// Muri's trace3 on 8 servers of 8 GPUs. Nothing if the trace is not there.
[[nodiscard]] std::optional<ReleasedAverage> run_muri_trace(MuriOrder order);

/// The rules of AntMan in Muri's simulator that the engine's `antman` doesn't have. After each rule stands the
/// rule of `antman`.
struct ReleasedAntManRules {
  bool whole_iterations = true;  ///< an opportunistic job waits for iterations of the guaranteed one; else it takes
                                 ///< twice as long
  bool starts = true;            ///< at each event every running job loses a start-up time; else nothing
  bool reserves = true;          ///< a gang holds the GPUs that it has found; else it takes all or none
  bool passes = true;            ///< guaranteed jobs start though one in front of them can't; else in order
};

/// The mean completion time of the same trace in seconds under AntMan, as Muri's simulator has it
/// (released_antman.cpp). Nothing if the trace is not there.
[[nodiscard]] std::optional<double> run_antman_trace(const ReleasedAntManRules& rules = {});

struct GavelAverage {
  double jct_s = 0;        ///< mean completion time of jobs 4,000 to 4,999
  double utilisation = 0;  ///< part of the time of all GPUs, until the last of these jobs has ended, with a job; 0..1
};

/// AlloX on Gavel's continuous trace (seed 42, a job every 4,500 s on average) with 36 GPUs of each of three types. The
/// released run takes all types to be as fast as V100, for the policy, and ties go to V100; so every job finds a V100.
/// FIFO gives the same schedule. Nothing if the data are not there.
[[nodiscard]] std::optional<GavelAverage> run_gavel_allox_trace();

enum class PolluxRule : std::uint8_t {
  tiresias,  ///< with the GPUs and batches of the list
  optimus,   ///< knows the true time of an iteration on any number of GPUs, and what is left; batches of the list
};

struct PolluxRun {
  double jct_s = 0, released_jct_s = 0;  ///< means
  int jobs = 0, exact = 0;               ///< exact: end at the same second as in the released results
};

/// One of Pollux' workloads of 160 jobs, 1 to 8, on 16 nodes of 4 T4 in its simulator (released_pollux.cpp), beside the
/// released completion time of each job, which exists for workloads 1 to 4. Nothing if the data are not there.
[[nodiscard]] std::optional<PolluxRun> run_pollux_workload(PolluxRule rule, int workload);

/// What became of the deadlines of ElasticFlow's 195 jobs.
struct ReleasedDeadlines {
  int met = 0, late = 0, refused = 0;  ///< jobs
};

/// Rules of ElasticFlow's released simulator that the engine's `elasticflow` doesn't have, or has as a parameter.
struct ReleasedElasticFlowRules {
  bool planned_ends = true;  ///< a deadline is met if the last plan meets it; else if the job ends in time
  bool charges = true;       ///< each decision costs each running job time; else nothing does
  bool most_first = true;    ///< spare GPUs go to the job whose plan takes most GPU time more; else least
};

/// The trace of validate/elastic/elasticflow_trace.hpp under ElasticFlow (released_elasticflow.cpp), and under Tiresias
/// and Gandiva of the same simulator (released_elasticflow_others.cpp). Nothing if the data are not there.
[[nodiscard]] std::optional<ReleasedDeadlines> run_released_elasticflow(const ReleasedElasticFlowRules& rules = {});
[[nodiscard]] std::optional<ReleasedDeadlines> run_released_elasticflow_tiresias();
[[nodiscard]] std::optional<ReleasedDeadlines> run_released_elasticflow_gandiva();

}  // namespace contend
