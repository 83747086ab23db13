#include "network/collectives/double_tree.hpp"

#include <algorithm>

namespace contend {

namespace {

/// The parent in the tree with the in-order numbers 1 .. n; 0 for the root. The root is the largest power of two. A
/// node with lowest set bit b has children at distance b/2 on both sides, or their replacements at the right end. Odd
/// numbers are leaves.
int parent_of(int node, int n) {
  const int bit = node & -node;
  const int right = (node ^ bit) | (2 * bit);
  return right <= n ? right : node ^ bit;
}

/// Appends the edges of the tree in which rank r has the in-order number (r + shift) mod n + 1, parents before
/// children.
void append_tree(int ranks, int tree, int shift, std::vector<TreeEdge>& edges) {
  const auto rank_of = [&](int node) { return (node - 1 - shift + ranks) % ranks; };
  int top = 1;
  while (2 * top <= ranks) top *= 2;
  // A parent has more trailing zeros than its child.
  for (int bit = top; bit >= 1; bit /= 2) {
    for (int node = bit; node <= ranks; node += 2 * bit) {
      const int parent = parent_of(node, ranks);
      if (parent > 0) edges.push_back({tree, rank_of(parent), rank_of(node), 0});
    }
  }
}

/// Gives the edges colours 0 and 1 that differ at a common sender and at a common receiver. Every edge has at most one
/// neighbour on either side, and walks alternate between sides, so cycles are even and two colours are enough.
std::vector<int> two_colours(int ranks, const std::vector<TreeEdge>& edges) {
  struct Pair {
    int edge[2] = {-1, -1};
    void add(int e) { edge[edge[0] < 0 ? 0 : 1] = e; }
    [[nodiscard]] int other(int e) const { return edge[0] == e ? edge[1] : edge[0]; }
  };
  std::vector<Pair> sent(static_cast<std::size_t>(ranks));
  std::vector<Pair> received(static_cast<std::size_t>(ranks));
  for (std::size_t e = 0; e < edges.size(); ++e) {
    sent[static_cast<std::size_t>(edges[e].parent)].add(static_cast<int>(e));
    received[static_cast<std::size_t>(edges[e].child)].add(static_cast<int>(e));
  }
  std::vector<int> colour(edges.size(), -1);
  std::vector<int> open;
  for (std::size_t start = 0; start < edges.size(); ++start) {
    if (colour[start] >= 0) continue;
    colour[start] = 0;
    open.push_back(static_cast<int>(start));
    while (!open.empty()) {
      const int e = open.back();
      open.pop_back();
      const TreeEdge& edge = edges[static_cast<std::size_t>(e)];
      for (const int neighbour : {sent[static_cast<std::size_t>(edge.parent)].other(e),
                                  received[static_cast<std::size_t>(edge.child)].other(e)}) {
        if (neighbour < 0 || colour[static_cast<std::size_t>(neighbour)] >= 0) continue;
        colour[static_cast<std::size_t>(neighbour)] = 1 - colour[static_cast<std::size_t>(e)];
        open.push_back(neighbour);
      }
    }
  }
  return colour;
}

}  // namespace

std::vector<TreeEdge> double_tree(int ranks) {
  std::vector<TreeEdge> edges;
  append_tree(ranks, 0, 0, edges);
  const auto second = static_cast<std::ptrdiff_t>(edges.size());
  append_tree(ranks, 1, 1, edges);
  const std::vector<int> colour = two_colours(ranks, edges);
  // The step after which a rank has the first chunk of the tree; parents come before their children in each tree.
  std::vector<int> has(static_cast<std::size_t>(ranks), -1);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    if (static_cast<std::ptrdiff_t>(e) == second) std::fill(has.begin(), has.end(), -1);
    TreeEdge& edge = edges[e];
    edge.step = has[static_cast<std::size_t>(edge.parent)] + 1;
    if (edge.step % 2 != colour[e]) ++edge.step;
    has[static_cast<std::size_t>(edge.child)] = edge.step;
  }
  return edges;
}

int double_tree_depth(const std::vector<TreeEdge>& edges) {
  int last = 0;
  for (const TreeEdge& edge : edges) last = std::max(last, edge.step);
  return last + 1;
}

int double_tree_steps(const std::vector<TreeEdge>& edges, int chunks) {
  const int depth = double_tree_depth(edges);
  std::vector<char> starts(static_cast<std::size_t>(depth), 0);
  for (const TreeEdge& edge : edges) starts[static_cast<std::size_t>(edge.step)] = 1;
  int steps = 0;
  for (const int parity : {0, 1}) {
    int covered = parity;  // the first step of this parity that isn't counted yet
    for (int step = parity; step < depth; step += 2) {
      if (starts[static_cast<std::size_t>(step)] == 0) continue;
      const int end = step + 2 * chunks;
      steps += (end - std::max(covered, step)) / 2;
      covered = end;
    }
  }
  return steps;
}

}  // namespace contend
