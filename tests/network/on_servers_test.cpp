// The closed forms of collectives among ranks on servers, against their schedules run message by message.

#include "network/collectives/on_servers.hpp"
#include "network/collectives/choice.hpp"
#include "network/collectives/collective_run.hpp"
#include "network/topologies/graph_spec.hpp"
#include "tests/near.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr double kInsideBeta = 0.25, kBetweenBeta = 1, kReducing = 0.5;  // ns per byte
constexpr ServerLinks kServerLinks{{100, kInsideBeta}, {1100, kBetweenBeta}, kReducing};

/// Servers behind one interface of 1 byte/ns each way; each GPU has 4 bytes/ns to the others of its server. A message
/// takes 2 x 50 ns inside a server, and 2 x (50 + 500) ns to another one.
Topology servers_behind_interfaces(int servers, int per_server) {
  GraphSpec graph;
  graph.nodes.push_back({"switch", NodeKind::fabric_switch, std::nullopt, false});
  const auto connect = [&](const std::string& a, const std::string& b, double bandwidth, std::int64_t latency) {
    graph.links.push_back({a, b, ByteRate{bandwidth}, Time::nanoseconds(latency), true, 1});
  };
  for (int server = 0; server < servers; ++server) {
    const auto index = static_cast<std::size_t>(server);
    const std::string here = "server" + std::to_string(server);
    graph.nodes.push_back({here + "/nvswitch", NodeKind::bridge, index, false});
    graph.nodes.push_back({here + "/nic", NodeKind::nic, index, false});
    for (int gpu = 0; gpu < per_server; ++gpu) {
      graph.nodes.push_back({here + "/gpu" + std::to_string(gpu), NodeKind::gpu, index, false});
      connect(graph.nodes.back().name, here + "/nvswitch", 1e9 / kInsideBeta, 50);
    }
    connect(here + "/nvswitch", here + "/nic", 1e12, 0);
    connect(here + "/nic", "switch", 1e9 / kBetweenBeta, 500);
  }
  return build_graph(graph);
}

double on_servers_ns(std::string_view name, CollectiveKind kind, const RanksOnServers& on, Bytes bytes) {
  const CollectiveOnServers collective{find_collective_algorithm(name, kind), kind, on, kServerLinks};
  return collective.line(bytes).of(bytes.to_double());
}

}  // namespace

TEST_CASE("two servers of two ranks by hand, 800 bytes: inside 100 ns and 0.25 ns per byte, between 1100 and 1") {
  const RanksOnServers on{4, 2, 2};
  const Bytes bytes{800};
  // Inside 400 bytes, 100 + 100 and 200 of adding; between both ranks send 200, 1100 + 400 and 100 of adding; and back
  // without adding.
  CHECK(on_servers_ns("halving-doubling", CollectiveKind::all_reduce, on, bytes) == near(2 * (200 + 1500) + 200 + 100));
  // 200 bytes inside, then the 400 of both between.
  CHECK(on_servers_ns("halving-doubling", CollectiveKind::all_gather, on, bytes) == near(150 + 1900));
  // First each rank to the one before it, 200 bytes: one of two crosses, 1100 + 200. Then 400 to the one two before:
  // both cross, 1100 + 800.
  CHECK(on_servers_ns("bruck", CollectiveKind::all_gather, on, bytes) == near(1300 + 1900));
  // Reduce-scatter inside 400 bytes, between two messages of 200 beside each other, and back.
  CHECK(on_servers_ns("hierarchical", CollectiveKind::all_reduce, on, bytes) == near(2 * (200 + 1500) + 200 + 100));
  CHECK(on_servers_ns("torus-2d", CollectiveKind::all_reduce, on, bytes) == near(2 * (200 + 1500) + 200 + 100));
  // Four turns of 400 bytes inside; two of 400 bytes of the leader alone between.
  CHECK(on_servers_ns("hierarchical-leader", CollectiveKind::all_reduce, on, bytes) ==
        near(4 * 200 + 200 + 2 * 1500 + 200));
  // Up 100 + 200 + 400 of adding inside and 1100 + 800 + 400 between, and down.
  CHECK(on_servers_ns("binomial-tree", CollectiveKind::all_reduce, on, bytes) == near(700 + 2300 + 300 + 1900));
  // Two ranks of a server push half of the tensor to the other one; 3 x 200 bytes are added up.
  CHECK(on_servers_ns("parameter-server", CollectiveKind::all_reduce, on, bytes) == near(2 * (1100 + 800) + 300));
  // In each of six steps one message of 100 bytes each way crosses.
  CHECK(on_servers_ns("bidirectional-ring", CollectiveKind::all_reduce, on, bytes) == near(6 * (1100 + 200) + 3 * 100));
  // To the partner inside 400 bytes; then both ranks send 400 to the other server.
  CHECK(on_servers_ns("hierarchical-all-to-all", CollectiveKind::all_to_all, on, bytes) ==
        near(100 + 100 + 1100 + 800));
  CHECK(on_servers_ns("swap", CollectiveKind::exchange, on, bytes) == near(1100 + 1600));
}

TEST_CASE("every algorithm: the closed form on servers is the time of its messages, to the nanosecond") {
  std::set<std::string_view> compared;
  for (const auto& size : {std::pair{1, 4}, {1, 3}, {4, 1}, {6, 1}, {2, 2}, {3, 4}, {4, 4}, {2, 3}}) {
    const int servers = size.first, each = size.second;
    const Topology topology = servers_behind_interfaces(servers, each);
    const auto router = make_shortest_path_router(topology);
    const std::vector<NodeId> ranks{topology.gpus().begin(), topology.gpus().end()};
    const RanksOnServers on{servers * each, servers, each};
    for (const CollectiveAlgorithm& row : collective_algorithms()) {
      for (const CollectiveKind kind : row.kinds) {
        const CollectiveOnServers collective{row, kind, on, kServerLinks};
        if (&collective.algorithm() != &row)
          continue;  // refused, or ring for CollectiveKind::reduce and CollectiveKind::broadcast
        CollectiveShape shape;
        shape.ranks = on.ranks;
        if (servers > 1 && each > 1) shape.groups = {each, servers};
        const Bytes bytes{2'880'000};  // 2^9 x 3^2 x 5^4
        const LinkCost flat = servers == 1 ? kServerLinks.inside : kServerLinks.between;
        if (collective.pipelined()) shape.chunks = best_chunks(row, kind, shape, bytes, flat);
        const CollectiveSchedule schedule = expand_collective(row, kind, shape, bytes);
        CollectiveOptions options;
        options.gamma = TimePerByte{kReducing};
        const auto end = static_cast<double>(run_collective(schedule, ranks, topology, *router, options).end.ns());
        const double closed = collective.line(bytes).of(bytes.to_double());
        INFO(row.name, " ", name_of(kind), " on ", servers, " x ", each, ", ", shape.chunks, " chunks");
        const bool is_tree_across = row.name == "binomial-tree" && servers > 1 && each == 3;
        if (is_tree_across)
          continue;  // in order of rank its steps are not the steps of a tree inside and one among servers
        compared.insert(row.name);
        if (schedule.by_rank && servers > 1 && each > 1) {
          // Ranks that wait for their own data hide what happens inside a server behind the messages between servers.
          CHECK(end <= closed);
          CHECK(end >= 0.6 * closed);
        } else if (collective.pipelined()) {
          CHECK(std::abs(end - closed) <= 8.0 * static_cast<double>(schedule.step_count()));  // chunks of a byte more
        } else {
          CHECK(std::abs(end - closed) < 1);
        }
        CHECK(collective.least().of(bytes.to_double()) <= closed * (1 + 1e-12));
      }
    }
  }
  CHECK(compared.size() == collective_algorithms().size());
}

TEST_CASE(
    "what an algorithm does not do goes by the usual one, and CollectiveKind::reduce and CollectiveKind::broadcast "
    "always along a tree") {
  const auto taken = [](std::string_view name, CollectiveKind own, CollectiveKind kind, const RanksOnServers& on) {
    return CollectiveOnServers{find_collective_algorithm(name, own), kind, on, kServerLinks}.algorithm().name;
  };
  const RanksOnServers six{6, 6, 1}, two_by_three{6, 2, 3};
  CHECK(taken("halving-doubling", CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, six) ==
        "ring");  // needs a power of two
  CHECK(taken("halving-doubling", CollectiveKind::all_reduce, CollectiveKind::all_reduce, six) == "halving-doubling");
  CHECK(taken("hierarchical", CollectiveKind::all_reduce, CollectiveKind::all_reduce, six) ==
        "ring");  // there are no levels
  CHECK(taken("hierarchical", CollectiveKind::all_reduce, CollectiveKind::all_reduce, two_by_three) == "hierarchical");
  CHECK(taken("bruck", CollectiveKind::all_gather, CollectiveKind::all_reduce, six) == "ring");
  CHECK(taken("bruck", CollectiveKind::all_gather, CollectiveKind::all_gather, six) == "bruck");
  CHECK(taken("pairwise", CollectiveKind::all_to_all, CollectiveKind::exchange, six) == "swap");
  CHECK(taken("hierarchical-all-to-all", CollectiveKind::all_to_all, CollectiveKind::all_to_all, six) == "pairwise");
  for (const CollectiveKind tree : {CollectiveKind::reduce, CollectiveKind::broadcast})
    CHECK(taken("ring", CollectiveKind::all_reduce, tree, six) == "binomial-tree");
  const CollectiveOnServers alone{
      usual_algorithm(CollectiveKind::all_reduce), CollectiveKind::all_reduce, {1, 1, 1}, kServerLinks};
  CHECK(alone.line(Bytes{100}).of(100) == 0);
}

TEST_CASE("a pipelined algorithm has a line for each size, none of them below the least") {
  for (const RanksOnServers& on : {RanksOnServers{16, 16, 1}, RanksOnServers{16, 4, 4}}) {
    const CollectiveAlgorithm& tree = find_collective_algorithm("double-binary-tree", CollectiveKind::all_reduce);
    const CollectiveOnServers collective{tree, CollectiveKind::all_reduce, on, kServerLinks};
    CHECK(collective.pipelined());
    const CollectiveAlgorithm& ring = usual_algorithm(CollectiveKind::all_reduce);
    for (const CollectiveKind kind : ring.kinds)
      CHECK_FALSE(CollectiveOnServers{ring, kind, on, kServerLinks}.pipelined());  // its chain is, and is not taken
    double before = 0;
    for (std::int64_t bytes = 64; bytes <= std::int64_t{1} << 34; bytes *= 4) {
      const double taken = collective.line(Bytes{bytes}).of(static_cast<double>(bytes));
      CHECK(taken >= collective.least().of(static_cast<double>(bytes)));
      CHECK(taken > before);
      before = taken;
    }
  }
}
