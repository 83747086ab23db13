#include "sim/check_regimes.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include <fmt/core.h>

namespace contend {

void check_regimes(const Workload& workload) {
  for (const JobSpec& job : workload.jobs) {
    if (job.regimes < 0) continue;
    const auto complain = [&](std::string_view reason) {
      throw InputError{fmt::format("job `{}`: {}", job.name, reason)};
    };
    if (job.regimes >= std::ssize(workload.regimes)) complain("it has no batch regimes");
    if (!job.duration || !job.attempts.empty()) complain("batch regimes need a duration and no earlier attempts");
    const std::vector<BatchRegime>& regimes = workload.regimes[static_cast<std::size_t>(job.regimes)];
    Time until;
    double progress = 0;
    const auto runs_alike = [](std::span<const JobPace> a, std::span<const JobPace> b) {
      return std::ranges::equal(
          a, b, [](const JobPace& x, const JobPace& y) { return (x.together > 0) == (y.together > 0); });
    };
    for (const BatchRegime& regime : regimes) {
      if (regime.until <= until || regime.progress <= progress) complain("its batch regimes don't rise");
      until = regime.until;
      progress = regime.progress;
      if ((regime.pace < 0) != (job.pace < 0) || regime.pace >= std::ssize(workload.paces) ||
          (regime.sizes < 0) != (job.sizes < 0) || regime.sizes >= std::ssize(workload.sizes))
        complain("a batch regime lacks paces or sizes that the job has");
      if (job.pace >= 0 && !runs_alike(workload.paces[static_cast<std::size_t>(job.pace)],
                                       workload.paces[static_cast<std::size_t>(regime.pace)]))
        complain("a batch regime runs on other types of servers than the job");
      if (job.sizes >= 0 && !std::ranges::equal(workload.sizes[static_cast<std::size_t>(job.sizes)],
                                                workload.sizes[static_cast<std::size_t>(regime.sizes)],
                                                [&](const JobSize& x, const JobSize& y) {
                                                  return x.gpus == y.gpus && runs_alike(x.paces, y.paces);
                                                }))
        complain("a batch regime has other sizes than the job");
    }
    if (until != *job.duration || progress != 1) complain("its batch regimes don't end with it");
  }
}

}  // namespace contend
