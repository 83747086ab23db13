#pragma once
// The sharer keeps the speeds of timed jobs that share GPUs (sim/sharing.hpp), and says who shared with whom. Speeds
// change once everything at an instant has been handled: whatever came and went in between took no time.

#include "sim/engine_state.hpp"

#include <span>
#include <vector>

namespace contend {

class Sharer {
 public:
  explicit Sharer(EngineState& state) : state_{state} {}

  /// Sets the speeds of the jobs that were marked (EngineState::mark_sharing), and when they end. Nothing may be left
  /// to happen at this instant. Throws InputError if the law can't have such jobs run beside each other.
  void settle();

 private:
  void settle(JobId job);
  /// The jobs beside a running job, ascending; `gpus`: its GPUs, each divided by the jobs that hold it.
  [[nodiscard]] std::vector<JobId> beside(JobId job, double& gpus) const;
  [[nodiscard]] std::int64_t speed_of(JobId job) const;

  EngineState& state_;
};

}  // namespace contend
