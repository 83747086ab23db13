#include "models/overlap/exchange_cost.hpp"
#include "models/overlap/exchange_network.hpp"
#include "network/alpha_beta.hpp"
#include "network/collectives/algorithm.hpp"
#include "sim/random_stream.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("closed forms by hand: 4 workers, alpha 10 ns, beta 2 and gamma 1 ns per byte, 400 bytes") {
  const ChannelCost link{Time::nanoseconds(10), TimePerByte{2}, TimePerByte{1}};
  // Ring: 3 steps a half. Reduce-scatter 30 + 3/4 x 400 x (2 + 1) = 930, all-gather 30 + 3/4 x 400 x 2 = 630.
  const ExchangeCost ring = ExchangeCost::ring(4, link);
  CHECK(ring.of(CollectiveKind::reduce_scatter).of(Bytes{400}) == Time::nanoseconds(930));
  CHECK(ring.of(CollectiveKind::all_gather).of(Bytes{400}) == Time::nanoseconds(630));
  CHECK(ring.of(CollectiveKind::all_reduce).of(Bytes{400}) == Time::nanoseconds(1560));
  // Halving and doubling: log2(4) = 2 steps a half.
  const auto halving_doubling = [&](int workers) {
    const auto& row = find_collective_algorithm("halving-doubling", CollectiveKind::all_reduce);
    return ExchangeCost::by(row, {workers, workers, 1}, {}, link);
  };
  CHECK(halving_doubling(4).of(CollectiveKind::all_reduce).of(Bytes{400}) == Time::nanoseconds(1540));
  // Five fold onto four: 30 + 2 x 400 x 2 + 400 / 2 more.
  CHECK(halving_doubling(5).of(CollectiveKind::all_reduce).of(Bytes{400}) == Time::nanoseconds(1540 + 1830));
  // Its all-gather needs a power of two of ranks, as its schedule does; five go around a ring of 4 steps.
  CHECK(halving_doubling(5).of(CollectiveKind::all_gather).alpha == Time::nanoseconds(40));
  // Two servers of their own receive 4/2 of a message: push 10 + 800 x 2 + 800 x 1, pull 10 + 800 x 2.
  const ExchangeCost apart = ExchangeCost::parameter_server(4, 2, false, link);
  CHECK(apart.of(CollectiveKind::reduce).of(Bytes{400}) == Time::nanoseconds(2410));
  CHECK(apart.of(CollectiveKind::broadcast).of(Bytes{400}) == Time::nanoseconds(1610));
  CHECK(apart.duplex());
  // Four on the machines of the workers: 3/4 of a message out, 3/4 in.
  const ExchangeCost together = ExchangeCost::parameter_server(4, 4, true, link);
  CHECK(together.of(CollectiveKind::broadcast).of(Bytes{400}) == Time::nanoseconds(610));
  CHECK_FALSE(together.duplex());
  // Two on machines of four workers: a machine without server sends it all; a server receives 3/2 of it.
  CHECK(ExchangeCost::parameter_server(4, 2, true, link).of(CollectiveKind::broadcast).of(Bytes{400}) ==
        Time::nanoseconds(1210));
  // Pairwise: 3 blocks of 100 bytes; trees of log2(4) steps with the whole tensor: 2 x (10 + 400 x 2), up with gamma.
  CHECK(ring.of(CollectiveKind::all_to_all).of(Bytes{400}) == Time::nanoseconds(630));
  CHECK(ring.of(CollectiveKind::broadcast).of(Bytes{400}) == Time::nanoseconds(1620));
  CHECK(ring.of(CollectiveKind::reduce).of(Bytes{400}) == Time::nanoseconds(2420));
  // A ring of 4 that all-reduces in 60 ns and 3 ns a byte has a link of 10 and 2.
  const ExchangeCost as_ring = ExchangeCost::measured({Time::nanoseconds(60), TimePerByte{3}}, {4, 4, 1});
  CHECK(as_ring.of(CollectiveKind::all_to_all).of(Bytes{400}) == Time::nanoseconds(630));
  CHECK(as_ring.of(CollectiveKind::broadcast).of(Bytes{400}) == Time::nanoseconds(1620));
  const ExchangeCost measured = ExchangeCost::measured({Time::nanoseconds(11), TimePerByte{3}});
  CHECK(measured.of(CollectiveKind::all_reduce).of(Bytes{10}) == Time::nanoseconds(41));
  CHECK((measured.of(CollectiveKind::reduce_scatter).alpha + measured.of(CollectiveKind::all_gather).alpha) ==
        Time::nanoseconds(11));
}

TEST_CASE("transfers share a lane as in the k-way contention of the network") {
  int contended = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream stream{seed, "exchange"};
    const auto in = [&](std::int64_t low, std::int64_t high) { return stream.uniform_integer(low, high); };
    const LinearCost alone{Time::nanoseconds(in(0, 50)), TimePerByte{0.25 * static_cast<double>(in(1, 20))}};
    ExchangeCost cost = ExchangeCost::measured(alone);
    cost.penalty = 0.25 * static_cast<double>(in(0, 4));
    const auto reference = make_contention_network(
        {alone.alpha, alone.beta, TimePerByte{alone.beta.ns_per_byte() * cost.penalty}, {}}, 2, 1);
    const auto network = make_exchange_network(cost, 2, 1);
    const std::vector<ServerId> servers{ServerId{0U}, ServerId{1U}};
    Time now;
    int left = 20;
    std::vector<TransferId> ended, expected;
    while (left > 0 || network->next_end() != Time::never()) {
      INFO("seed ", seed, " at ", now.ns());
      REQUIRE(network->next_end() == reference->next_end());
      const Time arrival = left > 0 ? now + Time::nanoseconds(in(0, 300)) : Time::never();
      if (network->next_end() <= arrival) {
        now = network->next_end();
        network->finish_due(now, ended);
        reference->finish_due(now, expected);
        REQUIRE(ended.size() == expected.size());
        continue;
      }
      now = arrival;
      --left;
      TransferRequest request;
      request.job = JobId{0U};
      request.bytes = Bytes{in(0, 400)};
      request.ranks = 2;
      request.servers = servers;
      network->start(request, now);
      reference->start(request, now);
    }
    const auto ours = network->job_usage(JobId{0U}, now);
    const auto theirs = reference->job_usage(JobId{0U}, now);
    CHECK(ours.active == theirs.active);
    CHECK(ours.contended == theirs.contended);
    contended += ours.contended > Time{} ? 1 : 0;
    CHECK(ours.transfers == theirs.transfers);
    CHECK(ours.bytes == theirs.bytes);
    CHECK(network->server_usage(ServerId{1U}, now).active == reference->server_usage(ServerId{1U}, now).active);
  }
  CHECK(contended > 150);
}

TEST_CASE("the transfers in flight, and the bytes that each has left, by hand") {
  // 10 ns of start-up, then 2 ns a byte. At 30 the first has sent 10 of 100 bytes; the second shares the lane from
  // then.
  const auto network = make_exchange_network(ExchangeCost::measured({Time::nanoseconds(10), TimePerByte{2}}), 2, 2);
  const std::vector<ServerId> servers{ServerId{0U}, ServerId{1U}};
  TransferRequest request;
  request.bytes = Bytes{100};
  request.ranks = 2;
  request.servers = servers;
  request.job = JobId{0U};
  network->start(request, Time{});
  request.job = JobId{1U};
  network->start(request, Time::nanoseconds(30));
  const auto in_flight = [&](Time now) {
    network->set_now(now);
    std::vector<ActiveTransfer> transfers;
    network->active(ServerId{1U}, transfers);
    return transfers;
  };
  std::vector<ActiveTransfer> both = in_flight(Time::nanoseconds(30));
  REQUIRE(both.size() == 2);
  CHECK(both[0].job == JobId{0U});
  CHECK(both[0].remaining_bytes == 90);
  CHECK(both[1].job == JobId{1U});
  CHECK(both[1].remaining_bytes == 100);
  both = in_flight(Time::nanoseconds(50));  // at half speed, the second after its start-up
  CHECK(both[0].remaining_bytes == 85);
  CHECK(both[1].remaining_bytes == 97.5);
  CHECK(network->job_usage(JobId{0U}, Time::nanoseconds(50)).contended == Time::nanoseconds(20));
}
