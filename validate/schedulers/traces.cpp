#include "validate/schedulers/traces.hpp"

#include "sim/error.hpp"
#include "traces/atomic_file.hpp"
#include "traces/csv.hpp"
#include "traces/layers/byte_source.hpp"
#include "validate/schedulers/tar_member.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr std::string_view kItpMember = "cluster01.csv";

struct TraceFile {
  const char* path;
  const char* name;
  const char* title;
  std::size_t jobs;
  int servers;
  Time tick;
};

TraceFile file_of(TraceKind kind) {
  switch (kind) {
    case TraceKind::helios_vcvgl:
      return {"helios/helios_venus_2vc_sept.csv", "vcvGl", "Helios vcvGl", 1452, 20, Time::seconds(1)};
    case TraceKind::itp_cluster01:
      return {"msft_itp/raw-traces.tar.gz", "ITP 01", "ITP cluster01", 1595, 16, Time::seconds(1)};
    case TraceKind::tiresias_60:
      return {"tiresias/60_job.csv", "60 jobs", "Tiresias' 60 jobs", 60, 2, Time::seconds(1)};
    case TraceKind::muri_trace3:
      return {"muri/trace3.csv", "trace3", "Muri trace3", 992, 8, Time::nanoseconds(1)};
  }
  throw InputError{"no such trace"};
}

class Columns {
 public:
  Columns(const CsvTable& table, const std::string& path) : table_{table}, path_{path} {}
  [[nodiscard]] const std::string& text(const CsvRow& row, std::string_view column) const {
    const auto found = std::ranges::find(table_.header, column);
    if (found == table_.header.end()) throw InputError{fmt::format("{}: no column \"{}\"", path_, column)};
    return row.fields[static_cast<std::size_t>(found - table_.header.begin())];
  }
  [[nodiscard]] std::int64_t whole(const CsvRow& row, std::string_view column) const {
    return static_cast<std::int64_t>(std::stod(text(row, column)));
  }

 private:
  const CsvTable& table_;
  const std::string& path_;
};

std::string without_comments(const std::string& text) {
  std::string rest = text;
  while (!rest.empty() && rest.front() == '#') rest.erase(0, rest.find('\n') + 1);
  return rest;
}

JobRequest helios_job(const Columns& columns, const CsvRow& row) {
  return {.name = columns.text(row, "job_id"),
          .submit = Time::microseconds(columns.whole(row, "submit_time")),
          .model = {},
          .gpus = static_cast<int>(columns.whole(row, "num_chips")),
          .duration = Time::seconds(columns.whole(row, "duration_s")),
          .user = columns.text(row, "user")};
}

JobRequest itp_job(const Columns& columns, const CsvRow& row) {
  return {.name = columns.text(row, "job_id"),
          .submit = Time::seconds(columns.whole(row, "submission_time")),
          .model = {},
          .gpus = static_cast<int>(columns.whole(row, "num_gpu")),
          .duration = Time::seconds(columns.whole(row, "duration"))};
}

JobRequest tiresias_job(const Columns& columns, const CsvRow& row) {
  return {.name = columns.text(row, "job_id"),
          .submit = Time::seconds(columns.whole(row, "submit_time")),
          .model = columns.text(row, "model_name"),
          .gpus = static_cast<int>(columns.whole(row, "num_gpu")),
          .duration = Time::seconds(columns.whole(row, "duration"))};
}

JobRequest muri_job(const Columns& columns, const CsvRow& row) {
  const std::int64_t work_ms = columns.whole(row, "iterations") * columns.whole(row, "iteration_time");
  return {.name = columns.text(row, "job_id"),
          .submit = Time::milliseconds(columns.whole(row, "submit_time")),
          .model = columns.text(row, "model_name"),
          .gpus = static_cast<int>(columns.whole(row, "num_gpu")),
          .duration = Time::microseconds(work_ms * 1015)};
}

std::vector<JobRequest> read_jobs(TraceKind kind, const std::string& path) {
  const std::unique_ptr<ByteSource> source = open_file(path);
  const std::string text =
      kind == TraceKind::itp_cluster01 ? read_tar_member(*source, path, kItpMember) : read_all(*source);
  const CsvTable table = parse_csv(without_comments(text), path);
  const Columns columns{table, path};
  std::vector<JobRequest> jobs;
  for (const CsvRow& row : table.rows) {
    if (kind == TraceKind::helios_vcvgl && columns.text(row, "tenant") != "vcvGl") continue;
    jobs.push_back(kind == TraceKind::helios_vcvgl    ? helios_job(columns, row)
                   : kind == TraceKind::itp_cluster01 ? itp_job(columns, row)
                   : kind == TraceKind::tiresias_60   ? tiresias_job(columns, row)
                                                      : muri_job(columns, row));
  }
  return jobs;
}

}  // namespace

std::string trace_folder() {
  const char* const data = std::getenv("CONTEND_DATA");
  return (std::filesystem::path{data != nullptr ? data : "../shared/data"} / "traces").string();
}

std::string trace_path(TraceKind kind) {
  return (std::filesystem::path{trace_folder()} / file_of(kind).path).string();
}

std::vector<std::int64_t> read_gittins_sizes() {
  const std::string path = (std::filesystem::path{trace_folder()} / "tiresias" / "yarn-gput1000.csv").string();
  const CsvTable table = parse_csv(read_file(path), path);
  const Columns columns{table, path};
  std::vector<std::int64_t> sizes;
  for (const CsvRow& row : table.rows) sizes.push_back(columns.whole(row, "duration"));
  std::ranges::sort(sizes);
  return sizes;
}

SchedulerTrace read_scheduler_trace(TraceKind kind) {
  const TraceFile file = file_of(kind);
  SchedulerTrace trace{file.name, file.title, read_jobs(kind, trace_path(kind)), file.servers, 8, file.tick};
  if (trace.jobs.size() != file.jobs) {
    throw InputError{fmt::format("{}: expected the {} jobs of {}, got {}", trace_path(kind), file.jobs, file.title,
                                 trace.jobs.size())};
  }
  std::ranges::stable_sort(trace.jobs, {}, &JobRequest::submit);
  return trace;
}

std::vector<ReferenceJob> reference_jobs(const SchedulerTrace& trace) {
  std::vector<ReferenceJob> jobs;
  for (const JobRequest& each : trace.jobs) {
    jobs.push_back({each.submit.ns() / trace.tick.ns(), each.duration->ns() / trace.tick.ns(), each.gpus});
  }
  return jobs;
}

}  // namespace contend
