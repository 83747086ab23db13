#pragma once
// Lists every algorithm with the shapes that it accepts over n ranks, for tests of all of them.

#include "network/collectives/algorithm.hpp"

#include <string>
#include <vector>

namespace contend::test {

struct CollectiveCase {
  const CollectiveAlgorithm* algorithm = nullptr;
  CollectiveKind kind = CollectiveKind::all_reduce;
  CollectiveShape shape;

  [[nodiscard]] std::string name() const {
    std::string text = std::string{algorithm->name} + " " + std::string{name_of(kind)} +
                       " n=" + std::to_string(shape.ranks) + " m=" + std::to_string(shape.chunks) +
                       " s=" + std::to_string(shape.servers) + " groups";
    for (const int size : shape.groups) text += " " + std::to_string(size);
    return text;
  }
};

/// No groups, and n as a product of two and of three factors, larger than 1 if n allows it.
inline std::vector<std::vector<int>> group_choices(int n) {
  std::vector<std::vector<int>> choices{{}, {n}, {1, n}};
  for (int inner = 2; inner < n; ++inner) {
    if (n % inner != 0) continue;
    choices.push_back({inner, n / inner});
    for (int middle = 2; middle < n / inner; ++middle) {
      if (n / inner % middle == 0) choices.push_back({inner, middle, n / inner / middle});
    }
  }
  return choices;
}

/// All cases that are not refused; shapes without effect on an algorithm are left out.
inline std::vector<CollectiveCase> all_cases(int n) {
  std::vector<CollectiveCase> cases;
  for (const CollectiveAlgorithm& algorithm : collective_algorithms()) {
    const bool grouped = algorithm.name.find("hierarchical") == 0 || algorithm.name == "torus-2d";
    const bool serves = algorithm.name == "parameter-server";
    for (const CollectiveKind kind : algorithm.kinds) {
      CollectiveShape shape;
      shape.ranks = n;
      std::vector<CollectiveShape> shapes;
      for (const std::vector<int>& groups : group_choices(n)) {
        shape.groups = groups;
        if (grouped || groups.empty()) shapes.push_back(shape);
      }
      shape.groups.clear();
      if (algorithm.best_chunks != nullptr) {
        for (const int chunks : {2, 7}) {
          shape.chunks = chunks;
          shapes.push_back(shape);
        }
      }
      shape.chunks = 1;
      if (serves) {
        for (int servers = 1; servers <= n; servers *= 2) {
          shape.servers = servers;
          shapes.push_back(shape);
        }
      }
      for (const CollectiveShape& each : shapes) {
        if (algorithm.refusal(kind, each).empty()) cases.push_back({&algorithm, kind, each});
      }
    }
  }
  return cases;
}

/// A size that every algorithm divides over n ranks without a remainder.
inline std::int64_t divisible_bytes(const CollectiveCase& each) {
  const std::int64_t n = each.shape.ranks;
  return 128 * n * n * each.shape.chunks * (each.shape.servers == 0 ? 1 : each.shape.servers);
}

}  // namespace contend::test
