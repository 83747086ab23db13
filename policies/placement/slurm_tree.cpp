// Slurm's topology/tree (src/plugins/topology/tree/eval_nodes_tree.c, _eval_nodes_topo, 26.05): the leaves of a job are
// chosen one after the other. Of leaves that are as far from the chosen leaves, the leaf with the fewest available
// servers that suffice comes first; if none suffices, the switches above them are compared, and at last the one with
// the most available servers comes first. Only available servers count, not the GPUs in use on them.

#include "policies/placement/tree_placement.hpp"
#include "policies/registry.hpp"

#include <algorithm>

namespace contend {

namespace {

class Switches {
 public:
  explicit Switches(const TreeProblem& problem) : levels_{problem.levels}, top_{levels_.all.size()} {
    for (std::size_t level = 0; level <= top_; ++level) available_.emplace_back(levels_.domains(level), 0);
    first_server_.assign(levels_.domains(0), 0);
    distance_.assign(levels_.domains(0), 0);
    for (std::size_t s = problem.rooms.size(); s-- > 0;) {
      first_server_[levels_.domain_of(0, s)] = s;
      if (problem.rooms[s] == 0) continue;
      for (std::size_t level = 0; level <= top_; ++level) ++available_[level][levels_.domain_of(level, s)];
    }
  }

  /// The leaf that comes next, for so many servers; the number of leaves if none has any.
  [[nodiscard]] std::size_t best(int servers) const {
    std::size_t best = available_[0].size();
    for (std::size_t leaf = 0; leaf < available_[0].size(); ++leaf) {
      if (available_[0][leaf] == 0) continue;
      if (best == available_[0].size()) {
        best = leaf;
        continue;
      }
      const auto [order, fits] = compare(leaf, best, servers);
      const bool is_near = distance_[leaf] < distance_[best];
      if ((is_near && fits) || (distance_[leaf] == distance_[best] && order > 0)) best = leaf;
    }
    return best;
  }

  /// All servers of the leaf are used.
  void use(std::size_t leaf) {
    const int servers = available_[0][leaf];
    for (std::size_t level = 0; level <= top_; ++level) available_[level][above(leaf, level)] -= servers;
    for (std::size_t other = 0; other < distance_.size(); ++other)
      for (std::size_t level = 0; level <= top_ && above(leaf, level) != above(other, level); ++level)
        ++distance_[other];
  }

 private:
  struct Comparison {
    int order = 0;      // > 0: the first is better
    bool fits = false;  // the first, or the switch above it that was compared last, has enough
  };

  [[nodiscard]] std::uint32_t above(std::size_t leaf, std::size_t level) const {
    return levels_.domain_of(level, first_server_[leaf]);
  }

  /// _topo_compare_switches().
  [[nodiscard]] Comparison compare(std::size_t a, std::size_t b, int servers) const {
    for (std::size_t level = 0;; ++level) {
      const int has_a = available_[level][above(a, level)], has_b = available_[level][above(b, level)];
      const bool fits_a = has_a >= servers, fits_b = has_b >= servers;
      if (fits_a != fits_b) return {fits_a ? 1 : -1, fits_a};
      if (fits_a && has_a != has_b) return {has_a < has_b ? 1 : -1, true};
      if (!fits_a && level < top_ && above(a, level + 1) != above(b, level + 1)) continue;
      return {fits_a ? 0 : (has_a > has_b) - (has_a < has_b), fits_a};
    }
  }

  const LevelTree& levels_;
  std::size_t top_;
  std::vector<std::vector<int>> available_;  // by level and domain; the last level is the cluster
  std::vector<std::size_t> first_server_;    // by leaf
  std::vector<int> distance_;                // by leaf, from all leaves that are used
};

TaskSpots tree_rule(const TreeProblem& problem) {
  Switches switches{problem};
  TaskSpots spots;
  int left = problem.tasks;
  while (left > 0) {
    const std::size_t leaf = switches.best(left);
    if (leaf == problem.levels.domains(0)) return {};  // fewer servers than tasks: each has one
    for (std::uint32_t s = problem.range.first; s < problem.range.last && left > 0; ++s) {
      if (problem.rooms[s] == 0 || problem.levels.domain_of(0, s) != leaf) continue;
      spots.emplace_back(ServerId{s}, 1);
      --left;
    }
    switches.use(leaf);
  }
  std::ranges::sort(spots);
  return spots;
}

std::unique_ptr<PlacementPolicy> make_slurm_tree(const Parameters&, const PolicyContext& context) {
  return make_tree_placement(tree_rule, {.one_task = true}, 0, context.levels);
}

}  // namespace

PolicyRow<PlacementPolicy> slurm_tree_placement() {
  return {.name = "slurm-tree",
          .summary = "Slurm's topology/tree: leaves with the fewest available servers that suffice, else with the most",
          .source = "Slurm 26.05, src/plugins/topology/tree/eval_nodes_tree.c",
          .make = make_slurm_tree};
}

}  // namespace contend
