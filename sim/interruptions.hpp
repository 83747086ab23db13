#pragma once
// Interruptions collects the jobs that failures and planned outages strike at an instant. Each of them is interrupted
// once, however many of its components failed, unless it goes on: without the GPUs that have failed
// (sim/redundancy.hpp), or on fewer GPUs. A job that goes on without GPUs goes on holding these, so that they need not
// be taken out of service before it leaves them.

#include "sim/admission.hpp"
#include "sim/components.hpp"
#include "sim/engine_state.hpp"
#include "sim/gpus_in_service.hpp"
#include "sim/lent_servers.hpp"
#include "sim/stalls.hpp"

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

class Interruptions {
 public:
  Interruptions(EngineState& state, Admission& admission, const Components& components, GpusInService& gpus,
                LentServers& lent, const Stalls& stalls)
      : state_{state},
        spec_{state.options.failures},
        admission_{admission},
        components_{components},
        gpus_{gpus},
        lent_{lent},
        stalls_{stalls} {}

  /// A failure strikes the job; the time until somebody notices depends on `by`.
  void strike(JobId job, FoundBy by) { struck_.push_back({job, by}); }
  /// A component that goes down takes the GPU with it, and strikes the jobs there.
  void strike(GpuId gpu, const Component& by);
  /// Spares the jobs that have just ended.
  void forget_ended();
  /// Interrupts those that are struck, takes the GPUs out of service that have gone down, and has jobs go on with GPUs
  /// that are back. `changed`: the components that have turned or were isolated at this instant.
  void carry_out(std::span<const std::uint32_t> changed);

 private:
  struct Struck {
    JobId job;
    FoundBy by;
    auto operator<=>(const Struck&) const = default;
  };
  /// How long after a failure somebody notices, and who.
  struct Detection {
    Time delay = Time::never();
    FoundBy by = FoundBy::delay;
  };

  void interrupt(JobId job, std::span<const Struck> by);
  [[nodiscard]] Detection first_detection(const JobRun& run, std::span<const Struck> by, bool hangs) const;
  [[nodiscard]] bool goes_on(JobId job, Time detection);
  [[nodiscard]] bool goes_on_with_rest(JobId job, Time detection);
  void take_from(JobId job, std::optional<Time> detection);
  void take_out_of_service(GpuId gpu);
  void rejoin();
  [[nodiscard]] std::string failures_under(JobId job) const;
  [[nodiscard]] std::string cause(JobId job, bool by_itself, bool is_stalled, const Detection& detection) const;
  void tell_adapted(JobId job, const std::function<std::string()>& what) const;

  EngineState& state_;
  const FailureSpec& spec_;
  Admission& admission_;
  const Components& components_;
  GpusInService& gpus_;
  LentServers& lent_;
  const Stalls& stalls_;
  std::vector<Struck> struck_;
  std::vector<JobId> struck_by_plan_;
  std::vector<GpuId> broken_now_;
  std::span<const std::uint32_t> changed_;  // of carry_out()
};

}  // namespace contend
