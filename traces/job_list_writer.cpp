#include "text/csv.hpp"
#include "text/decimal.hpp"
#include "traces/job_list.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace contend {
namespace {

/// Thousandths as a decimal without trailing zeros: 500 as 0.5.
std::string thousandths(std::int64_t value) {
  return format_seconds(Time::milliseconds(value));
}

std::string memory(Bytes bytes) {
  constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
  return bytes.count() % kMebibyte == 0 ? fmt::format("{}MiB", bytes.count() / kMebibyte)
                                        : fmt::format("{}", bytes.count());
}

std::string attempts(const JobRequest& job) {
  std::string text;
  for (const Time attempt : job.attempts) text += (text.empty() ? "" : ";") + format_seconds(attempt);
  return text;
}

std::string place_text(const JobRequest& job) {
  std::string text;
  for (const PlacePart& part : job.place) {
    text += fmt::format("{}server{}", text.empty() ? "" : ";", part.server);
    if (!part.last) continue;
    text += fmt::format(":{}", part.first);
    if (*part.last != part.first) text += fmt::format("-{}", *part.last);
  }
  return text;
}

/// A column: which jobs need it, and its text for a job.
struct WrittenColumn {
  std::string_view name;
  bool (*used)(const JobRequest& job);
  std::string (*text)(const JobRequest& job);
};

/// The value of JobRequest::members under that name, or an empty text.
std::string member(const JobRequest& job, std::string_view name) {
  const auto found = std::ranges::find_if(job.members, [&](const auto& each) { return each.first == name; });
  return found == job.members.end() ? std::string{} : found->second;
}

constexpr std::array kWritten = {
    WrittenColumn{"model", [](const JobRequest& job) { return !job.model.empty(); },
                  [](const JobRequest& job) { return std::string{base_of(job.model)}; }},
    WrittenColumn{"fusion", [](const JobRequest& job) { return !member(job, "fusion").empty(); },
                  [](const JobRequest& job) { return member(job, "fusion"); }},
    WrittenColumn{"compression", [](const JobRequest& job) { return !member(job, "compression").empty(); },
                  [](const JobRequest& job) { return member(job, "compression"); }},
    WrittenColumn{"batch", [](const JobRequest& job) { return !member(job, "batch").empty(); },
                  [](const JobRequest& job) { return member(job, "batch"); }},
    WrittenColumn{"gpus", [](const JobRequest&) { return true; },
                  [](const JobRequest& job) { return fmt::format("{}", job.gpus); }},
    // Without its iterations a job with a duration has 1.
    WrittenColumn{"iterations",
                  [](const JobRequest& job) { return !job.duration.has_value() || job.knows_iterations(); },
                  [](const JobRequest& job) { return fmt::format("{}", job.iterations); }},
    WrittenColumn{"duration_s", [](const JobRequest& job) { return job.duration.has_value(); },
                  [](const JobRequest& job) { return format_seconds(*job.duration); }},
    WrittenColumn{"attempts_s", [](const JobRequest& job) { return !job.attempts.empty(); }, attempts},
    WrittenColumn{"outcome", [](const JobRequest& job) { return job.outcome != JobOutcome::completed; },
                  [](const JobRequest& job) { return std::string{to_string(job.outcome)}; }},
    WrittenColumn{"limit_s", [](const JobRequest& job) { return job.limit.has_value(); },
                  [](const JobRequest& job) { return format_seconds(*job.limit); }},
    WrittenColumn{"elapsed_s", [](const JobRequest& job) { return job.elapsed.has_value(); },
                  [](const JobRequest& job) { return format_seconds(*job.elapsed); }},
    WrittenColumn{"measured_wait_s", [](const JobRequest& job) { return job.measured_wait.has_value(); },
                  [](const JobRequest& job) { return format_seconds(*job.measured_wait); }},
    WrittenColumn{"vc", [](const JobRequest& job) { return !job.vc.empty(); },
                  [](const JobRequest& job) { return job.vc; }},
    WrittenColumn{"user", [](const JobRequest& job) { return !job.user.empty(); },
                  [](const JobRequest& job) { return job.user; }},
    WrittenColumn{"gpu_type", [](const JobRequest& job) { return !job.gpu_type.empty(); },
                  [](const JobRequest& job) { return job.gpu_type; }},
    WrittenColumn{"gpu_share", [](const JobRequest& job) { return job.gpu_share != 0; },
                  [](const JobRequest& job) { return thousandths(job.gpu_share); }},
    WrittenColumn{"cpus", [](const JobRequest& job) { return job.milli_cpus != 0; },
                  [](const JobRequest& job) { return thousandths(job.milli_cpus); }},
    WrittenColumn{"host_memory", [](const JobRequest& job) { return job.host_memory != Bytes{}; },
                  [](const JobRequest& job) { return memory(job.host_memory); }},
    WrittenColumn{"gpu_memory", [](const JobRequest& job) { return job.gpu_memory != Bytes{}; },
                  [](const JobRequest& job) { return memory(job.gpu_memory); }},
    WrittenColumn{"priority", [](const JobRequest& job) { return job.priority != 0; },
                  [](const JobRequest& job) { return fmt::format("{}", job.priority); }},
    WrittenColumn{"deadline_s", [](const JobRequest& job) { return job.deadline.has_value(); },
                  [](const JobRequest& job) { return format_seconds(job.submit + *job.deadline); }},
    WrittenColumn{"min_gpus", [](const JobRequest& job) { return job.elastic(); },
                  [](const JobRequest& job) { return fmt::format("{}", job.min_gpus); }},
    WrittenColumn{"max_gpus", [](const JobRequest& job) { return job.elastic(); },
                  [](const JobRequest& job) { return fmt::format("{}", job.max_gpus); }},
    WrittenColumn{"batch_rule", [](const JobRequest& job) { return !job.batch_rule.empty(); },
                  [](const JobRequest& job) { return job.batch_rule; }},
    WrittenColumn{"after", [](const JobRequest& job) { return !job.after.empty(); },
                  [](const JobRequest& job) { return fmt::format("{}", fmt::join(job.after, ";")); }},
    WrittenColumn{"think_s", [](const JobRequest& job) { return job.think > Time{}; },
                  [](const JobRequest& job) { return format_seconds(job.think); }},
    WrittenColumn{"required_level", [](const JobRequest& job) { return !job.level.required.empty(); },
                  [](const JobRequest& job) { return job.level.required; }},
    WrittenColumn{"preferred_level", [](const JobRequest& job) { return !job.level.preferred.empty(); },
                  [](const JobRequest& job) { return job.level.preferred; }},
    WrittenColumn{"segment_gpus", [](const JobRequest& job) { return job.level.segment > 0; },
                  [](const JobRequest& job) { return fmt::format("{}", job.level.segment); }},
    WrittenColumn{"segment_level", [](const JobRequest& job) { return job.level.segment > 0; },
                  [](const JobRequest& job) { return job.level.segment_level; }},
    WrittenColumn{"place", [](const JobRequest& job) { return !job.place.empty(); }, place_text},
};

}  // namespace

std::string job_list_csv(const std::vector<JobRequest>& jobs) {
  std::string csv = "job_id,submit_s";
  std::vector<const WrittenColumn*> columns;
  for (const WrittenColumn& column : kWritten) {
    if (std::none_of(jobs.begin(), jobs.end(), column.used)) continue;
    columns.push_back(&column);
    csv += fmt::format(",{}", column.name);
  }
  csv += '\n';
  for (const JobRequest& job : jobs) {
    append_csv_field(csv, job.name);
    csv += ',';
    csv += format_seconds(job.submit);
    for (const WrittenColumn* column : columns) {
      csv += ',';
      if (column->used(job)) append_csv_field(csv, column->text(job));
    }
    csv += '\n';
  }
  return csv;
}

}  // namespace contend
