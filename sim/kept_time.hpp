#pragma once
// KeptTime measures the GPU time of the work of each job that was kept, for the goodput of a run. Jobs that are on one
// GPU at once divide its time: one that reserves a part of it has that part, and the others have equal parts of the
// rest. So the sum over all jobs is never more than the time of the GPUs.

#include "sim/ids.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace contend {

class KeptTime {
 public:
  /// Measures nothing.
  KeptTime() = default;
  KeptTime(std::size_t jobs, std::size_t gpus) : jobs_(jobs), gpus_(gpus) {}
  [[nodiscard]] bool measures() const { return !gpus_.empty(); }

  /// The job gets these GPUs now, and `share` thousandths of each: its own if they are between 0 and 1000, exclusively.
  /// `spoilt` is its time on GPUs so far that was spent on anything but work that was kept.
  void begin(JobId job, std::span<const GpuId> gpus, std::int32_t share, Time spoilt, Time now);
  /// It loses them. `held` is the time for which it had them.
  void end(JobId job, std::span<const GpuId> gpus, std::int32_t share, Time spoilt, Time held, Time now);
  /// So much of its time on GPUs, of `useful` until now, was undone after it had lost them.
  void undo(JobId job, Time undone, Time useful);
  /// GPU time until its last end, in seconds, and the GPU time that it would have if the job lost these GPUs now.
  [[nodiscard]] double seconds(JobId job) const { return jobs_[job.index()].kept_s; }
  [[nodiscard]] double seconds(JobId job, std::span<const GpuId> gpus, std::int32_t share, Time spoilt, Time held,
                               Time now) const;

 private:
  struct OfJob {
    double kept_s = 0;
    double equal_s = 0;  // sum of OfGpu::equal_s at its start
    Time spoilt;         // at its start
  };
  struct OfGpu {
    double equal_s = 0;  // what a job without a part of its own would have got of it until `changed`
    Time changed;
    std::int32_t reserved = 0;  // thousandths
    std::int32_t others = 0;    // jobs that divide the rest
    [[nodiscard]] double equal_at(Time now) const;
  };
  std::vector<OfJob> jobs_;
  std::vector<OfGpu> gpus_;
};

}  // namespace contend
