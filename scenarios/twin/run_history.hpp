#pragma once
// How long jobs run, as their users' earlier jobs say.

#include "models/workload.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// Where a job lies among the earlier ones, from the shortest on: numbers of [0, 1).
struct Quantiles {
  double of_user = 0;  ///< among the jobs of its user
  double of_all = 0;   ///< among all jobs, if it is none of its user's
};

/// Draws the duration of a job from the durations of its user's earlier jobs, as far as these ran longer than the job
/// has by now. A duration counts as a part of the job's limit where both jobs have limits. With uniform quantiles n
/// such jobs of the user count as n, all users together as one more, and the limit as one more job of all users: a
/// Dirichlet process whose base has the weight of one observation (Ferguson, Annals of Statistics 1, 1973; Blackwell
/// and MacQueen, ibid.). Jobs with common quantiles are alike: all of them are long, or all of them are short.
class RunHistory {
 public:
  /// Knows nothing: each job takes its limit.
  RunHistory() = default;
  explicit RunHistory(std::span<const JobRequest> ended);

  /// The whole duration, more than JobRequest::elapsed. The job has a duration of its own.
  [[nodiscard]] Time draw(const JobRequest& job, const Quantiles& at) const;
  /// The number of jobs in it.
  [[nodiscard]] std::size_t jobs() const { return all_.durations.size(); }

 private:
  struct Sample {
    std::vector<double> parts;            // of their limits, rising
    std::vector<std::int64_t> durations;  // ns, rising
  };
  std::map<std::string, Sample, std::less<>> users_;
  Sample all_;
};

/// The duration of the job if it takes its limit; without a limit its duration in the list. A running job that has
/// overrun its limit ends within a second.
[[nodiscard]] Time duration_by_limit(const JobRequest& job);

}  // namespace contend
