#pragma once
// What the users of a queue may use at once, as a QOS of Slurm says it (MaxTRESPerUser, MaxJobsPerUser). A job beyond a
// limit waits, blocks no other job and has no plan.

#include "policies/policy_row.hpp"
#include "sim/cluster_view.hpp"

#include <cstdint>
#include <map>

namespace contend {

inline constexpr ParameterInfo kUserLimits[] = {
    {"max_gpus_per_user", std::int64_t{0}, 0, 1e9,
     "GPUs that the running jobs of a user may hold; 0: any number (MaxTRESPerUser=gres/gpu of the QOS)"},
    {"max_jobs_per_user", std::int64_t{0}, 0, 1e9,
     "running jobs of a user; 0: any number (MaxJobsPerUser of the QOS)"}};

class UserLimits {
 public:
  explicit UserLimits(const Parameters& parameters)
      : gpus_{parameters.get<std::int64_t>("max_gpus_per_user")},
        jobs_{parameters.get<std::int64_t>("max_jobs_per_user")} {}
  /// True if the user of the job, if it has one, may not have it now.
  [[nodiscard]] bool exceeds(const JobView& job) const {
    if (job.user < 0 || (gpus_ == 0 && jobs_ == 0)) return false;
    const auto at = used_.find(job.user);
    const Used used = at == used_.end() ? Used{} : at->second;
    return (gpus_ > 0 && used.gpus + job.gpus > gpus_) || (jobs_ > 0 && used.jobs + 1 > jobs_);
  }
  /// The job starts, 1, or has left its GPUs, -1.
  void count(const JobView& job, int sign) {
    Used& used = used_[job.user];
    used.gpus += sign * std::int64_t{job.gpus};
    used.jobs += sign;
  }

 private:
  struct Used {
    std::int64_t gpus = 0, jobs = 0;
  };
  std::int64_t gpus_, jobs_;
  std::map<std::int32_t, Used> used_;  // by user
};

}  // namespace contend
