#pragma once
// The simulator of the study as a plain loop over milliseconds: slow and obvious, to check the engine. It follows the
// rules of the time-stepped reference (validate/ada_srsf/time_stepped.hpp), calculates in integers, and shares no code
// with sim/, network/ and policies/ but the units.
//
// A step does, in this order: it ends compute tasks and transfers whose end has come, releases the memory of jobs that
// have ended, lets jobs arrive, tries to place every queued job in ascending order of service, starts transfers in
// ascending order of remaining service, counts how many share a server, and gives every idle GPU the ready task of
// least remaining service. Jobs of equal service go in the order of their arrival, or else of the list; jobs of equal
// remaining service go in the order in which they were placed.

#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace contend {

/// A job whose iterations are a forward task, a backward task and, if its GPUs are on several servers, an all-reduce.
struct SteppedJob {
  std::int64_t submit_ms = 0;
  int gpus = 1;
  std::int64_t iterations = 1;
  std::int64_t forward_ms = 1;  ///< >= 1
  std::int64_t backward_ms = 1;
  Bytes message{1};  ///< of the all-reduce; at least a byte
  Bytes memory{1};   ///< on each GPU
};

/// Cluster, network and policies; cluster and network default to the values of the study.
struct SteppedStudy {
  int servers = 16;
  int gpus_per_server = 4;
  Bytes gpu_memory = Bytes::mebibytes(32768);
  std::int64_t beta_us_per_mib = 856;
  std::int64_t eta_us_per_mib = 235;
  std::optional<int> kappa{};   ///< LWF-kappa; without it, first-fit
  std::optional<int> ways = 1;  ///< SRSF(n): transfers that may share a server, 1 to 4; without it, AdaDUAL
};

/// Rules of the released simulator that follow from how it is written and that its description does not mention.
struct UnwrittenRules {
  /// The last iteration of a job on one server counts as complete only after the memory of ended jobs was released, so
  /// its memory is free a step later than the memory of a job on several servers.
  bool late_release = false;
  /// A job that is placed leaves the list through which the step is going, so the step passes over the job behind it.
  bool skipped_job = false;
};

/// The millisecond at which each job ends. Throws InputError for a job that the empty cluster has no place for.
[[nodiscard]] std::vector<std::int64_t> step_through(const SteppedStudy& study, std::span<const SteppedJob> jobs,
                                                     const UnwrittenRules& rules = {});

}  // namespace contend
