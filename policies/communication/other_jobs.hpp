#pragma once
// What communication policies share: what other jobs do on an interface, and for how much an answer holds.

#include "policies/policy_row.hpp"
#include "sim/ports.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace contend {

/// The parameter of policies that may decide once an iteration.
inline constexpr ParameterInfo kPerIteration = {
    "per_iteration", false, 0, 0,
    "whether an answer holds for all messages of an iteration; false: the policy decides on each message"};

struct OtherJobs {
  std::size_t jobs = 0;        ///< with transfers on the interface
  double remaining_bytes = 0;  ///< of all of them together
  double later_bytes = 0;      ///< that they send later in the same iterations
};

/// The jobs other than `job` with transfers on the interface of the server. `scratch` is overwritten.
[[nodiscard]] inline OtherJobs other_jobs(const NetworkView& network, ServerId server, JobId job,
                                          std::vector<ActiveTransfer>& scratch) {
  scratch.clear();
  network.active(server, scratch);
  OtherJobs others;
  for (std::size_t i = 0; i < scratch.size(); ++i) {
    if (scratch[i].job == job) continue;
    others.remaining_bytes += scratch[i].remaining_bytes;
    const auto is_of_job = [&](const ActiveTransfer& each) { return each.job == scratch[i].job; };
    const auto here = scratch.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::any_of(scratch.begin(), here, is_of_job)) continue;
    ++others.jobs;
    // What the transfer that started last leaves for later is the least.
    double later = here->later_bytes;
    for (const ActiveTransfer& each : scratch)
      if (is_of_job(each)) later = std::min(later, each.later_bytes);
    others.later_bytes += later;
  }
  return others;
}

}  // namespace contend
