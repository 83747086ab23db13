#pragma once
// SchedulingRules are the rules of scheduling outside the policy: the quantum of passes, ties, the costs of preemption,
// retries, and the penalty for scattered jobs. Every simulator of the field decides them; few document them.

#include "sim/job.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// Decides which of two queued jobs with equal keys goes first.
enum class TieOrder : std::uint8_t {
  submission,     ///< the one submitted first, then the one first in the list
  list_reversed,  ///< the one submitted first, then the one last in the list
  latest,         ///< the one submitted last, then the one last in the list
  name,           ///< the one whose name is smaller, byte by byte
};

/// Work that is never saved: a checkpoint interval beyond all jobs.
inline constexpr Time kNeverSaved = Time::seconds(200LL * 365 * 24 * 3600);
inline constexpr std::int64_t kNoIterationSaved = INT64_MAX;

/// What is saved of the work of jobs, and what that costs. A job that is preempted or interrupted by a failure loses
/// the work since its last checkpoint. A job with an iteration graph that is preempted saves its last whole iteration,
/// and loses those in flight only; one that is interrupted loses the work since its last checkpoint.
struct PreemptionCosts {
  Time restart;  ///< time on its GPUs before the work of a timed job goes on, at each start after a preemption, and
                 ///< the restart of any job at each start after a failure
  /// Work between two checkpoints of a timed job; 0: work is saved continuously. Of a job with an iteration graph, if
  /// `iterations` is 0: time on its GPUs without stops.
  Time checkpoint_interval;
  Time checkpoint;  ///< time for which each checkpoint stops the job
  Time persist{};   ///< further time, beside the work, until a checkpoint can be restored; <= interval
  Time rescue{};    ///< added to `restart` after a failure: what is left of the job saves itself
  /// Between two checkpoints of a job with an iteration graph; 0: as many as take checkpoint_interval, > 0, at least,
  /// at the mean time of those since the last checkpoint.
  std::int64_t iterations = 1;
  /// Bytes of each GPU of the job that go to SchedulingRules::store. Not until they are there can the checkpoint be
  /// restored; `persist` is 0 then.
  Bytes written{};
  Time start{};  ///< added to `restart`, and at the first start, too: until the slowest worker of the job runs
  /// Workers are stopped after each checkpoint and start again: `start` is the last part of `checkpoint`, and counts as
  /// a restart. The interval is the longest that they live for, and a job with an iteration graph begins no iteration
  /// that wouldn't end in it at the mean time of those since its last checkpoint.
  bool renews = false;
  bool writes_beside = false;  ///< the job goes on while they are written, but doesn't begin another checkpoint

  /// True if a job with an iteration graph stands still for its checkpoints.
  [[nodiscard]] bool stops_iterations() const {
    return (checkpoint > Time{} || written > Bytes{}) && iterations != kNoIterationSaved;
  }
};

/// The store that all jobs write their checkpoints to (sim/checkpoint_store.hpp).
struct StoreRates {
  ByteRate rate;      ///< of all jobs together, > 0
  ByteRate of_job{};  ///< the most that one job writes; 0: no limit
};

/// What happens to a timed job after one of its attempts ended without success. The rules of clusters differ:
/// Kubernetes tries a failed job 6 times, 10 s, 20 s, 40 s and at most 6 min later (backoffLimit); Slurm requeues a job
/// from the beginning of its script, whatever it has saved (slurm_requeue); Philly tries a fixed number of times (Jeon
/// et al., USENIX ATC 2019).
struct RetryRule {
  /// Retries of a job for this reason. Not given: as many as its list of attempts says (JobSpec::attempts).
  std::optional<int> times{};
  Time delay{};                                    ///< from the end of the attempt until the job queues again
  std::int32_t growth = 1000;                      ///< factor on the delay with each retry, in thousandths; >= 1000
  Time max_delay = Time::seconds(365LL * 86'400);  ///< the delay grows no further
  /// True: an attempt that is repeated begins again. False: it goes on from its last checkpoint, after a restart as
  /// after a preemption.
  bool from_start = false;
  bool at_end = false;  ///< the job queues as if it were submitted then; false: as when it was submitted first

  /// The delay before retry 1, 2, ...; rounded up.
  [[nodiscard]] Time delay_before(int retry) const;
};

/// The rules of a run.
struct SchedulingRules {
  Time quantum;  ///< passes come at its multiples only; 0: at any instant at which something happened
  TieOrder ties = TieOrder::submission;
  PreemptionCosts preemption;
  std::optional<StoreRates> store{};
  /// A timed job is killed, with JobOutcome::timeout, when it has held its GPUs for its limit (JobSpec::limit) since
  /// its last start. It has no further attempts, unless `timeouts` lets it repeat this one.
  bool kill_at_limit = false;
  /// For attempts that fail: the attempts of JobSpec::attempts, and the last one if the outcome of the job is `failed`,
  /// which fails at the same point each time. A job that has used up `times` before its last attempt ends there,
  /// failed.
  RetryRule failures{.from_start = true};
  RetryRule timeouts{.times = 0};  ///< for attempts that are killed at their limit
  /// False: policies are told what is left of a job with regimes as if its batch did not change from now on.
  bool foresees_batches = true;
  /// The pace of a timed job (WorkSegment::pace) by the number of servers it spans beyond the fewest possible: the
  /// first is for one more server, the last for all further ones. Empty: placement does not change its duration.
  std::vector<std::int32_t> scatter_penalty;
};

/// The reason why the rules of time limits can't be applied to the job; an empty text if they can.
[[nodiscard]] std::string why_not_killed(const SchedulingRules& rules, const JobSpec& job);

/// The reason why the rules of retries can't be applied to the job; an empty text if they can.
[[nodiscard]] std::string why_not_retried(const SchedulingRules& rules, const JobSpec& job);
/// Takes away the attempts that the job does not make because it has used up its retries before.
void limit_attempts(const RetryRule& failures, JobSpec& job);

/// A part of the work of a job in which it has a pace of its own.
struct PacedWork {
  Time until;  ///< work from the beginning of the job
  std::int64_t type_pace = kNominalPace;
};

/// The work of a timed job from one start to its end or to a preemption.
struct WorkSegment {
  Time work;                 ///< to be done, as time on the fewest servers
  Time restart;              ///< time before the work begins
  std::int32_t pace = 1000;  ///< time that the work takes, in thousandths of that on the fewest servers; >= 1000
  std::int64_t type_pace = kNominalPace;  ///< the same by the type of the servers, as in JobPace; > 0
  Time done{};                            ///< with `parts`: work of the job before the segment
  std::span<const PacedWork> parts{};     ///< of all its work, in order, in place of `type_pace`; empty: one pace
};

/// The time from the start of the segment until its work is done, restart and checkpoints included.
[[nodiscard]] Time length_of(const WorkSegment& segment, const PreemptionCosts& costs);

/// The time that so much work takes on GPUs from the begin of the segment, at its paces, rounded up.
[[nodiscard]] Time at_pace(Time work, const WorkSegment& segment);

/// The work of the segment that its last checkpoint before the end has saved.
[[nodiscard]] Time saved_before_end(const WorkSegment& segment, const PreemptionCosts& costs);

/// The state of a segment at one instant.
struct WorkDone {
  Time done;       ///< work done
  Time saved;      ///< part of `done` saved by the last checkpoint
  Time overhead;   ///< time spent on restart and checkpoints
  Time restart{};  ///< part of it: the restart, and later starts of its workers
};
/// The state of the segment `elapsed` after its start. At its end all work is done and saved.
[[nodiscard]] WorkDone work_after(const WorkSegment& segment, const PreemptionCosts& costs, Time elapsed);

/// Whether a segment works, or restarts or stops for a checkpoint, and until when after its start.
struct WorkStretch {
  bool works = false;
  Time until = Time::never();  ///< never(): until it ends
};
/// The stretch of the segment, which has no parts, that goes on or begins `elapsed` after its start.
[[nodiscard]] WorkStretch stretch_at(const WorkSegment& segment, const PreemptionCosts& costs, Time elapsed);

}  // namespace contend
