#pragma once
// Outages takes components out of service and puts them back (sim/failure_spec.hpp). At an instant it acts after the
// ends of operations and transfers and before the scheduling pass: first what was repaired comes back, then what failed
// goes, and each job on it is interrupted once, however many of its components failed. It keeps that order; its parts
// each have a state of their own: what is due (Agenda), what can fail (Components), which GPUs work (GpusInService),
// servers that stand in for others (Spares) or are lent (LentServers), jobs that are slow (SlowJobs), whose transfers
// stand still (Stalls), or that are struck (Interruptions).
//
// A component that only slows down (ComponentClass::slows) interrupts nobody: Slowness changes the pace of its GPUs. If
// a monitor looks for that (FoundBy::slowdown) it is isolated after a while, which is a failure.
//
// A part of the fabric takes no GPU out of service. A job with a transfer that stands still because of it for the
// time-out of its collectives fails by that (FailureSpec::stalls_fail). A route that comes back at that instant is in
// time.

#include "sim/admission.hpp"
#include "sim/agenda.hpp"
#include "sim/components.hpp"
#include "sim/engine_state.hpp"
#include "sim/gpus_in_service.hpp"
#include "sim/interruptions.hpp"
#include "sim/lent_servers.hpp"
#include "sim/slow_jobs.hpp"
#include "sim/slowness.hpp"
#include "sim/spares.hpp"
#include "sim/stalls.hpp"

#include <cstdint>
#include <vector>

namespace contend {

class Outages {
 public:
  /// Throws InputError if the spec does not suit the cluster.
  Outages(EngineState& state, Admission& admission);

  /// Takes the spares out of service. To be called before the admission looks at the empty cluster.
  void withhold_spares() { spares_.withhold(); }
  /// Schedules the first outages.
  void begin();
  /// A component is due at this instant, or a transfer that stands still.
  void on_outage() { is_due_ = true; }
  /// A job fails by itself at this instant.
  void on_job_failure(JobId job);
  /// Carries out what is due at this instant.
  void strike();
  /// Looks at jobs that have started, whether what they run on is slow. To be called after each scheduling pass.
  void look_at_started();
  /// Looks again at jobs that would restart elsewhere and found no place, if GPUs have been given back since. To be
  /// called after these. True if some have left their GPUs, so that another scheduling pass is due.
  [[nodiscard]] bool look_at_stuck();
  /// No earlier than this the job takes a step against its slowness (SlowJobs::may_step_at).
  [[nodiscard]] Time may_step_at(JobId job) const { return slow_jobs_.may_step_at(job); }
  /// Takes what no job holds of the servers that are drained. To be called whenever jobs may have left GPUs.
  void withhold_free();
  /// No earlier than this a component fails or comes back that has a part on the server.
  [[nodiscard]] Time next_on(ServerId server) const;
  [[nodiscard]] std::int64_t failures() const { return failures_; }
  /// The time until `now` for which the GPU was out of service.
  [[nodiscard]] Time down(GpuId gpu, Time now) const { return gpus_.down(gpu, now); }

 private:
  /// What is due at an instant.
  struct Changes {
    std::vector<std::uint32_t> turning, isolating;  // components
    std::vector<JobId> stepping;                    // jobs that are to take a step against their slowness
  };

  void strike_due();
  [[nodiscard]] Changes take_changes();
  void go_down(std::uint32_t component);
  void come_back(std::uint32_t component);
  void change_pace(std::uint32_t component, bool is_over);
  void isolate(std::uint32_t component);
  void fail(std::uint32_t component);
  void repair(std::uint32_t component);
  bool mitigate(std::vector<JobId> jobs);
  void restart(JobId job);
  void watch_for_starts();

  EngineState& state_;
  Admission& admission_;
  Slowness slowness_;
  const FailureSpec& spec_;
  Agenda agenda_;
  Components components_;
  GpusInService gpus_;
  Spares spares_;
  LentServers lent_;
  SlowJobs slow_jobs_;
  Stalls stalls_;
  Interruptions interruptions_;
  bool is_due_ = false;
  std::vector<Draining> draining_;      // components that will be in an outage of the list
  std::vector<std::uint32_t> changed_;  // components that have turned or were isolated at this instant
  std::int64_t failures_ = 0;
  std::int64_t without_start_ = 0;  // instants with outages since a job ran, or could be submitted or come back
};

}  // namespace contend
