#pragma once
// Bisection bandwidth is the rate at which one half of the servers can send to the other half.

#include "network/topology.hpp"

#include <cstddef>

namespace contend {

/// The bisection bandwidth of a topology and the effort to find it.
struct Bisection {
  ByteRate bandwidth;        ///< of the weaker direction; 0 with a single server
  std::size_t halvings = 0;  ///< number of halvings that were tried
};

/// The smallest maximum flow from one half of the servers to the other, over these halvings: for every even divisor p
/// of the number of servers n, those with (id mod p) < p/2 against the rest; if n is odd, the first (n-1)/2 servers
/// against the others. Links inside servers count as unlimited. The true bisection is the smallest over all halvings,
/// which can't be computed for large graphs. This value is an upper bound. It is exact for regular fabrics whose
/// numbering follows their structure, because the halvings contain the cut across each even dimension of a torus and
/// between the pods or leaves of a Clos network. Bandwidths are rounded to whole bytes per second.
[[nodiscard]] Bisection bisection(const Topology& topology);

}  // namespace contend
