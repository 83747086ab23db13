#include "sim/late_ranks.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace contend {

bool LateHistory::leave_behind(const LatePattern& pattern, std::int64_t number, std::vector<std::uint32_t> ranks) {
  if (ranks.empty()) return true;
  std::vector<std::uint32_t> seen = ranks;
  for (const Iteration& past : past_) {
    if (past.number <= number - pattern.window) continue;
    seen.insert(seen.end(), past.ranks.begin(), past.ranks.end());
    std::vector<std::uint32_t> again;
    std::set_intersection(ranks.begin(), ranks.end(), past.ranks.begin(), past.ranks.end(), std::back_inserter(again));
    if (number - past.number >= pattern.burst && !again.empty()) return false;
  }
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  if (std::ssize(seen) > pattern.most) return false;
  std::erase_if(past_, [&](const Iteration& past) { return past.number <= number - pattern.window; });
  past_.push_back({number, std::move(ranks)});
  return true;
}

void LateHistory::forget_from(std::int64_t number) {
  std::erase_if(past_, [&](const Iteration& past) { return past.number >= number; });
}

void LateHistory::shift(std::int64_t iterations) {
  for (Iteration& past : past_) past.number += iterations;
}

}  // namespace contend
