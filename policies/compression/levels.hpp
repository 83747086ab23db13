#pragma once
// Who takes part in a method's own exchange where servers have several workers: everybody, or one of each server for
// the others.

#include "models/overlap/compression_method.hpp"
#include "models/overlap/problem.hpp"
#include "policies/registry.hpp"

#include <vector>

namespace contend {

struct Levels {
  int servers = 1;
  int per_server = 2;
};
/// Throws InputError where each worker has a server of its own.
[[nodiscard]] Levels levels_of(const OverlapProblem& problem);

/// Workers that exchange among each other.
struct Circle {
  int workers = 1;
  CollectiveScope scope = CollectiveScope::all;
};
/// The parameter `hierarchical` of circle_of().
inline constexpr ParameterInfo kInServers{"hierarchical", false, 0, 0,
                                          "full precision inside each server, and one of its workers for all of them"};
/// One worker of each server if `hierarchical`, then as levels_of(); else all.
[[nodiscard]] Circle circle_of(const OverlapProblem& problem, bool hierarchical);

/// The sum over each server on its leader, what leaders do, and the outcome back to all (Gan et al., BAGUA, VLDB 2022,
/// section 4.3); of `size` bytes. A kernel of the leader counts for all, because they wait for it.
[[nodiscard]] std::vector<ExchangeStage> through_leaders(Bytes size, const std::vector<ExchangeStage>& among_leaders);

}  // namespace contend
