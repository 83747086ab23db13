#include "policies/scheduling/knapsack.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

namespace contend {

namespace {

constexpr double kKnapsackRounding = 1e-12;  // of the sum of all values

}  // namespace

std::vector<std::size_t> best_knapsack(std::span<const std::vector<KnapsackItem>> groups, int room) {
  int unit = 0;
  std::int64_t most = 0;  // that all groups together can weigh
  double sum = 0;
  for (const std::vector<KnapsackItem>& group : groups) {
    CONTEND_CHECK(group.size() <= UINT16_MAX && std::ranges::any_of(group, [](auto& item) { return item.weight == 0; }),
                  "each group has an item of weight 0");
    int heaviest = 0;
    double largest = 0;
    for (const KnapsackItem& item : group) {
      unit = std::gcd(unit, item.weight);
      heaviest = std::max(heaviest, item.weight);
      largest = std::max(largest, std::abs(item.value));
    }
    most += heaviest;
    sum += largest;
  }
  if (unit == 0) unit = 1;
  const auto cells = static_cast<std::size_t>(std::min<std::int64_t>(std::max(0, room), most) / unit) + 1;
  const double equal = sum * kKnapsackRounding;
  std::vector<double> best(cells, 0), next(cells);          // by room used at most
  std::vector<std::uint16_t> taken(groups.size() * cells);  // [group x cells + room]
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::ranges::fill(next, -std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < groups[g].size(); ++i) {
      const auto weight = static_cast<std::size_t>(groups[g][i].weight / unit);
      for (std::size_t w = weight; w < cells; ++w) {
        const double value = best[w - weight] + groups[g][i].value;
        if (value <= next[w] + equal) continue;
        next[w] = value;
        taken[g * cells + w] = static_cast<std::uint16_t>(i);
      }
    }
    std::swap(best, next);
  }
  std::vector<std::size_t> chosen(groups.size());
  for (std::size_t g = groups.size(), w = cells - 1; g-- > 0;) {
    chosen[g] = taken[g * cells + w];
    w -= static_cast<std::size_t>(groups[g][chosen[g]].weight / unit);
  }
  return chosen;
}

}  // namespace contend
