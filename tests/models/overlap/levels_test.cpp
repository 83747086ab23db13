// Tests the costs and the volumes of collectives on two levels: servers of several ranks.

#include "models/overlap/exchange_cost.hpp"
#include "models/overlap/exchange_network.hpp"
#include "models/overlap/volume.hpp"
#include "network/collectives/algorithm.hpp"
#include "network/collectives/collective_run.hpp"
#include "network/topologies/graph_spec.hpp"
#include "tests/near.hpp"

#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;
using enum CollectiveKind;
using enum CollectiveScope;

namespace {

constexpr CollectiveKind kKinds[] = {all_reduce, reduce_scatter, all_gather, broadcast, reduce, all_to_all, exchange};

Time of_ns(std::int64_t n) {
  return Time::nanoseconds(n);
}
ChannelCost cable(std::int64_t alpha, double beta, double gamma = 0) {
  return {of_ns(alpha), TimePerByte{beta}, TimePerByte{gamma}};
}

}  // namespace

TEST_CASE("two servers of two ranks by hand: inside 1 ns and 0.5 ns per byte, between 10 and 2, 400 bytes") {
  const ExchangeCost cost = ExchangeCost::two_level(2, 2, cable(1, 0.5), cable(10, 2));
  const auto time = [&](CollectiveKind kind, CollectiveScope scope) { return cost.of(kind, scope).of(Bytes{400}); };
  CHECK(cost.per_server() == 2);
  CHECK(cost.levels());
  CHECK_FALSE(cost.one_server());
  // A ring of 4 that enters and leaves each server once: 3 times 100 x 2 a half. On the way of the data are at most 2
  // hops between servers and 1 inside in a half, 3 and 3 in both.
  CHECK(time(reduce_scatter, all) == of_ns(21 + 600));
  CHECK(time(all_gather, all) == of_ns(21 + 600));
  CHECK(time(all_reduce, all) == of_ns(33 + 1200));
  // Blocks of 100. One message leaves a server at distances 1 and 3, two at distance 2: 10 + 200, 10 + 400, 10 + 200.
  CHECK(time(all_to_all, all) == of_ns(830));
  // To the other server 10 + 800, inside 1 + 200.
  CHECK(time(broadcast, all) == of_ns(1011));
  // Two ranks a server swap 400 each: 10 + 800 x 2.
  CHECK(time(exchange, all) == of_ns(1610));
  CHECK(time(reduce_scatter, server) == of_ns(101));
  CHECK(time(all_reduce, server) == of_ns(202));
  CHECK(time(exchange, server) == of_ns(201));
  // A ring of two servers: 10 + 200 x 2 a half; if both ranks of a server do it at once, 10 + 200 x 4.
  CHECK(time(all_reduce, leaders) == of_ns(820));
  CHECK(time(exchange, leaders) == of_ns(810));
  CHECK(time(all_reduce, peers) == of_ns(1620));
  CHECK(time(exchange, peers) == of_ns(1610));
}

TEST_CASE("three servers of four ranks by hand, with a reduction at 1 ns per byte") {
  const ExchangeCost cost = ExchangeCost::two_level(3, 4, cable(1, 0.5, 1), cable(10, 2, 1));
  const auto time = [&](CollectiveKind kind, CollectiveScope scope, std::int64_t bytes) {
    return cost.of(kind, scope).of(Bytes{bytes});
  };
  // 11 steps of 100 bytes: 100 x (2 + 1), and back without adding up. Of 11 hops in a row 3 are between servers, of 22
  // at most 6.
  CHECK(time(reduce_scatter, all, 1200) == of_ns(3 * 10 + 8 + 3300));
  CHECK(time(all_gather, all, 1200) == of_ns(3 * 10 + 8 + 2200));
  CHECK(time(all_reduce, all, 1200) == of_ns(6 * 10 + 16 + 5500));
  // Blocks of 100: 1, 2, 3 messages leave a server at distances 1 to 3 and 11 to 9, four at 4 to 8: 32 blocks in all.
  CHECK(time(all_to_all, all, 1200) == of_ns(11 * 10 + 32 * 100 * 2));
  // Two steps among three servers, two among four ranks.
  CHECK(time(broadcast, all, 1200) == of_ns(2 * (10 + 2400) + 2 * (1 + 600)));
  CHECK(time(reduce, all, 1200) == of_ns(2 * (10 + 3600) + 2 * (1 + 1800)));
  // Two thirds of 300 bytes at four times 2 ns, adding up not shared.
  CHECK(time(reduce_scatter, peers, 300) == of_ns(20 + 200 * 9));
  CHECK(time(all_gather, leaders, 1200) == of_ns(20 + 800 * 2));
  CHECK(time(all_gather, server, 1200) == of_ns(3 + 450));
}

TEST_CASE("a chunk crosses servers twice as often as there are servers: 128 ranks on 16 servers, 1 ms between them") {
  const ExchangeCost cost = ExchangeCost::two_level(16, 8, cable(0, 0.01), cable(1'000'000, 0.8));
  CHECK(cost.of(all_reduce).alpha == of_ns(32'000'000));  // not 2 x 127 steps of 1 ms
}

TEST_CASE("if the link inside servers is the slower one, it decides the steps that use it") {
  const ExchangeCost cost = ExchangeCost::two_level(2, 2, cable(20, 3), cable(10, 2));
  // Of 6 hops in a row 3 are inside.
  CHECK(cost.of(all_reduce).of(Bytes{400}) == of_ns(3 * 20 + 3 * 10 + 2 * 900));
  // Distances 1 and 3: 20 + 100 x 3 inside; distance 2 is between only: 10 + 100 x 4.
  CHECK(cost.of(all_to_all).of(Bytes{400}) == of_ns(2 * 320 + 410));
}

TEST_CASE("one rank per server, and a single server, cost a ring on the only link in use") {
  const ExchangeCost flat = ExchangeCost::two_level(8, 1, cable(1, 0.5, 1), cable(10, 2, 1));
  const ExchangeCost between = ExchangeCost::ring(8, cable(10, 2, 1));
  const ExchangeCost together = ExchangeCost::two_level(1, 8, cable(1, 0.5, 1), cable(10, 2, 1));
  const ExchangeCost inside = ExchangeCost::ring(8, cable(1, 0.5, 1));
  CHECK_FALSE(flat.levels());
  CHECK(together.one_server());
  for (const CollectiveKind kind : kKinds) {
    for (const CollectiveScope scope : {all, server, leaders, peers})
      CHECK(flat.of(kind, scope).of(Bytes{1000}) == between.of(kind, scope).of(Bytes{1000}));
    CHECK(together.of(kind).of(Bytes{1000}) == inside.of(kind).of(Bytes{1000}));
    CHECK(together.of(kind, server).of(Bytes{1000}) == inside.of(kind).of(Bytes{1000}));
    CHECK(together.of(kind, leaders).of(Bytes{1000}) == of_ns(0));
    CHECK(together.of(kind, peers).of(Bytes{1000}) == of_ns(0));
  }
}

TEST_CASE("transfers inside servers and between them don't share a link; within one server all do") {
  const auto ends = [](const ExchangeCost& cost) {
    ExchangeLanes lanes{cost};
    lanes.start(all_gather, all, Bytes{400}, Time{});
    lanes.start(all_gather, server, Bytes{400}, Time{});
    return lanes.next_end();
  };
  CHECK(ends(ExchangeCost::two_level(2, 2, cable(1, 0.5), cable(10, 2))) == of_ns(101));
  CHECK(ends(ExchangeCost::two_level(1, 2, cable(1, 0.5), cable(10, 2))) == of_ns(201));
}

TEST_CASE("bytes sent by a worker and out of a server, by hand: three servers of four, 1200 bytes") {
  const auto sent = [](CollectiveKind kind, CollectiveScope scope) {
    return sent_volume(kind, scope, Bytes{1200}, 12, 4);
  };
  CHECK(sent(all_reduce, all).by_worker == 2200);
  CHECK(sent(all_reduce, all).by_interface == 2200);  // 2(n-1)/n, not 2(s-1)/s
  CHECK(sent(all_gather, server).by_worker == 900);
  CHECK(sent(all_gather, server).by_interface == 0);
  CHECK(sent(reduce_scatter, leaders).by_worker == 800);
  CHECK(sent(reduce_scatter, leaders).by_interface == 800);
  CHECK(sent(all_reduce, peers).by_worker == 1600);
  CHECK(sent(all_reduce, peers).by_interface == 6400);
  CHECK(sent(all_to_all, all).by_worker == 1100);
  CHECK(sent(all_to_all, all).by_interface == 3200);  // 32 blocks of 100
  CHECK(sent(exchange, all).by_interface == 4800);
  CHECK(sent(broadcast, all).by_interface == 1200);
  // Fewer workers than fill a server: nothing leaves it.
  CHECK(sent_volume(all_reduce, all, Bytes{1200}, 3, 4).by_worker == 1600);
  CHECK(sent_volume(all_reduce, all, Bytes{1200}, 3, 4).by_interface == 0);
  CHECK(sent_volume(all_reduce, peers, Bytes{1200}, 3, 4).by_worker == 0);
}

TEST_CASE("of listed groups an interface carries what all that leave its server send") {
  // Two ranks a server. 0,1 stay on server 0; 2,4,6 are on servers 1 to 3, and each sends 4/3 of 1200; 3,5 send 1200.
  IterationGraph graph;
  const RoleId role = graph.add_role("worker", 8);
  const OpId op = graph.add_collective("g", CollectiveKind::all_reduce, role, Bytes{1200}, RankGroups{1, 2});
  graph.put_into_groups(
      op, {.lists = std::make_shared<const RankLists>(std::vector<std::vector<int>>{{0, 1}, {2, 4, 6}, {3, 5}})});
  const SentVolume volume = sent_volume(graph, graph.ops()[op.index()], 2);
  CHECK(volume.by_worker == 1600);
  CHECK(volume.by_interface == 1600 + 1200);
  CHECK(sent_volume(graph, graph.ops()[op.index()], 8).by_interface == 0);
}

TEST_CASE("of messages an interface carries those that leave the server with most of them") {
  // Ranks 0 to 2 send to ranks 3 to 5.
  IterationGraph graph;
  const RoleId from = graph.add_role("from", 3), to = graph.add_role("to", 3);
  const OpId op = graph.add_message("m", from, to, Bytes{100});
  const auto leaving = [&](int per_server) {
    const SentVolume volume = sent_volume(graph, graph.ops()[op.index()], per_server);
    CHECK(volume.by_worker == 100);
    return volume.by_interface;
  };
  CHECK(leaving(1) == 100);
  CHECK(leaving(2) == 200);  // ranks 0 and 1; rank 2 sends to the server of 4 and 5, and 3 is beside it
  CHECK(leaving(3) == 300);
  CHECK(leaving(4) == 200);  // of ranks 0 to 3, 0 stays with 3
  CHECK(leaving(6) == 0);
}

TEST_CASE("an interface is never busier than the costs say, and around a ring exactly as busy") {
  for (const int servers : {2, 3, 8}) {
    for (const int per_server : {2, 4, 7}) {
      const ExchangeCost cost = ExchangeCost::two_level(servers, per_server, cable(0, 0), cable(0, 2));
      for (const CollectiveKind kind : kKinds) {
        for (const CollectiveScope scope : {all, leaders, peers}) {
          const double volume = sent_volume(kind, scope, Bytes{1}, servers * per_server, per_server).by_interface;
          const double busy = cost.of(kind, scope).beta.ns_per_byte() / 2;
          if (kind == broadcast || kind == reduce) {
            CHECK(busy >= volume - 1e-9);  // log2(s) steps, of which the root sends in each
          } else {
            CHECK(busy == near(volume));
          }
        }
      }
    }
  }
}

TEST_CASE(
    "the closed forms equal or bound the schedules run message by message on servers of four GPUs behind one "
    "interface") {
  // Inside 2 bytes/ns and 2 x 50 ns; between servers 1 byte/ns a way for all four, and 2 x (50 + 500) ns.
  GraphSpec graph;
  graph.nodes.push_back({"switch", NodeKind::fabric_switch, std::nullopt, false});
  const auto connect = [&](const std::string& a, const std::string& b, double bandwidth, std::int64_t latency) {
    graph.links.push_back({a, b, ByteRate{bandwidth}, of_ns(latency), true, 1});
  };
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string here = "server" + std::to_string(i);
    graph.nodes.push_back({here + "/nvswitch", NodeKind::bridge, i, false});
    graph.nodes.push_back({here + "/nic", NodeKind::nic, i, false});
    for (int gpu = 0; gpu < 4; ++gpu) {
      graph.nodes.push_back({here + "/gpu" + std::to_string(gpu), NodeKind::gpu, i, false});
      connect(graph.nodes.back().name, here + "/nvswitch", 2e9, 50);
    }
    connect(here + "/nvswitch", here + "/nic", 9e9, 0);
    connect(here + "/nic", "switch", 1e9, 500);
  }
  const Topology topology = build_graph(graph);
  const auto router = make_shortest_path_router(topology);
  const ExchangeCost cost = ExchangeCost::two_level(3, 4, cable(100, 0.5, 0.25), cable(1100, 1, 0.25));
  const auto compare = [&](const char* name, CollectiveKind kind, std::size_t gpus) {
    CollectiveShape shape;
    shape.ranks = static_cast<int>(gpus);
    const auto schedule = expand_collective(find_collective_algorithm(name, kind), kind, shape, Bytes{48'000});
    const std::vector<NodeId> ranks{topology.gpus().begin(),
                                    topology.gpus().begin() + static_cast<std::ptrdiff_t>(gpus)};
    CollectiveOptions options;
    options.gamma = TimePerByte{0.25};
    INFO(name, " ", std::string{name_of(kind)}, " of ", gpus);
    const Time end = run_collective(schedule, ranks, topology, *router, options).end;
    const Time closed = cost.of(kind, gpus == 4 ? server : all).of(Bytes{48'000});
    if (schedule.by_rank && gpus == 12) {
      // The closed form has the larger start-up in every step. Ranks that wait for their own data only hide start-ups
      // and reductions behind the slow messages between servers, of 1 ns a byte.
      const double sent = 48'000.0 / 12 * (kind == all_reduce ? 22 : 11);
      CHECK(end < closed);
      CHECK(static_cast<double>(end.ns()) >= sent);
      CHECK(static_cast<double>(end.ns()) < sent + 1100 + 1000 + 4000);
      return;
    }
    CHECK(end == closed);
  };
  for (const CollectiveKind kind : {reduce_scatter, all_gather, all_reduce}) {
    compare("ring", kind, 12);
    compare("ring", kind, 4);
  }
  compare("pairwise", all_to_all, 12);
  compare("pairwise", all_to_all, 4);
  compare("swap", exchange, 12);
}
