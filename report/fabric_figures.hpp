#pragma once
// Who fills which link when, and which jobs lose time to which others in the network.

#include "report/figure.hpp"
#include "report/replay.hpp"
#include "report/run_folder.hpp"

#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The busiest links that several jobs used: how much of each of them the jobs that sent most filled over time, and the
/// other jobs together. None if no two jobs used one link.
[[nodiscard]] std::optional<Figure> link_shares(const RunFolder& folder, const RunFolder::Run& run,
                                                const Replay& replay);

/// What the jobs that lost most of their time to others lost to which job, and on which link. The folder has `delays`.
[[nodiscard]] std::vector<Figure> delay_figures(const RunFolder& folder, const RunFolder::Run& run);

/// How much of its time on GPUs the transfers of a job lost to transfers of others, and to which job on which link
/// most.
struct JobDelay {
  std::string job, by, link;
  double lost_s = 0, share = 0;            ///< to all others; share of its time on GPUs
  double most_lost_s = 0, most_share = 0;  ///< to the job `by` on `link`
};
/// Of each job that lost any, the largest share first. The folder has `delays`.
[[nodiscard]] std::vector<JobDelay> job_delays(const RunFolder& folder, const RunFolder::Run& run);

}  // namespace contend
