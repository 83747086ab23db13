#pragma once
// Reference schedulers as plain loops over integers: slow and obvious, to check the fast ones. Each follows the rules
// of a released simulator, reproduces that simulator's averages on real traces to every printed digit
// (validate/schedulers/cases.hpp), and shares no code with sim/ and policies/.
//
// Time is counted in ticks of any length; the released simulators count seconds. At one tick, ends come before
// arrivals, and both before decisions. Jobs with equal keys keep the order of the list, which must be sorted by
// submission.

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace contend {

/// The tick of an event that never happens.
inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

struct ReferenceJob {
  std::int64_t submit = 0;    ///< >= 0, ascending
  std::int64_t duration = 1;  ///< on its GPUs without interruption; >= 1
  int gpus = 1;               ///< from 1 to the GPUs of the cluster
};

struct ReferenceSchedule {
  std::vector<std::int64_t> finish;  ///< by job
  std::vector<std::int64_t> queued;  ///< time without GPUs, by job
  std::int64_t preemptions = 0;
};

/// The rule that chooses the GPUs of a job.
enum class ReferencePlacement : std::uint8_t {
  count,         ///< any free GPUs
  consolidated,  ///< Helios (SC'21): one server, the fullest that fits; larger jobs take whole servers and one for the
                 ///< rest
  yarn,          ///< Tiresias (NSDI'19): as consolidated, but always the first server by id
  spread,        ///< fleetsim: as consolidated, but a job that fits into one server takes the emptiest
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
  remaining,          ///< SRTF: remaining duration
  remaining_service,  ///< SRSF: remaining duration times GPUs
};

struct ReferenceRules {
  ReferenceOrder order = ReferenceOrder::submission;  ///< submission, duration or gpus
  bool strict = true;                                 ///< the first job that finds no room blocks those behind it
  std::int64_t quantum = 1;                           ///< decisions happen at multiples of it; ends at any tick
};

/// Schedules without preemption: FIFO, fit-first or SJF, event-driven or by quantum.
[[nodiscard]] ReferenceSchedule reference_queue(std::span<const ReferenceJob> jobs, const ReferenceCluster& cluster,
                                                const ReferenceRules& rules);

/// Schedules with preemption, as Tiresias and Muri: at every arrival and end, it goes through all jobs, running or not,
/// in the order of their keys and assigns GPUs of an empty cluster; jobs that find room run, the others do not.
[[nodiscard]] ReferenceSchedule reference_walk(std::span<const ReferenceJob> jobs, const ReferenceCluster& cluster,
                                               ReferenceOrder order);

struct DlasRules {
  std::vector<std::int64_t> limits;  ///< attained service at which each queue but the last ends, ascending
  bool gpu_time = true;              ///< service is time x GPUs (DLAS-GPU), otherwise time (DLAS)
  /// Tiresias schedules a demotion after (limit - time) / GPUs instead of (limit - time x GPUs) / GPUs. This is too
  /// late for jobs with several GPUs, whose demotion then waits for another event.
  bool late_wake_up = false;
  /// A defect of Tiresias: if an end and the next arrival are expected at the same tick, the end is stored with the
  /// arrival, and the job counts as finished then even if a demotion comes first and preempts it.
  bool stale_ends = false;
  /// Tiresias with a Gittins index: within a queue the larger rank goes first, then the earlier submission. The rank is
  /// a function of attained service, see reference_gittins_rank(); empty for none.
  std::function<double(std::int64_t)> rank{};
};

/// Discretised least attained service (Tiresias, NSDI'19, 3.2) on `gpus` GPUs without placement.
[[nodiscard]] ReferenceSchedule reference_dlas(std::span<const ReferenceJob> jobs, int gpus, const DlasRules& rules);

/// The Gittins rank of a job with this attained service, as Tiresias computes it from the ascending sizes of past jobs:
/// of those at least as large, the share that would end within `delta` more, divided by their mean service until then,
/// with Tiresias' roundings.
[[nodiscard]] double reference_gittins_rank(std::span<const std::int64_t> sizes, std::int64_t delta,
                                            std::int64_t attained);

/// SRTF of the Helios simulator, tick by tick: a job chosen by its number of GPUs may still find no place; a preempted
/// job gets 7, 30 or 60 extra ticks (for 1, up to 8, more GPUs); and each job ends one tick late. Placement is
/// consolidated.
[[nodiscard]] ReferenceSchedule reference_helios_srtf(std::span<const ReferenceJob> jobs, int servers);

/// Averages over the jobs of the JCT and of the time without GPUs; 0 if there are no jobs.
[[nodiscard]] double average_jct(std::span<const ReferenceJob> jobs, const ReferenceSchedule& schedule);
[[nodiscard]] double average_queueing(const ReferenceSchedule& schedule);

}  // namespace contend
