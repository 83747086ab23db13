#include "sim/job.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace contend {

const char* to_string(JobState state) {
  switch (state) {
    case JobState::submitted:
      return "submitted";
    case JobState::queued:
      return "queued";
    case JobState::running:
      return "running";
    case JobState::preempted:
      return "preempted";
    case JobState::finished:
      return "finished";
    case JobState::failed:
      return "failed";
    case JobState::given_up:
      return "given_up";
  }
  return "?";
}

bool has_ended(JobState state) {
  return state == JobState::finished || state == JobState::failed || state == JobState::given_up;
}

const char* to_string(JobOutcome outcome) {
  switch (outcome) {
    case JobOutcome::completed:
      return "completed";
    case JobOutcome::failed:
      return "failed";
    case JobOutcome::cancelled:
      return "cancelled";
    case JobOutcome::timeout:
      return "timeout";
  }
  return "?";
}

bool is_legal_step(JobState from, JobState to) {
  switch (from) {
    case JobState::submitted:
      return to == JobState::queued || to == JobState::failed;
    case JobState::queued:
      return to == JobState::running || to == JobState::failed || to == JobState::given_up;
    case JobState::running:
      return to == JobState::finished || to == JobState::preempted || to == JobState::queued;
    case JobState::preempted:
      return to == JobState::running;
    case JobState::finished:
    case JobState::failed:
    case JobState::given_up:
      return false;
  }
  return false;
}

std::vector<std::size_t> never_submitted(const std::vector<std::vector<std::size_t>>& after) {
  std::vector<std::vector<std::size_t>> followers(after.size());
  std::vector<std::size_t> not_ended(after.size()), ended;
  for (std::size_t j = 0; j < after.size(); ++j) {
    for (const std::size_t before : after[j]) followers[before].push_back(j);
    not_ended[j] = after[j].size();
    if (not_ended[j] == 0) ended.push_back(j);
  }
  for (std::size_t i = 0; i < ended.size(); ++i)  // which grows
    for (const std::size_t follower : followers[ended[i]])
      if (--not_ended[follower] == 0) ended.push_back(follower);
  std::vector<std::size_t> never;
  for (std::size_t j = 0; j < after.size(); ++j)
    if (not_ended[j] > 0) never.push_back(j);
  return never;
}

std::string why_too_long(const Workload& workload, const JobSpec& job) {
  GpuTime length;  // of one GPU
  if (job.duration) {
    length = GpuTime{*job.duration, 1};
    for (const Time attempt : job.attempts) length += GpuTime{attempt, 1};
  } else {
    const IterationGraph& graph = workload.graphs[job.graph];
    for (std::size_t r = 0; r < graph.roles().size(); ++r) {
      GpuTime computes;
      for (std::size_t phase = 0; phase < graph.phases().count(); ++phase) {
        const std::int64_t iterations = graph.phases().left(phase, 0, job.iterations);
        computes += GpuTime{graph.compute_per_rank(RoleId{r}, phase), iterations};
      }
      length = std::max(length, computes);
    }
  }
  if (length <= GpuTime{kLongestJobTime, 1}) return "";
  constexpr double kYear_s = 365.0 * 24 * 3600;
  const std::string what =
      job.duration ? "its attempts take" : fmt::format("its {} iterations compute for", job.iterations);
  return fmt::format("{} {:.4g} years, a job may take at most 100", what, length.to_seconds() / kYear_s);
}

}  // namespace contend
