// Each equation of NCCL's cost model worked out by hand, on communicators whose numbers are all different, and the
// the limits of its input.

#include "network/library/nccl_model.hpp"

#include "sim/error.hpp"
#include "tests/near.hpp"

#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

constexpr NcclVersion k2_10{2, 10, 3}, k2_18{2, 18, 5}, k2_23{2, 23, 4}, k2_28{2, 28, 0}, k2_30{2, 30, 7};
constexpr auto kReduce = CollectiveKind::all_reduce;
constexpr auto kGather = CollectiveKind::all_gather;
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::int64_t kHuge = std::int64_t{1} << 40;  ///< beyond the table that corrects trees

/// Hopper with all that NCCL can use: four channels of 20 GB/s inside servers and 12 between them.
NcclCommunicator ranks_on(std::vector<int> ranks_by_server, NcclVersion version = k2_23) {
  NcclCommunicator it;
  it.version = version;
  it.ranks_by_server = std::move(ranks_by_server);
  it.graph = {4, 20, 12};
  it.nvls = {8, 40, 44};
  it.launched = 8;
  it.ll128 = it.nvswitch = it.sharp = true;
  it.gpu_rate = 100;
  it.server_rate = 50;
  return it;
}

const NcclTime* offered(const std::vector<NcclTime>& times, NcclAlgorithm algorithm, NcclProtocol protocol) {
  for (const NcclTime& time : times)
    if (time.algorithm == algorithm && time.protocol == protocol) return &time;
  return nullptr;
}

bool has(const NcclCommunicator& it, CollectiveKind kind, NcclAlgorithm algorithm,
         NcclProtocol protocol = NcclProtocol::simple) {
  return offered(NcclModel{it}.times(kind, Bytes{1024}), algorithm, protocol) != nullptr;
}

/// GB/s of a large collective.
double rate(const NcclCommunicator& it, NcclAlgorithm algorithm, NcclProtocol protocol = NcclProtocol::simple,
            CollectiveKind kind = kReduce, const NcclFit& fit = {}) {
  const std::vector<NcclTime> times = NcclModel{it, fit}.times(kind, Bytes{kHuge});
  const NcclTime* time = offered(times, algorithm, protocol);
  REQUIRE(time != nullptr);
  CHECK(time->seconds == near(time->start_up + static_cast<double>(kHuge) / time->bandwidth));
  return time->bandwidth * 1e-9;
}

/// The start-up time in us.
double start(const NcclCommunicator& it, NcclAlgorithm algorithm, NcclProtocol protocol = NcclProtocol::simple,
             CollectiveKind kind = kReduce, const NcclFit& fit = {}, std::int64_t bytes = 1024) {
  const std::vector<NcclTime> times = NcclModel{it, fit}.times(kind, Bytes{bytes});
  const NcclTime* time = offered(times, algorithm, protocol);
  REQUIRE(time != nullptr);
  return time->start_up * 1e6;
}

void check_refused(const NcclCommunicator& it, const NcclFit& fit = {}) {
  CHECK_THROWS_AS((NcclModel{it, fit}), InputError);
}

}  // namespace

TEST_CASE("NCCL: bus bandwidth over algorithm bandwidth") {
  CHECK(bus_factor(kReduce, 8) == near(1.75));
  for (const CollectiveKind kind : {CollectiveKind::reduce_scatter, kGather, CollectiveKind::all_to_all})
    CHECK(bus_factor(kind, 8) == near(0.875));
  CHECK(bus_factor(CollectiveKind::broadcast, 8) == near(1));
  CHECK(bus_factor(CollectiveKind::reduce, 8) == near(1));
  CHECK(nccl_has(CollectiveKind::all_to_all));
  CHECK_FALSE(nccl_has(CollectiveKind::exchange));
}

TEST_CASE("NCCL: rings take the bandwidth inside with up to two servers") {
  // n / (2 (n - 1)) of all four channels.
  CHECK(rate(ranks_on({5}), NcclAlgorithm::ring) == near(4 * 20 * 5.0 / 8));
  CHECK(rate(ranks_on({3, 2}), NcclAlgorithm::ring) == near(4 * 20 * 5.0 / 8));
  CHECK(rate(ranks_on({2, 2, 1}), NcclAlgorithm::ring) == near(4 * 12 * 5.0 / 8));
  CHECK(rate(ranks_on({5}), NcclAlgorithm::ring, NcclProtocol::simple, CollectiveKind::reduce_scatter) ==
        near(4 * 20 * 5.0 / 4));
  CHECK(rate(ranks_on({5}), NcclAlgorithm::ring, NcclProtocol::simple, CollectiveKind::broadcast) == near(4 * 20));
}

TEST_CASE("NCCL: 2.10 limits all channels together on Ampere only") {
  NcclCommunicator ampere = ranks_on({5}, k2_10);
  ampere.graph = {8, 50, 50};
  ampere.launched = 16;
  CHECK(rate(ampere, NcclAlgorithm::ring) == near(400 * 5.0 / 8));
  ampere.gpu = GpuGeneration::ampere;
  CHECK(rate(ampere, NcclAlgorithm::ring) == near(235 * 5.0 / 8));
  ampere.version = k2_23;
  CHECK(rate(ampere, NcclAlgorithm::ring) == near(400 * 5.0 / 8));
}

TEST_CASE("NCCL: rings with LL") {
  const auto ll = [](std::vector<int> ranks, NcclVersion version, CollectiveKind kind) {
    NcclCommunicator it = ranks_on(std::move(ranks), version);
    it.graph = {4, 6, 5};
    return rate(it, NcclAlgorithm::ring, NcclProtocol::ll, kind);
  };
  // 2.18: a quarter of 24 GB/s where values are added or servers are crossed, else a third.
  CHECK(ll({5}, k2_18, kReduce) == near(6 * 5.0 / 8));
  CHECK(ll({5}, k2_18, CollectiveKind::reduce) == near(6));
  CHECK(ll({5}, k2_18, CollectiveKind::broadcast) == near(8));
  CHECK(ll({5}, k2_18, kGather) == near(8 * 5.0 / 4));
  CHECK(ll({3, 2}, k2_18, CollectiveKind::broadcast) == near(6));
  CHECK(ll({2, 2, 1}, k2_18, CollectiveKind::broadcast) == near(5));
  // At most so much between servers, by the vendor of the CPU, and in a server by the generation.
  NcclCommunicator fast = ranks_on({2, 3});
  fast.graph = {10, 50, 40};
  fast.launched = 10;
  CHECK(rate(fast, NcclAlgorithm::ring, NcclProtocol::ll) == near(39 * 5.0 / 8));
  fast.cpu = CpuVendor::amd;
  CHECK(rate(fast, NcclAlgorithm::ring, NcclProtocol::ll) == near(22.5 * 5.0 / 8));
  fast.ranks_by_server = {2, 2, 1};
  CHECK(rate(fast, NcclAlgorithm::ring, NcclProtocol::ll) == near(19 * 5.0 / 8));
  fast.cpu = CpuVendor::intel;
  CHECK(rate(fast, NcclAlgorithm::ring, NcclProtocol::ll) == near(20.4 * 5.0 / 8));
  fast.ranks_by_server = {5};
  CHECK(rate(fast, NcclAlgorithm::ring, NcclProtocol::ll) == near(141 * 5.0 / 8));
}

TEST_CASE("NCCL: rings with LL128") {
  const auto ll128 = [](std::vector<int> ranks, NcclVersion version, const ChannelPlan& plan) {
    NcclCommunicator it = ranks_on(std::move(ranks), version);
    it.graph = plan;
    return rate(it, NcclAlgorithm::ring, NcclProtocol::ll128);
  };
  // 0.7 of the bandwidth with fewer than two ranks a server, else 0.92.
  CHECK(ll128({1, 1, 1}, k2_10, {4, 20, 12}) == near(4 * 12 * 0.7 * 3 / 4));
  CHECK(ll128({2, 2, 2}, k2_10, {4, 20, 12}) == near(4 * 12 * 0.92 * 6 / 10));
  CHECK(ll128({2, 1, 1}, k2_10, {4, 20, 12}) == near(4 * 12 * 0.7 * 4 / 6));
  // At most 36.7 GB/s a channel on Hopper from 2.18 on, 20 before.
  CHECK(ll128({3}, k2_10, {4, 50, 45}) == near(4 * 20 * 3.0 / 4));
  CHECK(ll128({3}, k2_23, {4, 50, 45}) == near(4 * 36.7 * 3.0 / 4));
  CHECK(ll128({1, 2}, k2_23, {4, 50, 45}) == near(4 * 36.7 * 3.0 / 4));
  CHECK(ll128({1, 1, 1}, k2_23, {4, 50, 45}) == near(4 * 36.7 * 3.0 / 4));
  CHECK(ll128({1, 1, 1, 1}, k2_23, {4, 50, 45}) == near(4 * 36.7 * 4.0 / 6));
}

TEST_CASE("NCCL: trees have limits by the number of servers") {
  const auto tree = [](std::vector<int> ranks, NcclProtocol protocol, bool plain = false) {
    NcclCommunicator it = ranks_on(std::move(ranks));
    it.graph = {4, 60, 50};
    it.plain_tree = plain;
    return rate(it, NcclAlgorithm::tree, protocol);
  };
  // Half of what four channels carry, at most 38.7, 41.4 or 36 GB/s each.
  CHECK(tree({5}, NcclProtocol::simple) == near(4 * 38.7 / 2));
  CHECK(tree({3, 2}, NcclProtocol::simple) == near(4 * 41.4 / 2));
  CHECK(tree({2, 2, 1}, NcclProtocol::simple) == near(4 * 36.0 / 2));
  CHECK(tree({2, 1, 1, 1}, NcclProtocol::simple) == near(4 * 36.0 / 2));
  CHECK(tree({2, 2, 1}, NcclProtocol::simple, true) == near(0.85 * 4 * 36.0 / 2));
  CHECK(tree({5}, NcclProtocol::ll) == near(4 * 38.7 / 3.8 / 2));
  CHECK(tree({3, 2}, NcclProtocol::ll) == near(39.0 / 2));
  CHECK(tree({2, 2, 1}, NcclProtocol::ll) == near(20.4 / 2));
  CHECK(tree({2, 2, 1}, NcclProtocol::ll, true) == near(0.85 * 20.4 / 2));
  CHECK(tree({5}, NcclProtocol::ll128) == near(4 * 38.7 * 7 / 9 / 2));
  CHECK(tree({3, 2}, NcclProtocol::ll128) == near(4 * 36.7 / 2));
  CHECK(tree({2, 2, 1}, NcclProtocol::ll128) == near(4 * 29.0 / 2));
  CHECK(tree({2, 2, 1}, NcclProtocol::ll128, true) == near(0.85 * 4 * 29.0 / 2));
  // Below the limits 0.92 of the channels, and with LL128 120 of 128 bytes between servers.
  CHECK(rate(ranks_on({5}), NcclAlgorithm::tree) == near(80 * 0.92 / 2));
  CHECK(rate(ranks_on({3, 2}), NcclAlgorithm::tree, NcclProtocol::ll128) == near(80 * 0.92 * 120 / 128 / 2));
  CHECK(rate(ranks_on({2, 2, 1}), NcclAlgorithm::tree, NcclProtocol::ll) == near(48 * 0.92 / 3.8 / 2));
}

TEST_CASE("NCCL: switches of the network add for several GPUs a channel") {
  // Two GPUs a channel: all channels / (2 - 1/2), and 0.85 of that from Hopper on.
  NcclCommunicator it = ranks_on({8, 8});
  CHECK(rate(it, NcclAlgorithm::collnet_direct) == near(80 / 1.5 * 0.85 / 2));
  CHECK(rate(it, NcclAlgorithm::collnet_chain) == near(80 / 2.0));
  it.gpu = GpuGeneration::ampere;
  CHECK(rate(it, NcclAlgorithm::collnet_direct) == near(80 / 1.5 / 2));
  CHECK(rate(it, NcclAlgorithm::collnet_chain) == near(80 / 2.0));
  CHECK(rate(it, NcclAlgorithm::collnet_chain, NcclProtocol::simple, kReduce, {.channel_rate = 5.0}) == near(10));
  // One hop inside for any number of others, whose data are added one after the other.
  CHECK(start(it, NcclAlgorithm::collnet_direct) == near(2 * (3.7 + 7 * 0.4) + 31));
  // With one GPU a server a hop of the network takes the latency of the tree.
  CHECK(start(ranks_on({1, 1}), NcclAlgorithm::collnet_direct) == near(14));
  CHECK(start(ranks_on({2, 2}), NcclAlgorithm::collnet_direct) == near(2 * (3.7 + 0.4) + 31));
  CHECK(start(ranks_on({3, 2}), NcclAlgorithm::collnet_direct) == near(2 * (3.7 + 0.4) + 31));
  CHECK(start(ranks_on({3, 3}), NcclAlgorithm::collnet_chain) == near(2 * 2 * 2.8 + 30));
  NcclCommunicator old = ranks_on({3, 3}, k2_18);
  CHECK(start(old, NcclAlgorithm::collnet_chain) == near(2 * 2 * 4.75 + 14));
  CHECK(start(old, NcclAlgorithm::collnet_direct) == near(2 * (8 + 2 * 0.5) + 10.7));
}

TEST_CASE("NCCL: bandwidth of NVLink SHARP by rule") {
  const auto nvls = [](std::vector<int> ranks, NcclVersion version, NcclAlgorithm algorithm,
                       CollectiveKind kind = kReduce) {
    return rate(ranks_on(std::move(ranks), version), algorithm, NcclProtocol::simple, kind);
  };
  constexpr auto kNvls = NcclAlgorithm::nvls;
  constexpr auto kNvlsTree = NcclAlgorithm::nvls_tree;
  // 2.18: eight channels of 40 GB/s with two servers, of 44 with more.
  CHECK(nvls({4, 4}, k2_18, kNvls) == near(8 * 40 * 5.0 / 6));
  CHECK(nvls({4, 4}, k2_18, kNvlsTree) == near(8 * 40 * 0.7 * 2 / 2));
  CHECK(nvls({2, 2, 2}, k2_18, kNvls) == near(8 * 44 * 5.0 / 6));
  CHECK(nvls({2, 2, 2}, k2_18, kNvlsTree) == near(8 * 44 * 0.7 * 3 / 4));
  // 2.23: the narrowest; a tree over more than two servers sends twice between them.
  CHECK(nvls({4, 4}, k2_23, kNvls) == near(8 * 40 * 5.0 / 6));
  CHECK(nvls({4, 4}, k2_23, kNvlsTree) == near(8 * 40 * 5.0 / 6));
  CHECK(nvls({2, 2, 2}, k2_23, kNvls) == near(8 * 40 * 5.0 / 6));
  CHECK(nvls({2, 2, 2}, k2_23, kNvlsTree) == near(8 * 22 * 5.0 / 6));
  CHECK(nvls({8}, k2_23, kNvls, kGather) == near(8 * 40));
  NcclCommunicator narrow = ranks_on({4, 4});
  narrow.nvls.between = 30;
  CHECK(rate(narrow, kNvls) == near(8 * 30 * 5.0 / 6));
  CHECK(rate(narrow, kNvlsTree) == near(8 * 30 * 5.0 / 6));
  CHECK(rate(narrow, kNvls, NcclProtocol::simple, kReduce, {.channel_rate = 10.0}) == near(8 * 15 * 5.0 / 6));
  narrow.nvls.inside = 24;
  CHECK(rate(narrow, kNvls, NcclProtocol::simple, kReduce, {.channel_rate = 10.0}) == near(8 * 12 * 5.0 / 6));
  // 2.28: 0.85 of seven eighths of a channel, twice for an all-reduce.
  NcclCommunicator measured = ranks_on({4, 4}, k2_28);
  CHECK(rate(measured, kNvls) == near(8 * 44 * 8.0 / 14));
  CHECK(rate(measured, kNvlsTree) == near(8 * 57.7 * 8 / 14));
  measured.nvls.between = 20;
  CHECK(rate(measured, kNvls) == near(8 * 20 * 8.0 / 14));
  CHECK(rate(measured, kNvlsTree) == near(8 * 40 * 8.0 / 14));
  CHECK(rate(measured, kNvls, NcclProtocol::simple, kGather) == near(8 * 20));
  measured.version = k2_30;
  CHECK(rate(measured, kNvls, NcclProtocol::simple, kGather) == near(8 * 20 * 8.0 / 7));
  measured.ranks_by_server = {4, 4, 4};
  CHECK(rate(measured, kNvlsTree) == near(8 * 20 * 12.0 / 22));
  measured.nvls.between = 100;
  CHECK(rate(measured, kNvlsTree) == near(8 * 45.5 * 12.0 / 22));
  CHECK(rate(measured, kNvls) == near(8 * 40 * 0.85 * 7 / 8 * 2 * 12 / 22));
  measured.ranks_by_server = {4, 4};
  CHECK(rate(measured, kNvlsTree) == near(8 * 57.7 * 8 / 14));
  CHECK(rate(measured, kNvls, NcclProtocol::simple, kGather) == near(8 * 40 * 0.85 * 7 / 8 * 3 / 4 * 8 / 7));
}

TEST_CASE("NCCL: trees of NVLink SHARP are corrected by size on Blackwell from 2.30 on") {
  const auto corrected = [](GpuGeneration gpu, NcclVersion version, NcclAlgorithm algorithm) {
    NcclCommunicator it = ranks_on({4, 4}, version);
    it.gpu = gpu;
    const NcclModel model{it};
    const auto at = [&](std::int64_t bytes) {
      return offered(model.times(kReduce, Bytes{bytes}), algorithm, NcclProtocol::simple)->bandwidth;
    };
    return at(2 << 20) / at(kHuge);
  };
  CHECK(corrected(GpuGeneration::blackwell, k2_30, NcclAlgorithm::nvls_tree) == near(0.6));
  CHECK(corrected(GpuGeneration::hopper, k2_30, NcclAlgorithm::nvls_tree) == near(1));
  CHECK(corrected(GpuGeneration::blackwell, k2_28, NcclAlgorithm::nvls_tree) == near(1));
  CHECK(corrected(GpuGeneration::blackwell, k2_30, NcclAlgorithm::nvls) == near(1));
  CHECK(corrected(GpuGeneration::hopper, k2_23, NcclAlgorithm::tree) == near(0.6));
  CHECK(corrected(GpuGeneration::hopper, k2_23, NcclAlgorithm::ring) == near(1));
}

TEST_CASE("NCCL: broadcasts are longer by a hop of the tree for each rank, unless the rings are the same") {
  constexpr auto kBroadcast = CollectiveKind::broadcast;
  NcclCommunicator it = ranks_on({3, 2}, k2_10);
  it.net_latency = 5;  // left out
  const auto us = [&](NcclProtocol protocol) { return start(it, NcclAlgorithm::ring, protocol, kBroadcast); };
  CHECK(us(NcclProtocol::simple) == near(8.4 + 5 * 28));
  CHECK(us(NcclProtocol::ll) == near(3.6 + 5 * 2.7));
  CHECK(us(NcclProtocol::ll128) == near(10 + 5 * 4));
  it.same_ring = true;
  CHECK(us(NcclProtocol::simple) == near(8.4 + 9.6));
  CHECK(us(NcclProtocol::ll) == near(3.6 + 2.7));
  it.ranks_by_server = {5};
  CHECK(us(NcclProtocol::simple) == near(8.4 + 3.4));
  it.link = InsideLink::pcie;
  CHECK(us(NcclProtocol::simple) == near(8.4 + 5.7));
  it.same_ring = false;
  CHECK(us(NcclProtocol::ll128) == near(10 + 5 * 2.5));
  // Fitted hops are 3 us longer.
  CHECK(start(it, NcclAlgorithm::ring, NcclProtocol::ll128, kBroadcast, {.hop = 4.0}) == near(10 + 5 * 5.5));
}

TEST_CASE("NCCL: start-up times of rings") {
  NcclCommunicator it = ranks_on({5});
  // Hops inside are shorter than what the host needs, which counts with several servers only.
  CHECK(start(it, NcclAlgorithm::ring, NcclProtocol::ll) == near(6.6 + 8 * 0.6));
  CHECK(start(it, NcclAlgorithm::ring) == near(8.4 + 8 * 3.4));
  it.ranks_by_server = {3, 2};
  CHECK(start(it, NcclAlgorithm::ring, NcclProtocol::ll) == near(6.6 + 6 * 1 + 2 * 2.7));
  CHECK(start(it, NcclAlgorithm::ring, NcclProtocol::ll, kGather) == near(6.6 + 3 * 1 + 2.7));
  it.net_latency = 1.5;
  CHECK(start(it, NcclAlgorithm::ring, NcclProtocol::ll) == near(6.6 + 6 * 1 + 2 * (2.7 + 1.5)));
  CHECK(start(it, NcclAlgorithm::ring, NcclProtocol::ll128) == near(14 + 6 * 1.9 + 2 * (4 + 1.5)));
  CHECK(start(it, NcclAlgorithm::ring) == near(8.4 + 6 * 3.4 + 2 * (14 + 3)));
  // The plateau: from 64 B a rank and channel on, with Simple, for a whole all-reduce between servers.
  const double flat = 8.4 + 6 * 3.4 + 2 * 17, half = 8.4 + 3 * 3.4 + 17;
  const std::int64_t begin = 64 * 5 * 8;
  CHECK(start(it, NcclAlgorithm::ring, NcclProtocol::simple, kReduce, {}, begin - 1) == near(flat));
  CHECK(start(it, NcclAlgorithm::ring, NcclProtocol::simple, kReduce, {}, begin) == near(1.4 * flat));
  CHECK(start(it, NcclAlgorithm::ring, NcclProtocol::simple, kGather, {}, 2 * begin) == near(half));
  CHECK(start(it, NcclAlgorithm::ring, NcclProtocol::ll128, kReduce, {}, 2 * begin) == near(14 + 6 * 1.9 + 11));
  it.ranks_by_server = {5};
  CHECK(start(it, NcclAlgorithm::ring, NcclProtocol::simple, kReduce, {}, 2 * begin) == near(8.4 + 8 * 3.4));
}

TEST_CASE("NCCL: start-up times of trees and of NVLink SHARP") {
  CHECK(start(ranks_on({5}), NcclAlgorithm::tree, NcclProtocol::ll) == near(6.8 + 2 * 4 * 0.6));
  CHECK(start(ranks_on({3, 2}), NcclAlgorithm::tree, NcclProtocol::ll) == near(6.8 + 2 * (0.6 + 5)));
  CHECK(start(ranks_on({3, 3, 3, 3, 3}), NcclAlgorithm::tree, NcclProtocol::ll) == near(6.8 + 2 * (2 * 0.6 + 2 * 5)));
  CHECK(start(ranks_on({8}), NcclAlgorithm::nvls) == near(25));
  CHECK(start(ranks_on({4, 4}), NcclAlgorithm::nvls) == near(25 + 18));
  CHECK(start(ranks_on({4, 4, 4, 4}), NcclAlgorithm::nvls_tree) == near(25 + 2 * 2 * 14));
  CHECK(start(ranks_on({4, 4, 4, 4}, k2_18), NcclAlgorithm::nvls_tree) == near(23 + 2 * 3 * 19));
}

TEST_CASE("NCCL: a fitted hop in one server, and rates fitted on two") {
  const NcclCommunicator one = ranks_on({5}), two = ranks_on({3, 2}), three = ranks_on({2, 2, 1});
  // The hop of the tree with LL takes 0.6 us.
  CHECK(start(one, NcclAlgorithm::tree, NcclProtocol::ll, kReduce, {.hop = 10.0}) == near(6.8 + 2 * 4 * 10));
  CHECK(start(one, NcclAlgorithm::ring, NcclProtocol::ll128, kReduce, {.hop = 10.0}) == near(14 + 8 * (1.9 + 9.4)));
  CHECK(start(one, NcclAlgorithm::ring, NcclProtocol::simple, kReduce, {.hop = 0.0}) == near(8.4 + 8 * (3.4 - 0.6)));
  CHECK(start(one, NcclAlgorithm::ring, NcclProtocol::ll, kReduce, {.hop = 0.0}) == near(6.6));
  // Between servers it takes 5 us, and a hop of the ring 2.7.
  CHECK(start(two, NcclAlgorithm::tree, NcclProtocol::ll, kReduce, {.hop = 7.0}) == near(6.8 + 2 * (0.6 + 7)));
  CHECK(start(two, NcclAlgorithm::ring, NcclProtocol::ll, kReduce, {.hop = 0.0}) == near(6.6 + 6));
  CHECK(start(two, NcclAlgorithm::ring, NcclProtocol::ll, CollectiveKind::broadcast, {.hop = 0.0}) == near(6.6));
  const auto fitted = [](const NcclCommunicator& it, double channel_rate) {
    return rate(it, NcclAlgorithm::ring, NcclProtocol::simple, kReduce, {.channel_rate = channel_rate});
  };
  CHECK(fitted(one, 5) == near(4 * 5 * 5.0 / 8));
  CHECK(fitted(two, 5) == near(4 * 5 * 5.0 / 8));
  CHECK(fitted(three, 5) == near(4 * 5 * 5.0 / 8));
}

TEST_CASE("NCCL: which algorithms it offers") {
  const NcclCommunicator all = ranks_on({4, 4});
  constexpr auto kDirect = NcclAlgorithm::collnet_direct;
  constexpr auto kChain = NcclAlgorithm::collnet_chain;
  constexpr auto kNvls = NcclAlgorithm::nvls;
  constexpr auto kNvlsTree = NcclAlgorithm::nvls_tree;
  constexpr auto kPat = NcclAlgorithm::pat;
  for (const NcclAlgorithm algorithm : {kDirect, kChain, kNvls, kNvlsTree}) {
    CHECK(has(all, kReduce, algorithm));
    CHECK_FALSE(has(all, kReduce, algorithm, NcclProtocol::ll));
    CHECK_FALSE(has(all, kReduce, algorithm, NcclProtocol::ll128));
    CHECK_FALSE(has(all, CollectiveKind::broadcast, algorithm));
    CHECK_FALSE(has(all, CollectiveKind::reduce, algorithm));
  }
  for (const NcclAlgorithm algorithm : {NcclAlgorithm::tree, kDirect, kChain, kNvlsTree})
    CHECK_FALSE(has(all, kGather, algorithm));
  CHECK(has(all, kGather, kNvls));
  NcclCommunicator it = all;
  it.ll128 = false;
  CHECK_FALSE(has(it, kReduce, NcclAlgorithm::ring, NcclProtocol::ll128));
  CHECK(has(it, kReduce, NcclAlgorithm::ring, NcclProtocol::ll));
  CHECK(has(all, kReduce, NcclAlgorithm::ring, NcclProtocol::ll128));
  // SHARP in the network.
  it = all;
  it.sharp = false;
  for (const NcclAlgorithm algorithm : {kDirect, kChain, kNvls}) CHECK_FALSE(has(it, kReduce, algorithm));
  CHECK(has(it, kReduce, kNvlsTree));
  it.ranks_by_server = {8};
  CHECK(has(it, kReduce, kNvls));
  // Switches in the servers.
  it = all;
  it.nvswitch = false;
  for (const NcclAlgorithm algorithm : {kDirect, kNvls, kNvlsTree}) CHECK_FALSE(has(it, kReduce, algorithm));
  CHECK(has(it, kReduce, kChain));
  // One server.
  it = ranks_on({8});
  for (const NcclAlgorithm algorithm : {kDirect, kChain, kNvlsTree}) CHECK_FALSE(has(it, kReduce, algorithm));
  // Eight GPUs a server.
  CHECK(has(ranks_on({8, 8}), kReduce, kDirect));
  CHECK_FALSE(has(ranks_on({9, 8}), kReduce, kDirect));
  CHECK_FALSE(has(ranks_on({4, 4}, k2_10), kReduce, kChain));
  CHECK_FALSE(has(ranks_on({4, 4}, k2_10), kReduce, kNvls));
  // Two channels or more of NVLink SHARP, on a GPU that has it.
  it = all;
  it.nvls = {2, 40, 44};
  CHECK(has(it, kReduce, kNvls));
  it.nvls.channels = 1;
  CHECK_FALSE(has(it, kReduce, kNvls));
  it = all;
  it.gpu = GpuGeneration::ampere;
  CHECK_FALSE(has(it, kReduce, kNvls));
  // Parallel trees: half an all-reduce, one GPU a server, from 2.23 on.
  CHECK(has(ranks_on({1, 1}), kGather, kPat));
  CHECK(has(ranks_on({1, 1}), CollectiveKind::reduce_scatter, kPat));
  CHECK_FALSE(has(ranks_on({1, 1}), kGather, kPat, NcclProtocol::ll));
  CHECK_FALSE(has(ranks_on({1, 1}), kReduce, kPat));
  CHECK_FALSE(has(ranks_on({1, 2}), kGather, kPat));
  CHECK_FALSE(has(ranks_on({1, 1}, k2_18), kGather, kPat));
  CHECK(rate(ranks_on({1, 1, 1}), kPat, NcclProtocol::simple, kGather) == near(0.85 * 4 * 12));
}

TEST_CASE("NCCL: grouped sends wait for the slowest of hosts and links") {
  const Bytes bytes{800'000'000};
  const auto time = [&](const NcclCommunicator& it) { return NcclModel{it}.choice(CollectiveKind::all_to_all, bytes); };
  NcclCommunicator it = ranks_on({4, 4});
  it.network_peer = 3;
  it.inside_peer = 0.5;
  it.gpu_rate = 10;
  it.server_rate = 1000;
  // Blocks of 100 MB: three to neighbours at 10 GB/s; four peers on the other server and three on this one.
  const double us = 8.4 + 14;
  CHECK(time(it).start_up == near((us + 4 * 3 + 3 * 0.5) * 1e-6));
  CHECK(time(it).seconds == near(time(it).start_up + 3 * 0.01));
  CHECK(time(it).bandwidth == near(8e8 / 0.03));
  // By rails a GPU passes on three quarters of the four blocks for the other server, as one message.
  it.aggregates = true;
  CHECK(time(it).start_up == near((us + 3 + 3 * 0.5) * 1e-6));
  CHECK(time(it).seconds == near(time(it).start_up + (3 + 3) * 0.01));
  it.server_rate = 20;
  CHECK(time(it).seconds == near(time(it).start_up + 16 * 0.1 / 20));
  // Of uneven servers the larger has the longer way inside, the smaller the more peers outside.
  it = ranks_on({5, 3});
  it.network_peer = 3;
  it.inside_peer = 1;
  it.gpu_rate = 10;
  it.server_rate = 1000;
  CHECK(time(it).start_up == near((us + 5 * 3 + 2 * 1) * 1e-6));
  CHECK(time(it).seconds == near(time(it).start_up + 4 * 0.01));
  it.ranks_by_server = {8};
  CHECK(time(it).start_up == near((8.4 + 3.4 + 7) * 1e-6));
  // Rates that are needed.
  it.server_rate = 0;
  CHECK_NOTHROW(time(it));
  it.gpu_rate = 0;
  CHECK_THROWS_AS(time(it), InputError);
  it = ranks_on({1, 1});
  it.gpu_rate = 0;
  CHECK_NOTHROW(time(it));
  it.server_rate = 0;
  CHECK_THROWS_AS(time(it), InputError);
  it = ranks_on({2, 2});
  it.gpu_rate = 0;
  CHECK_THROWS_AS(time(it), InputError);
  it.gpu_rate = 1;
  it.server_rate = 0;
  CHECK_THROWS_AS(time(it), InputError);
}

TEST_CASE("NCCL: the limits of a communicator") {
  const NcclCommunicator good = ranks_on({1, 1});
  CHECK_NOTHROW(NcclModel{good});
  NcclCommunicator it = good;
  it.ranks_by_server = {2, 0};
  check_refused(it);
  it.ranks_by_server = {2};
  CHECK_NOTHROW(NcclModel{it});
  it.ranks_by_server = {1};
  check_refused(it);
  // Channels.
  for (const int channels : {1, 64}) {
    it = good;
    it.graph.channels = it.launched = channels;
    CHECK_NOTHROW(NcclModel{it});
    --it.launched;
    check_refused(it);
  }
  for (const int channels : {0, 65}) {
    it = good;
    it.graph.channels = it.launched = channels;
    check_refused(it);
  }
  for (const double wrong : {0.0, -1.0, kInfinite}) {
    it = good;
    it.graph.inside = wrong;
    check_refused(it);
    it = good;
    it.graph.between = wrong;
    check_refused(it);
    it.ranks_by_server = {2};
    CHECK_NOTHROW(NcclModel{it});
    it = good;
    it.nvls.inside = wrong;
    check_refused(it);
    it.nvls.channels = 0;
    CHECK_NOTHROW(NcclModel{it});
    check_refused(good, {.channel_rate = wrong});
  }
  for (double NcclCommunicator::*time :
       {&NcclCommunicator::net_latency, &NcclCommunicator::network_peer, &NcclCommunicator::inside_peer}) {
    it = good;
    it.*time = 0;
    CHECK_NOTHROW(NcclModel{it});
    for (const double wrong : {-1.0, kInfinite}) {
      it.*time = wrong;
      check_refused(it);
    }
  }
  CHECK_NOTHROW(NcclModel{good, {.hop = 0.0}});
  check_refused(good, {.hop = -1.0});
  check_refused(good, {.hop = kInfinite});
  it = good;
  it.gpu = GpuGeneration::blackwell;
  it.version = k2_28;
  CHECK_NOTHROW(NcclModel{it});
  it.version = {2, 27, 9};
  check_refused(it);
}
