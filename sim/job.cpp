#include "sim/job.hpp"

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
  }
  return "?";
}

const char* to_string(JobOutcome outcome) {
  switch (outcome) {
    case JobOutcome::completed:
      return "completed";
    case JobOutcome::failed:
      return "failed";
    case JobOutcome::cancelled:
      return "cancelled";
  }
  return "?";
}

bool is_legal_step(JobState from, JobState to) {
  switch (from) {
    case JobState::submitted:
      return to == JobState::queued || to == JobState::failed;
    case JobState::queued:
      return to == JobState::running;
    case JobState::running:
      return to == JobState::finished || to == JobState::preempted || to == JobState::queued;
    case JobState::preempted:
      return to == JobState::running;
    case JobState::finished:
    case JobState::failed:
      return false;
  }
  return false;
}

}  // namespace contend
