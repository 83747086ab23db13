#pragma once
// Objectives by which policies divide the time of jobs among types of servers (Narayanan et al., "Gavel", OSDI 2020,
// section 4, as in its released code). They give the shares x_ij of a ShareProgram and the value of the objective.

#include "policies/scheduling/share_program.hpp"
#include "sim/ids.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace contend {

/// A job that wants time on types of servers.
struct TypedJob {
  double gpus = 1;                    ///< s_i
  std::vector<double> rates;          ///< T_ij: work in a second on each type; 0: it can't run there
  double weight = 1;                  ///< w_i
  double left = 0;                    ///< work left, in the units of the rates
  double age = 0;                     ///< seconds since its submission
  double isolated = 0;                ///< seconds for which its work so far would have taken on an equal share
  std::optional<double> time_left{};  ///< seconds to its deadline
  std::int32_t vc = -1, user = -1;    ///< as in JobView
  JobId id = JobId::none();           ///< of these objectives, too
};

/// Two jobs of as many GPUs that may run on the same GPUs.
struct TypedPair {
  std::size_t first = 0, second = 0;              ///< indices of the jobs
  std::vector<double> first_rates, second_rates;  ///< beside the other, on each type; 0: they can't share there
};

/// GPUs that jobs of a virtual cluster may hold at once, each job those that it runs on.
struct TypedQuota {
  std::int32_t vc = -1;
  double gpus = 0;
};

/// The GPUs of each type, and the jobs.
struct TypedCluster {
  std::vector<double> capacity;      ///< C_j; jobs have the time of so many GPUs together
  std::vector<double> most{};        ///< that a job can hold at once of each type; empty: `capacity`
  std::vector<double> prices{};      ///< of a GPU for an hour; empty: all cost the same
  std::vector<TypedJob> jobs{};      ///< in order of submission
  std::vector<TypedPair> pairs{};    ///< that objectives of packed_shares.hpp use
  std::vector<TypedQuota> quotas{};  ///< of these objectives, too; at most one of each virtual cluster
  std::vector<TypedHosts> hosts{};   ///< those that could be short, of all objectives
};

/// Who shares a cluster before the jobs of each do.
enum class Entities : std::uint8_t { none, virtual_clusters, users };

/// The rate of the job on a type with so many GPUs; 0 if it can't hold as many there as it needs.
[[nodiscard]] double rate_on(const TypedCluster& cluster, const TypedJob& job, std::size_t type);

/// p_i w_i / s_i: the rate of the job with time on the types in proportion to their GPUs, by its weight and GPUs.
[[nodiscard]] double proportional_rate(const TypedCluster& cluster, const TypedJob& job, bool agnostic);

/// Rate of each job with the shares C_j / (m s_i) of m equal parts of the cluster, scaled down if they add up to more
/// than 1, or if the jobs need more of the hosts than there is: none has more than an equal part of them then, or as
/// much as it needs (max-min fairness with limits: Bertsekas, Gallager, Data Networks, 2nd edition, section 6.5.2).
[[nodiscard]] std::vector<double> equal_share_rates(const TypedCluster& cluster);

/// The largest level s_i T_i(x) / (w_i p_i) to which all jobs get, with p_i = sum_j T_ij C_j / sum_j C_j and T_i(x) =
/// sum_j T_ij x_ij. If `agnostic`, all rates above 0 count as 1. With `fill`, jobs rise further one after the other:
/// ShareProgram::water_fill; the value is then the smallest level. Jobs that no type can run are left out.
[[nodiscard]] TimeShares max_min_shares(const TypedCluster& cluster, bool agnostic, bool fill);
/// Levels s_i T_i(x) / p_i rise together until none can rise further, as fast as their weights. Each entity has a
/// weight, > 0, which its open jobs share in proportion to their own weights, or, `first_come`, which the first of them
/// has alone. When a job can't rise any more, the others of its entity have its part. The value is the smallest level.
[[nodiscard]] TimeShares hierarchical_shares(const TypedCluster& cluster, Entities entities,
                                             const std::function<double(std::int32_t entity)>& weight, bool first_come);
/// How fast the levels rise there; it refers to `cluster`. Levels are levels of jobs of equal weights, as the levels of
/// with_equal_weights().
[[nodiscard]] ShareProgram::Weigh entity_weights(const TypedCluster& cluster, Entities entities,
                                                 std::function<double(std::int32_t entity)> weight, bool first_come);
[[nodiscard]] TypedCluster with_equal_weights(TypedCluster cluster);
/// The level of each job under these shares.
[[nodiscard]] std::vector<double> levels_of(const TypedCluster& cluster, const TimeShares& shares, bool agnostic);

/// The value is the smallest time after which all jobs can be done. Every job has work left.
[[nodiscard]] TimeShares makespan_shares(const TypedCluster& cluster);

/// The value is the smallest max_i (age_i + left_i / T_i(x)) / (isolated_i + left_i / I_i), with I_i the equal share.
/// Every job has work left.
[[nodiscard]] TimeShares finish_time_fair_shares(const TypedCluster& cluster);

/// The value is the largest sum of T_i(x) / price. Jobs with a deadline get at least left / time_left, all or, where
/// that is not possible, none.
[[nodiscard]] TimeShares least_cost_shares(const TypedCluster& cluster);

/// Equal parts of the cluster on types that can run the job: x_ij = C_j / (m s_i), or, unless `of_gpus`, C_j / m, which
/// is the stand-in of Shockwave's released code for Gandiva_fair (Chaudhary et al., EuroSys 2020) and gives gangs more
/// than there is. Scaled down as the shares of equal_share_rates().
[[nodiscard]] TimeShares equal_shares(const TypedCluster& cluster, bool of_gpus);

/// Jobs trade GPU time of these shares (Chaudhary et al., EuroSys 2020, section 3.4). For each two types the job that
/// is most times as fast on the faster one buys time there from the job that is least, and pays with time on the
/// slower: so much as the next buyer would pay, but no less than the seller would lose. No job does less work than
/// before, and no type is used more or less. Goes on until no two jobs gain; a job buys no more once the hosts of the
/// types have no room for it in the place of the seller.
void trade(const TypedCluster& cluster, TimeShares& shares);

}  // namespace contend
