#pragma once
// What is kept of a real trace so that jobs like its own can be drawn: shares, quantiles and means, no rows. How the
// numbers are fitted and what they lose: docs/models/workloads.md; scripts/fit_workloads.py prints them.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

struct SizeWeight {
  int gpus;
  double weight;
};

/// The probabilities of the quantiles of SizeClass::durations.
inline constexpr std::array<double, 17> kDurationProbabilities{0,   0.05, 0.1,  0.2,  0.3,  0.4,   0.5,   0.6, 0.7,
                                                               0.8, 0.9,  0.95, 0.98, 0.99, 0.995, 0.999, 1};

/// Jobs of similar numbers of GPUs. They come in batches of jobs alike: a batch has one job with probability `single`,
/// else 1 + Zipf(longest - 1, exponent) jobs.
struct SizeClass {
  std::span<const SizeWeight> sizes;  ///< weights of batches
  double single;
  double exponent;
  std::int64_t longest;
  std::array<double, kDurationProbabilities.size()> durations;  ///< quantiles in seconds, ascending, > 0
  std::array<double, 3> outcomes;  ///< weights of JobOutcome::completed, failed and cancelled
};

inline constexpr std::size_t kMaxSizeClasses = 12;

struct VcShare {
  std::string_view name;                        ///< empty: none
  std::array<double, kMaxSizeClasses> weights;  ///< of the batches of each class
};

/// What a one-GPU job asks of the server.
struct GpuShape {
  int share;  ///< thousandths of the GPU
  int milli_cpus;
  int memory_mib;
  double weight;
};

struct FittedWorkload {
  std::string_view name;
  std::string_view source;  ///< the trace, and whether its jobs or only published figures were fitted
  std::int64_t fitted_jobs = 0;
  double fitted_days = 0;
  double jobs_per_day = 0;
  double mean_gpu_seconds = 0;     ///< GPU time of a job: duration x GPUs
  std::array<double, 24> hours{};  ///< relative rate of batches by hour of the trace's clock; mean 1
  std::array<double, 7> week{};    ///< relative rate by day since the first; mean 1
  double day_sigma = 0;            ///< of the logarithm of a factor of mean 1 that each day has
  double batch_gap_s = 0;          ///< mean time between jobs of a batch
  double batch_width = 1;          ///< 0: the jobs of a batch have durations of one rank; 1: independent
  std::int64_t users = 0;          ///< 0: the trace doesn't tell users apart
  double user_exponent = 0;
  std::span<const SizeClass> classes{};
  std::span<const VcShare> vcs{};
  std::span<const GpuShape> shapes{};  ///< empty: whole GPUs, nothing known of CPUs and memory
};

/// In order of name.
[[nodiscard]] const std::vector<const FittedWorkload*>& fitted_workloads();
/// The one of that name, or nullptr.
[[nodiscard]] const FittedWorkload* find_fitted_workload(std::string_view name);
[[nodiscard]] std::vector<std::string> fitted_workload_names();

/// The largest number of GPUs of its jobs that is within `limit`; 0 if there is none.
[[nodiscard]] int largest_size(const FittedWorkload& fit, std::optional<int> limit);

/// The duration in seconds below which a share `p` in [0, 1] of the jobs of the class lies. Between two quantiles a and
/// b, at a share f of the way, a + (b - a) f / (f + (1 - f) sqrt(b / a)): a curve through the geometric mean in the
/// middle, as a straight line of logarithms has it, from operations that are exact alike on every machine.
[[nodiscard]] double duration_quantile(const SizeClass& sizes, double p);

}  // namespace contend
