#include "policies/scheduling/auction.hpp"

#include "policies/scheduling/configurations.hpp"
#include "sim/portable_math.hpp"

#include <algorithm>
#include <cmath>

namespace contend {

namespace {

constexpr double kLogUnits = 1e6;  // of logarithms, as whole costs

std::int64_t cost_of(double rho) {
  return std::llround(kLogUnits * portable_log(rho));
}

/// The bids with the largest product of values, without one of the bidders; Sale::kNothing for that one.
std::vector<std::int32_t> best_bids(std::span<const int> capacity, std::span<const Bidder> bidders, double gap,
                                    std::size_t without) {
  ConfigurationProgram program{{capacity.begin(), capacity.end()}};
  for (std::size_t i = 0; i < bidders.size(); ++i) {
    if (i == without) continue;
    std::vector<Configuration> offered;
    for (const Bid& bid : bidders[i].bids) offered.push_back({bid.type, bid.gpus, cost_of(bid.rho)});
    program.add(offered, cost_of(bidders[i].rho_without));
  }
  std::vector<std::int32_t> best = program.solve(gap).of_job;
  if (without < bidders.size())
    best.insert(best.begin() + static_cast<std::ptrdiff_t>(without), ConfigurationChoice::kNone);
  return best;
}

/// The logarithm of the product of values of all bidders but one.
double worth(std::span<const Bidder> bidders, std::span<const std::int32_t> won, std::size_t without) {
  double sum = 0;
  for (std::size_t i = 0; i < bidders.size(); ++i) {
    if (i == without) continue;
    const Bidder& bidder = bidders[i];
    sum -=
        portable_log(won[i] == Sale::kNothing ? bidder.rho_without : bidder.bids[static_cast<std::size_t>(won[i])].rho);
  }
  return sum;
}

/// True if every bidder has its best bid, so that none is in the way of another.
bool have_best(std::span<const Bidder> bidders, std::span<const std::int32_t> won) {
  for (std::size_t i = 0; i < bidders.size(); ++i) {
    const auto best = std::ranges::min_element(bidders[i].bids, {}, &Bid::rho);
    if (best == bidders[i].bids.end()) continue;
    if (won[i] == Sale::kNothing || bidders[i].bids[static_cast<std::size_t>(won[i])].rho > best->rho) return false;
  }
  return true;
}

}  // namespace

std::vector<Sale> partial_allocation(std::span<const int> capacity, std::span<const Bidder> bidders, double gap,
                                     bool payments) {
  const std::vector<std::int32_t> won = best_bids(capacity, bidders, gap, bidders.size());
  const bool pays = payments && !have_best(bidders, won);
  std::vector<Sale> sales;
  for (std::size_t i = 0; i < bidders.size(); ++i) {
    Sale& sale = sales.emplace_back(Sale{won[i], 1});
    if (!pays || sale.bid == Sale::kNothing) continue;
    const std::vector<std::int32_t> others = best_bids(capacity, bidders, gap, i);
    sale.kept = std::min(1.0, portable_exp(worth(bidders, won, i) - worth(bidders, others, i)));
  }
  return sales;
}

}  // namespace contend
