// Defines the tree algorithms: binomial tree and double binary tree.

#include "network/collectives/double_tree.hpp"
#include "network/collectives/rows.hpp"

#include <algorithm>

namespace contend {

namespace {

/// In step k of a reduction to rank 0, ranks whose lowest set bit is k send everything to the rank without that bit. A
/// broadcast runs the same steps backwards.
std::size_t binomial(CollectiveSchedule& schedule, std::size_t first, int ranks, ByteRange range, bool reduce) {
  const int steps = ceil_log2(ranks);
  for (int k = 0; k < steps; ++k) {
    const int bit = 1 << k;
    const std::size_t step = first + static_cast<std::size_t>(reduce ? k : steps - 1 - k);
    for (int child = bit; child < ranks; child += 2 * bit) {
      schedule.send(step, reduce ? child : child - bit, reduce ? child - bit : child, range, reduce);
    }
  }
  return first + static_cast<std::size_t>(steps);
}

void expand_binomial(CollectiveKind kind, const CollectiveShape& shape, std::int64_t bytes, StepForm,
                     CollectiveSchedule& schedule) {
  std::size_t step = 0;
  if (kind != CollectiveKind::broadcast) step = binomial(schedule, step, shape.ranks, {0, bytes}, true);
  if (kind != CollectiveKind::reduce) binomial(schedule, step, shape.ranks, {0, bytes}, false);
}

/// On servers of several ranks there is one tree among the first ranks of the servers, and one inside each. Where a
/// server holds a power of two of ranks, these are the steps of the schedule.
LinkCost binomial_cost(CollectiveKind kind, const CollectiveShape& shape, const CollectiveCosts& costs) {
  const auto tree = [](int ranks, const LinkCost& link, double gamma) {
    const int steps = ceil_log2(ranks);
    return LinkCost{steps * link.alpha, (link.beta + gamma) * steps};
  };
  const auto one_way = [&](double gamma) {
    if (costs.levels.empty() || shape.groups.size() != 2) return tree(shape.ranks, costs.flat, gamma);
    const LinkCost outer = tree(shape.groups[1], costs.of_leaders(1), gamma);
    const LinkCost inner = tree(shape.groups[0], costs.of_leaders(0), gamma);
    return LinkCost{outer.alpha + inner.alpha, outer.beta + inner.beta};
  };
  if (kind == CollectiveKind::broadcast) return one_way(0);
  const LinkCost reduce = one_way(costs.gamma);
  if (kind == CollectiveKind::reduce) return reduce;
  const LinkCost broadcast = one_way(0);
  return {reduce.alpha + broadcast.alpha, reduce.beta + broadcast.beta};
}

/// The chunk that crosses the edge in step t of the broadcast; -1: none.
int chunk_at(const TreeEdge& edge, int t, int chunks) {
  const int since = t - edge.step;
  return since >= 0 && since % 2 == 0 && since / 2 < chunks ? since / 2 : -1;
}

/// Adds step t of the broadcast as `down`, and the reverse step of the reduction as `up`. Edges are between places in
/// `members`. In steady form every chunk has the size of the first.
void double_tree_step(const std::vector<TreeEdge>& edges, const std::vector<int>& members, ByteRange whole, int t,
                      int chunks, StepForm form, std::size_t down, std::size_t up, CollectiveSchedule& schedule) {
  for (const TreeEdge& edge : edges) {
    const int chunk = chunk_at(edge, t, chunks);
    if (chunk < 0) continue;
    const bool steady = form == StepForm::steady;
    const ByteRange half = part_of(whole, 2, steady ? 0 : edge.tree);
    const ByteRange range = part_of(half, chunks, steady ? 0 : chunk);
    const int child = members[static_cast<std::size_t>(edge.child)];
    const int parent = members[static_cast<std::size_t>(edge.parent)];
    schedule.send(up, child, parent, range, true);
    schedule.send(down, parent, child, range, false);
  }
}

/// The broadcast with the steps of `double_tree`, after a reduction that runs the same steps backwards. From the time
/// that the first chunk has arrived everywhere until the last one starts, steps that lie two apart are equal; the
/// steady form has two repeated steps for them, one of each colour.
void expand_double_tree(CollectiveKind, const CollectiveShape& shape, std::int64_t bytes, StepForm form,
                        CollectiveSchedule& schedule) {
  const std::vector<TreeEdge> edges = double_tree(shape.ranks);
  const int depth = double_tree_depth(edges);
  const int length = depth + 2 * (shape.chunks - 1);
  const int repeats = form == StepForm::steady ? std::max(0, (2 * shape.chunks - depth) / 2) : 0;
  const int left = length - 2 * std::max(0, repeats - 1);
  for (int i = 0; i < left; ++i) {
    const int skipped = repeats > 0 && i >= depth + 2 ? 2 * (repeats - 1) : 0;
    const auto down = static_cast<std::size_t>(left + i);
    const auto up = static_cast<std::size_t>(left - 1 - i);
    for_each_stripe(shape, bytes, [&](const std::vector<int>& members, ByteRange range, int) {
      double_tree_step(edges, members, range, i + skipped, shape.chunks, form, down, up, schedule);
    });
    if (repeats > 0 && i >= depth && i < depth + 2) schedule.step(down).repeat = schedule.step(up).repeat = repeats;
  }
  schedule.drop_empty_steps();
}

LinkCost double_tree_cost(CollectiveKind, const CollectiveShape& shape, const CollectiveCosts& costs) {
  const auto [alpha, beta] = costs.flat;
  const double steps = double_tree_steps(double_tree(shape.ranks), shape.chunks);
  return {steps * 2 * alpha, steps / (2 * shape.chunks) * (2 * beta + costs.gamma)};
}

double double_tree_chunks(CollectiveKind, const CollectiveShape& shape, double bytes, const LinkCost& cost) {
  return pipeline_optimum(double_tree_depth(double_tree(shape.ranks)) - 2, 2, 0.5, bytes, cost);
}

constexpr CollectiveKind kTreeKinds[] = {CollectiveKind::all_reduce, CollectiveKind::broadcast, CollectiveKind::reduce};
}  // namespace

CollectiveAlgorithm binomial_tree_row() {
  return {"binomial-tree",
          "everything in one message along a binomial tree: reduce to rank 0, then broadcast",
          "2 ceil(log2 n) (a + V b) + ceil(log2 n) V g",
          "Thakur, Rabenseifner and Gropp, IJHPCA 19 (2005), sections 4.2 and 4.4",
          kTreeKinds,
          never_refused,
          expand_binomial,
          binomial_cost,
          OnServers::levels,
          nullptr};
}

CollectiveAlgorithm double_binary_tree_row() {
  return {"double-binary-tree",
          "two binary trees, a rank being inner in one at most, each reduce and broadcast half in m chunks",
          "S (2a + V/(2m) (2b + g)), S = D + 2(m-1) steps, D until the first chunk has reached all ranks",
          "Sanders, Speck and Traeff, Parallel Computing 35 (2009); used by NCCL since 2.4",
          kAllReduce,
          never_refused,
          expand_double_tree,
          double_tree_cost,
          OnServers::counted,
          double_tree_chunks};
}

}  // namespace contend
