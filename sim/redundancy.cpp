#include "sim/redundancy.hpp"

#include "sim/sharing.hpp"

#include <algorithm>
#include <vector>

namespace contend {

int RedundancyRule::most_of_a_stage(std::span<const int> out, int gpus) const {
  std::vector<int> of_stage(static_cast<std::size_t>(stages));
  for (const int rank : out) ++of_stage[static_cast<std::size_t>(rank / (gpus / stages))];
  return *std::max_element(of_stage.begin(), of_stage.end());
}

bool RedundancyRule::covers(std::span<const int> out, int gpus) const {
  if (out.empty()) return true;
  if (!any() || std::ssize(out) > tolerates.value_or(gpus)) return false;
  const int replicas = gpus / stages;
  if (cover == Cover::replicas) return most_of_a_stage(out, gpus) < replicas;
  return std::none_of(out.begin(), out.end(),
                      [&](int rank) { return std::binary_search(out.begin(), out.end(), (rank + replicas) % gpus); });
}

std::int64_t RedundancyRule::speed(std::span<const int> out, int gpus) const {
  constexpr std::int64_t kNormalCost = 1'000;
  std::int64_t left = 1, of = 1;  // of the speed
  if (!out.empty() && cover == Cover::neighbours) {
    of = 2;  // the slowest rank of a pipeline has twice the work
  } else if (!out.empty() && spreads_over_job) {
    left = gpus - std::ssize(out);
    of = gpus;
  } else if (!out.empty()) {
    of = gpus / stages;
    left = of - most_of_a_stage(out, gpus);
  }
  return std::max(kSlowestSpeed, kFullSpeed * kNormalCost * left / (of * step_cost));
}

}  // namespace contend
