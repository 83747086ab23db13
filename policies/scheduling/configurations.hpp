#pragma once
// ConfigurationProgram chooses a configuration for each job, a number of GPUs on a type of servers, so that the sum of
// costs is least (Jayaram Subramanya et al., "Sia", SOSP 2023, section 3.4):
//
//     min  sum_j ( sum_c A_jc x_jc + none_j (1 - sum_c x_jc) ),   x binary,   sum_c x_jc <= 1,
//     sum_jc gpus_c x_jc <= capacity of each type
//
// Costs are whole numbers, so that sums are exact. Prices of GPUs (Lagrange multipliers of the capacities, by a
// subgradient method) give a bound; the configurations that are cheapest at these prices, repaired and improved, give a
// choice. What lies between both is searched by a dynamic program over jobs and GPUs left, which keeps only choices
// that can still beat the best. It is exact where the states that are left fit into a limit; else the choice is within
// the gap that it reports. It uses sums and products in a fixed order: the result is the same on every machine.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace contend {

/// So many GPUs, > 0, of one type.
struct Configuration {
  std::size_t type = 0;
  int gpus = 1;
  std::int64_t cost = 0;
};

struct ConfigurationChoice {
  static constexpr std::int32_t kNone = -1;
  std::vector<std::int32_t> of_job;  ///< index of its configuration, in the order in which they were added; or kNone
  std::int64_t cost = 0;
  double bound = 0;         ///< no choice costs less
  bool is_optimal = false;  ///< proven, so that the bound no longer matters
};

class ConfigurationProgram {
 public:
  /// `capacity`: GPUs of each type, >= 0.
  explicit ConfigurationProgram(std::vector<int> capacity) : capacity_{std::move(capacity)} {}
  /// Adds a job, with its cost without GPUs.
  void add(std::span<const Configuration> configurations, std::int64_t none);

  /// The search ends where a choice costs at most `gap` times its cost more than the bound, with gap >= 0; and keeps at
  /// most so many states for each job.
  [[nodiscard]] ConfigurationChoice solve(double gap, std::size_t most_states = 50'000) const;

 private:
  struct Job {
    std::size_t first = 0, last = 0;  // of configurations_
    std::int64_t none = 0;
  };
  friend class ConfigurationSearch;
  std::vector<int> capacity_;
  std::vector<Configuration> configurations_;
  std::vector<Job> jobs_;
};

}  // namespace contend
