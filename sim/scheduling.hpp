#pragma once
// The port of the scheduling policies: which queued jobs start, and which running ones give way.

#include "sim/cluster_view.hpp"
#include "sim/ids.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace contend {

/// Why a job that was considered does not start now.
enum class Why : std::uint8_t {
  no_gpus,    ///< fewer GPUs are free than it needs
  no_place,   ///< the placement policy has no place for it
  quota,      ///< its virtual cluster, or its share, is used up
  behind,     ///< it may not pass `by`, which waits in front of it
  reserved,   ///< it would delay the reservation of `by`
  outranked,  ///< `by` runs and is not to be pushed out
  throttled,  ///< a rule of the policy on rates or times holds it back
};
[[nodiscard]] const char* to_string(Why why);

/// Listens to what is decided about jobs, e.g. to explain why one waited. It changes nothing.
class DecisionObserver {
 public:
  virtual ~DecisionObserver() = default;
  /// The job waits from now on.
  virtual void queued(Time now, JobId job) = 0;
  virtual void started(Time now, JobId job, std::span<const GpuId> gpus) = 0;
  virtual void preempted(Time now, JobId job, JobId by) = 0;
  /// The job left its GPUs; it is done, or an attempt failed and it will be back.
  virtual void ended(Time now, JobId job, bool is_done) = 0;
  /// The cluster can never run the job.
  virtual void rejected(Time now, JobId job, std::string_view reason) = 0;
  /// In the pass at this instant the policy considered the job and left it waiting. Only the last word in a pass
  /// counts.
  virtual void blocked(Time now, JobId job, Why why, JobId by) = 0;
};

/// What a policy may do in a pass. Each step is checked and carried out at once, so that the view shows its outcome; an
/// illegal one is an error that names the policy.
class SchedulingActions {
 public:
  virtual ~SchedulingActions() = default;
  /// Offers a queued job to the placement policy and starts it there. False: there is no place for it now.
  virtual bool start(JobId job) = 0;
  /// After a start() that was refused: any job of the same demand would be, until GPUs are freed.
  [[nodiscard]] virtual bool refused_alike() const = 0;
  /// Takes its GPUs from a running job, which queues again: SchedulingPolicy::queued is called before this returns.
  /// `by`: for whom, for explanations.
  virtual void preempt(JobId job, JobId by) = 0;
  void preempt(JobId job) { preempt(job, JobId::none()); }
  /// Notes why a job waits that was considered, for explanations: nothing else comes of it. `by`: who is in the way.
  virtual void blocked(JobId job, Why why, JobId by) = 0;
  void blocked(JobId job, Why why) { blocked(job, why, JobId::none()); }
  /// Somebody listens to blocked(): only then is it worth looking at jobs for no other reason.
  [[nodiscard]] virtual bool recording() const = 0;
};

/// Decides which queued jobs start, which running ones give way to them, and which task a GPU that jobs share prefers.
/// It keeps its own queue, from the notifications; policies/scheduling/ has the machinery for that.
class SchedulingPolicy {
 public:
  virtual ~SchedulingPolicy() = default;
  /// Order of the tasks of jobs that share a GPU, smaller first; ties go to the job that started first, then to the
  /// smaller id. Must be a function of what the job is and of its `remaining_service` (attained_service, running and
  /// since are left out of the view), and affine in that over whole iterations, because leaping predicts it: a
  /// constant, or a multiple of what remains.
  [[nodiscard]] virtual std::int64_t key(const JobView& job) const = 0;
  /// The job waits from now on: it arrived, was preempted, or is tried again after a failed attempt.
  virtual void queued(const JobView& /*job*/) {}
  /// The job runs no longer: it ended, or an attempt did and the job will be back. Comes between passes only.
  virtual void left(JobId /*job*/) {}
  /// Called once at an instant at which a job was queued or left or a decision was due, if any job waits.
  virtual void pass(const ClusterView& cluster, SchedulingActions& actions) = 0;
  /// True if it wants passes, and to be asked for the next, even while no job waits.
  [[nodiscard]] virtual bool idle_passes() const { return false; }
  /// When it wants another pass though nothing happens until then (the end of a time slice, of a reservation, ...),
  /// later than now; Time::never() if it doesn't. Asked after each pass, if any job waits.
  [[nodiscard]] virtual Time next_decision(const ClusterView& /*cluster*/) { return Time::never(); }
};

}  // namespace contend
