#pragma once
// How much one half of the servers can send to the other.

#include "network/topology.hpp"

#include <cstddef>

namespace contend {

struct Bisection {
  ByteRate bandwidth;        ///< one direction, the smaller one; 0 with a single server
  std::size_t halvings = 0;  ///< ways to halve the servers that were tried
};

/// The smallest maximum flow from one half of the servers to the other, over these halvings: for every even divisor p
/// of the number of servers n, those with (id mod p) < p/2 against the rest; with odd n, the first (n-1)/2 servers
/// against the others. The insides of servers are taken to be unlimited. The true bisection is the smallest over all
/// halvings, which nobody can compute for large graphs; this bounds it from above, and equals it for the regular
/// fabrics whose numbering follows their structure: the halvings contain the cut across each even dimension of a torus
/// and between the pods or leaves of a Clos network. Bandwidths count in whole bytes per second.
[[nodiscard]] Bisection bisection(const Topology& topology);

}  // namespace contend
