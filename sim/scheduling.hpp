#pragma once
// SchedulingPolicy is the port of the scheduling policies: they decide which queued jobs start and which running ones
// are preempted.

#include "sim/cluster_view.hpp"
#include "sim/ids.hpp"
#include "sim/units.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace contend {

/// The reason why a job that a policy considered does not start now.
enum class Why : std::uint8_t {
  no_gpus,            ///< fewer GPUs are free than it needs
  no_place,           ///< the placement policy has no place for it
  no_domain,          ///< no domain of the level that it requires has enough GPUs free, though the cluster has
  place_taken,        ///< it must run on certain GPUs, and `by` holds one of them
  quota,              ///< the quota of its virtual cluster, or its fair share, is used up
  behind,             ///< it may not overtake `by`, which waits in front of it
  reserved,           ///< it would delay the reservation of `by`
  outranked,          ///< `by` runs and may not be preempted for it
  passed_over,        ///< the policy divides the GPUs among jobs, and gives it none
  throttled,          ///< a rule of the policy on rates or times holds it back
  between_decisions,  ///< it queued after the policy decided last, and the policy decides at times of its own
};

/// The place of a waiting job in the order in which a policy serves the jobs that wait for time on a type of servers.
struct PlaceInLine {
  std::int32_t type = -1;  ///< -1: there is one type only
  int place = 0;           ///< 1: it is the next; 0: not known
  bool operator==(const PlaceInLine&) const = default;
};

/// A component that slows its GPUs down.
struct SlowGpus {
  std::string_view name;       ///< of its kind, in words
  std::uint32_t first, last;   ///< GPUs first, ..., last - 1
  std::int32_t times = 1'000;  ///< as long as the slower of computing and transfers takes, in thousandths
};

/// What keeps a GPU out of service: it has failed; it waits for a planned outage or is in one; its server isn't lent at
/// the moment; its server is a spare, or is to become one. Of several the first in this order counts.
enum class OutReason : std::uint8_t { failed, drained, not_lent, spare };
inline constexpr std::size_t kOutReasons = 4;

/// The GPUs that are out of service.
struct OutOfService {
  std::array<std::int64_t, kOutReasons> gpus{};  ///< by OutReason
  [[nodiscard]] std::int64_t total() const { return gpus[0] + gpus[1] + gpus[2] + gpus[3]; }
  [[nodiscard]] std::int64_t& of(OutReason reason) { return gpus[static_cast<std::size_t>(reason)]; }
  bool operator==(const OutOfService&) const = default;
};

/// Receives every decision about jobs, e.g. to explain why one waited. It changes nothing.
class DecisionObserver {
 public:
  virtual ~DecisionObserver() = default;
  /// The job waits from now on.
  virtual void queued(Time now, JobId job) = 0;
  /// `pause`: for so long it does no work at first: it restarts, and may save its state before (PreemptionCosts).
  virtual void started(Time now, JobId job, std::span<const GpuId> gpus, Time pause) = 0;
  virtual void preempted(Time now, JobId job, JobId by) = 0;
  /// The job left its GPUs to start at once on another number of them; started() follows.
  virtual void resized(Time /*now*/, JobId /*job*/) {}
  /// A failure is about to end the run of the job, as ended() says next. `cause` says in words what failed.
  virtual void interrupted(Time /*now*/, JobId /*job*/, std::string_view /*cause*/) {}
  /// The job goes on with the GPUs that it has in another way than before, as `what` says in words: without those that
  /// have failed, with those that are back, or after a step against slow components.
  virtual void adapted(Time /*now*/, JobId /*job*/, std::string_view /*what*/) {}
  /// A component slows its GPUs down from now on, or no longer.
  virtual void slowed(Time /*now*/, const SlowGpus& /*component*/, bool /*is_over*/) {}
  /// A job that may take steps against slow components (sim/failure_spec.hpp, Mitigation) takes so many thousandths of
  /// its time from now on, with the steps that it has taken. Called again when that may have changed.
  virtual void mitigated(Time /*now*/, JobId /*job*/, std::int32_t /*pace*/) {}
  /// These GPUs are out of service from now on.
  virtual void out_of_service(Time /*now*/, const OutOfService& /*gpus*/) {}
  /// The job left its GPUs: it is done, or an attempt failed and it will queue again.
  virtual void ended(Time now, JobId job, bool is_done) = 0;
  /// The cluster can never run the job.
  virtual void rejected(Time now, JobId job, std::string_view reason) = 0;
  /// The policy considered the job in the pass at this instant and left it waiting. Of several calls in a pass only the
  /// last counts.
  virtual void blocked(Time now, JobId job, Why why, JobId by) = 0;
  /// Follows blocked(), where the policy has such an order.
  virtual void in_line(Time /*now*/, JobId /*job*/, PlaceInLine /*place*/) {}
  /// The policy keeps a place for the waiting job, from `start` on: so many GPUs of each server as are among `gpus`.
  /// Called in each pass that leaves the job waiting with a place.
  virtual void reserved(Time /*now*/, JobId /*job*/, Time /*start*/, std::span<const GpuId> /*gpus*/) {}
};

/// Room that a job can't do without: so many wholly free servers, and `rest` free GPUs on one more.
struct RoomNeeded {
  int whole_servers = 0;
  int rest = 0;
};

/// A job that is to be placed, and its part of a capacity that its policy plans with.
struct Claim {
  JobId job;
  std::int64_t width = 0;
};

/// A job that is to have so many GPUs, one of ClusterView::sizes_of or the number that it prefers; 0: none.
struct SizedClaim {
  JobId job;
  int gpus = 0;
  std::vector<GpuId> place{};  ///< these GPUs, one for each rank; empty: wherever the placement policy puts the job
};

/// The actions of a scheduling policy in a pass. The engine checks and carries out each one at once, so that the view
/// shows its outcome; an illegal action throws InputError that names the policy.
class SchedulingActions {
 public:
  virtual ~SchedulingActions() = default;
  /// Offers a queued job to the placement policy and starts it on the GPUs that it chooses. Returns false if there is
  /// no place for the job now. Where servers are of several types, the types that can run the job are tried one after
  /// the other: those on which it is faster (ClusterView::speed_on) first, ties in their order.
  virtual bool start(JobId job) = 0;
  /// The same with the placement policy shown `usable` in place of the cluster, which has nothing free that the cluster
  /// hasn't.
  virtual bool start_in(JobId job, const ClusterView& usable) = 0;
  /// Asks the placement policy where it would put a job, which waits or runs, if it waited and the cluster were `then`,
  /// and appends these GPUs to the empty `place`. Returns false if it has no place. Asking changes nothing
  /// (PlacementPolicy::plan).
  virtual bool plan_in(JobId job, const ClusterView& then, std::vector<GpuId>& place) = 0;
  /// The same as start() on servers of one type. Returns false also if the job can't run there.
  virtual bool start_on(JobId job, std::int32_t type) = 0;
  /// Starts a queued job on so many GPUs, one of ClusterView::sizes_of or the number that it prefers; on servers of one
  /// type, or with -1 as start() does.
  virtual bool start_with(JobId job, int gpus, std::int32_t type) = 0;
  bool start_with(JobId job, int gpus) { return start_with(job, gpus, -1); }
  /// Starts a queued job on these GPUs, one for each of its ranks, some of which other jobs with a duration may hold:
  /// all of them share a GPU then (sim/sharing.hpp). Returns false if that can't be: of other jobs one is of iterations
  /// or reserved a part of its GPU, there are as many on a GPU as may be, their memory or the CPUs and memory of a
  /// server don't suffice, the law can't have them run together, a quota is used up, or the job can't run on such
  /// servers or not on the servers of another virtual cluster. Naming GPUs that aren't there, or not as many as it
  /// needs, or one twice, is illegal.
  virtual bool start_at(JobId job, std::span<const GpuId> gpus) = 0;
  /// Gives a running job another number of GPUs, one of ClusterView::sizes_of, on servers of the same type. Its own
  /// GPUs count as free for that. It saves its work and loses the work that it hasn't saved as if it were preempted,
  /// and starts again at once, after the restart that a preemption costs. It doesn't queue, and
  /// SchedulingPolicy::queued isn't called. Returns false, and changes nothing, if there is no place for it. The number
  /// that it has already changes nothing.
  virtual bool resize(JobId job, int gpus) = 0;
  /// Turns away a queued job that has never started: it ends without having run, for that reason.
  virtual void refuse(JobId job, std::string_view reason) = 0;
  /// After a start() that returned false: true if any job of equal demand would be refused too until GPUs are freed;
  /// after a start_preempting() that returned false, until GPUs other than the candidates' GPUs are freed.
  [[nodiscard]] virtual bool refused_alike() const = 0;
  /// Starts a queued job in the place of some of the running `candidates`. The placement policy has to find a place for
  /// it without them; otherwise this returns false and preempts none. The victims are the candidates whose preemption
  /// loses the least GPU time (sim/eviction.hpp says how they are found); if it makes no difference, those in front.
  virtual bool start_preempting(JobId job, std::span<const JobId> candidates) = 0;
  /// Places jobs again: takes the GPUs of all running jobs of `order` and offers the jobs of `order`, running and
  /// queued, to the placement policy one after the other, except those whose width is more than those in front of them
  /// leave of `capacity`. A queued job that finds a place starts. A running job that gets the same GPUs goes on as if
  /// nothing had happened; one that gets others is preempted and starts there at once; one that finds no place is
  /// preempted. SchedulingPolicy::queued is called for every preempted job. A running job that has another number of
  /// GPUs than it prefers stays where it is.
  virtual void place_anew(std::span<const Claim> order, std::int64_t capacity) = 0;
  /// Asks the placement policy where it would put the jobs of `claims` that have no place there, one after the other,
  /// beside the places of the others, if all jobs of `claims` that run left their GPUs first. Each of them waits or
  /// runs. Puts the places into `claims`. Returns false, and leaves `claims` in an unspecified state, if a GPU of a
  /// given place is not free or a job has no place. Asking changes nothing (PlacementPolicy::plan).
  virtual bool plan_together(std::span<SizedClaim> claims) = 0;
  /// Has the jobs of `claims`, running and waiting, have just the GPUs of their places, for all of which there is room
  /// beside the other running jobs (plan_together() is true). A job that has its GPUs goes on undisturbed; another
  /// running job is resized, or preempted and started where jobs change places with each other.
  virtual void take_places(std::span<const SizedClaim> claims) = 0;
  /// True if jobs may lose work or time when they are preempted (PreemptionCosts).
  [[nodiscard]] virtual bool preemption_costs() const = 0;
  /// PlacementPolicy::room_needed for a job.
  [[nodiscard]] virtual RoomNeeded room_needed(JobId job) const = 0;
  /// Takes its GPUs from a running job, which queues again: SchedulingPolicy::queued is called before this returns.
  /// `by` is the job that preempts it, for explanations.
  virtual void preempt(JobId job, JobId by) = 0;
  void preempt(JobId job) { preempt(job, JobId::none()); }
  /// Records why a considered job waits, for explanations only. `by` is the job in its way.
  virtual void blocked(JobId job, Why why, JobId by) = 0;
  void blocked(JobId job, Why why) { blocked(job, why, JobId::none()); }
  /// Records the place of a job that blocked() was called for in this pass, for explanations only.
  virtual void in_line(JobId /*job*/, PlaceInLine /*place*/) {}
  /// Records the place that the policy keeps for a waiting job from `start` on, for explanations only.
  virtual void reserved(JobId /*job*/, Time /*start*/, std::span<const GpuId> /*gpus*/) {}
  /// Adds a warning to RunResult::remarks that these jobs can't have what they ask for. It is the time, up to three
  /// names of the jobs, and `what`, such as "would miss their deadlines". Only the first warning with each `what` is
  /// kept.
  virtual void remark(std::string_view what, std::span<const JobId> jobs) = 0;
  /// True if the placement policy has asked for a pass by now (PlacementPolicy::next_decision), so that a job for which
  /// it had no place may have one though nothing has happened.
  [[nodiscard]] virtual bool placement_is_due() const = 0;
  /// True if blocked() is recorded; only then is it worth looking at a job for the sake of an explanation.
  [[nodiscard]] virtual bool recording() const = 0;
};

/// The key by which a policy orders jobs, the smallest first. It holds a GPU time in nanoseconds.
using PolicyKey = Int128;

/// Decides which queued jobs start, which running ones are preempted, and which task a GPU that jobs share runs first.
/// A policy keeps its own queue from the notifications; policies/scheduling/ has the machinery for that.
class SchedulingPolicy {
 public:
  virtual ~SchedulingPolicy() = default;
  /// Orders the tasks of jobs that share a GPU, smaller first; ties go to the job that started first, then to the
  /// smaller id. The key may depend only on the job's constant properties and on its `remaining_service`;
  /// attained_service, running and since are left out of the view. Over whole iterations it must be affine in
  /// `remaining_service`, because leaping predicts it: a constant, or a multiple of what remains.
  [[nodiscard]] virtual PolicyKey key(const JobView& job) const = 0;
  /// Notification: the job waits from now on. It arrived, was preempted, or is retried after a failed attempt.
  virtual void queued(const JobView& /*job*/) {}
  /// Notification: the job no longer runs. It ended, or an attempt failed and it will queue again. Never during a pass.
  virtual void left(JobId /*job*/) {}
  /// Notification: a running job goes on with another number of GPUs, which no policy has decided: it shrank because
  /// servers go back or a service needs its GPUs, or it is a service that needs more or fewer. The view shows the job
  /// with its new GPUs, on which it runs since now. Never during a pass.
  virtual void resized(JobId /*job*/, const ClusterView& /*cluster*/) {}
  /// Makes the decisions of one instant. Called if a job was queued or left or a decision was due, and any job waits.
  virtual void pass(const ClusterView& cluster, SchedulingActions& actions) = 0;
  /// True if the decisions depend on nothing that running jobs do, and no running job ever gives way to another. What
  /// PlacementPolicy::ignores_progress says of leaping holds here too.
  [[nodiscard]] virtual bool ignores_progress() const { return false; }
  /// True if pass() and next_decision() are to be called even while no job waits.
  [[nodiscard]] virtual bool idle_passes() const { return false; }
  /// The instant, later than now, at which the policy wants another pass although nothing happens until then (the end
  /// of a time slice or of a reservation); Time::never() if it wants none. Called after each pass if any job waits.
  [[nodiscard]] virtual Time next_decision(const ClusterView& /*cluster*/) { return Time::never(); }
  /// The time slice of a job of so many GPUs: after it the job gives way to others that have had less. Time::never() if
  /// the policy has no slices, or if they end after a while.
  [[nodiscard]] virtual Time slice(int /*gpus*/) const { return Time::never(); }
};

}  // namespace contend
