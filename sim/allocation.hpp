#pragma once
// Allocation gives a job its GPUs and takes them back. It checks what the placement policy has chosen, starts the run
// of the job and accounts for it when it is over. Whether and when a job runs is up to Admission.

#include "sim/engine_state.hpp"

#include <span>
#include <string>
#include <vector>

namespace contend {

class Allocation {
 public:
  explicit Allocation(EngineState& state) : state_{state} {}

  /// False if no placement of the job on so many GPUs of servers of the type could be legal now.
  [[nodiscard]] bool has_room(const JobSpec& job, int gpus, std::int32_t type);
  /// To be called when room may have grown: has_room() remembers the jobs for which there was none.
  void forget_refusals() { too_large_.clear(); }
  /// Why the job may not get these GPUs now; empty if it may.
  [[nodiscard]] std::string why_not(JobId job, std::span<const GpuId> gpus) const;
  /// False if the job requires levels (sim/levels.hpp) in which these GPUs don't lie.
  [[nodiscard]] bool lies_right(const JobSpec& job, std::span<const GpuId> gpus) const;
  /// Throws InputError, which names the placement policy, if the job may not get these GPUs now.
  void check(JobId job, std::span<const GpuId> gpus) const;
  /// Takes the GPUs from the cluster for a job, or gives them back, without any other effect.
  void reserve(JobId job, std::span<const GpuId> gpus, bool take);
  /// True if the job can start on these GPUs beside the jobs that hold them (SchedulingActions::start_at). Throws
  /// InputError, which names the scheduling policy, if no job could have such GPUs.
  [[nodiscard]] bool may_share(JobId job, std::span<const GpuId> gpus) const;
  /// Starts a job that waits on such GPUs.
  void start_sharing(JobId job, std::span<const GpuId> gpus);
  /// Starts a job that waits on GPUs by rank. Throws what check() throws.
  void start(JobId job, std::span<const GpuId> gpus);
  /// Stops a running job before its end. The work that the job has not saved is lost. Returns true if the job has saved
  /// work in this run.
  bool stop(JobId job);
  /// Stops a running job in the same way, and starts it at once on these GPUs, which may be among its own. Throws what
  /// check() throws. Returns what stop() returns.
  bool resize(JobId job, std::span<const GpuId> gpus);
  /// Interrupts a running job, by a failure or by something that `is_planned`: the job loses the work since its last
  /// checkpoint, and is in state `next`. With `keeps_gpus` they are not free until let_go(). Returns true if it has
  /// saved work in this run.
  bool interrupt(JobId job, JobState next, bool keeps_gpus, bool is_planned);
  /// Gives back the GPUs that an interrupted job has kept, or one of them, if it has any.
  void let_go(JobId job);
  void let_go(GpuId gpu);
  /// Gives back what the job holds, once its execution is over. Returns true if a timed job has saved work in this run.
  bool release(JobId job) { return release(job, false); }

 private:
  /// Gives back what an interrupted job has kept of a GPU.
  void stop_keeping(GpuId gpu, const RankDemand& rank);
  /// GPUs that an interrupted job keeps until the failure has been found, in order of their ids.
  struct Kept {
    JobId job;
    int width = 0;  ///< GPUs, before any of them was let go
    std::vector<GpuId> gpus;
  };

  bool release(JobId job, bool keeps_gpus);
  /// What stop() does but for counting a preemption.
  bool vacate(JobId job);
  /// Starts and stops the clock of a job's own failures.
  void start_clock(JobId job);
  void stop_clock(JobId job);
  [[nodiscard]] std::int32_t type_of(GpuId gpu) const;
  /// The type of all these GPUs, or the mix of types that the job may have.
  [[nodiscard]] std::int32_t type_of(const JobSpec& job, std::span<const GpuId> gpus) const;
  /// The slowest type of its GPUs, at whose pace the job runs. Sets its entry in EngineState::mixed, or removes it.
  [[nodiscard]] std::int32_t slowest_type(JobId job);
  void hold(JobId job, std::span<const GpuId> gpus);

  EngineState& state_;
  struct TooLarge {
    const JobSpec* job;
    int gpus;
    std::int32_t type;
  };

  std::vector<Kept> kept_;
  std::vector<ServerId> servers_;    // scratch
  std::vector<TooLarge> too_large_;  // found no room since GPUs were last freed
};

}  // namespace contend
