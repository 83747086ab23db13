// Reads the traces that a description of their columns covers, or nearly covers.
#include "traces/jobs/readers.hpp"
#include "traces/jobs/table_trace.hpp"

#include <array>

namespace contend {
namespace {

using Field = TraceField;

constexpr RowSyntax kCommented{.separator = ',', .quotes = true, .comment = '#'};

constexpr std::array kPhillyCsv = {
    TraceColumn{Field::submit, "timestamp", true},
    TraceColumn{Field::duration, "duration", true},
    TraceColumn{Field::gpus, "num_gpus", true},
    TraceColumn{Field::vc, "cluster", true},
};

constexpr std::array kHelios = {
    TraceColumn{Field::job, "job_id", true},
    TraceColumn{Field::user, "user"},
    TraceColumn{Field::vc, "vc", true},
    TraceColumn{Field::gpus, "gpu_num", true},
    TraceColumn{Field::cpus, "cpu_num"},
    TraceColumn{Field::state, "state", true},
    TraceColumn{Field::submit, "submit_time", true},
    TraceColumn{Field::start, "start_time"},
    TraceColumn{Field::end, "end_time"},
    TraceColumn{Field::duration, "duration", true},
};

constexpr std::array kFleetsim = {
    TraceColumn{Field::job, "job_id", true},          TraceColumn{Field::user, "user"},
    TraceColumn{Field::vc, "tenant", true},           TraceColumn{Field::submit, "submit_time", true},
    TraceColumn{Field::gpus, "num_chips", true},      TraceColumn{Field::gpu_type, "chip_type"},
    TraceColumn{Field::duration, "duration_s", true}, TraceColumn{Field::limit, "walltime_limit_s"},
    TraceColumn{Field::state, "final_status", true},
};

constexpr std::array kAcme = {
    TraceColumn{Field::job, "job_id", true},
    TraceColumn{Field::user, "user"},
    TraceColumn{Field::nodes, "node_num"},
    TraceColumn{Field::gpus, "gpu_num", true},
    TraceColumn{Field::cpus, "cpu_num"},
    TraceColumn{Field::memory, "mem_per_pod_GB"},
    TraceColumn{Field::model, "type", true},
    TraceColumn{Field::state, "state", true},
    TraceColumn{Field::submit, "submit_time", true},
    TraceColumn{Field::start, "start_time", true},
    TraceColumn{Field::end, "end_time", true},
    TraceColumn{Field::duration, "duration"},
};

/// Memory is given for a pod, and a job has one pod on each of its nodes.
bool complete_acme(TraceTable& table, JobRequest& job) {
  const std::optional<std::int64_t> pod = table.amount(Field::memory, 9);
  if (!pod) return true;
  const std::int64_t pods = table.count(Field::nodes, 1, job.gpus).value_or(1);
  if (*pod > INT64_MAX / pods)
    table.bad(Field::memory, "the number is too large");
  else
    job.host_memory = Bytes{for_each_gpu(*pod * pods, job.gpus)};
  return table.good();
}

constexpr std::array kItp = {
    TraceColumn{Field::job, "job_id", true},         TraceColumn{Field::submit, "submission_time", true},
    TraceColumn{Field::iterations, "num_iteration"}, TraceColumn{Field::model, "model_name"},
    TraceColumn{Field::gpus, "num_gpu", true},       TraceColumn{Field::duration, "duration", true},
};

constexpr std::array kTiresias = {
    TraceColumn{Field::job, "job_id", true},         TraceColumn{Field::gpus, "num_gpu", true},
    TraceColumn{Field::submit, "submit_time", true}, TraceColumn{Field::iterations, "iterations"},
    TraceColumn{Field::model, "model_name", true},   TraceColumn{Field::duration, "duration", true},
};

constexpr std::array kMuri = {
    TraceColumn{Field::job, "job_id", true},         TraceColumn{Field::gpus, "num_gpu", true},
    TraceColumn{Field::submit, "submit_time", true}, TraceColumn{Field::iterations, "iterations", true},
    TraceColumn{Field::model, "model_name", true},   TraceColumn{Field::duration, "duration", true},
};

constexpr std::array kMuriIterations = {
    TraceColumn{Field::job, "job_id", true},         TraceColumn{Field::gpus, "num_gpu", true},
    TraceColumn{Field::submit, "submit_time", true}, TraceColumn{Field::iterations, "iterations", true},
    TraceColumn{Field::model, "model_name", true},   TraceColumn{Field::iteration_time, "iteration_time", true},
};

bool complete_muri_iterations(TraceTable& table, JobRequest& job) {
  const std::optional<Time> iteration = table.time(Field::iteration_time, 6);
  if (!iteration) {
    table.bad(Field::iteration_time, "expected a time of an iteration, got nothing");
  } else if (iteration->ns() > 0 && job.iterations > INT64_MAX / iteration->ns()) {
    table.bad(Field::iterations, "all iterations take longer than 292 years");
  } else {
    job.duration = *iteration * job.iterations;
  }
  return table.good();
}

}  // namespace

void read_philly_csv(ByteSource& source, RowReport& report, const TraceSink& sink) {
  read_table_trace(source, report, sink, {.syntax = {}, .columns = kPhillyCsv, .clock = TraceClock::calendar});
}

void read_helios(ByteSource& source, RowReport& report, const TraceSink& sink) {
  read_table_trace(source, report, sink,
                   {.syntax = kCommented, .columns = kHelios, .clock = TraceClock::calendar, .states = slurm_states()});
}

void read_fleetsim(ByteSource& source, RowReport& report, const TraceSink& sink) {
  read_table_trace(
      source, report, sink,
      {.syntax = kCommented, .columns = kFleetsim, .clock = TraceClock::microseconds, .states = slurm_states()});
}

void read_acme(ByteSource& source, RowReport& report, const TraceSink& sink) {
  read_table_trace(source, report, sink,
                   {.syntax = {},
                    .columns = kAcme,
                    .clock = TraceClock::calendar,
                    .states = slurm_states(),
                    .complete = complete_acme});
}

void read_itp(ByteSource& source, RowReport& report, const TraceSink& sink) {
  read_table_trace(source, report, sink, {.syntax = {}, .columns = kItp});
}

void read_tiresias(ByteSource& source, RowReport& report, const TraceSink& sink) {
  read_table_trace(source, report, sink, {.syntax = {}, .columns = kTiresias});
}

void read_muri(ByteSource& source, RowReport& report, const TraceSink& sink) {
  read_table_trace(source, report, sink,
                   {.syntax = {}, .columns = kMuri, .clock = TraceClock::milliseconds, .duration_decimals = 6});
}

void read_muri_iterations(ByteSource& source, RowReport& report, const TraceSink& sink) {
  read_table_trace(source, report, sink,
                   {.syntax = {},
                    .columns = kMuriIterations,
                    .clock = TraceClock::milliseconds,
                    .duration_decimals = 6,
                    .complete = complete_muri_iterations});
}

}  // namespace contend
