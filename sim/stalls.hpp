#pragma once
// Stalls has jobs fail by the time-out of their collectives, when a transfer has no route (FailureSpec::stalls_fail).

#include "sim/engine_state.hpp"

#include <map>
#include <vector>

namespace contend {

class Stalls {
 public:
  explicit Stalls(EngineState& state) : state_{state} {}

  /// Schedules the failures of jobs whose transfers stand still, and takes back the failures of jobs whose transfers go
  /// on.
  void watch();
  /// The jobs that fail so at this instant.
  [[nodiscard]] std::vector<JobId> due() const;
  /// For how long a transfer of a job that fails so has stood still.
  [[nodiscard]] Time lasted(JobId job) const { return state_.clock - stalls_.at(job).since; }

 private:
  struct Stall {
    Time since, at;  // at: when the job fails
    EventHandle event;
  };

  EngineState& state_;
  std::map<JobId, Stall> stalls_;
  std::vector<NetworkModel::Stall> changed_;  // scratch
};

}  // namespace contend
