#pragma once
// The order in which a ring visits sites whose links differ.

#include "network/link_matrix.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace contend {

/// What the ring is for. A ring all-reduce is as slow as its slowest link, so `widest` has the fastest one.
enum class RingOrder : std::uint8_t {
  table,     ///< the order of the matrix
  shortest,  ///< the least sum of 1 / rate, the travelling salesman's tour of PCCL (PrimeIntellect-ai/pccl)
  widest,    ///< the largest least rate, and of the rings with it the least sum of 1 / rate
};

/// Up to so many sites the order is the best of all; beyond, insertions and moves of single sites improve an order
/// until none does, and `widest` is shortest among the links that such orders can do with.
inline constexpr std::size_t kExactRing = 13;

/// The sites in the order of the ring, from site 0 on, with the link from the last one to site 0. Where no such ring
/// is found, because links are missing, the order is the order of the matrix (up to kExactRing sites: where none
/// exists).
[[nodiscard]] std::vector<std::size_t> ring_order(const LinkMatrix& links, RingOrder order);

}  // namespace contend
