#pragma once
// The body of a timed job: a job that takes a given time on its GPUs, in one attempt or several (JobSpec::duration).

#include "sim/engine_state.hpp"
#include "sim/job_body.hpp"
#include "sim/saver.hpp"

namespace contend {

class TimedBody final : public JobBody {
 public:
  TimedBody(EngineState& state, Saver& saver) : state_{state}, saver_{saver} {}

  [[nodiscard]] bool has_iterations() const override { return false; }
  [[nodiscard]] bool shares_by_law() const override { return true; }
  void start(JobId job) override;
  /// The work of its run is counted by settle(), which says how much work the run has saved.
  bool go_back(JobId job) override;
  void go_on(JobId job, Time stands, bool is_struck) override;
  void leave(JobId job) override;
  bool settle(JobId job, Time held) override;
  [[nodiscard]] GpuTime undone(const JobRun& run) const override;
  [[nodiscard]] GpuTime uncounted(const JobRun& run) const override;
  [[nodiscard]] std::optional<GpuTime> executed(const JobRun& /*run*/) const override { return std::nullopt; }
  [[nodiscard]] Time busy_now(const JobRun& run, GpuId gpu, Time now) const override;
  void add_present(const JobRun& run, JobTotals& totals) const override;
  [[nodiscard]] std::int64_t iterations_done(const JobRun& run, std::int64_t completed,
                                             std::int64_t all) const override;
  [[nodiscard]] std::string work_to_save(const PreemptionCosts& costs) const override;

 private:
  /// Says at what pace it works on its GPUs.
  void set_pace(JobRun& run) const;
  void take_gpus(JobId job);
  void give_back_gpus(JobId job, Time held);

  EngineState& state_;
  Saver& saver_;
};

}  // namespace contend
