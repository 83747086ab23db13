#pragma once
// The body of a job that answers requests (sim/service.hpp). The service says what happens next, and the body puts that
// into the calendar. The job ends when the service is done. JobSpec::duration is what policies reckon with: such a job
// takes as long as its requests keep coming, and late answers make it longer.

#include "sim/engine_state.hpp"
#include "sim/job_body.hpp"
#include "sim/service.hpp"

#include <functional>
#include <set>
#include <utility>

namespace contend {

class ServiceBody final : public JobBody {
 public:
  /// `ends` ends a job whose service is done; `resizes` is called when a service asks for GPUs, or needs some no
  /// longer.
  ServiceBody(EngineState& state, std::function<void(JobId)> ends, std::function<void(JobId)> resizes)
      : state_{state}, ends_{std::move(ends)}, resizes_{std::move(resizes)} {}

  [[nodiscard]] bool has_iterations() const override { return false; }
  [[nodiscard]] bool shares_by_law() const override { return false; }
  void start(JobId job) override;
  bool go_back(JobId job) override;
  /// Jobs with a service can't go on without GPUs (check_redundancy()).
  void go_on(JobId job, Time stands, bool is_struck) override;
  [[nodiscard]] std::vector<GpuId> left_without(JobId job, std::span<const GpuId> lost, Time detection) override;
  bool move(JobId job) override;
  void leave(JobId job) override;
  bool settle(JobId job, Time held) override;
  [[nodiscard]] GpuTime undone(const JobRun& /*run*/) const override { return {}; }
  [[nodiscard]] GpuTime uncounted(const JobRun& run) const override;
  [[nodiscard]] std::optional<GpuTime> executed(const JobRun& run) const override;
  void add_present(const JobRun& run, JobTotals& totals) const override;
  [[nodiscard]] Time busy_now(const JobRun& run, GpuId gpu, Time now) const override;
  [[nodiscard]] std::int64_t iterations_done(const JobRun& /*run*/, std::int64_t completed,
                                             std::int64_t /*all*/) const override {
    return completed;
  }
  [[nodiscard]] std::string work_to_save(const PreemptionCosts& costs) const override;

  /// Does what is due of a running job: its restart is over, or its service advances.
  void act(JobId job);

 private:
  /// Goes on with the GPUs that it has now.
  void arrive(JobRun& run, JobId job);
  /// Puts what the service does next into the calendar.
  void schedule(JobRun& run, JobId job, bool at_once = false);
  /// Counts the time until now in which it has held its GPUs without its service.
  static void count_restart(const JobRun& run, Time now, JobTotals& totals);
  [[nodiscard]] GpuTime present_steps(const JobRun& run) const;

  EngineState& state_;
  ServiceShelf shelf_;
  std::function<void(JobId)> ends_, resizes_;
  std::set<JobId> asking_;  // whose services ask for GPUs
};

}  // namespace contend
