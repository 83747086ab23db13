#pragma once
// The multiple-choice knapsack problem: of each group of items exactly one is taken, so that the weights are no more
// than the room and the sum of the values is largest. Source: dynamic programming over the room, Kellerer, Pferschy and
// Pisinger, "Knapsack Problems" (2004), section 11.5.

#include <cstddef>
#include <span>
#include <vector>

namespace contend {

struct KnapsackItem {
  int weight = 0;    ///< >= 0
  double value = 0;  ///< finite
};

/// The item taken of each group; each group has one of weight 0. Of choices whose values are equal but for rounding
/// choices of earlier items in their group are taken, the last group first. O(items x room), where weights and room are
/// counted in the greatest common divisor of the weights.
[[nodiscard]] std::vector<std::size_t> best_knapsack(std::span<const std::vector<KnapsackItem>> groups, int room);

}  // namespace contend
