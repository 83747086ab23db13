#pragma once
// Builds the two trees of Sanders, Speck and Traeff ("Two-tree algorithms for full bandwidth broadcast, reduction and
// scan", Parallel Computing 35, 2009) and the steps in which each edge is used.
//
// Both trees span all ranks, and a rank that has children in one tree is a leaf in the other. A rank therefore sends to
// at most two others in total and receives from at most two. The edges have two colours, such that the edges of one
// sender differ and the edges of one receiver differ. An edge is used every second step, depending on its colour, so a
// rank never sends or receives two messages in a step.

#include <cstddef>
#include <vector>

namespace contend {

/// An edge of one of the trees.
struct TreeEdge {
  int tree = 0;  ///< 0 or 1: the half of the data that it carries
  int parent = 0;
  int child = 0;
  int step = 0;  ///< step of a broadcast in which the first chunk crosses it; chunk k follows 2k steps later
};

/// The edges of both trees over `ranks` >= 2; each edge comes after the edge into its parent.
[[nodiscard]] std::vector<TreeEdge> double_tree(int ranks);
/// Number of steps until the first chunk has crossed every edge, empty steps included.
[[nodiscard]] int double_tree_depth(const std::vector<TreeEdge>& edges);
/// Number of non-empty steps of a broadcast in m chunks. It is depth + 2(m-1), except for 2 ranks, where all edges have
/// one colour and every second step is empty, and for trees so flat that no first chunk moves in some step.
[[nodiscard]] int double_tree_steps(const std::vector<TreeEdge>& edges, int chunks);

}  // namespace contend
