// Reads Slurm's accounting data as `sacct --allusers --parsable2 --format=...` prints them.
#include "text/decimal.hpp"
#include "traces/jobs/readers.hpp"
#include "traces/jobs/table_trace.hpp"
#include "traces/jobs/timestamp.hpp"

#include <array>
#include <climits>

#include <fmt/core.h>

namespace contend {
namespace {

using Field = TraceField;

constexpr std::array kColumns = {
    TraceColumn{Field::job, "JobID", true},
    TraceColumn{Field::job, "JobIDRaw"},
    TraceColumn{Field::user, "User"},
    TraceColumn{Field::vc, "Partition"},
    TraceColumn{Field::submit, "Submit", true},
    TraceColumn{Field::start, "Start"},
    TraceColumn{Field::end, "End"},
    TraceColumn{Field::elapsed, "Elapsed"},
    TraceColumn{Field::duration, "ElapsedRaw"},
    TraceColumn{Field::limit_raw, "TimelimitRaw"},
    TraceColumn{Field::limit_text, "Timelimit"},
    TraceColumn{Field::state, "State", true},
    TraceColumn{Field::priority, "Priority"},
    TraceColumn{Field::alloc_tres, "AllocTRES"},
    TraceColumn{Field::req_tres, "ReqTRES"},
    TraceColumn{Field::alloc_gres, "AllocGRES"},
    TraceColumn{Field::alloc_gres, "ReqGRES"},
};

/// The content of a list of trackable resources, `cpu=16,mem=320G,gres/gpu=8,gres/gpu:a100=8`, or of the older generic
/// ones, `gpu:a100:8`.
struct Resources {
  std::int64_t gpus = 0;
  std::int64_t cpus = 0;
  std::int64_t bytes = 0;
  std::string_view gpu_type;
  bool valid = true;
};

/// Memory such as `320G`, `62.50G`, `4848K`; a bare number is mebibytes.
std::optional<std::int64_t> parse_memory(std::string_view text) {
  int shift = 20;
  if (!text.empty()) {
    const std::size_t unit = std::string_view{"KMGTP"}.find(text.back());
    if (unit != std::string_view::npos) {
      shift = 10 * (static_cast<int>(unit) + 1);
      text.remove_suffix(1);
    }
  }
  const ScaledDecimal number = parse_scaled(text, 3);
  if (number.error != DecimalError::none || number.value < 0 || number.value > (INT64_MAX >> shift))
    return std::nullopt;
  return (number.value << shift) / 1000;
}

std::int64_t number(std::string_view text, Resources& resources) {
  const ScaledDecimal parsed = parse_integer(text);
  if (parsed.error == DecimalError::none && parsed.value >= 0) return parsed.value;
  resources.valid = false;
  return 0;
}

void take_entry(std::string_view entry, Resources& resources) {
  const std::size_t equals = entry.find('=');
  const std::string_view name = entry.substr(0, equals);
  if (equals != std::string_view::npos) {
    const std::string_view value = entry.substr(equals + 1);
    if (name == "cpu") resources.cpus = number(value, resources);
    if (name == "gres/gpu") resources.gpus = number(value, resources);
    if (name.starts_with("gres/gpu:")) {
      resources.gpu_type = name.substr(std::string_view{"gres/gpu:"}.size());
      // Some clusters only account for GPUs by type.
      if (resources.gpus == 0) resources.gpus = number(value, resources);
    }
    if (name == "mem") {
      const std::optional<std::int64_t> bytes = parse_memory(value);
      resources.valid = resources.valid && bytes.has_value();
      resources.bytes = bytes.value_or(0);
    }
  } else if (name == "gpu") {
    resources.gpus += 1;
  } else if (name.starts_with("gpu:")) {
    const std::size_t colon = name.rfind(':');
    if (colon > 3) resources.gpu_type = name.substr(4, colon - 4);
    resources.gpus += number(name.substr(colon + 1), resources);
  }
}

Resources parse_resources(std::string_view text) {
  Resources resources;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    take_entry(text.substr(0, comma), resources);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return resources;
}

/// The resources allocated to the job or, if none were, those it requested.
std::optional<Resources> resources_of(TraceTable& table) {
  Resources resources;
  for (const Field field : {Field::alloc_tres, Field::req_tres, Field::alloc_gres}) {
    const Resources found = parse_resources(table.text(field));
    if (!found.valid) {
      table.bad(field, "malformed resources", fmt::format("got {}", quote_for_message(table.text(field))));
      return std::nullopt;
    }
    if (resources.cpus == 0) resources.cpus = found.cpus;
    if (resources.bytes == 0) resources.bytes = found.bytes;
    if (resources.gpus == 0) resources.gpus = found.gpus;
    if (resources.gpu_type.empty()) resources.gpu_type = found.gpu_type;
  }
  return resources;
}

bool slurm_gpus(TraceTable& table, JobRequest& job) {
  if (table.text(Field::job).find('.') != std::string_view::npos) {
    table.leave_out("a step of a job that has a row of its own");
    return false;
  }
  const std::optional<Resources> resources = resources_of(table);
  if (!resources) return false;
  if (resources->gpus == 0) {
    table.leave_out("it requests no GPUs");
    return false;
  }
  if (resources->gpus > TraceTable::kMaxGpus) {
    table.bad(Field::alloc_tres, fmt::format("more than {} GPUs", TraceTable::kMaxGpus));
    return false;
  }
  job.gpus = static_cast<int>(resources->gpus);
  return true;
}

void read_limit(TraceTable& table, JobRequest& job) {
  // Words in place of a time: Partition_Limit, UNLIMITED.
  const auto is_word = [](std::string_view text) { return !text.empty() && text.front() >= 'A'; };
  if (table.has(Field::limit_raw) && !is_word(table.text(Field::limit_raw))) {
    const std::optional<std::int64_t> minutes = table.count(Field::limit_raw, 0, 100LL * 366 * 24 * 60);
    if (minutes) job.limit = Time::seconds(60 * *minutes);
    return;
  }
  const std::string_view text = table.text(Field::limit_text);
  if (text.empty() || is_word(text)) return;
  job.limit = parse_slurm_duration(text);
  if (!job.limit)
    table.bad(Field::limit_text, "expected a time such as 1-12:00:00", fmt::format("got {}", quote_for_message(text)));
}

bool complete_slurm(TraceTable& table, JobRequest& job) {
  const Resources resources = resources_of(table).value_or(Resources{});
  if (resources.cpus > INT_MAX / 1000) table.bad(Field::alloc_tres, "more than two million CPUs");
  if (!table.good()) return false;
  job.milli_cpus = static_cast<int>(for_each_gpu(resources.cpus * 1000, job.gpus));
  job.host_memory = Bytes{for_each_gpu(resources.bytes, job.gpus)};
  job.gpu_type = resources.gpu_type;
  read_limit(table, job);
  // Elapsed excludes suspended time and is unaffected by clocks that are put back, so it is preferred to start and end.
  const bool is_raw = !table.text(Field::duration).empty();
  if (const std::string_view text = table.text(Field::elapsed); !is_raw && !text.empty()) {
    job.duration = parse_slurm_duration(text);
    if (!job.duration)
      table.bad(Field::elapsed, "expected a time such as 1-12:00:00", fmt::format("got {}", quote_for_message(text)));
    // A job cancelled while it waited has neither a run time nor a start.
    if (job.duration == Time{} && table.has(Field::start) && table.text(Field::start).empty()) job.duration.reset();
  }
  return table.good();
}

}  // namespace

void read_slurm(ByteSource& source, RowReport& report, const TraceSink& sink) {
  read_table_trace(source, report, sink,
                   {.syntax = {.separator = '|', .quotes = false},
                    .columns = kColumns,
                    .clock = TraceClock::calendar,
                    .states = slurm_states(),
                    .gpus = slurm_gpus,
                    .complete = complete_slurm});
}

}  // namespace contend
