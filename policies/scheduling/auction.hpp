#pragma once
// The partial allocation mechanism sells GPUs so that it pays to tell the truth (Mahajan et al., "Themis", NSDI 2020,
// section 4; Cole, Gkatzelis, Goel, "Mechanism design for fair division", EC 2013). Each bidder says how much each
// configuration is worth to it, as a finish-time fairness rho: its value is 1 / rho.
//
//   1. The configurations with the largest product of values over all bidders win (ConfigurationProgram).
//   2. Bidder i keeps the part  prod_{j != i} V_j / prod_{j != i} V_j'  of the GPUs that it won, with V the values of
//   these
//      configurations and V' the values of the best ones if i were not there. The rest is its hidden payment.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// What a bidder would have with so many GPUs, > 0, of a type.
struct Bid {
  std::size_t type = 0;
  int gpus = 1;
  double rho = 1;  ///< > 0
};

struct Bidder {
  std::vector<Bid> bids;
  double rho_without = 1;  ///< if it gets nothing, > 0
};

struct Sale {
  static constexpr std::int32_t kNothing = -1;
  std::int32_t bid = kNothing;  ///< index of the bid that won
  double kept = 1;              ///< part of it that the bidder keeps, 0..1
};

/// `capacity`: GPUs of each type. `gap`: the product is the largest to within this part of its logarithm. Without
/// `payments` every bidder keeps all that it won. A sale for each bidder, in their order.
[[nodiscard]] std::vector<Sale> partial_allocation(std::span<const int> capacity, std::span<const Bidder> bidders,
                                                   double gap, bool payments);

}  // namespace contend
