#pragma once
// Where servers have several workers, a method may exchange on two levels: inside each server, and among one worker of
// each server. The functions below say which workers take part in an exchange and wrap it into the two levels.

#include "models/overlap/compression_method.hpp"
#include "models/overlap/problem.hpp"
#include "policies/registry.hpp"

#include <vector>

namespace contend {

struct Levels {
  int servers = 1;
  int per_server = 2;
};
/// Returns the numbers of servers and of workers in each. Throws InputError if every worker has a server of its own.
[[nodiscard]] Levels levels_of(const OverlapProblem& problem);

/// The workers that take part in an exchange.
struct Circle {
  int workers = 1;
  CollectiveScope scope = CollectiveScope::all;
};
/// The parameter `hierarchical` of circle_of().
inline constexpr ParameterInfo kInServers{"hierarchical", false, 0, 0,
                                          "full precision inside each server; one of its workers exchanges for all"};
/// Returns one worker of each server if `hierarchical`, and all workers otherwise. If `hierarchical`, throws InputError
/// as levels_of() does.
[[nodiscard]] Circle circle_of(const OverlapProblem& problem, bool hierarchical);

/// Returns the stages of an exchange through leaders (Gan et al., BAGUA, VLDB 2022, section 4.3): the sum of `size`
/// bytes over each server on its leader, the stages among leaders, and the broadcast of the result inside each server.
/// A kernel of the leader counts for all workers of its server, because they wait for it.
[[nodiscard]] std::vector<ExchangeStage> through_leaders(Bytes size, const std::vector<ExchangeStage>& among_leaders);

}  // namespace contend
