#pragma once
// UseLog keeps when jobs held GPUs and for how long they computed meanwhile: what meters of energy and money read
// (models/energy/meter.hpp). Nothing in the engine depends on it.

#include "sim/ids.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace contend {

struct EngineState;

/// A time for which a job held GPUs of one type, from a start to the stop after it.
struct HeldSpan {
  JobId job;
  std::int32_t type = -1;  ///< of the servers; -1: all are alike
  Time since, until;
  GpuTime held;      ///< GPUs x time; of a job that reserves a part of each GPU, that part of it
  GpuTime computed;  ///< part of `held` in which tasks ran, or, of a job with a duration, all of it
};

class UseLog {
 public:
  /// GPUs of one type.
  struct OfType {
    std::int32_t type = -1;
    int gpus = 0;
  };

  /// Keeps nothing.
  UseLog() = default;
  UseLog(std::size_t jobs, std::size_t gpus) : executed_(jobs), gpus_(gpus) {}
  [[nodiscard]] bool keeps() const { return !gpus_.empty(); }

  /// A job gets these GPUs now. It reserves `share` thousandths of each if `share` is between 0 and 1000.
  void begin(std::span<const GpuId> gpus, std::int32_t share, Time now);
  /// It gives them back. The span says since when and until when it held them, the rest of it follows. `executed`: for
  /// how long its tasks have run in all, summed over its GPUs, of a job with an iteration graph.
  void end(HeldSpan span, std::span<const GpuId> gpus, std::span<const OfType> types, std::int32_t share,
           std::optional<GpuTime> executed);

  [[nodiscard]] const std::vector<HeldSpan>& spans() const { return spans_; }
  /// For how long a GPU was held until its last job left it: by jobs that have it whole, together, and the reserved
  /// parts of others.
  [[nodiscard]] Time held(GpuId gpu) const { return gpus_[gpu.index()].held; }

 private:
  struct OfGpu {
    Time held, since;
    std::int32_t holders = 0;  // jobs that don't reserve a part of it
  };
  std::vector<GpuTime> executed_;  // by job, at the end of its last span
  std::vector<OfGpu> gpus_;
  std::vector<HeldSpan> spans_;
};

/// Adds to the log that a job, which still has its GPUs, gives them back now.
void log_use(const EngineState& state, JobId job, UseLog& log);

}  // namespace contend
