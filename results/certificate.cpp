#include "results/certificate.hpp"

#include "results/graph_rows.hpp"
#include "results/replica.hpp"
#include "results/transfer_rows.hpp"
#include "text/csv.hpp"
#include "text/decimal.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr std::string_view kHeader = "replica,time_s,event,job_id,gpus,seconds,text\n";

/// Numbers of GPUs as ranges, ascending: 0-3 8.
std::string ranges_of(std::span<const GpuId> gpus) {
  std::vector<GpuId> sorted{gpus.begin(), gpus.end()};
  std::ranges::sort(sorted);
  std::string text;
  for (std::size_t i = 0, next = 0; i < sorted.size(); i = next) {
    for (next = i + 1; next < sorted.size() && sorted[next].value() == sorted[next - 1].value() + 1;) ++next;
    if (i > 0) text += ' ';
    text += fmt::format_int{sorted[i].value()}.c_str();
    if (next > i + 1) text += fmt::format("-{}", sorted[next - 1].value());
  }
  return text;
}

/// A table of all replicas.
std::string joined(std::string_view header, std::span<const Replica> replicas, std::string RunLogs::*rows) {
  std::string all{header};
  for (const Replica& replica : replicas) all += replica.logs.*rows;
  return all;
}

}  // namespace

CertificateRecorder::CertificateRecorder(std::uint64_t seed, std::span<const JobSpec> jobs)
    : begin_{fmt::format("{},", seed)} {
  for (const JobSpec& spec : jobs) {
    Job& job = jobs_.emplace_back();
    job.name = spec.name;
    job.serves = spec.service >= 0;
    if (!spec.duration || job.serves) continue;
    job.work = *spec.duration;
    for (const Time attempt : spec.attempts) *job.work += attempt;
  }
}

void CertificateRecorder::add(Time now, std::string_view event, std::string_view job, std::span<const GpuId> gpus,
                              std::optional<Time> seconds, std::string_view text) {
  rows_ += begin_;
  rows_ += format_seconds(now);
  rows_ += ',';
  rows_ += event;
  rows_ += ',';
  append_csv_field(rows_, job);
  rows_ += ',';
  rows_ += ranges_of(gpus);
  rows_ += ',';
  if (seconds) rows_ += format_seconds(*seconds);
  rows_ += ',';
  append_csv_field(rows_, text);
  rows_ += '\n';
}

void CertificateRecorder::queued(Time now, JobId id) {
  Job& job = jobs_[id.index()];
  if (job.arrived) return add(now, "queues", job.name);
  job.arrived = true;
  add(now, "arrives", job.name, {}, job.work, job.serves ? "serves" : "");
}

void CertificateRecorder::started(Time now, JobId job, std::span<const GpuId> gpus, Time pause) {
  add(now, "starts", jobs_[job.index()].name, gpus, pause);
}

void CertificateRecorder::preempted(Time now, JobId job, JobId by) {
  add(now, "preempted", jobs_[job.index()].name, {}, {}, by.valid() ? jobs_[by.index()].name : "");
}

void CertificateRecorder::resized(Time now, JobId job) {
  add(now, "resized", jobs_[job.index()].name);
}

void CertificateRecorder::interrupted(Time now, JobId job, std::string_view cause) {
  jobs_[job.index()].interrupted = true;
  add(now, "interrupted", jobs_[job.index()].name, {}, {}, cause);
}

void CertificateRecorder::adapted(Time now, JobId job, std::string_view what) {
  add(now, "adapts", jobs_[job.index()].name, {}, {}, what);
}

void CertificateRecorder::ended(Time now, JobId id, bool is_done) {
  Job& job = jobs_[id.index()];
  if (std::exchange(job.interrupted, false)) return;
  add(now, is_done ? "ends" : "fails", job.name);
}

void CertificateRecorder::rejected(Time now, JobId job, std::string_view reason) {
  add(now, "rejected", jobs_[job.index()].name, {}, {}, reason);
}

void CertificateRecorder::reserved(Time now, JobId id, Time start, std::span<const GpuId> gpus) {
  Job& job = jobs_[id.index()];
  if (std::exchange(job.promised, start) != start) add(now, "promised", job.name, gpus, start);
}

std::string CertificateRecorder::take(Time end) {
  add(end, "run ends", "");
  return std::exchange(rows_, {});
}

std::string certificate_csv(std::span<const Replica> replicas) {
  return joined(kHeader, replicas, &RunLogs::lives);
}

std::string transfers_csv(std::span<const Replica> replicas) {
  return joined(transfers_header(), replicas, &RunLogs::transfers);
}

std::string graphs_csv(std::span<const Replica> replicas) {
  return joined(graphs_header(), replicas, &RunLogs::graphs);
}

}  // namespace contend
