#pragma once
// How long the jobs of a list queue under policies that a user would compare, and how far drawn lists are from a real
// one in that.

#include "models/workload.hpp"
#include "models/workloads/fitted.hpp"

#include <cstdint>
#include <span>

namespace contend {

/// Mean times over the jobs of a list, in seconds, on one pool of GPUs.
struct Queueing {
  double fifo_s = 0, sjf_s = 0, easy_s = 0;              ///< until the first start
  double fifo_jct_s = 0, sjf_jct_s = 0, easy_jct_s = 0;  ///< until the end

  /// How many times as long jobs take under FIFO.
  [[nodiscard]] double sjf_gain() const { return fifo_jct_s / sjf_jct_s; }
  [[nodiscard]] double easy_gain() const { return fifo_jct_s / easy_jct_s; }
};

/// GPUs of each server of the pools.
inline constexpr int kPoolServerGpus = 8;

/// Replays the list at a load on servers that form one pool, under `fifo`, `sjf` and `easy` with their defaults, which
/// know the durations. Its submissions are brought nearer or further apart, so that the GPU time of the jobs is the
/// part `load` of what the GPUs could do between the first submission and the last, as `workload.scaling.load` of a job
/// list does.
[[nodiscard]] Queueing queueing_of(std::span<const JobRequest> jobs, double load, int servers);

/// The jobs like `fit`, as many as were fitted, drawn with `seed` for this load of the pool, then brought to exactly
/// this load: the load is defined as for the real list.
[[nodiscard]] Queueing drawn_queueing(const FittedWorkload& fit, std::uint64_t seed, double load, int servers);

/// Drawn lists beside a real one.
struct QueueingRatio {
  double fifo = 1;             ///< mean queueing under FIFO, geometric mean over the lists, over the queueing of the
                               ///< real list
  double least = 1, most = 1;  ///< of the lists
  double sjf_gain = 1, easy_gain = 1;  ///< geometric means of the gains, over the gains of the real list
};

/// At least one list. Queueing of less than a second counts as a second.
[[nodiscard]] QueueingRatio ratio_of(std::span<const Queueing> drawn, const Queueing& real);

/// The range over several loads. At least one.
[[nodiscard]] QueueingFidelity fidelity_of(std::span<const QueueingRatio> ratios);

/// True if all figures are those stated, but for their rounding to three digits.
[[nodiscard]] bool is_as_stated(const QueueingFidelity& found, const QueueingFidelity& stated);

}  // namespace contend
