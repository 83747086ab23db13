// Slurm's topology/block (src/plugins/topology/block/eval_nodes_block.c, 26.05). The lowest level has the base
// blocks. A job goes into one domain of the lowest level of which a domain has as many servers as the job needs: the
// one with the fewest available servers that suffice. There it gets base blocks, one that suffices before others, in no
// more domains of the next lower level than it needs at least. Of alike domains the last comes first. Slurm's levels
// hold powers of two of base blocks; here they hold what `cluster.levels` says.

#include "policies/placement/tree_placement.hpp"
#include "policies/registry.hpp"

#include <algorithm>
#include <functional>
#include <optional>

namespace contend {

namespace {

class Blocks {
 public:
  explicit Blocks(const TreeProblem& problem) : problem_{problem}, levels_{problem.levels}, left_{problem.tasks} {
    const std::size_t top = levels_.all.size();
    first_server_.assign(levels_.domains(0), 0);
    for (std::size_t s = problem.rooms.size(); s-- > 0;) first_server_[levels_.domain_of(0, s)] = s;
    for (std::size_t level = 0; level <= top; ++level) {
      available_.emplace_back(levels_.domains(level), 0);
      std::vector<std::size_t> servers(levels_.domains(level));
      std::vector<std::size_t> bases(servers.size());
      for (const std::size_t first : first_server_) ++bases[levels_.domain_of(level, first)];
      for (std::size_t s = 0; s < problem.rooms.size(); ++s) {
        const std::uint32_t domain = levels_.domain_of(level, s);
        ++servers[domain];
        available_[level][domain] += std::min(problem.rooms[s], 1);
      }
      size_.push_back(*std::ranges::max_element(servers));
      bases_.push_back(*std::ranges::max_element(bases));
    }
    is_used_.assign(first_server_.size(), false);
    while (level_ < top && size_[level_] < tasks()) ++level_;
    if (level_ == 0) return;
    most_lower_ = (tasks() + size_[level_ - 1] - 1) / size_[level_ - 1];
    looks_at_lower_ = bases_[level_] != bases_[level_ - 1] * most_lower_;
  }

  TaskSpots spots() {
    TaskSpots spots;
    const std::optional<std::uint32_t> block = best_block();
    if (!block) return spots;
    while (left_ > 0) {
      const std::optional<Choice> best = best_base(*block);
      if (!best || (most_lower_ == 0 && !best->is_same)) return {};
      is_used_[best->base] = true;
      if (!best->is_same) --most_lower_;
      for (std::uint32_t s = problem_.range.first; s < problem_.range.last && left_ > 0; ++s) {
        if (problem_.rooms[s] == 0 || levels_.domain_of(0, s) != best->base) continue;
        spots.emplace_back(ServerId{s}, 1);
        --left_;
      }
    }
    std::ranges::sort(spots);
    return spots;
  }

 private:
  struct Choice {
    std::uint32_t base = 0;
    bool fits = false, is_same = true;  // its lower domain is used already, or doesn't matter
  };

  [[nodiscard]] std::size_t tasks() const { return static_cast<std::size_t>(problem_.tasks); }
  [[nodiscard]] std::uint32_t above(std::uint32_t base, std::size_t level) const {
    return levels_.domain_of(level, first_server_[base]);
  }

  [[nodiscard]] std::optional<std::uint32_t> best_block() const {
    std::vector<std::vector<int>> lower(available_[level_].size());
    const std::size_t below = level_ == 0 ? 0 : level_ - 1;
    std::vector<bool> is_seen(available_[below].size());
    for (std::uint32_t base = 0; base < first_server_.size(); ++base) {
      const std::uint32_t at = above(base, below);
      if (is_seen[at]) continue;
      is_seen[at] = true;
      lower[above(base, level_)].push_back(available_[below][at]);
    }
    std::optional<std::uint32_t> best;
    for (std::uint32_t block = 0; block < lower.size(); ++block) {
      std::ranges::sort(lower[block], std::greater<>{});
      std::size_t most = 0;
      const std::size_t parts = level_ == 0 ? 1 : most_lower_;
      for (std::size_t i = 0; i < std::min(parts, lower[block].size()); ++i)
        most += static_cast<std::size_t>(lower[block][i]);
      if (most < tasks()) continue;
      if (!best || available_[level_][block] <= available_[level_][*best]) best = block;
    }
    return best;
  }

  /// _choose_best_bblock(), over all base blocks of the block.
  [[nodiscard]] std::optional<Choice> best_base(std::uint32_t block) const {
    std::optional<Choice> best;
    for (std::uint32_t base = 0; base < first_server_.size(); ++base) {
      const int here = available_[0][base];
      if (above(base, level_) != block || is_used_[base] || here == 0) continue;
      Choice next{base, here >= left_, true};
      if (looks_at_lower_ && (!best || above(base, level_ - 1) != above(best->base, level_ - 1))) {
        next.is_same = uses_lower(above(base, level_ - 1));
        const int order = best ? compare_lower(next, *best) : 1;
        if (order > 0) best = next;
        if (order != 0) continue;
      }
      if (best) next.is_same = best->is_same;
      const int best_has = best ? available_[0][best->base] : 0;
      const bool is_better = !best || (next.fits && !best->fits) || (next.fits && here <= best_has) ||
                             (!next.fits && !best->fits && here >= best_has);
      if (is_better) best = next;
    }
    return best;
  }

  [[nodiscard]] bool uses_lower(std::uint32_t lower) const {
    for (std::uint32_t base = 0; base < is_used_.size(); ++base)
      if (is_used_[base] && above(base, level_ - 1) == lower) return true;
    return false;
  }

  /// > 0: the lower domain of `a` is better.
  [[nodiscard]] int compare_lower(const Choice& a, const Choice& b) const {
    if (a.is_same != b.is_same) return a.is_same ? 1 : -1;
    const int has_a = available_[level_ - 1][above(a.base, level_ - 1)];
    const int has_b = available_[level_ - 1][above(b.base, level_ - 1)];
    const bool fits_a = has_a >= left_, fits_b = has_b >= left_;
    if (fits_a != fits_b) return fits_a ? 1 : -1;
    const int fewer = (has_b > has_a) - (has_b < has_a);
    return fits_a ? fewer : -fewer;
  }

  const TreeProblem& problem_;
  const LevelTree& levels_;
  int left_;                                 // servers that are still needed
  std::vector<std::vector<int>> available_;  // servers, by level and domain; the last level is the cluster
  std::vector<std::size_t> size_, bases_;    // servers and base blocks of the largest domain, by level
  std::vector<std::size_t> first_server_;    // by base block
  std::vector<bool> is_used_;                // by base block
  std::size_t level_ = 0;                    // of the block that the job goes into
  std::size_t most_lower_ = 0;               // domains of the next lower level that it may still begin
  bool looks_at_lower_ = false;
};

TaskSpots block_rule(const TreeProblem& problem) {
  return Blocks{problem}.spots();
}

std::unique_ptr<PlacementPolicy> make_slurm_block(const Parameters&, const PolicyContext& context) {
  return make_tree_placement(block_rule, {.one_task = true, .last = true, .segment_by_segment = true}, 0,
                             context.levels);
}

}  // namespace

PolicyRow<PlacementPolicy> slurm_block_placement() {
  return {.name = "slurm-block",
          .summary = "Slurm's topology/block: the smallest block that suffices, with the fewest available servers",
          .source = "Slurm 26.05, src/plugins/topology/block/eval_nodes_block.c",
          .make = make_slurm_block};
}

}  // namespace contend
