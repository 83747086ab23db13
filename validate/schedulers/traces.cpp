#include "validate/schedulers/traces.hpp"

#include "sim/error.hpp"
#include "text/atomic_file.hpp"
#include "text/byte_source.hpp"
#include "text/csv.hpp"
#include "traces/jobs/import_jobs.hpp"
#include "validate/schedulers/tar_member.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr std::string_view kItpMember = "cluster01.csv";
constexpr std::int64_t kMuriPerMille = 1015;  // of the iteration time, which is in whole ms

struct TraceFile {
  const char* path;
  const char* format;  ///< contend list trace-formats
  const char* name;
  const char* title;
  std::size_t jobs;
  int servers;
  Time tick;
};

TraceFile file_of(TraceKind kind) {
  switch (kind) {
    case TraceKind::helios_vcvgl:
      return {"helios/helios_venus_2vc_sept.csv", "fleetsim", "vcvGl", "Helios vcvGl", 1452, 20, Time::seconds(1)};
    case TraceKind::itp_cluster01:
      return {"msft_itp/raw-traces.tar.gz", "itp", "ITP 01", "ITP cluster01", 1595, 16, Time::seconds(1)};
    case TraceKind::tiresias_60:
      return {"tiresias/60_job.csv", "tiresias", "60 jobs", "Tiresias' 60 jobs", 60, 2, Time::seconds(1)};
    case TraceKind::philly:
      return {"philly/philly_pollux.csv", "philly-csv", "Philly", "Philly", 82247, 311, Time::seconds(1)};
    case TraceKind::philly_512:
      return {"philly/philly_pollux.csv", "philly-csv", "Philly/512", "Philly on 512", 82247, 64, Time::seconds(1)};
    case TraceKind::muri_trace3:
      return {"muri/trace3.csv", "muri-iterations", "trace3", "Muri trace3", 992, 8, Time::nanoseconds(1)};
  }
  throw InputError{"no such trace"};
}

std::vector<JobRequest> read_jobs(TraceKind kind, const TraceFile& file) {
  const std::string path = trace_path(kind);
  const std::unique_ptr<ByteSource> source = open_file(path);
  const bool is_philly = kind == TraceKind::philly || kind == TraceKind::philly_512;
  ImportOptions options{.origin = is_philly ? TimeOrigin::first : TimeOrigin::kept};
  if (kind == TraceKind::helios_vcvgl) options.vcs = {"vcvGl"};
  if (kind != TraceKind::itp_cluster01) return import_jobs(file.format, *source, path, options).jobs;
  const std::string member = read_tar_member(*source, path, kItpMember);
  TextSource text{member};
  return import_jobs(file.format, text, fmt::format("{}/{}", path, kItpMember), options).jobs;
}

}  // namespace

std::string trace_folder() {
  const char* const data = std::getenv("CONTEND_DATA");
  return (std::filesystem::path{data != nullptr ? data : "../shared/data"} / "traces").string();
}

std::string trace_path(TraceKind kind) {
  return (std::filesystem::path{trace_folder()} / file_of(kind).path).string();
}

std::string trace_title(TraceKind kind) {
  return file_of(kind).title;
}

std::vector<std::int64_t> read_gittins_sizes() {
  const std::string path = (std::filesystem::path{trace_folder()} / "tiresias" / "yarn-gput1000.csv").string();
  const CsvTable table = parse_csv(read_file(path), path);
  std::vector<std::int64_t> sizes;
  for (const CsvRow& row : table.rows) {
    const std::string& text = row.fields.front();
    std::int64_t size = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc{} || stop != text.data() + text.size()) {
      throw InputError{fmt::format("{}:{}: expected GPU-seconds, got \"{}\"", path, row.line, text)};
    }
    sizes.push_back(size);
  }
  std::ranges::sort(sizes);
  return sizes;
}

SchedulerTrace read_scheduler_trace(TraceKind kind) {
  const TraceFile file = file_of(kind);
  SchedulerTrace trace{file.name, file.title, read_jobs(kind, file), file.servers, 8, file.tick};
  if (trace.jobs.size() != file.jobs) {
    throw InputError{fmt::format("{}: expected the {} jobs of {}, got {}", trace_path(kind), file.jobs, file.title,
                                 trace.jobs.size())};
  }
  if (kind == TraceKind::muri_trace3) {
    for (JobRequest& job : trace.jobs) job.duration = Time::nanoseconds(job.duration->ns() / 1000 * kMuriPerMille);
  }
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
