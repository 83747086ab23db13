#pragma once
// Laws of how fast jobs are that share a GPU (sim/sharing.hpp).
//
//   constant_sharing     a job beside n - 1 others takes 1 + (factor - 1)(n - 1) times as long. With factor 2 they
//   divide
//                        the GPU, and with 1 none is slowed down
//   pair_sharing         by measured pairs (Narayanan et al., "Gavel", OSDI 2020, section 3.1: space sharing)
//   interleaved_sharing  the jobs run an iteration each in turns of stages, so that one reads while another computes
//                        (Zhao et al., "Muri", SIGCOMM 2022, section 4.2)

#include "sim/sharing.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

namespace contend {

/// Jobs in an interleaved group: as many as there are stages.
inline constexpr int kMostInterleaved = 4;

/// The time of an iteration of a group of at most kMostInterleaved jobs, in which each does one of its own: the least
/// over all orders of the jobs of
///
///     sum over i of max over q of t_q[(i - q) mod 4]
///
/// with t_q the stages of the q-th job in the order. Muri's released code, as the paper: all jobs begin their next
/// stage together.
[[nodiscard]] double interleaved_iteration(std::span<const StageTimes> jobs);

/// `factor` >= 1. `stages`: of each job, all 0 where they are not known; policies may ask for them.
[[nodiscard]] std::shared_ptr<const SharingLaw> constant_sharing(double factor, std::vector<StageTimes> stages);

/// Speeds of pairs, 0 to 1 of the speed alone: of the first kind beside the second, by the type of servers; -1: on any.
/// 0, and pairs that are not there, can't share.
using PairSpeeds = std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, double>;
/// `kinds`: of each job; -1: it has no pairs. Only two jobs share a GPU.
[[nodiscard]] std::shared_ptr<const SharingLaw> pair_sharing(PairSpeeds speeds, std::vector<std::int32_t> kinds,
                                                             std::vector<StageTimes> stages);

/// A job whose stages are not known shares with none.
[[nodiscard]] std::shared_ptr<const SharingLaw> interleaved_sharing(std::vector<StageTimes> stages);

}  // namespace contend
