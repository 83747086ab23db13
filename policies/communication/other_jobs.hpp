#pragma once
// What other jobs do on an interface, for communication policies.

#include "sim/ports.hpp"

#include <cstddef>
#include <vector>

namespace contend {

struct OtherJobs {
  std::size_t jobs = 0;        ///< with transfers on the interface
  double remaining_bytes = 0;  ///< of all of them together
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
    bool is_new = true;
    for (std::size_t before = 0; before < i && is_new; ++before) is_new = scratch[before].job != scratch[i].job;
    if (is_new) ++others.jobs;
  }
  return others;
}

}  // namespace contend
