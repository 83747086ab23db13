#pragma once
// The body of a graph job: a job that repeats an iteration graph (sim/graph.hpp), which the executor runs on the cells
// of its GPUs.

#include "sim/courier.hpp"
#include "sim/engine_state.hpp"
#include "sim/executor.hpp"
#include "sim/job_body.hpp"
#include "sim/saver.hpp"

namespace contend {

class GraphBody final : public JobBody {
 public:
  GraphBody(EngineState& state, Executor& executor, Courier& courier, Saver& saver)
      : state_{state}, executor_{executor}, courier_{courier}, saver_{saver} {}

  [[nodiscard]] bool has_iterations() const override { return true; }
  [[nodiscard]] bool shares_by_law() const override { return false; }
  void start(JobId job) override;
  bool go_back(JobId job) override;
  void go_on(JobId job, Time stands, bool is_struck) override;
  void leave(JobId job) override;
  bool settle(JobId /*job*/, Time /*held*/) override { return false; }
  [[nodiscard]] GpuTime undone(const JobRun& run) const override;
  [[nodiscard]] GpuTime uncounted(const JobRun& /*run*/) const override { return {}; }
  [[nodiscard]] std::optional<GpuTime> executed(const JobRun& run) const override;
  [[nodiscard]] Time busy_now(const JobRun& /*run*/, GpuId /*gpu*/, Time /*now*/) const override { return {}; }
  void add_present(const JobRun& run, JobTotals& totals) const override;
  [[nodiscard]] std::int64_t iterations_done(const JobRun& run, std::int64_t completed,
                                             std::int64_t all) const override;
  [[nodiscard]] std::string work_to_save(const PreemptionCosts& costs) const override;
  /// Begins the iterations of a job that has restarted, or has stood still.
  void wake(JobId job);

 private:
  void begin(JobRun& run, JobId job);
  /// Counts the part of a restart that is over, of a job that stops while it restarts.
  void cut_restart(JobRun& run);
  /// Counts the time for which a job has stood before it begins.
  void count_restart(JobRun& run) const;
  /// Ends the execution of a job, which has `completed` iterations then.
  void leave_cells(JobRun& run, JobId job, std::int64_t completed);
  void drop_iterations(JobRun& run, JobId job, std::int64_t completed);
  /// Ends the iterations in flight of a job that keeps its GPUs and its checkpoints.
  void begin_anew(JobRun& run, JobId job, bool is_struck);
  /// Gives a job another graph; -1: JobSpec::graph. The iterations that the job has done stay done.
  void use_graph(JobRun& run, std::int32_t graph);
  void use_plan(JobRun& run, const Plan& plan);
  /// Gives a job that has its GPUs the graph of Workload::torn if they tear its groups apart.
  void tear(JobRun& run, std::int32_t graph);
  /// Counts the iterations that an elastic job has left at its present size.
  void count_iterations(JobRun& run);

  EngineState& state_;
  Executor& executor_;
  Courier& courier_;
  Saver& saver_;
};

}  // namespace contend
