#pragma once
// Maximum weight matching in a general graph: pairs of neighbours, no vertex in two of them, with the largest sum of
// weights. Edmonds, "Maximum matching and a polyhedron with 0,1-vertices", J. Res. NBS 69B (1965), by the primal-dual
// method in O(n^3) (Galil, "Efficient algorithms for finding maximum matching in graphs", ACM Computing Surveys 18,
// 1986). Whole numbers only, so the result is exact.
//
// Not Boost.Graph's maximum_weighted_matching: that of Boost 1.81 crashes, never ends or finds less than the maximum
// on about one random graph of 14 vertices in a thousand, and more often on larger ones (its issues 199, 223 and 399).
// A study draws thousands of rounds. Where it works, a test holds both to the same weight.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace contend {

/// Weights of an undirected graph without loops.
class WeightedGraph {
 public:
  explicit WeightedGraph(std::size_t vertices) : vertices_{vertices}, weights_(vertices * vertices) {}
  /// 0: there is no edge. Otherwise 1 to 2^53.
  void set(std::size_t a, std::size_t b, std::int64_t weight) {
    weights_[a * vertices_ + b] = weights_[b * vertices_ + a] = weight;
  }
  [[nodiscard]] std::int64_t weight(std::size_t a, std::size_t b) const { return weights_[a * vertices_ + b]; }
  [[nodiscard]] std::size_t vertices() const { return vertices_; }

 private:
  std::size_t vertices_;
  std::vector<std::int64_t> weights_;
};

inline constexpr std::size_t kUnmatched = SIZE_MAX;

/// For each vertex its partner, or kUnmatched. No edge could be added: all weights are positive. Of several matchings
/// of the largest weight it is always the same one.
[[nodiscard]] std::vector<std::size_t> maximum_weight_matching(const WeightedGraph& graph);

}  // namespace contend
