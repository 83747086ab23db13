#include "models/parallel/gradient_buckets.hpp"

#include <algorithm>

namespace contend {

bool moves_activations(const TrainingIteration& job, std::size_t stage) {
  return std::ranges::any_of(job.units[stage], [](const ModelUnit& unit) { return unit.offloaded > Bytes{}; });
}

GradientBucket GradientBucket::weights(int element_bytes) const {
  const auto elements = [&](Bytes bytes) { return (bytes.count() + element_bytes - 1) / element_bytes; };
  GradientBucket all = *this;
  all.dense += elements(frozen_dense);
  all.expert += elements(frozen_experts);
  return all;
}

std::vector<GradientBucket> gradient_buckets(const TrainingIteration& job, std::size_t stage) {
  const bool unit_by_unit = job.sharding >= Sharding::weights || moves_activations(job, stage) || !job.planned.empty();
  std::vector<GradientBucket> buckets;
  for (std::size_t u = job.units[stage].size(); u-- > 0;) {
    const ModelUnit& unit = job.units[stage][u];
    const bool is_full =
        !buckets.empty() && (unit_by_unit || buckets.back().dense + buckets.back().expert >= job.bucket);
    if (buckets.empty() || is_full) buckets.push_back({.first = u, .last = u});
    buckets.back().first = u;
    buckets.back().dense += unit.dense_elements;
    buckets.back().expert += unit.expert_elements;
    buckets.back().dense_tensors += unit.dense_tensors;
    buckets.back().expert_tensors += unit.expert_tensors;
    buckets.back().frozen_dense += unit.frozen_dense;
    buckets.back().frozen_experts += unit.frozen_experts;
  }
  std::reverse(buckets.begin(), buckets.end());
  return buckets;
}

}  // namespace contend
