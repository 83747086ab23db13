#pragma once
// FailureSpec says what fails in a run, how often, and what happens then: components of the cluster, jobs by
// themselves, and outages of a list. Everything is drawn from streams of its own, one for each component and one for
// each job, so that another policy meets the same failures.

#include "sim/duration_law.hpp"
#include "sim/loans.hpp"
#include "sim/redundancy.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace contend {

/// What a component does while something ails it: how much longer its work takes, in thousandths. A component that does
/// not work at all has none.
struct Slowdown {
  static constexpr std::int32_t kFullPace = 1'000;
  static constexpr std::int32_t kSlowest = 1'000'000;
  std::int32_t compute = kFullPace;  ///< of the tasks on its GPUs, kFullPace..kSlowest: 1300 is 1.3 times as long
  std::int32_t network =
      kFullPace;  ///< of each byte of a transfer that touches one of its servers, kFullPace..kSlowest
  bool operator==(const Slowdown&) const = default;
};

/// `rest` of a task at one pace, at another: rest x now / before, rounded up.
[[nodiscard]] Time stretched(Time rest, std::int32_t now, std::int32_t before);

/// Who notices that a failure has stopped or slowed a job. When depends on Detectors.
enum class FoundBy : std::uint8_t {
  delay,      ///< after FailureSpec::detection
  exit_code,  ///< a process ends, and whoever started it sees that
  heartbeat,  ///< messages that a server or process sends regularly stay away
  timeout,    ///< the collectives of the job, which hangs, run out of time
  slowdown,   ///< a monitor compares the ranks of a collective (C4D, HPCA 2025, section 3): of what slows down only
  stall,      ///< a transfer has stood still for the time-out, which is the failure (FailureSpec::stalls_fail)
};

/// What users call them.
struct FoundByWord {
  const char* word;
  FoundBy found_by;
};
inline constexpr FoundByWord kFoundByWords[] = {{"exit-code", FoundBy::exit_code},
                                                {"heartbeat", FoundBy::heartbeat},
                                                {"timeout", FoundBy::timeout},
                                                {"slowdown", FoundBy::slowdown}};

/// How long each kind of detection takes.
struct Detectors {
  Time exit_code;  ///< after the failure
  /// A job sends heartbeats at multiples of this time, > 0, from its start on, the last one at the latest at the
  /// instant of the failure. It is given up when so many in a row, >= 1, have not come.
  Time heartbeat = Time::seconds(10);
  int missed = 3;
  Time timeout = Time::seconds(1800);  ///< after the failure, at most: the default of NCCL's process groups in PyTorch
  /// > 0: after so many mean iterations of the present run of the job, if that is sooner (Unicron, arXiv 2401.00134:
  /// 3).
  double timeout_iterations = 0;
  /// What slows computing or transfers to at least so many thousandths of their time, > 1000, for `slow_for` is taken
  /// out of service until its repair, and the jobs on it are interrupted.
  std::int32_t slow = 1'100;
  Time slow_for = Time::seconds(300);

  /// From the failure until it is noticed, but for FoundBy::delay, slowdown and stall: 0. The job has run for `ran`,
  /// and its iterations took `iteration` on average, 0 if none has ended.
  [[nodiscard]] Time delay(FoundBy by, Time ran, Time iteration) const;
  [[nodiscard]] bool operator==(const Detectors&) const = default;
};

/// Components that fail alike. They divide the GPUs of the cluster in order of their ids; the last may have fewer.
struct ComponentClass {
  std::string name;                   ///< part of the names of the random streams
  int gpus = 1;                       ///< of one component: 1 for a GPU, or all GPUs of a server, of a rack, ...; >= 1
  bool drains = false;                ///< a failure takes down whole servers, though the component is a part of one
  DurationLaw failure;                ///< of the time for which a component works, whether jobs use it or not
  DurationLaw repair;                 ///< of the time until it works again
  std::optional<Slowdown> slows{};    ///< given: a failure slows it down and interrupts nobody
  FoundBy found_by = FoundBy::delay;  ///< with `slows` delay, which then means nobody, or slowdown
};

/// GPUs first, ..., last - 1 that don't work in [from, until).
struct Outage {
  Time from, until;
  std::uint32_t first = 0, last = 0;
  std::optional<Slowdown> slows{};  ///< as in ComponentClass
  /// Given: the outage is planned. From this time on, at most `from`, the GPUs are withheld as jobs leave them. What
  /// still runs at `from` is interrupted without detection and diagnosis, and nothing counts as a failure.
  std::optional<Time> drain{};
  FoundBy found_by = FoundBy::delay;  ///< as in ComponentClass
};

/// What jobs of iterations do about components that slow them down, as FALCON does (arXiv 2410.12588):
/// steps, each of which costs more than the one before. Since it became slow, a job has lost some time; when that
/// reaches the cost of the next step that can help, it takes the step. Until then it does nothing. What recovers undoes
/// its steps.
struct Mitigation {
  /// Replicas that compute more slowly get fewer micro-batches, so that all take equally long. The job stands for that
  /// time, > 0.
  std::optional<Time> microbatches{};
  /// Groups that exchange much no longer do so through parts that slow transfers down. The job stands for that
  /// time, > 0.
  std::optional<Time> topology{};
  double left = 0;  ///< share, 0..1, of what transfers take beyond their time that is left after `topology`
  /// The job saves the work that it has done and restarts, and what slows it down is out of service until its repair.
  /// What that takes follows from the restart; here it is only what the lost time is compared with.
  std::optional<Time> restart{};
  [[nodiscard]] bool any() const { return microbatches || topology || restart; }
};

struct FailureSpec {
  std::vector<ComponentClass> components;
  std::vector<Outage> outages;
  /// Of the time for which a job runs until it fails by itself, whatever its size; no GPU is down then.
  std::optional<DurationLaw> of_jobs{};
  /// Of the failures of jobs by themselves: who notices them, and the share, 0..1, of those that are hangs instead,
  /// which only the time-out notices.
  FoundBy jobs_found_by = FoundBy::delay;
  double hangs = 0;
  /// The time of each task is drawn by itself, log-normal with the planned time as its median and this standard
  /// deviation of its logarithm. 0: tasks take as long as planned. A run with jitter does not leap.
  double jitter = 0;
  std::uint64_t seed = 1;
  /// A job fails when a transfer of it has had no route for as long as FoundBy::timeout takes, without a break, counted
  /// from the instant at which the route was lost or was needed first. A run in which jobs may fail so does not leap.
  bool stalls_fail = false;

  /// From the failure until the job is back in the queue: until somebody notices, and until the cause is known.
  Time detection, diagnosis;
  Detectors detectors{};
  bool holds_gpus = true;      ///< until then the job keeps the GPUs that work
  bool requeues_last = false;  ///< it queues as if it were submitted then; false: as when it was submitted first
  /// Interruptions after which a job queues again; with one more it ends, failed. Not given: any number.
  std::optional<int> retries{};
  /// Servers that no job gets while enough others work: the last of the cluster are cold, those before them hot. Hot
  /// ones run and fail like all others. What belongs to a cold one alone doesn't age while it is cold. A hot spare
  /// takes the place of a server that failed, and a cold one is started for it; without hot ones a cold one takes the
  /// place. What is repaired while enough others work becomes a hot spare if one is missing, else a cold one.
  int spares = 0;  ///< hot
  int cold_spares = 0;
  /// Servers that are spares as long as no other has failed: the last ones of the cluster.
  [[nodiscard]] int all_spares() const { return spares + cold_spares; }
  Time spare_delay;  ///< until a hot spare takes the place of a server that failed
  Time cold_delay;   ///< until a cold spare has started, as a hot spare or in the place of a server

  /// Of jobs with a duration: which failures of their GPUs they go on without.
  RedundancyRule redundancy{};

  Mitigation mitigation{};

  /// Servers that are lent to the cluster at times; not with spares.
  LoanSpec loans{};

  /// True if anything is slower than planned at some time, and if that is because of components, not only jitter.
  [[nodiscard]] bool slows() const;
  [[nodiscard]] bool has_slow_components() const;

  [[nodiscard]] bool any() const {
    return !components.empty() || !outages.empty() || of_jobs.has_value() || spares + cold_spares > 0 || jitter > 0 ||
           stalls_fail || redundancy.any() || loans.any();
  }
};

}  // namespace contend
