#pragma once
// Records why a job waited, from the scheduler's decisions during the wait. The intervals of a wait follow each other
// without gaps from the moment the job queues until it starts, so their lengths add up to the waiting time exactly.

#include "sim/ids.hpp"
#include "sim/job.hpp"
#include "sim/ports.hpp"
#include "sim/scheduling.hpp"
#include "sim/units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// A job that ran while another one waited.
struct GpuHolder {
  JobId job;
  int gpus = 0;
  Time since;
  Time until = Time::never();  ///< when it released them; never() if the run ended first
};

/// A time during which one reason kept the job waiting.
struct WaitInterval {
  Time from, to;
  std::optional<Why> why;       ///< none: no scheduler pass has considered the job yet
  JobId by;                     ///< the job in the way, or none
  PlaceInLine first{}, last{};  ///< its place in line when the interval began, and when the policy said so last
  /// The kMaxHolders jobs that had most GPU time in the interval, then by id; each start counts by itself. If a quota
  /// is used up, only the jobs that use it.
  std::vector<GpuHolder> holders;
  std::size_t running = 0;        ///< number of all such jobs that ran at `from`
  std::int64_t held_gpus = 0;     ///< their GPUs
  std::size_t started = 0;        ///< number of all such jobs that started later
  OutOfService out_of_service{};  ///< when most GPUs were out of service
  [[nodiscard]] Time length() const { return to - from; }
};
inline constexpr std::size_t kMaxHolders = 16;

/// Servers, ascending, with a number of GPUs on each.
using GpusByServer = std::vector<std::pair<ServerId, int>>;

/// A place that the policy kept for the job while it waited.
struct Reservation {
  Time made;             ///< in this pass
  Time start;            ///< of the place
  GpusByServer servers;  ///< of the place
};

/// The reservations of the job in one wait, from queueing to start.
struct Reservations {
  Reservation first, last;
  std::size_t changes = 0;  ///< of time or servers
};

/// A time during which the job held its GPUs.
struct JobAttempt {
  enum class End : std::uint8_t { open, ended, preempted, failed, resized, interrupted };
  Time from;
  Time to = Time::never();
  End end = End::open;                ///< open: the run ended first; failed: the job queued again;
                                      ///< interrupted: by a failure of its GPUs, servers or network, or its own
  Time pause;                         ///< at its begin, without work, as DecisionObserver::started()
                                      ///< has it; its end may come before
  std::string cause;                  ///< interrupted: what failed, in words
  Time queued_again = Time::never();  ///< when it waited again; never() if it didn't
  std::vector<GpuId> gpus;            ///< ascending
  GpusByServer servers;               ///< that the GPUs are on
  std::vector<std::pair<Time, std::string>> changes;  ///< in the way in which it goes on, in words
  /// The part of the pause until the end of the attempt.
  [[nodiscard]] Time restart() const { return std::min(pause, to - from); }
  std::vector<JobId> successors;  ///< preempted: the jobs it made room for; if the policy does not say,
                                  ///< those that started on its GPUs at that instant
};

/// A component that slowed GPUs of the job down while it had them. At each instant the slowest one counts.
struct SlowTime {
  std::string what;  ///< in words: what, and where
  double times = 1;  ///< as long as the slower of computing and transfers took
  Time time;         ///< for which it was the slowest
  /// By which tasks took longer in that time, if all of it was spent on what became slow: time (1 - 1 / times),
  /// rounded; where steps against it left the job less, with that.
  Time lost_at_most;
};

/// The waits and attempts of one job.
struct Explanation {
  std::vector<JobId> after;                ///< the jobs after which it comes
  std::vector<WaitInterval> waits;         ///< in order, none empty
  std::vector<JobAttempt> attempts;        ///< in order
  std::vector<Reservations> reservations;  ///< of the waits that had any, in order
  std::vector<SlowTime> slow;              ///< by falling loss
  /// The total length of all waits.
  [[nodiscard]] Time waited() const;
  /// The wait until the first start, which is the job's queueing time.
  [[nodiscard]] Time waited_before_start() const;
};

/// The total time of each reason, longest first; the totals add up to waited().
struct CauseTotal {
  std::optional<Why> why;
  std::size_t intervals = 0;
  Time time;
};
/// The name of a reason: `no_gpus`, `behind`, ...; `not_considered` for none.
[[nodiscard]] const char* cause_name(const std::optional<Why>& why);
[[nodiscard]] std::vector<CauseTotal> totals_by_cause(const Explanation& explanation);

/// Observes a run and records what concerns one job.
class WaitRecorder final : public DecisionObserver {
 public:
  /// Records `job`, one of `jobs`; GPUs are numbered server by server.
  WaitRecorder(JobId job, std::span<const JobSpec> jobs, int gpus_per_server);

  void queued(Time now, JobId job) override;
  void started(Time now, JobId job, std::span<const GpuId> gpus, Time pause) override;
  void preempted(Time now, JobId job, JobId by) override;
  void resized(Time now, JobId job) override;
  void interrupted(Time now, JobId job, std::string_view cause) override;
  void adapted(Time now, JobId job, std::string_view what) override;
  void slowed(Time now, const SlowGpus& component, bool is_over) override;
  void mitigated(Time now, JobId job, std::int32_t pace) override;
  void out_of_service(Time now, const OutOfService& gpus) override;
  void ended(Time now, JobId job, bool is_done) override;
  void rejected(Time now, JobId job, std::string_view reason) override;
  void blocked(Time now, JobId job, Why why, JobId by) override;
  void in_line(Time now, JobId job, PlaceInLine place) override;
  void reserved(Time now, JobId job, Time start, std::span<const GpuId> gpus) override;

  /// The times for which the job had its GPUs so far; the last is open while it has them.
  [[nodiscard]] const std::vector<JobAttempt>& attempts() const { return explanation_.attempts; }

  /// Returns the record after the run has ended at time `end`.
  [[nodiscard]] Explanation take(Time end);

 private:
  void open(std::optional<Why> why, JobId by, Time now);
  void close(Time now);
  [[nodiscard]] bool counts(std::size_t occupancy, const std::optional<Why>& why) const;
  void keep_largest(std::size_t interval);
  [[nodiscard]] GpusByServer by_server(std::span<const GpuId> gpus) const;
  void release(Time now, JobId job);
  [[nodiscard]] bool just_preempted(Time now) const;
  /// A time for which a component was slow.
  struct Slow {
    std::string name;
    std::uint32_t first, last;
    std::int32_t times;
    Time from, to = Time::never();
  };
  [[nodiscard]] std::string where(const Slow& slow) const;
  [[nodiscard]] std::int32_t left_of(std::int32_t times, const JobAttempt& attempt, Time at) const;
  void find_slow(Time end);

  JobId job_;
  std::size_t gpus_per_server_;
  std::vector<std::int32_t> vcs_;  ///< virtual cluster of each job
  Explanation explanation_;
  bool waits_ = false;  ///< start of the current wait
  Time since_;          ///< when this wait began
  bool infers_successors_ = false;
  std::vector<GpuId> gpus_;                           ///< the GPUs that the job has, or had last; ascending
  std::vector<GpuHolder> occupancies_;                ///< of all jobs, in order of start
  std::vector<Slow> slow_;                            ///< in order of beginning
  std::vector<std::pair<Time, std::int32_t>> paces_;  ///< that its steps leave it, each from that time of an attempt on
  OutOfService out_of_service_;
  std::vector<std::size_t> running_;  ///< indices of the running ones, in order of start
  /// For each interval, the indices of its holders: all of the last two, which may go on, the largest of the others.
  std::vector<std::vector<std::size_t>> held_by_;
  std::size_t kept_ = 0;  ///< so many intervals have only the largest
};

}  // namespace contend
