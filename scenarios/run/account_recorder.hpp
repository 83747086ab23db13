#pragma once
// Watches a job of a run and accounts for the time of one of its GPUs: its tasks, and the causes of its waits.

#include "models/overlap/iteration_account.hpp"
#include "results/wait_recorder.hpp"
#include "sim/graph_plan.hpp"
#include "sim/ports.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace contend {

/// At each start of the job it follows the GPU on which the first task of its first role ends.
class AccountRecorder final : public Observer {
 public:
  /// `waits` records the decisions about the job in the same run, and outlives this.
  AccountRecorder(JobId job, const WaitRecorder& waits, KindOfTask kind_of)
      : job_{job}, waits_{waits}, kind_of_{std::move(kind_of)} {}

  void begins(JobId job, const Plan& plan) override;
  void compute(GpuId gpu, JobId job, const Op& op, std::int64_t iteration, Time start, Time end) override;
  void task(GpuId gpu, JobId job, const Op& op, std::int64_t iteration, Time start, Time end) override;
  void transfer(const TransferRequest& request, const Op& op, std::int64_t iteration, Time start, Time end) override;

  /// After the run, which ended at `end` and in which the job had its GPUs in these attempts: for what the GPU spent
  /// that time, over so many iterations. The rows add up to the length of the attempts over the iterations.
  [[nodiscard]] std::vector<AccountRow> take(std::span<const JobAttempt> attempts, Time end, std::int64_t iterations);

  /// What went through the network.
  struct Transfers {
    Time time;  ///< there, as a sum
    std::int64_t count = 0;
  };
  /// By operation.
  [[nodiscard]] const std::map<std::string, Transfers, std::less<>>& transfers() const { return transfers_; }

 private:
  /// When the operations of an iteration ended, as far as tasks on the followed GPU wait for them.
  struct Ends {
    std::int64_t iteration = -1;
    std::vector<Time> by_op;
  };
  /// A time for which the job had its GPUs.
  struct Start {
    explicit Start(const Plan& followed, const KindOfTask& kind_of);
    [[nodiscard]] Ends& ends_of(std::int64_t iteration);
    void ended(std::size_t op, std::int64_t iteration, Time end);
    /// When all that an operation waits for had ended, 0 if nothing is known of that. Timers on the way are accounted
    /// for, once each.
    Time ready(std::size_t op, std::int64_t iteration);

    const Plan plan;                                   ///< a copy, which outlives the run
    std::size_t attempt = 0;                           ///< its number among the attempts of the job
    std::unordered_map<const Op*, std::size_t> index;  ///< of the operations of the run
    std::vector<std::vector<std::size_t>> before[2];   ///< by lag and operation
    std::vector<Ends> ends;
    IterationAccount account;
    std::optional<GpuId> gpu;
    Time first, last;  ///< start of the first task, end of the last one
    std::int64_t iteration = -1;
    std::deque<std::pair<std::int64_t, Time>> marks;  ///< an iteration, and the end of the last task before it
  };

  [[nodiscard]] bool has_gpus() const {
    const std::vector<JobAttempt>& attempts = waits_.attempts();
    return !attempts.empty() && attempts.back().end == JobAttempt::End::open;
  }

  JobId job_;
  const WaitRecorder& waits_;
  KindOfTask kind_of_;
  std::vector<std::unique_ptr<Start>> starts_;
  std::map<std::string, Transfers, std::less<>> transfers_;
};

}  // namespace contend
