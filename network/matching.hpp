#pragma once
// Computes a maximum weight matching in a general graph: a set of edges without a common vertex whose sum of weights is
// largest. Source: Edmonds, "Maximum matching and a polyhedron with 0,1-vertices", J. Res. NBS 69B (1965), by the
// primal-dual method in O(n^3) (Galil, "Efficient algorithms for finding maximum matching in graphs", ACM Computing
// Surveys 18, 1986). All arithmetic is on integers, so the result is exact.
//
// Boost.Graph's maximum_weighted_matching is not used: the function of Boost 1.81 crashes, never ends or finds less
// than the maximum on about one random graph of 14 vertices in a thousand, and more often on larger ones (its issues
// 199, 223 and 399). A study draws thousands of rounds. A test compares the weights on graphs where Boost's works.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace contend {

/// The edge weights of an undirected graph without loops.
class WeightedGraph {
 public:
  explicit WeightedGraph(std::size_t vertices) : vertices_{vertices}, weights_(vertices * vertices) {}
  /// Sets the weight of an edge, 1 to 2^53; 0 means that there is no edge.
  void set(std::size_t a, std::size_t b, std::int64_t weight) {
    weights_[a * vertices_ + b] = weights_[b * vertices_ + a] = weight;
  }
  [[nodiscard]] std::int64_t weight(std::size_t a, std::size_t b) const { return weights_[a * vertices_ + b]; }
  [[nodiscard]] std::size_t vertices() const { return vertices_; }

 private:
  std::size_t vertices_;
  std::vector<std::int64_t> weights_;
};

/// The partner of a vertex without one.
inline constexpr std::size_t kUnmatched = SIZE_MAX;

/// The partner of each vertex, or kUnmatched. No edge can be added to the matching, because all weights are positive.
/// Among several matchings of the largest weight the choice is deterministic.
[[nodiscard]] std::vector<std::size_t> maximum_weight_matching(const WeightedGraph& graph);

}  // namespace contend
