// Reads Alibaba's GPU traces: PAI of 2020 (Weng et al., NSDI 2022) and OpenB of 2023 (Weng et al., USENIX ATC 2023).
#include "text/byte_source.hpp"
#include "traces/jobs/readers.hpp"
#include "traces/jobs/table_trace.hpp"

#include <algorithm>
#include <array>
#include <climits>

namespace contend {
namespace {

using Field = TraceField;

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
constexpr std::int64_t kMostInstances = TraceTable::kMaxGpus;

/// Sets CPUs in thousandths and memory in bytes for each GPU of a job, from the demands of an instance with `gpus`
/// GPUs.
void set_demands(TraceTable& table, std::optional<std::int64_t> milli_cpus, std::optional<std::int64_t> bytes, int gpus,
                 JobRequest& job) {
  const std::int64_t cpus = for_each_gpu(milli_cpus.value_or(0), gpus);
  if (cpus > INT_MAX) table.bad(Field::cpus, "more than two million CPUs for a GPU");
  job.milli_cpus = static_cast<int>(std::min<std::int64_t>(cpus, INT_MAX));
  job.host_memory = Bytes{for_each_gpu(bytes.value_or(0), gpus)};
}

/// The number of GPUs that one instance of a job has.
int gpus_of_instance(std::int64_t milli_gpus) {
  return static_cast<int>((milli_gpus + 999) / 1000);
}

constexpr std::array kPai = {
    TraceColumn{Field::job, "job_name", true},       TraceColumn{Field::task, "task_name", true},
    TraceColumn{Field::instances, "inst_num", true}, TraceColumn{Field::state, "status", true},
    TraceColumn{Field::submit, "start_time", true},  TraceColumn{Field::end, "end_time", true},
    TraceColumn{Field::nodes, "plan_cpu", true},     TraceColumn{Field::memory, "plan_mem", true},
    TraceColumn{Field::gpu_share, "plan_gpu", true}, TraceColumn{Field::gpu_type, "gpu_type", true},
};

constexpr std::array kPaiStates = {
    TraceStateWord{"Terminated", TraceState::completed}, TraceStateWord{"Failed", TraceState::failed},
    TraceStateWord{"Interrupted", TraceState::failed},   TraceStateWord{"Running", TraceState::running},
    TraceStateWord{"Waiting", TraceState::waiting},
};

/// Reads GPUs in per cent of one for each instance.
bool pai_gpus(TraceTable& table, JobRequest& job) {
  const std::int64_t milli = table.amount(Field::gpu_share, 1).value_or(0);
  const std::int64_t instances = table.count(Field::instances, 0, kMostInstances).value_or(0);
  return set_gpus(table, instances, milli, job);
}

/// Reads CPUs in per cent of one and memory in GiB, both for each instance.
bool complete_pai(TraceTable& table, JobRequest& job) {
  job.name += '/';
  job.name += table.text(Field::task);
  const std::int64_t milli = table.amount(Field::gpu_share, 1).value_or(0);
  const std::optional<std::int64_t> milli_gibibytes = table.amount(Field::memory, 3);
  if (milli_gibibytes.value_or(0) > INT64_MAX / 1024 / kMebibyte) table.bad(Field::memory, "the number is too large");
  if (!table.good()) return false;
  const std::optional<Time> end = table.time(Field::end, 9);
  job.duration = table.interval(Field::submit, Field::end, job.submit, end);
  set_demands(table, table.amount(Field::nodes, 1), milli_gibibytes.value_or(0) * 1024 * kMebibyte / 1000,
              gpus_of_instance(milli), job);
  return table.good();
}

constexpr std::array kPaiSimulator = {
    TraceColumn{Field::job, "job_id", true},        TraceColumn{Field::submit, "submit_time", true},
    TraceColumn{Field::duration, "duration", true}, TraceColumn{Field::gpu_share, "num_gpu", true},
    TraceColumn{Field::instances, "num_inst"},      TraceColumn{Field::nodes, "num_cpu", true},
    TraceColumn{Field::gpu_type, "gpu_type"},       TraceColumn{Field::user, "user"},
};

/// Reads GPUs for each instance, with a fraction; without a number of instances there is one, as in the authors'
/// simulator.
bool pai_simulator_gpus(TraceTable& table, JobRequest& job) {
  const std::int64_t milli = table.amount(Field::gpu_share, 3).value_or(0);
  return set_gpus(table, table.count(Field::instances, 0, kMostInstances).value_or(1), milli, job);
}

bool complete_pai_simulator(TraceTable& table, JobRequest& job) {
  const std::int64_t milli = table.amount(Field::gpu_share, 3).value_or(0);
  set_demands(table, table.amount(Field::nodes, 3), std::nullopt, gpus_of_instance(milli), job);
  return table.good();
}

constexpr std::array kOpenb = {
    TraceColumn{Field::job, "name", true},
    TraceColumn{Field::nodes, "cpu_milli"},
    TraceColumn{Field::memory, "memory_mib"},
    TraceColumn{Field::instances, "num_gpu", true},
    TraceColumn{Field::gpu_share, "gpu_milli", true},
    TraceColumn{Field::gpu_type, "gpu_spec"},
    TraceColumn{Field::state, "pod_phase", true},
    TraceColumn{Field::submit, "creation_time", true},
    TraceColumn{Field::end, "deletion_time", true},
    TraceColumn{Field::start, "scheduled_time", true},
};

/// A pod that runs when the trace ends has that time as its deletion time; see the note in complete_openb().
constexpr std::array kOpenbPhases = {
    TraceStateWord{"Succeeded", TraceState::completed},
    TraceStateWord{"Running", TraceState::completed},
    TraceStateWord{"Failed", TraceState::failed},
    TraceStateWord{"Pending", TraceState::waiting},
};

/// Reads the thousandths of each GPU of the pod.
bool openb_gpus(TraceTable& table, JobRequest& job) {
  const std::int64_t gpus = table.count(Field::instances, 0, kMostInstances).value_or(0);
  const std::int64_t milli = table.count(Field::gpu_share, 0, 1000).value_or(0);
  return set_gpus(table, gpus, milli, job);
}

bool complete_openb(TraceTable& table, JobRequest& job) {
  if (table.text(Field::state) == "Running")
    table.note("the pod was still running at its deletion time, so it may have run longer");
  const std::optional<std::int64_t> mebibytes = table.count(Field::memory, 0, std::int64_t{1} << 40);
  set_demands(table, table.count(Field::nodes, 0, std::int64_t{1} << 40), mebibytes.value_or(0) * kMebibyte, job.gpus,
              job);
  return table.good();
}

}  // namespace

void read_openb(ByteSource& source, RowReport& report, const TraceSink& sink) {
  read_table_trace(
      source, report, sink,
      {.syntax = {}, .columns = kOpenb, .states = kOpenbPhases, .gpus = openb_gpus, .complete = complete_openb});
}

void read_pai(ByteSource& source, RowReport& report, const TraceSink& sink) {
  // The published table has no header; who joined it with its .header file has one.
  PeekedSource peeked{source};
  const bool has_header = peeked.head().starts_with("job_name") || peeked.head().find("plan_gpu") < 1000;
  read_table_trace(peeked, report, sink,
                   {.syntax = {},
                    .columns = kPai,
                    .positional = !has_header,
                    .states = kPaiStates,
                    .gpus = pai_gpus,
                    .complete = complete_pai});
}

void read_pai_simulator(ByteSource& source, RowReport& report, const TraceSink& sink) {
  read_table_trace(
      source, report, sink,
      {.syntax = {}, .columns = kPaiSimulator, .gpus = pai_simulator_gpus, .complete = complete_pai_simulator});
}

}  // namespace contend
