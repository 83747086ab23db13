#pragma once
// Why a job waited: from the decisions of the scheduler while it did. The intervals of a wait meet end to end, from the
// moment in which the job queues to that in which it starts, so they add up to its waiting time exactly.

#include "sim/ids.hpp"
#include "sim/job.hpp"
#include "sim/ports.hpp"
#include "sim/scheduling.hpp"
#include "sim/units.hpp"

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
  Time until = Time::never();  ///< when it gave them back; never() if the run ended first
};

/// A time in which one reason kept a job waiting.
struct WaitInterval {
  Time from, to;
  std::optional<Why> why;          ///< none: no pass of the scheduler has said anything about the job yet
  JobId by;                        ///< who is in the way, or none
  std::vector<GpuHolder> holders;  ///< of the jobs that ran at `from` the kMaxHolders with most GPUs, then by id; where
                                   ///< a quota is used up only those that use it
  std::size_t running = 0;         ///< all such jobs
  std::int64_t held_gpus = 0;      ///< over all of them
  [[nodiscard]] Time length() const { return to - from; }
};
inline constexpr std::size_t kMaxHolders = 16;

/// A time in which the job held its GPUs.
struct JobAttempt {
  enum class End : std::uint8_t { open, ended, preempted, failed };
  Time from;
  Time to = Time::never();
  End end = End::open;                            ///< open: the run ended first; failed: the job queued again
  std::vector<std::pair<ServerId, int>> servers;  ///< ascending, and the GPUs that it had there
  std::vector<JobId> successors;                  ///< preempted: for whom; if the policy doesn't say, the jobs that
                                                  ///< started on its GPUs at that instant
};

struct Explanation {
  std::vector<WaitInterval> waits;   ///< in order, none empty
  std::vector<JobAttempt> attempts;  ///< in order
  /// Over all waits.
  [[nodiscard]] Time waited() const;
  /// Until the first start: the queueing time of the job.
  [[nodiscard]] Time waited_before_start() const;
};

/// How long each reason lasted, the longest first. They add up to waited().
struct CauseTotal {
  std::optional<Why> why;
  std::size_t intervals = 0;
  Time time;
};
/// `no_gpus`, `behind`, ...; `not_considered` for none.
[[nodiscard]] const char* cause_name(const std::optional<Why>& why);
[[nodiscard]] std::vector<CauseTotal> totals_by_cause(const Explanation& explanation);

/// Listens to a run and keeps what concerns one job.
class WaitRecorder final : public DecisionObserver {
 public:
  /// Of a job of these; GPUs are numbered server by server.
  WaitRecorder(JobId job, std::span<const JobSpec> jobs, int gpus_per_server);

  void queued(Time now, JobId job) override;
  void started(Time now, JobId job, std::span<const GpuId> gpus) override;
  void preempted(Time now, JobId job, JobId by) override;
  void ended(Time now, JobId job, bool is_done) override;
  void rejected(Time, JobId, std::string_view) override {}  // such a job never waits
  void blocked(Time now, JobId job, Why why, JobId by) override;

  /// Once the run has ended, at `end`.
  [[nodiscard]] Explanation take(Time end);

 private:
  void open(std::optional<Why> why, JobId by, Time now);
  void close(Time now);
  void release(Time now, JobId job);
  [[nodiscard]] bool just_preempted(Time now) const;

  JobId job_;
  std::size_t gpus_per_server_;
  std::vector<std::int32_t> vcs_;  ///< by job
  Explanation explanation_;
  bool waits_ = false;
  Time since_;  ///< when this wait began
  bool infers_successors_ = false;
  std::vector<GpuId> gpus_;                        ///< that the job has, or had last; ascending
  std::vector<GpuHolder> occupancies_;             ///< of all jobs, in order of start
  std::vector<std::size_t> running_;               ///< indices there, in order of start
  std::vector<std::vector<std::size_t>> held_by_;  ///< of each interval: indices of its holders
};

}  // namespace contend
