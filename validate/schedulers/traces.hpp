#pragma once
// Reads the real traces on which the released simulators were run. They are not part of the project: they are looked up
// in $CONTEND_DATA/traces; CONTEND_DATA defaults to ../shared/data.

#include "models/workload.hpp"
#include "sim/units.hpp"
#include "validate/schedulers/reference.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace contend {

/// A list of timed jobs in order of submission, and the cluster that the simulators used.
struct SchedulerTrace {
  std::string name;
  std::string title;
  std::vector<JobRequest> jobs;
  int servers = 1;
  int gpus_per_server = 8;
  Time tick = Time::seconds(1);  ///< the plain schedulers' unit of time; all times of the trace are multiples of it
};

/// The traces and clusters:
/// Helios, cluster Venus, virtual cluster vcvGl, 2020-09-01 to 26: 1,452 jobs on 20 servers of 8 GPUs.
/// ITP cluster01: 1,595 jobs on 128 GPUs.
/// Tiresias' 60 synthetic jobs on 2 servers of 8 GPUs.
/// Muri trace3: 992 jobs on 64 GPUs; a duration is iterations x iteration time x 1.015, as that simulator computes it.
/// Philly, all virtual clusters in one pool: 82,247 jobs on 311 servers of 8 GPUs (the cluster had 2,490 GPUs), where
/// no job waits, and on 64 such servers.
enum class TraceKind : std::uint8_t { helios_vcvgl, itp_cluster01, tiresias_60, muri_trace3, philly, philly_512 };

/// The folder of the traces, and the path of one.
[[nodiscard]] std::string trace_folder();
[[nodiscard]] std::string trace_path(TraceKind kind);

/// The ascending GPU-seconds of past jobs from which Tiresias learns its Gittins index. Throws InputError.
[[nodiscard]] std::vector<std::int64_t> read_gittins_sizes();

/// The trace's name in tables.
[[nodiscard]] std::string trace_title(TraceKind kind);

/// Reads a trace. Throws InputError if the file cannot be read or does not contain the expected jobs.
[[nodiscard]] SchedulerTrace read_scheduler_trace(TraceKind kind);

[[nodiscard]] std::vector<ReferenceJob> reference_jobs(const SchedulerTrace& trace);

}  // namespace contend
