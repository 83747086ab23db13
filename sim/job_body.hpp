#pragma once
// The body of a job: what the job does with its GPUs. The life of a job is the same for all bodies (Admission,
// Allocation): it arrives, waits, gets GPUs, is preempted, interrupted or resized, and ends. A body says how the job
// begins on its GPUs, goes on there and stops, and how much work the job has done by now. Another kind of work is
// another body. A body holds no state of a job; that is in JobRun, and lasts as long as the run of the simulation.

#include "sim/ids.hpp"
#include "sim/scheduling_rules.hpp"
#include "sim/totals.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

struct JobRun;

class JobBody {
 public:
  JobBody() = default;
  JobBody(const JobBody&) = delete;
  JobBody& operator=(const JobBody&) = delete;
  virtual ~JobBody() = default;

  /// True if the work of the job is iterations; else it is a time.
  [[nodiscard]] virtual bool has_iterations() const = 0;
  /// True if other jobs may run on its GPUs by a law of sharing (GpuSharing).
  [[nodiscard]] virtual bool shares_by_law() const = 0;

  // The steps of the life. The job runs, and has its GPUs.
  /// It has got its GPUs: its work begins, after a restart if it pays for one.
  virtual void start(JobId job) = 0;
  /// It stops before its end, and goes back to its last checkpoint. True if it has saved work in this run.
  virtual bool go_back(JobId job) = 0;
  /// It goes on at the speed that its redundancy gives it without its covered GPUs, once it has stood still for a time,
  /// and for the rest of its standstill before. A job of iterations begins its iterations in flight again then. It
  /// loses them to a failure if it `is_struck`.
  virtual void go_on(JobId job, Time stands, bool is_struck) = 0;
  /// The GPUs with which it would go on, if it lost these to a failure that somebody notices after `detection`; none:
  /// it can't.
  [[nodiscard]] virtual std::vector<GpuId> left_without(JobId /*job*/, std::span<const GpuId> /*lost*/,
                                                        Time /*detection*/) {
    return {};
  }
  /// Its GPUs are about to change (Allocation::resize()): go_back(), leave(), settle() and start() follow. True if it
  /// goes on without a restart.
  virtual bool move(JobId /*job*/) { return false; }
  /// It is about to give back its GPUs, after its end or after go_back().
  virtual void leave(JobId job) = 0;
  /// It has given them back after it has held them for so long: counts its work. True if it has saved work in this run
  /// beside what go_back() says.
  virtual bool settle(JobId job, Time held) = 0;

  // What a job has done.
  /// The work that a running job loses if it is preempted now: the work since its last checkpoint.
  [[nodiscard]] virtual GpuTime undone(const JobRun& run) const = 0;
  /// The work that a running job has done and JobRun::remaining_service still holds.
  [[nodiscard]] virtual GpuTime uncounted(const JobRun& run) const = 0;
  /// For how long its tasks have run in all on its GPUs, summed over them; nothing if they work all the time that it
  /// holds them.
  [[nodiscard]] virtual std::optional<GpuTime> executed(const JobRun& run) const = 0;
  /// For how long a running job, of those in GpuState::timed, has worked on a GPU until `now` that GpuTotals::busy and
  /// GpuState::whole_since don't count yet.
  [[nodiscard]] virtual Time busy_now(const JobRun& run, GpuId gpu, Time now) const = 0;
  /// Adds to the totals what a running job has done since they were counted, without its time on GPUs.
  virtual void add_present(const JobRun& run, JobTotals& totals) const = 0;
  /// The iterations that a result shows as done, of `all` iterations of the job. `completed` are JobRun::completed,
  /// without those that only complete others.
  [[nodiscard]] virtual std::int64_t iterations_done(const JobRun& run, std::int64_t completed,
                                                     std::int64_t all) const = 0;
  /// What a job has to do until its next checkpoint, in words; empty if nothing is saved before its end.
  [[nodiscard]] virtual std::string work_to_save(const PreemptionCosts& costs) const = 0;
};

}  // namespace contend
