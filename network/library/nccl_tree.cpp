#include "network/library/nccl_tree.hpp"

#include "network/collectives/double_tree.hpp"

#include <cstddef>
#include <numeric>

namespace contend {
namespace {

/// Adds messages up and down an edge.
void add_edge(int parent, int child, ByteRange part, int stripe, Step& step) {
  if (part.bytes == 0) return;
  step.sends.push_back({child, parent, part, true, stripe});
  step.sends.push_back({parent, child, part, false, stripe});
}

void add_stripe(std::span<const int> order, std::span<const int> server_of, ByteRange part, int stripe,
                bool switches_add, Step& step) {
  std::vector<int> first;  // of each server
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool begins =
        i == 0 || server_of[static_cast<std::size_t>(order[i])] != server_of[static_cast<std::size_t>(order[i - 1])];
    if (begins)
      first.push_back(order[i]);
    else if (!switches_add)
      add_edge(order[i - 1], order[i], part, stripe, step);
    else if (part.bytes > 0)
      step.sends.push_back({order[i], order[i - 1], part, true, stripe});
  }
  if (first.size() < 2) return;
  for (const TreeEdge& edge : double_tree(static_cast<int>(first.size())))
    add_edge(first[static_cast<std::size_t>(edge.parent)], first[static_cast<std::size_t>(edge.child)],
             part_of(part, 2, edge.tree), stripe, step);
}

}  // namespace

CollectiveSchedule nccl_tree(std::span<const int> server_of, std::span<const std::vector<int>> stripes, Bytes bytes,
                             bool switches_add) {
  CollectiveSchedule schedule;
  schedule.ranks = static_cast<int>(server_of.size());
  Step& step = schedule.step(0);
  const ByteRange all{0, bytes.count()};
  if (stripes.empty()) {
    std::vector<int> order(server_of.size());
    std::iota(order.begin(), order.end(), 0);
    add_stripe(order, server_of, all, 0, switches_add, step);
  }
  const int count = static_cast<int>(stripes.size());
  for (int c = 0; c < count; ++c)
    add_stripe(stripes[static_cast<std::size_t>(c)], server_of, part_of(all, count, c), c, switches_add, step);
  return schedule;
}

}  // namespace contend
