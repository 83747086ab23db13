// Defines the algorithms in which ranks exchange data directly: parameter server, all-to-all and swap.

#include "network/collectives/rows.hpp"

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

double parameter_server_seconds(CollectiveKind, const CollectiveShape& shape, double bytes,
                                const CollectiveCosts& costs) {
  const auto [alpha, beta] = costs.flat;
  const double at_server = bytes / servers_of(shape) * (shape.ranks - 1);
  return 2 * alpha + at_server * (2 * beta + costs.gamma);
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

double pairwise_seconds(CollectiveKind, const CollectiveShape& shape, double bytes, const CollectiveCosts& costs) {
  const auto [alpha, beta] = costs.flat;
  return (shape.ranks - 1) * (alpha + bytes / shape.ranks * beta);
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

double hierarchical_all_to_all_seconds(CollectiveKind, const CollectiveShape& shape, double bytes,
                                       const CollectiveCosts& costs) {
  const auto [inner_alpha, inner_beta] = costs.on_level(0);
  const auto [outer_alpha, outer_beta] = costs.on_level(1);
  const double inner = shape.groups[0];
  const double outer = shape.groups[1];
  return (inner - 1) * (inner_alpha + bytes / inner * inner_beta) +
         (outer - 1) * (outer_alpha + bytes / outer * outer_beta);
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

double swap_seconds(CollectiveKind, const CollectiveShape&, double bytes, const CollectiveCosts& costs) {
  return costs.flat.alpha + bytes * costs.flat.beta;
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
          parameter_server_seconds,
          nullptr};
}

CollectiveAlgorithm pairwise_row() {
  return {"pairwise",
          "in step k every rank sends its block to the rank k further",
          "(n-1) (a + V/n b)",
          "Thakur, Rabenseifner and Gropp, IJHPCA 19 (2005), section 4.3",
          kAllToAll,
          never_refused,
          expand_pairwise,
          pairwise_seconds,
          nullptr};
}

CollectiveAlgorithm hierarchical_all_to_all_row() {
  return {"hierarchical-all-to-all",
          "blocks are collected inside the group by the index of their receiver, then equal indices exchange",
          "(g_1-1) (a_1 + V/g_1 b_1) + (g_2-1) (a_2 + V/g_2 b_2)",
          "Hwang et al., Tutel, MLSys 2023, section 4.3",
          kAllToAll,
          wrong_two_levels,
          expand_hierarchical_all_to_all,
          hierarchical_all_to_all_seconds,
          nullptr};
}

CollectiveAlgorithm swap_row() {
  return {"swap",      "rank i and the rank n/2 further send each other all they have; an odd rank is left out",
          "a + V b",   "Lian et al., ICML 2018, section 3; Gan et al., BAGUA, VLDB 2022, for pairs of two halves",
          kExchange,   never_refused,
          expand_swap, swap_seconds,
          nullptr};
}

}  // namespace contend
