#pragma once
// A FittedWorkload summarises a published trace by shares, quantiles and means, from which similar jobs can be drawn;
// it holds no rows of the trace. scripts/fit_workloads.py prints the numbers; docs/models/workloads.md explains the fit
// and the features of the trace that it loses.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// The weight of a number of GPUs within a class.
struct SizeWeight {
  int gpus;
  double weight;
};

/// The probabilities of the quantiles of SizeClass::durations.
inline constexpr std::array<double, 17> kDurationProbabilities{0,   0.05, 0.1,  0.2,  0.3,  0.4,   0.5,   0.6, 0.7,
                                                               0.8, 0.9,  0.95, 0.98, 0.99, 0.995, 0.999, 1};

/// Jobs of similar numbers of GPUs, in batches of similar jobs and lengths: a batch has one job with probability
/// `single`, otherwise shortest - 1 + Zipf(longest - shortest + 1, exponent) jobs. Several classes may have the same
/// sizes and batches of other lengths.
struct SizeClass {
  std::vector<SizeWeight> sizes;  ///< weights of batches
  double single;
  double exponent;
  std::int64_t shortest;                                        ///< jobs of the batches of several jobs, >= 2
  std::int64_t longest;                                         ///< 1 if all batches have one job, else >= shortest
  std::array<double, kDurationProbabilities.size()> durations;  ///< quantiles in seconds, ascending, > 0
  std::array<double, 3> outcomes;  ///< weights of JobOutcome::completed, failed and cancelled
};

inline constexpr std::size_t kMaxSizeClasses = 24;

/// The part of the batches that belongs to a virtual cluster.
struct VcShare {
  std::string name;                               ///< empty: no virtual cluster
  std::array<double, kMaxSizeClasses> weights{};  ///< for the batches of each class
};

/// The resource demand of a one-GPU job.
struct GpuShape {
  int share;       ///< thousandths of the GPU
  int milli_cpus;  ///< thousandths of CPUs
  int memory_mib;  ///< host memory
  double weight;   ///< relative frequency
};

/// How drawn jobs queue beside the jobs of the trace, by the suite `workloads` (validate/workloads/). A figure of the
/// drawn jobs is the geometric mean over replicas; the least and the most are over the loads 0.6, 0.75 and 0.9.
struct QueueingFidelity {
  double fifo_least = 0, fifo_most = 0;  ///< mean queueing under FIFO, drawn over real; 0: never compared
  double sjf_least = 0, sjf_most = 0;    ///< mean JCT under FIFO over that under SJF, drawn over real
  double easy_least = 0, easy_most = 0;  ///< the same for EASY
};

/// Jobs queue like the jobs of a trace if the mean queueing under FIFO is at most so many times as long or as short,
/// and the gains of SJF and EASY deviate by at most this share.
inline constexpr double kQueueingFactor = 2;
inline constexpr double kGainDeviation = 0.25;

[[nodiscard]] bool queues_like_trace(const QueueingFidelity& fidelity);

/// The numbers fitted to one trace.
struct FittedWorkload {
  std::string name;
  std::string source;  ///< the trace, and whether the fit is to its jobs or only to published figures
  std::int64_t fitted_jobs = 0;
  double fitted_days = 0;
  double jobs_per_day = 0;
  double mean_gpu_seconds = 0;     ///< GPU time of a job: duration x GPUs
  std::array<double, 24> hours{};  ///< relative rate of batches by hour of the trace's clock; mean 1
  std::array<double, 7> week{};    ///< relative rate by day since the first; mean 1
  double day_sigma = 0;            ///< sigma of a lognormal factor of mean 1 on the rate of each day
  double spell_sigma = 0;          ///< the same for another factor, whose logarithm lasts from day to day
  double spell_correlation = 0;    ///< of the logarithms of two days that follow each other, 0..1
  double batch_gap_s = 0;          ///< mean time between the jobs of a batch
  double batch_width = 1;          ///< 0: the durations of a batch have the same rank; 1: they are independent
  std::int64_t users = 0;          ///< 0: the trace does not distinguish users
  double user_exponent = 0;        ///< of the Zipf distribution of batches over users
  std::vector<SizeClass> classes{};
  std::vector<VcShare> vcs{};
  std::vector<GpuShape> shapes{};  ///< empty: whole GPUs, CPUs and memory not known
  QueueingFidelity queueing{};     ///< measured, not fitted
};

/// All fitted workloads, in order of name.
[[nodiscard]] const std::vector<const FittedWorkload*>& fitted_workloads();
/// The fitted workload of that name, or nullptr.
[[nodiscard]] const FittedWorkload* find_fitted_workload(std::string_view name);
[[nodiscard]] std::vector<std::string> fitted_workload_names();

/// Why the order in which policies come out with jobs like these says little about the trace; empty if they queue like
/// the jobs of the trace.
[[nodiscard]] std::string ranking_caveat(const FittedWorkload& fit);

/// The largest number of GPUs of its jobs that is at most `limit`; 0 if there is none.
[[nodiscard]] int largest_size(const FittedWorkload& fit, std::optional<int> limit);

/// The duration in seconds below which a share `p` in [0, 1] of the jobs of the class lies. At a fraction f between two
/// quantiles a and b it is a + (b - a) f / (f + (1 - f) sqrt(b / a)). This curve passes through the geometric mean in
/// the middle, as linear interpolation of logarithms does, but uses only operations with the same result on every
/// machine.
[[nodiscard]] double duration_quantile(const SizeClass& sizes, double p);

}  // namespace contend
