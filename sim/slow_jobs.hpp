#pragma once
// SlowJobs counts what jobs of iterations lose because of slow components, and has them take the steps against that
// (Mitigation in sim/failure_spec.hpp).

#include "sim/admission.hpp"
#include "sim/agenda.hpp"
#include "sim/components.hpp"
#include "sim/engine_state.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace contend {

class SlowJobs {
 public:
  SlowJobs(EngineState& state, Admission& admission, Agenda& agenda, const Components& components)
      : state_{state}, admission_{admission}, agenda_{agenda}, components_{components} {}

  /// Counts what the job has lost, and has it take the steps for which that is enough. True if it restarts elsewhere:
  /// it has saved its work, and the components that slow it down are to be isolated now.
  [[nodiscard]] bool look_at(JobId job);
  /// The job has started, on other GPUs than before.
  void forget(JobId job) { slow_.erase(job); }
  /// True if the job takes its next step at this instant.
  [[nodiscard]] bool is_due(JobId job) const;
  /// No earlier than this the job takes a step; now if it waits for a place elsewhere; never(): not unless it changes.
  [[nodiscard]] Time may_step_at(JobId job) const;
  /// The jobs that would restart and found no other place, if GPUs have been given back since wait_for_room(). They are
  /// to be looked at.
  [[nodiscard]] std::vector<JobId> take_stuck();
  void wait_for_room() { looked_at_ = state_.given_back; }
  /// They may have a place now, whatever has been given back.
  void expect_room() { looked_at_ = 0; }

 private:
  struct Slow {
    Time since;                               // when it was looked at last; later than now while it stands for a step
    Time lost{};                              // since it became slow, until `since`
    std::int32_t pace = Slowdown::kFullPace;  // since then
    Time due = Time::never();                 // its next step
    bool is_stuck = false;                    // it would restart if it had another place
  };
  struct Step {
    enum class Kind : std::uint8_t { microbatches, topology, restart };
    Kind kind;
    Time cost;
  };

  void recover(JobId job);
  [[nodiscard]] std::optional<Step> next_step_of(const JobRun& run) const;
  [[nodiscard]] bool has_other_place(JobId job);
  void take(JobId job, const Step& step);

  EngineState& state_;
  Admission& admission_;
  Agenda& agenda_;
  const Components& components_;
  std::map<JobId, Slow> slow_;
  std::vector<JobId> stuck_;     // jobs that would restart, and had no other place when they were looked at last
  std::uint64_t looked_at_ = 0;  // EngineState::given_back then
};

}  // namespace contend
