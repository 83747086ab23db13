#pragma once
// How Volcano and KAI divide GPUs among queues with the same parent.

#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// What a queue may claim. Amounts are in GPUs.
struct QueueClaim {
  double weight = 1;    ///< > 0
  double quota = 0;     ///< KAI: deserved quota; Volcano: guarantee
  double limit = 1e12;  ///< the most that it may have (KAI: limit; Volcano: capability)
  double request = 0;   ///< what its jobs hold and wait for
  std::int32_t priority = 1;
  double usage = 0;  ///< KAI: its part of the cluster's time so far, in [0, 1]
};

/// Fair shares of KAI v0.17 (resource_division.go). Each queue has its quota, as far as it needs it. The rest goes to
/// the queues of the largest priority first, in rounds, in proportion to max(0, n + k (n - usage)), where n is the
/// weight over the sum of weights of the queues that want more: what a queue needs, or else whole GPUs; last, single
/// GPUs by largest remainder, in the order of the queues at a tie.
[[nodiscard]] std::vector<double> kai_fair_shares(double total, std::span<const QueueClaim> claims, double k_value);

/// Deserved GPUs by Volcano v1.15 (plugins/proportion): in each round the rest is divided by weight among the queues
/// that want more, within what a queue can have (its limit, and the total without the guarantees of others), its
/// request, and at least its guarantee. Guarantees can push the sum over the total.
[[nodiscard]] std::vector<double> volcano_deserved(double total, std::span<const QueueClaim> claims);

}  // namespace contend
