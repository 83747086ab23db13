#pragma once
// Cluster schedulers as plain loops over integers: slow, obvious, and the oracle of the fast ones. Each is written from
// the rules of a released simulator, reproduces the averages that it gives on real traces to every printed digit
// (validate/schedulers/figures.hpp), and shares no code with sim/ and policies/.
//
// Time is counted in ticks of whatever length the caller likes; the simulators count seconds. Ends fall before arrivals
// and those before decisions, all at the same tick. Jobs with equal keys go in order of their place in the list, which
// must be in order of submission.

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace contend {

/// The tick of what does not happen.
inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

struct ReferenceJob {
  std::int64_t submit = 0;    ///< >= 0, not before that of the job before it
  std::int64_t duration = 1;  ///< on its GPUs, undisturbed; >= 1
  int gpus = 1;               ///< 1..GPUs of the cluster
};

struct ReferenceSchedule {
  std::vector<std::int64_t> finish;  ///< by job
  std::vector<std::int64_t> queued;  ///< by job: for how long it had no GPUs
  std::int64_t preemptions = 0;
};

/// Which GPUs make room for a job.
enum class ReferencePlacement : std::uint8_t {
  count,         ///< any that are free
  consolidated,  ///< Helios (SC'21): one server, the fullest that fits; larger jobs whole servers and one for the rest
  yarn,          ///< Tiresias (NSDI'19): as before, but always the first server by id
  spread,        ///< fleetsim: as consolidated, but jobs that fit into one server take the emptiest
};

struct ReferenceCluster {
  int servers = 1;
  int gpus_per_server = 8;
  ReferencePlacement placement = ReferencePlacement::count;
};

enum class ReferenceOrder : std::uint8_t {
  submission,
  duration,           ///< SJF
  gpus,               ///< smallest first
  remaining,          ///< SRTF: what is left of the duration
  remaining_service,  ///< SRSF: that times the GPUs
};

struct QueueRules {
  ReferenceOrder order = ReferenceOrder::submission;  ///< submission, duration or gpus
  bool strict = true;                                 ///< the first job that has no room blocks those behind it
  std::int64_t quantum = 1;                           ///< decisions fall on its multiples; ends fall where they fall
};

/// Without preemption: FIFO, fit-first, SJF, event-driven or by the quantum.
[[nodiscard]] ReferenceSchedule reference_queue(std::span<const ReferenceJob> jobs, const ReferenceCluster& cluster,
                                                const QueueRules& rules);

/// With preemption, as Tiresias and Muri: at every arrival and end all jobs, running or not, are walked in order of
/// their keys; each that still has room in a cluster thought empty runs, the others don't.
[[nodiscard]] ReferenceSchedule reference_walk(std::span<const ReferenceJob> jobs, const ReferenceCluster& cluster,
                                               ReferenceOrder order);

struct DlasRules {
  std::vector<std::int64_t> limits;  ///< of attained service, for each queue but the last, ascending
  bool gpu_time = true;              ///< service is time x GPUs (DLAS-GPU), otherwise time (DLAS)
  /// Tiresias wakes up for a demotion after (limit - time) / GPUs instead of (limit - time x GPUs) / GPUs: too late for
  /// jobs of several GPUs, whose demotion then waits for another event.
  bool late_wake_up = false;
  /// A defect of Tiresias: where an end and the next arrival are expected at the same tick, the end is kept with the
  /// arrival, and the job is taken for finished then even if a demotion comes first and preempts it.
  bool stale_ends = false;
  /// Tiresias with a Gittins index: inside a queue the larger rank goes first, then the earlier submission. Ranks by
  /// attained service, see reference_gittins_rank(); empty: none.
  std::function<double(std::int64_t)> rank{};
};

/// Discretised least attained service (Tiresias, NSDI'19, 3.2) on `gpus` GPUs wherever they are.
[[nodiscard]] ReferenceSchedule reference_dlas(std::span<const ReferenceJob> jobs, int gpus, const DlasRules& rules);

/// The rank of a job with this attained service, as Tiresias computes it from sizes of past jobs, in ascending order:
/// the share of those at least as large that would end within `delta` more, over their mean service until then, with
/// the rounding that it does on the way.
[[nodiscard]] double reference_gittins_rank(std::span<const std::int64_t> sizes, std::int64_t delta,
                                            std::int64_t attained);

/// SRTF of the Helios simulator, tick by tick: a job chosen by the number of GPUs may still find no place, a preempted
/// one gets 7, 30 or 60 ticks more to do (1, up to 8, more GPUs), and each ends one tick late. Consolidated placement.
[[nodiscard]] ReferenceSchedule reference_helios_srtf(std::span<const ReferenceJob> jobs, int servers);

/// Averages over the jobs: from submission to the end, and of the time without GPUs. 0 if there are none.
[[nodiscard]] double average_jct(std::span<const ReferenceJob> jobs, const ReferenceSchedule& schedule);
[[nodiscard]] double average_queueing(const ReferenceSchedule& schedule);

}  // namespace contend
