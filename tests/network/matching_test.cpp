#include "network/matching.hpp"

#include "sim/random_stream.hpp"
#include "tests/effort.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/maximum_weighted_matching.hpp>

using namespace contend;

namespace {

/// The largest weight over all matchings: the first vertex of a set stays alone or takes one of the others.
std::int64_t best_of_all(const WeightedGraph& graph) {
  const std::size_t n = graph.vertices();
  std::vector<std::int64_t> best(std::size_t{1} << n, 0);
  for (std::size_t set = 1; set < best.size(); ++set) {
    const auto first = static_cast<std::size_t>(std::countr_zero(set));
    const std::size_t rest = set & (set - 1);
    best[set] = best[rest];
    for (std::size_t other = first + 1; other < n; ++other) {
      if ((rest >> other & 1) == 0 || graph.weight(first, other) == 0) continue;
      best[set] = std::max(best[set], graph.weight(first, other) + best[rest & ~(std::size_t{1} << other)]);
    }
  }
  return best.back();
}

/// The weight of the result, which must be a matching along edges.
std::int64_t weight_of(const WeightedGraph& graph, const std::vector<std::size_t>& partner) {
  std::int64_t sum = 0;
  REQUIRE(partner.size() == graph.vertices());
  for (std::size_t v = 0; v < partner.size(); ++v) {
    if (partner[v] == kUnmatched) continue;
    REQUIRE(partner[partner[v]] == v);
    REQUIRE(graph.weight(v, partner[v]) > 0);
    if (v < partner[v]) sum += graph.weight(v, partner[v]);
  }
  return sum;
}

WeightedGraph random_graph(RandomStream& stream, std::size_t vertices) {
  WeightedGraph graph{vertices};
  const double density = stream.uniform(0.1, 1.1);
  const std::int64_t largest = std::int64_t{1} << stream.uniform_integer(0, 40);
  for (std::size_t a = 0; a < vertices; ++a) {
    for (std::size_t b = a + 1; b < vertices; ++b) {
      if (stream.uniform() < density) graph.set(a, b, stream.uniform_integer(1, largest));
    }
  }
  return graph;
}

std::int64_t weight_by_boost(const WeightedGraph& graph) {
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property,
                                      boost::property<boost::edge_weight_t, std::int64_t>>;
  const std::size_t n = graph.vertices();
  Graph copy{n};
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = a + 1; b < n; ++b) {
      if (graph.weight(a, b) > 0) boost::add_edge(a, b, graph.weight(a, b), copy);
    }
  }
  std::vector<std::size_t> mate(n);
  boost::maximum_weighted_matching(copy, mate.data());
  for (std::size_t& each : mate) each = each < n ? each : kUnmatched;
  return weight_of(graph, mate);
}

}  // namespace

TEST_CASE("the heaviest pairs, by hand") {
  WeightedGraph none{0};
  CHECK(maximum_weight_matching(none).empty());
  WeightedGraph apart{3};
  CHECK(maximum_weight_matching(apart) == std::vector<std::size_t>(3, kUnmatched));
  // A path 5 - 8 - 5: its ends together weigh 10, more than its middle.
  WeightedGraph path{4};
  path.set(0, 1, 5);
  path.set(1, 2, 8);
  path.set(2, 3, 5);
  CHECK(maximum_weight_matching(path) == std::vector<std::size_t>{1, 0, 3, 2});
  path.set(1, 2, 11);
  CHECK(maximum_weight_matching(path) == std::vector<std::size_t>{kUnmatched, 2, 1, kUnmatched});
  // A triangle with a tail: the vertex of the tail takes a corner, the other two each other.
  WeightedGraph kite{4};
  kite.set(0, 1, 7);
  kite.set(1, 2, 7);
  kite.set(0, 2, 7);
  kite.set(2, 3, 1);
  CHECK(maximum_weight_matching(kite) == std::vector<std::size_t>{1, 0, 3, 2});
}

TEST_CASE("as heavy as the heaviest of all matchings, on 20,000 random graphs") {
  RandomStream stream{1, "matching test"};
  for (int i = 0; i < effort(20'000); ++i) {
    const WeightedGraph graph = random_graph(stream, static_cast<std::size_t>(stream.uniform_integer(1, 8)));
    REQUIRE(weight_of(graph, maximum_weight_matching(graph)) == best_of_all(graph));
  }
  for (int i = 0; i < effort(300); ++i) {
    const WeightedGraph graph = random_graph(stream, 14);
    REQUIRE(weight_of(graph, maximum_weight_matching(graph)) == best_of_all(graph));
  }
}

TEST_CASE("as heavy as Boost.Graph's matching where that is correct: up to 8 vertices" * doctest::skip(kSanitized)) {
  RandomStream stream{2, "matching test"};
  for (int i = 0; i < 3'000; ++i) {
    const WeightedGraph graph = random_graph(stream, static_cast<std::size_t>(stream.uniform_integer(1, 8)));
    REQUIRE(weight_of(graph, maximum_weight_matching(graph)) == weight_by_boost(graph));
  }
}

TEST_CASE("a hundred vertices: no two neighbours stay unmatched, and no exchange of two pairs weighs more") {
  RandomStream stream{3, "matching test"};
  for (int i = 0; i < 10; ++i) {
    const WeightedGraph graph = random_graph(stream, 100);
    const std::vector<std::size_t> partner = maximum_weight_matching(graph);
    const auto own = [&](std::size_t v) { return partner[v] == kUnmatched ? 0 : graph.weight(v, partner[v]); };
    for (std::size_t a = 0; a < 100; ++a) {
      for (std::size_t b = 0; b < 100; ++b) {
        if (a != b && partner[a] != b) REQUIRE(graph.weight(a, b) <= own(a) + own(b));
      }
    }
    static_cast<void>(weight_of(graph, partner));
  }
}
