#pragma once
// Observes a run and keeps its spans in bounded memory: one by one up to a limit, beyond it as summaries in bins that
// widen until they fit. It also measures how busy GPUs and network interfaces were over time.

#include "report/busy_bins.hpp"
#include "report/timeline.hpp"
#include "sim/ports.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

namespace contend {

struct SpanLimits {
  std::size_t exact = 2'000'000;      ///< spans, over all lanes, that are kept one by one
  std::size_t summaries = 1'000'000;  ///< summaries that are kept if there are more spans than that
  Time from{};                        ///< spans that end before or begin after the window from..to are not kept
  Time to = Time::never();
};

class SpanRecorder final : public Observer {
 public:
  /// `gpus` are the numbers of GPUs of the servers, of which the largest one numbers GPUs (ClusterSpec::types).
  SpanRecorder(std::vector<std::size_t> gpus, const SpanLimits& limits);
  ~SpanRecorder() override;

  void compute(GpuId gpu, JobId job, const Op& op, std::int64_t iteration, Time start, Time end) override;
  void transfer(const TransferRequest& request, const Op& op, std::int64_t iteration, Time start, Time end) override;
  void shared(GpuId gpu, JobId job, std::span<const JobId> beside, const Op& op, std::int64_t attempt, Time start,
              Time end) override;

  /// Returns what was recorded. Call once, after the run.
  [[nodiscard]] Timeline take();
  /// When the last of what was recorded ended, also if that is not in the window.
  [[nodiscard]] Time end() const { return end_; }
  /// Busy GPU time, one row a server; not limited to the window.
  [[nodiscard]] const BusyBins& gpu_busy() const { return gpu_busy_; }
  /// Time with at least one transfer, one row an interface.
  [[nodiscard]] const BusyBins& nic_busy() const { return nic_busy_; }

 private:
  class Store;
  [[nodiscard]] std::uint32_t kind_of(JobId job, const Op& op, const TransferRequest* request);

  std::vector<std::size_t> gpus_of_server_;
  std::size_t servers_, gpus_per_server_;
  SpanLimits limits_;
  Time end_;
  BusyBins gpu_busy_, nic_busy_;
  std::vector<IntervalUnion> nic_covered_;
  std::map<GpuId, IntervalUnion> gpu_covered_;  ///< of GPUs that jobs share: when they did
  std::vector<IntervalUnion::Interval> fresh_;
  std::vector<SpanKind> kinds_;
  std::vector<std::vector<std::uint32_t>> kinds_of_job_;
  std::unique_ptr<Store> store_;
};

}  // namespace contend
