#pragma once
// The real traces that the released simulators were run on. They stay outside the project: $CONTEND_DATA/traces, where
// CONTEND_DATA defaults to ../shared/data.

#include "models/workload.hpp"
#include "sim/units.hpp"
#include "validate/schedulers/reference.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// A list of timed jobs in order of submission and the cluster that the simulators gave it.
struct SchedulerTrace {
  std::string name;
  std::string title;
  std::vector<JobRequest> jobs;
  int servers = 1;
  int gpus_per_server = 8;
  Time tick = Time::seconds(1);  ///< in which its times are whole: what the plain schedulers count
};

/// Helios, cluster Venus, virtual cluster vcvGl, 2020-09-01 to 26: 1,452 jobs on 20 servers of 8 GPUs.
/// Philly, all virtual clusters in one pool: 82,247 jobs on 311 servers of 8 GPUs (the cluster had 2,490 GPUs),
/// where nobody waits, and on 64 such servers.
/// ITP cluster01: 1,595 jobs on 128 GPUs. Tiresias' 60 synthetic jobs on 2 servers of 8. Muri trace3: 992 jobs on 64
/// GPUs, whose durations are iterations x iteration time x 1.015, as that simulator takes them.
enum class TraceKind : std::uint8_t { helios_vcvgl, itp_cluster01, tiresias_60, muri_trace3, philly, philly_512 };

/// Where the data are looked for.
[[nodiscard]] std::string trace_folder();
[[nodiscard]] std::string trace_path(TraceKind kind);

/// GPU-seconds of past jobs that Tiresias learns its Gittins index from, ascending. Throws InputError.
[[nodiscard]] std::vector<std::int64_t> read_gittins_sizes();

/// What tables call it.
[[nodiscard]] std::string trace_title(TraceKind kind);

/// Throws InputError if the file can't be read or does not hold the jobs that it should.
[[nodiscard]] SchedulerTrace read_scheduler_trace(TraceKind kind);

[[nodiscard]] std::vector<ReferenceJob> reference_jobs(const SchedulerTrace& trace);

}  // namespace contend
