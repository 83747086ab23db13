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
  std::string_view other_type{};  ///< a second one
  std::int64_t typed_gpus = 0;    ///< of these types
  int milli_gpu = 1000;           ///< part of a GPU that each of `gpus` is, below 1000 for MIG slices
  bool valid = true;

  /// Why a job here can't have them: all of its GPUs are of one type. Empty if it can.
  [[nodiscard]] std::string fault() const {
    if (!other_type.empty()) return fmt::format("GPUs of the types {} and {}", other_type, gpu_type);
    if (typed_gpus != 0 && typed_gpus != gpus)
      return fmt::format("{} GPUs, of which {} are of type {},", gpus, typed_gpus, gpu_type);
    return {};
  }
};

/// The part of a GPU, in thousandths, that a MIG slice such as `1g.5gb` or `a100_3g.20gb` is; 1000 for other types.
/// An A30 (6 GB for each of its compute slices) has four of these slices, other GPUs with MIG have seven (NVIDIA
/// Multi-Instance GPU User Guide, supported profiles). Rounded down, so that as many slices fit as the GPU has.
int part_of_gpu(std::string_view type) {
  const std::size_t dot = type.find("g.");
  if (dot == std::string_view::npos || dot == 0) return 1000;
  const std::size_t end = type.find("gb", dot);
  if (end == std::string_view::npos) return 1000;
  const ScaledDecimal slices = parse_integer(type.substr(dot - 1, 1));
  const ScaledDecimal gigabytes = parse_integer(type.substr(dot + 2, end - dot - 2));
  if (slices.error != DecimalError::none || gigabytes.error != DecimalError::none) return 1000;
  const int all = gigabytes.value == 6 * slices.value && slices.value <= 4 ? 4 : 7;
  if (slices.value < 1 || slices.value > all) return 1000;
  return static_cast<int>(1000 * slices.value / all);
}

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

void add_type(std::string_view type, std::int64_t gpus, Resources& resources) {
  if (gpus == 0) return;
  if (!resources.gpu_type.empty() && resources.gpu_type != type) resources.other_type = resources.gpu_type;
  resources.gpu_type = type;
  resources.typed_gpus += gpus;
  resources.milli_gpu = part_of_gpu(type);
}

void take_entry(std::string_view entry, Resources& resources) {
  const std::size_t equals = entry.find('=');
  const std::string_view name = entry.substr(0, equals);
  if (equals != std::string_view::npos) {
    const std::string_view value = entry.substr(equals + 1);
    if (name == "cpu") resources.cpus = number(value, resources);
    if (name == "gres/gpu") resources.gpus = number(value, resources);
    if (name.starts_with("gres/gpu:"))
      add_type(name.substr(std::string_view{"gres/gpu:"}.size()), number(value, resources), resources);
    if (name == "mem") {
      const std::optional<std::int64_t> bytes = parse_memory(value);
      resources.valid = resources.valid && bytes.has_value();
      resources.bytes = bytes.value_or(0);
    }
  } else if (name == "gpu") {
    resources.gpus += 1;
  } else if (name.starts_with("gpu:")) {
    const std::size_t colon = name.rfind(':');
    const std::int64_t gpus = number(name.substr(colon + 1), resources);
    if (colon > 3) add_type(name.substr(4, colon - 4), gpus, resources);
    resources.gpus += gpus;
  }
}

Resources parse_resources(std::string_view text) {
  Resources resources;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    take_entry(text.substr(0, comma), resources);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  if (resources.gpus == 0) resources.gpus = resources.typed_gpus;  // some clusters only account for GPUs by type
  return resources;
}

/// The resources allocated to the job or, if none were, those it requested.
std::optional<Resources> resources_of(TraceTable& table) {
  Resources resources;
  for (const Field field : {Field::alloc_tres, Field::req_tres, Field::alloc_gres}) {
    const Resources found = parse_resources(table.text(field));
    const std::string fault = found.fault(), text = quote_for_message(table.text(field));
    if (!found.valid)
      table.bad(field, "malformed resources", fmt::format("got {}", text));
    else if (!fault.empty())
      table.bad(field, "expected GPUs of one type in a job", fmt::format("got {} in {}", fault, text));
    if (!found.valid || !fault.empty()) return std::nullopt;
    if (resources.cpus == 0) resources.cpus = found.cpus;
    if (resources.bytes == 0) resources.bytes = found.bytes;
    if (resources.gpus == 0) resources.gpus = found.gpus;
    if (resources.gpu_type.empty()) {
      resources.gpu_type = found.gpu_type;
      resources.milli_gpu = found.milli_gpu;
    }
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
  if (resources->milli_gpu < 1000) {
    job.gpu_share = resources->milli_gpu;
    table.note("MIG slices of GPUs: each is read as a share of a GPU");
  }
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

constexpr TableTrace kSlurm{.syntax = {.separator = '|', .quotes = false},
                            .columns = kColumns,
                            .clock = TraceClock::calendar,
                            .gpus = slurm_gpus,
                            .complete = complete_slurm};

/// Joins the rows of a job that was requeued, which `sacct --duplicates` prints one after the other with the steps of
/// each run in between: all runs but the last are attempts.
class SlurmRuns {
 public:
  SlurmRuns(TraceTable& table, RowReport& report, const TraceSink& sink) : table_{table}, report_{report}, sink_{sink} {
    format_.states = slurm_states();
    requeued_format_.states = kRequeued;
  }

  void take_row() {
    const std::string_view name = table_.text(Field::job);
    const bool is_step = name.find('.') != std::string_view::npos;
    // A job that completed is not run again: another row of its name is a fault, which the importer reports.
    const bool is_again = held_ && held_->name == name && held_->outcome != JobOutcome::completed;
    const std::string_view whole = whole_of(name);
    const bool is_part = held_ && !is_again && !whole.empty() && whole == whole_of(held_->name);
    if (!is_step && !is_again && !is_part) end();
    const bool requeued = table_.text(Field::state) == "REQUEUED" && !is_step;
    JobRequest job;
    const bool is_job = read_table_job(table_, requeued ? requeued_format_ : format_, table_.line(), job);
    if (is_step) return;
    if (is_again && !is_job) {
      report_.leave_out(line_, "an earlier run of a job whose last run had not ended, or is not a job");
      held_.reset();
    }
    if (!is_job) return;
    if (is_part || (!whole.empty() && whole == refused_)) return refuse_part(whole);
    if (is_again) join_to(job);
    held_ = std::move(job);
    waits_again_ = requeued;
    line_ = table_.line();
  }

  /// Hands on the job that was read last.
  void end() {
    if (held_ && waits_again_)
      report_.leave_out(line_, "still waiting when the trace was taken");
    else if (held_)
      sink_(line_, *std::move(held_));
    held_.reset();
  }

 private:
  static constexpr std::array kRequeued = {TraceStateWord{"REQUEUED", TraceState::failed}};

  /// The number of a heterogeneous job, of which `123+1` is a component; empty for other names.
  static std::string_view whole_of(std::string_view name) {
    const std::size_t plus = name.find('+');
    return plus == std::string_view::npos ? std::string_view{} : name.substr(0, plus);
  }

  /// The components of a heterogeneous job start together: read as jobs of their own, they would not. One alone with
  /// GPUs is the job.
  void refuse_part(std::string_view whole) {
    constexpr std::string_view kReason =
        "a component of a heterogeneous job of which several have GPUs, and a job is one row here";
    if (held_) report_.bad(line_, "JobID", kReason, fmt::format("{}, got {}", kReason, quote_for_message(held_->name)));
    held_.reset();
    refused_ = whole;
    table_.bad(Field::job, kReason, fmt::format("got {}", quote_for_message(table_.text(Field::job))));
  }

  /// Makes the runs so far attempts of their job, whose last run is `job`.
  void join_to(JobRequest& job) {
    report_.leave_out(line_, "an earlier run of a job that was requeued: it becomes an attempt of that job");
    if (job.gpus != held_->gpus) report_.note(line_, "its attempts had different numbers of GPUs; the last counts");
    job.attempts = std::move(held_->attempts);
    job.attempts.push_back(*held_->duration);
    job.submit = std::min(job.submit, held_->submit);
    job.measured_wait = held_->measured_wait;
  }

  TraceTable& table_;
  RowReport& report_;
  const TraceSink& sink_;
  TableTrace format_ = kSlurm, requeued_format_ = kSlurm;
  std::optional<JobRequest> held_;
  std::string refused_;  ///< the heterogeneous job with several components that have GPUs
  bool waits_again_ = false;
  int line_ = 0;
};

}  // namespace

void read_slurm(ByteSource& source, RowReport& report, const TraceSink& sink) {
  RowReader rows{source, report.file(), kSlurm.syntax};
  TraceTable table{rows, kSlurm.columns, report};
  SlurmRuns runs{table, report, sink};
  while (table.next()) runs.take_row();
  runs.end();
}

}  // namespace contend
