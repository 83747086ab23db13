#pragma once
// The two trees of Sanders, Speck and Traeff ("Two-tree algorithms for full bandwidth broadcast, reduction and scan",
// Parallel Computing 35, 2009) and when each edge is used.
//
// Both trees span all ranks, and a rank that has children in one is a leaf in the other. So a rank sends to at most two
// others in all and receives from at most two. Edges are coloured with two colours so that those of one sender differ
// and those of one receiver differ; an edge is used every second step, by its colour, and a rank never sends or
// receives two messages in a step.

#include <cstddef>
#include <vector>

namespace contend {

struct TreeEdge {
  int tree = 0;  ///< 0 or 1: which half of the data
  int parent = 0;
  int child = 0;
  int step = 0;  ///< of a broadcast in which the first chunk crosses it; chunk k does 2k steps later
};

/// The edges of both trees over `ranks` >= 2, each after that into its parent.
[[nodiscard]] std::vector<TreeEdge> double_tree(int ranks);
/// Steps until the first chunk has crossed every edge, empty ones included.
[[nodiscard]] int double_tree_depth(const std::vector<TreeEdge>& edges);
/// Steps of a broadcast in m chunks in which anything is sent: depth + 2(m-1) but for 2 ranks, where all edges have one
/// colour and every second step is empty, or where the trees are so flat that no first chunk moves in some step.
[[nodiscard]] int double_tree_steps(const std::vector<TreeEdge>& edges, int chunks);

}  // namespace contend
