#include "sim/loans.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

namespace contend {

namespace {

constexpr double kCostRounding = 1e-9;

double cost_of_return(std::uint32_t server, const std::vector<LoanGuest>& guests, ReclaimRule rule) {
  double cost = 0;
  for (const LoanGuest& guest : guests) {
    const auto there = guest.gpus.find(server);
    if (there == guest.gpus.end()) continue;
    if (rule == ReclaimRule::fewest_jobs) cost += 1;
    if (rule == ReclaimRule::least_cost && guest.held - there->second < guest.least)
      cost += 1 / static_cast<double>(guest.servers);
  }
  return cost;
}

}  // namespace

int LoanSpec::most_lent() const {
  int most = 0;
  for (const LoanChange& each : changes) most = std::max(most, each.lent);
  return most;
}

std::vector<std::uint32_t> servers_to_return(std::vector<std::uint32_t> lent, std::vector<LoanGuest> guests, int count,
                                             ReclaimRule rule, RandomStream& stream) {
  std::sort(lent.begin(), lent.end(), std::greater<>{});
  std::vector<std::uint32_t> returned;
  while (std::ssize(returned) < count) {
    auto best = lent.begin();
    if (rule == ReclaimRule::random) {
      best += stream.uniform_integer(0, std::ssize(lent) - 1);
    } else if (rule != ReclaimRule::last) {
      double least = cost_of_return(*best, guests, rule);
      for (auto at = std::next(best); at != lent.end(); ++at) {
        const double cost = cost_of_return(*at, guests, rule);
        if (cost >= least - kCostRounding) continue;
        best = at;
        least = cost;
      }
    }
    const std::uint32_t server = *best;
    returned.push_back(server);
    lent.erase(best);
    std::erase_if(guests, [&](LoanGuest& guest) {  // a job that is preempted leaves all its servers
      const auto there = guest.gpus.find(server);
      if (there == guest.gpus.end()) return false;
      guest.held -= there->second;
      guest.gpus.erase(there);
      return guest.held < guest.least;
    });
  }
  return returned;
}

}  // namespace contend
