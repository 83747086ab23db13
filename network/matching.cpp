#include "network/matching.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>
#include <utility>

namespace contend {

namespace {

// A node is a vertex or a blossom, which is an odd cycle of nodes that acts as one. Node 0 means no node, 1..n are the
// vertices, the rest are blossoms, which are in use while their cycle isn't empty. Labels are twice the usual dual
// variables, so that they are integers.
class Matcher {
 public:
  explicit Matcher(const WeightedGraph& graph)
      : n_{graph.vertices()},
        nodes_{2 * n_ + 1},
        edges_(nodes_ * nodes_),
        label_(nodes_),
        best_(nodes_),
        top_(nodes_),
        parent_(nodes_),
        mark_(nodes_),
        mate_(nodes_),
        kind_(nodes_, Kind::none),
        cycle_(nodes_),
        part_of_(nodes_, std::vector<Node>(n_ + 1)) {
    std::int64_t largest = 0;
    for (Node u = 1; u <= n_; ++u) {
      for (Node v = 1; v <= n_; ++v) {
        edge(u, v) = {u, v, u == v ? 0 : graph.weight(u - 1, v - 1)};
        CONTEND_CHECK(edge(u, v).weight >= 0 && edge(u, v).weight <= std::int64_t{1} << 53, "weights have their range");
        largest = std::max(largest, edge(u, v).weight);
        part_of_[u][v] = u == v ? u : 0;
      }
    }
    for (Node u = 1; u < nodes_; ++u) {
      if (u <= n_) top_[u] = u;
      if (u <= n_) label_[u] = largest;
    }
    last_ = n_;
  }

  std::vector<std::size_t> run() {
    while (grow_matching()) {
    }
    std::vector<std::size_t> partner(n_, kUnmatched);
    for (Node u = 1; u <= n_; ++u) {
      if (mate_[u] != 0) partner[u - 1] = mate_[u] - 1;
    }
    return partner;
  }

 private:
  using Node = std::size_t;
  enum class Kind : std::uint8_t { none, outer, inner };  // in the alternating forest: even or odd depth
  struct Edge {
    Node u = 0, v = 0;  // vertices; of a blossom the ends of its best edge
    std::int64_t weight = 0;
  };

  Edge& edge(Node a, Node b) { return edges_[a * nodes_ + b]; }
  [[nodiscard]] const Edge& edge(Node a, Node b) const { return edges_[a * nodes_ + b]; }
  /// The slack of an edge, 0 if it is tight; always even between two outer nodes.
  [[nodiscard]] std::int64_t slack(const Edge& e) const {
    return label_[e.u] + label_[e.v] - 2 * edge(e.u, e.v).weight;
  }

  void offer(Node u, Node to) {
    if (best_[to] == 0 || slack(edge(u, to)) < slack(edge(best_[to], to))) best_[to] = u;
  }
  /// The outer vertex with the least slack to a node.
  void find_best(Node to) {
    best_[to] = 0;
    for (Node u = 1; u <= n_; ++u) {
      if (edge(u, to).weight > 0 && top_[u] != to && kind_[top_[u]] == Kind::outer) offer(u, to);
    }
  }

  void enqueue(Node node) {
    if (node <= n_) return queue_.push_back(node);
    for (const Node each : cycle_[node]) enqueue(each);
  }
  void set_top(Node node, Node top) {
    top_[node] = top;
    if (node <= n_) return;
    for (const Node each : cycle_[node]) set_top(each, top);
  }

  /// The path along the cycle from its base to `to` with an even number of steps; reverses the cycle if necessary.
  std::size_t even_path(Node blossom, Node to) {
    auto& cycle = cycle_[blossom];
    const auto at = std::find(cycle.begin(), cycle.end(), to) - cycle.begin();
    if (at % 2 == 0) return static_cast<std::size_t>(at);
    std::reverse(cycle.begin() + 1, cycle.end());
    return cycle.size() - static_cast<std::size_t>(at);
  }

  void match(Node u, Node v) {
    const Edge e = edge(u, v);
    mate_[u] = e.v;
    if (u <= n_) return;
    const Node inside = part_of_[u][e.u];
    const std::size_t length = even_path(u, inside);
    for (std::size_t i = 0; i < length; ++i) match(cycle_[u][i], cycle_[u][i ^ 1]);
    match(inside, v);
    std::rotate(cycle_[u].begin(), cycle_[u].begin() + static_cast<std::ptrdiff_t>(length), cycle_[u].end());
  }

  /// Swaps matched and unmatched edges from u up to the root.
  void augment(Node u, Node v) {
    while (true) {
      const Node next = top_[mate_[u]];
      match(u, v);
      if (next == 0) return;
      match(next, top_[parent_[next]]);
      u = top_[parent_[next]];
      v = next;
    }
  }

  Node common_ancestor(Node u, Node v) {
    for (++round_; u != 0 || v != 0; std::swap(u, v)) {
      if (u == 0) continue;
      if (mark_[u] == round_) return u;
      mark_[u] = round_;
      u = top_[mate_[u]];
      if (u != 0) u = top_[parent_[u]];
    }
    return 0;
  }

  void climb(Node from, Node base, std::vector<Node>& cycle) {
    for (Node x = from; x != base;) {
      const Node above = top_[mate_[x]];
      cycle.push_back(x);
      cycle.push_back(above);
      enqueue(above);
      x = top_[parent_[above]];
    }
  }

  void shrink(Node u, Node base, Node v) {
    Node b = n_ + 1;
    while (b <= last_ && top_[b] != 0) ++b;
    last_ = std::max(last_, b);
    label_[b] = 0;
    kind_[b] = Kind::outer;
    mate_[b] = mate_[base];
    std::vector<Node>& cycle = cycle_[b];
    cycle = {base};
    climb(u, base, cycle);
    std::reverse(cycle.begin() + 1, cycle.end());
    climb(v, base, cycle);
    set_top(b, b);
    for (Node x = 1; x <= last_; ++x) edge(b, x).weight = edge(x, b).weight = 0;
    std::fill(part_of_[b].begin(), part_of_[b].end(), 0);
    for (const Node each : cycle) take_edges(b, each);
    find_best(b);
  }

  void take_edges(Node blossom, Node part) {
    for (Node x = 1; x <= last_; ++x) {
      if (edge(part, x).weight == 0) continue;
      if (edge(blossom, x).weight != 0 && slack(edge(part, x)) >= slack(edge(blossom, x))) continue;
      edge(blossom, x) = edge(part, x);
      edge(x, blossom) = edge(x, part);
    }
    for (Node x = 1; x <= n_; ++x) {
      if (part_of_[part][x] != 0) part_of_[blossom][x] = part;
    }
  }

  /// Expands an inner blossom whose label has fallen to 0.
  void expand(Node blossom) {
    const std::vector<Node> parts = cycle_[blossom];
    for (const Node each : parts) set_top(each, each);
    const Node entry = part_of_[blossom][edge(blossom, parent_[blossom]).u];
    const std::size_t length = even_path(blossom, entry);
    const std::vector<Node>& cycle = cycle_[blossom];
    for (std::size_t i = 0; i < length; i += 2) {
      const Node inner = cycle[i], outer = cycle[i + 1];
      parent_[inner] = edge(outer, inner).u;
      kind_[inner] = Kind::inner;
      kind_[outer] = Kind::outer;
      best_[inner] = 0;
      find_best(outer);
      enqueue(outer);
    }
    kind_[entry] = Kind::inner;
    parent_[entry] = parent_[blossom];
    for (std::size_t i = length + 1; i < cycle.size(); ++i) {
      kind_[cycle[i]] = Kind::none;
      find_best(cycle[i]);
    }
    top_[blossom] = 0;
  }

  /// Handles a tight edge from an outer node. True if the matching has grown.
  bool use(const Edge& e) {
    const Node u = top_[e.u], v = top_[e.v];
    if (kind_[v] == Kind::none) {
      parent_[v] = e.u;
      kind_[v] = Kind::inner;
      const Node next = top_[mate_[v]];
      best_[v] = best_[next] = 0;
      kind_[next] = Kind::outer;
      enqueue(next);
    } else if (kind_[v] == Kind::outer) {
      const Node base = common_ancestor(u, v);
      if (base == 0) {
        augment(u, v);
        augment(v, u);
        return true;
      }
      shrink(u, base, v);
    }
    return false;
  }

  bool search_queue() {
    while (!queue_.empty()) {
      const Node u = queue_.front();
      queue_.pop_front();
      if (kind_[top_[u]] == Kind::inner) continue;
      for (Node v = 1; v <= n_; ++v) {
        if (edge(u, v).weight == 0 || top_[u] == top_[v]) continue;
        if (slack(edge(u, v)) > 0) {
          offer(u, top_[v]);
        } else if (use(edge(u, v))) {
          return true;
        }
      }
    }
    return false;
  }

  /// The distance by which the labels may move until an edge becomes tight or a blossom must be expanded.
  [[nodiscard]] std::int64_t largest_move() const {
    std::int64_t move = std::numeric_limits<std::int64_t>::max();
    for (Node b = n_ + 1; b <= last_; ++b) {
      if (top_[b] == b && kind_[b] == Kind::inner) move = std::min(move, label_[b] / 2);
    }
    for (Node x = 1; x <= last_; ++x) {
      if (top_[x] != x || best_[x] == 0) continue;
      if (kind_[x] == Kind::none) move = std::min(move, slack(edge(best_[x], x)));
      if (kind_[x] == Kind::outer) move = std::min(move, slack(edge(best_[x], x)) / 2);
    }
    return move;
  }

  /// Moves the labels; false if the label of a free vertex would fall to 0. Then the weight of the matching is maximal.
  bool move_labels(std::int64_t by) {
    for (Node u = 1; u <= n_; ++u) {
      if (kind_[top_[u]] == Kind::outer && label_[u] <= by) return false;
    }
    for (Node u = 1; u <= n_; ++u) {
      if (kind_[top_[u]] == Kind::outer) label_[u] -= by;
      if (kind_[top_[u]] == Kind::inner) label_[u] += by;
    }
    for (Node b = n_ + 1; b <= last_; ++b) {
      if (top_[b] != b) continue;
      if (kind_[b] == Kind::outer) label_[b] += 2 * by;
      if (kind_[b] == Kind::inner) label_[b] -= 2 * by;
    }
    return true;
  }

  bool use_tight_edges() {
    for (Node x = 1; x <= last_; ++x) {
      if (top_[x] != x || best_[x] == 0 || top_[best_[x]] == x) continue;
      if (slack(edge(best_[x], x)) == 0 && use(edge(best_[x], x))) return true;
    }
    return false;
  }

  /// Adds one pair to the matching; false if there is no heavier matching.
  bool grow_matching() {
    std::fill(kind_.begin(), kind_.end(), Kind::none);
    std::fill(best_.begin(), best_.end(), 0);
    std::fill(parent_.begin(), parent_.end(), 0);
    queue_.clear();
    for (Node x = 1; x <= last_; ++x) {
      if (top_[x] != x || mate_[x] != 0) continue;
      kind_[x] = Kind::outer;
      enqueue(x);
    }
    if (queue_.empty()) return false;
    while (true) {
      if (search_queue()) return true;
      if (!move_labels(largest_move())) return false;
      if (use_tight_edges()) return true;
      for (Node b = n_ + 1; b <= last_; ++b) {
        if (top_[b] == b && kind_[b] == Kind::inner && label_[b] == 0) expand(b);
      }
    }
  }

  std::size_t n_, nodes_;
  std::vector<Edge> edges_;
  std::vector<std::int64_t> label_;
  std::vector<Node> best_;    // the outer vertex with the least slack to a node
  std::vector<Node> top_;     // the outermost blossom around a node; 0: the blossom isn't in use
  std::vector<Node> parent_;  // the vertex above an inner node in the forest
  std::vector<std::size_t> mark_;
  std::vector<Node> mate_;  // the vertex at the other end of the matched edge
  std::vector<Kind> kind_;
  std::vector<std::vector<Node>> cycle_;    // of a blossom, its base first
  std::vector<std::vector<Node>> part_of_;  // by blossom and vertex: the part of its cycle that holds the vertex
  std::deque<Node> queue_;                  // outer vertices whose edges have not been examined
  Node last_ = 0;
  std::size_t round_ = 0;
};

}  // namespace

std::vector<std::size_t> maximum_weight_matching(const WeightedGraph& graph) {
  return Matcher{graph}.run();
}

}  // namespace contend
