#include "validate/public/left_out.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace contend {
namespace {

/// The sets but that one.
Unmodelled unmodelled_without(std::span<const JudgedSet> sets, const JudgedSet* left_out) {
  std::vector<const JudgedSet*> others;
  for (const JudgedSet& each : sets)
    if (&each != left_out) others.push_back(&each);
  return unmodelled_of(others);
}

}  // namespace

std::vector<Unmodelled> unmodelled_by_others(std::span<const JudgedSet> sets) {
  std::vector<Unmodelled> made;
  for (const JudgedSet& each : sets) made.push_back(unmodelled_without(sets, &each));
  return made;
}

Unmodelled unmodelled_by_all(std::span<const JudgedSet> sets) {
  return unmodelled_without(sets, nullptr);
}

double coverage(const JudgedSet& set, const Unmodelled& unmodelled) {
  if (set.empty()) return 0;
  const auto inside = std::ranges::count_if(set, [&](const JudgedPrediction& each) {
    return interval_of(each.sigma, unmodelled).holds(std::exp(each.deviation));
  });
  return static_cast<double>(inside) / static_cast<double>(set.size());
}

TotalCoverage total_coverage(std::span<const JudgedSet> sets, std::span<const Unmodelled> by_others) {
  TotalCoverage total;
  double rows = 0, counted = 0;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (sets[i].empty()) continue;
    const double share = coverage(sets[i], by_others[i]);
    const auto size = static_cast<double>(sets[i].size());
    total.of_rows += share * size;
    total.of_sets += share;
    rows += size;
    ++counted;
  }
  if (counted > 0) total = {total.of_rows / rows, total.of_sets / counted};
  return total;
}

}  // namespace contend
