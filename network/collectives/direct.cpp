// Defines the algorithms in which ranks exchange data directly: parameter server, all-to-all and swap.

#include "network/collectives/rows.hpp"

#include <algorithm>
#include <cstdint>

namespace contend {

namespace {

int servers_of(const CollectiveShape& shape) {
  return shape.servers == 0 ? shape.ranks : shape.servers;
}

std::string wrong_servers(CollectiveKind, const CollectiveShape& shape) {
  if (shape.servers >= 0 && shape.servers <= shape.ranks) return {};
  return "1 to " + std::to_string(shape.ranks) + " of the ranks serve, not " + std::to_string(shape.servers);
}

void expand_parameter_server(CollectiveKind, const CollectiveShape& shape, std::int64_t bytes, StepForm,
                             CollectiveSchedule& schedule) {
  const int servers = servers_of(shape);
  for (int server = 0; server < servers; ++server) {
    const ByteRange range = part_of({0, bytes}, servers, server);
    for (int worker = 0; worker < shape.ranks; ++worker) {
      if (worker == server) continue;
      schedule.send(0, worker, server, range, true);
      schedule.send(1, server, worker, range, false);
    }
  }
}

/// On machines of several ranks, the interface of a machine carries what its ranks push to ranks that serve elsewhere,
/// in one direction, and what its serving ranks get from elsewhere, in the other.
LinkCost parameter_server_cost(CollectiveKind, const CollectiveShape& shape, const CollectiveCosts& costs) {
  const double n = shape.ranks;
  const double serving = servers_of(shape);
  const double added = (n - 1) / serving * costs.gamma;
  if (costs.levels.empty() || shape.groups.size() != 2)
    return {2 * costs.flat.alpha, 2 * (n - 1) / serving * costs.flat.beta + added};
  const double g = shape.groups[0];
  const double most = std::min(g, serving), least = std::max(0.0, serving - (n - g));  // serving on the first, the last
  const double through = std::max(most * (n - g), g * (serving - least)) / serving;
  const double inside = std::max(g - 1, std::min(g, serving)) / serving;
  return {2 * std::max(costs.of_leaders(0).alpha, costs.of_leaders(1).alpha),
          2 * std::max(through * costs.of_leaders(1).beta, inside * costs.of_leaders(0).beta) + added};
}

void expand_pairwise(CollectiveKind, const CollectiveShape& shape, std::int64_t bytes, StepForm,
                     CollectiveSchedule& schedule) {
  const int n = shape.ranks;
  for (int distance = 1; distance < n; ++distance) {
    for (int rank = 0; rank < n; ++rank) {
      const int to = (rank + distance) % n;
      schedule.send(static_cast<std::size_t>(distance - 1), rank, to, part_of({0, bytes}, n, to), false);
    }
  }
}

/// Among s servers of g ranks, min(k, g, n-k) ranks of a server send through its interface at distance k. From distance
/// 1 to g-1, and back to 1, some messages stay inside.
LinkCost pairwise_cost(CollectiveKind, const CollectiveShape& shape, const CollectiveCosts& costs) {
  const int n = shape.ranks;
  if (costs.levels.empty() || shape.groups.size() != 2 || shape.groups[0] == 1 || shape.groups[1] == 1)
    return {(n - 1) * costs.flat.alpha, costs.flat.beta * (n - 1) / n};
  const int g = shape.groups[0];
  const LinkCost inside = costs.of_leaders(0), between = costs.of_leaders(1);
  double per_block = static_cast<double>(n - 2 * g + 1) * g * between.beta;
  for (int distance = 1; distance < g; ++distance) per_block += 2 * std::max(distance * between.beta, inside.beta);
  return {std::max(inside.alpha, between.alpha) * (2 * (g - 1)) + between.alpha * (n - 2 * g + 1), per_block / n};
}

std::string wrong_two_levels(CollectiveKind, const CollectiveShape& shape) {
  if (shape.groups.size() != 2)
    return "it needs the sizes of two levels, not of " + std::to_string(shape.groups.size());
  const std::int64_t inner = shape.groups[0];
  const std::int64_t outer = shape.groups[1];
  if (inner >= 1 && outer >= 1 && inner * outer == shape.ranks) return {};
  return "the product of the group sizes is not the number of ranks, " + std::to_string(shape.ranks);
}

/// First the data for the ranks with index j of every group are collected on index j of the sender's group; then equal
/// indices exchange between groups.
void expand_hierarchical_all_to_all(CollectiveKind, const CollectiveShape& shape, std::int64_t bytes, StepForm,
                                    CollectiveSchedule& schedule) {
  const int inner = shape.groups[0];
  const int outer = shape.groups[1];
  const auto block = [&](int to) { return part_of({0, bytes}, shape.ranks, to).bytes; };
  for (int rank = 0; rank < shape.ranks; ++rank) {
    const int group = rank / inner;
    const int index = rank % inner;
    for (int distance = 1; distance < inner; ++distance) {
      const int to_index = (index + distance) % inner;
      std::int64_t collected = 0;
      for (int to_group = 0; to_group < outer; ++to_group) collected += block(to_group * inner + to_index);
      schedule.send(static_cast<std::size_t>(distance - 1), rank, group * inner + to_index, {0, collected}, false);
    }
    for (int distance = 1; distance < outer; ++distance) {
      const int to = (group + distance) % outer * inner + index;
      schedule.send(static_cast<std::size_t>(inner - 1 + distance - 1), rank, to, {0, inner * block(to)}, false);
    }
  }
}

LinkCost hierarchical_all_to_all_cost(CollectiveKind, const CollectiveShape& shape, const CollectiveCosts& costs) {
  const auto [inner_alpha, inner_beta] = costs.on_level(0);
  const auto [outer_alpha, outer_beta] = costs.on_level(1);
  const double inner = shape.groups[0];
  const double outer = shape.groups[1];
  return {(inner - 1) * inner_alpha + (outer - 1) * outer_alpha,
          (inner - 1) / inner * inner_beta + (outer - 1) / outer * outer_beta};
}

/// Rank i swaps with rank i + n/2. If n is odd, the last rank has no partner.
void expand_swap(CollectiveKind, const CollectiveShape& shape, std::int64_t bytes, StepForm,
                 CollectiveSchedule& schedule) {
  const int half = shape.ranks / 2;
  for (int rank = 0; rank < half; ++rank) {
    schedule.send(0, rank, rank + half, {0, bytes}, false);
    schedule.send(0, rank + half, rank, {0, bytes}, false);
  }
}

/// The partner of a rank is on another server, so all ranks of a server share its interface.
LinkCost swap_cost(CollectiveKind, const CollectiveShape& shape, const CollectiveCosts& costs) {
  return shape.groups.size() == 2 ? costs.on_level(1) : costs.flat;
}

constexpr CollectiveKind kAllToAll[] = {CollectiveKind::all_to_all};
constexpr CollectiveKind kExchange[] = {CollectiveKind::exchange};

}  // namespace

CollectiveAlgorithm parameter_server_row() {
  return {"parameter-server",
          "every rank pushes to s ranks that serve a part each and pulls the sums back; s = n by default",
          "2 a + 2(n-1)/s V b + (n-1)/s V g",
          "Li et al., OSDI 2014; Jiang et al., BytePS, OSDI 2020, for servers on the workers' hosts",
          kAllReduce,
          wrong_servers,
          expand_parameter_server,
          parameter_server_cost,
          OnServers::levels,
          nullptr};
}

CollectiveAlgorithm pairwise_row() {
  return {"pairwise",          "in step k every rank sends its block to the rank k further",
          "(n-1) (a + V/n b)", "Thakur, Rabenseifner and Gropp, IJHPCA 19 (2005), section 4.3",
          kAllToAll,           never_refused,
          expand_pairwise,     pairwise_cost,
          OnServers::levels,   nullptr};
}

CollectiveAlgorithm hierarchical_all_to_all_row() {
  return {"hierarchical-all-to-all",
          "blocks are collected inside the group by the index of their receiver, then equal indices exchange",
          "(g_1-1) (a_1 + V/g_1 b_1) + (g_2-1) (a_2 + V/g_2 b_2)",
          "Hwang et al., Tutel, MLSys 2023, section 4.3",
          kAllToAll,
          wrong_two_levels,
          expand_hierarchical_all_to_all,
          hierarchical_all_to_all_cost,
          OnServers::levels,
          nullptr};
}

CollectiveAlgorithm swap_row() {
  return {"swap",
          "rank i and the rank n/2 further send each other all they have; an odd rank is left out",
          "a + V b",
          "Lian et al., ICML 2018, section 3; Gan et al., BAGUA, VLDB 2022, for pairs of two halves",
          kExchange,
          never_refused,
          expand_swap,
          swap_cost,
          OnServers::levels,
          nullptr};
}

}  // namespace contend
