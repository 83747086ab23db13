#pragma once
// Shares of time where two jobs may run on the same GPUs (Narayanan et al., "Gavel", OSDI 2020, section 3.1, "space
// sharing"). Beside x_ij, the share of time for which job i runs alone on type j, there is x_pj, for which both jobs of
// pair p run on the same GPUs:
//
//     sum_j x_ij + sum_{p with i} sum_j x_pj <= 1     sum_i s_i x_ij + sum_p s_p x_pj <= C_j
//     T_i(x) = sum_j T_ij x_ij + sum_{p with i} sum_j T_ipj x_pj
//
// A quota counts the GPUs of each job, and so the GPUs of a pair once for each of its jobs in the virtual cluster:
//
//     sum_j (sum_{i in v} s_i x_ij + sum_p s_p |p and v| x_pj) <= quota of v
//
// and so do the CPUs and the host memory of the servers of a type, all servers together:
//
//     sum_i s_i m_i x_ij + sum_p s_p (sum_{i in p} m_i) x_pj <= M_j
//
// Pairs couple the jobs, so the whole program goes to LinearProgram. A pair whose jobs together do no more work than
// one of them alone, relative to their rates, is not worth a column: taking turns is as good.

#include "policies/scheduling/type_allocation.hpp"

#include <span>
#include <vector>

namespace contend {

/// The largest t with T_i(x) >= norm_i t for all i with norm_i > 0, and its shares. At least one norm is > 0.
[[nodiscard]] TimeShares packed_level(const TypedCluster& cluster, std::span<const double> norms);
/// The largest sum of T_i(x) / price with T_i(x) >= needed_i, or, where that can't be, without.
[[nodiscard]] TimeShares packed_sum(const TypedCluster& cluster, std::span<const double> needed);

/// Objectives of policies with pairs; type_allocation.hpp has them without.
[[nodiscard]] TimeShares packed_max_min_shares(const TypedCluster& cluster);
/// Water filling: levels rise as `weigh` says (ShareProgram::water_fill), levels of jobs that can't rise any more are
/// frozen, and the others go on. `value` is the least level of a job that some type can run.
[[nodiscard]] TimeShares packed_water_fill(const TypedCluster& cluster, const ShareProgram::Weigh& weigh,
                                           std::vector<double>& levels);
/// The same where all levels rise alike.
[[nodiscard]] TimeShares packed_water_fill(const TypedCluster& cluster, std::vector<double>& levels);
[[nodiscard]] TimeShares packed_makespan_shares(const TypedCluster& cluster);
[[nodiscard]] TimeShares packed_finish_time_fair_shares(const TypedCluster& cluster);
[[nodiscard]] TimeShares packed_least_cost_shares(const TypedCluster& cluster);

}  // namespace contend
