// NCCL's cost model against worked examples, and against its own rules where versions differ.

#include "network/library/nccl_model.hpp"

#include "network/library/nccl_machine.hpp"
#include "sim/error.hpp"
#include "tests/near.hpp"

#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace contend;

namespace {

constexpr NcclVersion k210{2, 10, 3}, k218{2, 18, 5}, k223{2, 23, 4}, k228{2, 28, 7}, k230{2, 30, 7};

std::vector<int> on_servers(int servers, int each) {
  return std::vector<int>(static_cast<std::size_t>(servers), each);
}

NcclModel model_of(const char* machine, NcclVersion version, int servers, int each) {
  return NcclModel{nccl_communicator(find_nccl_machine(machine), on_servers(servers, each), {.version = version})};
}

const NcclTime& time_of(const std::vector<NcclTime>& times, NcclAlgorithm algorithm, NcclProtocol protocol) {
  for (const NcclTime& time : times)
    if (time.algorithm == algorithm && time.protocol == protocol) return time;
  throw InputError{"NCCL does not offer it"};
}

double start_up_us(const NcclModel& model, NcclAlgorithm algorithm, NcclProtocol protocol, std::int64_t bytes = 1024,
                   CollectiveKind kind = CollectiveKind::all_reduce) {
  return 1e6 * time_of(model.times(kind, Bytes{bytes}), algorithm, protocol).start_up;
}

bool offers(const NcclModel& model, CollectiveKind kind, NcclAlgorithm algorithm) {
  for (const NcclTime& time : model.times(kind, Bytes{1 << 20}))
    if (time.algorithm == algorithm) return true;
  return false;
}

constexpr auto kRing = NcclAlgorithm::ring;
constexpr auto kTree = NcclAlgorithm::tree;
constexpr auto kLl = NcclProtocol::ll;
constexpr auto kSimple = NcclProtocol::simple;
constexpr auto kAllReduce = CollectiveKind::all_reduce;

}  // namespace

TEST_CASE("NCCL: worked examples of an all-reduce") {
  // Worked out by hand from the formulas and tables, us; R: ring, T: tree.
  struct Example {
    const char* name;
    const char* machine;
    NcclVersion version;
    int servers, each;
    const char* channels;
    std::vector<const char*> cells;  ///< at 1 KiB, 32 KiB, 1 MiB, 8 MiB, 64 MiB, 1 GiB
  };
  const Example examples[] = {
      {"8 V100, 2.10",
       "dgx-1v",
       k210,
       1,
       8,
       "6x20",
       {"10.2 R LL", "12.1 R LL", "53.2 R LL128", "169.6 R LL128", "1034.7 R Simple", "15714.7 R Simple"}},
      {"8 V100, 2.23",
       "dgx-1v",
       k223,
       1,
       8,
       "6x20",
       {"15.0 R LL", "16.5 R LL", "57.2 R LL128", "173.6 R LL128", "1034.7 R Simple", "15714.7 R Simple"}},
      {"8 A100, 2.23",
       "dgx-a100",
       k223,
       1,
       8,
       "12x20",
       {"15.0 R LL", "15.7 R LL", "35.9 R LL", "107.1 R LL128", "545.3 R Simple", "7885.4 R Simple"}},
      {"16 x 8 V100, 2.18",
       "dgx-1v-1x100g",
       k218,
       16,
       8,
       "1x12",
       {"56.1 T LL", "90.8 T LL", "587.4 T Simple", "2265.2 T Simple", "13398.7 R Simple", "179860.1 R Simple"}},
      {"16 x 8 V100, 2.23",
       "dgx-1v-1x100g",
       k223,
       16,
       8,
       "1x12",
       {"56.1 T LL", "90.8 T LL", "595.8 T Simple", "2273.6 T Simple", "13358.4 R Simple", "179819.9 R Simple"}},
      {"16 x 8 A100, 2.23",
       "dgx-a100",
       k223,
       16,
       8,
       "8x24",
       {"55.3 T LL", "60.1 T LL", "125.7 T LL128", "239.1 T LL128", "1216.6 T LL128", "13578.8 R Simple"}},
      {"16 x 1 on 10 Gbit/s, 2.10",
       "pcie-v100-10g",
       k210,
       16,
       1,
       "1x1.2",
       {"52.2 T LL", "289.4 R LL", "2201.6 R Simple", "13670.4 R Simple", "105420.8 R Simple", "1678284.8 R Simple"}},
      {"16 x 1 on 10 Gbit/s, 2.23",
       "pcie-v100-10g",
       k223,
       16,
       1,
       "1x1.2",
       {"56.0 T LL", "236.8 T Simple", "2452.4 R Simple", "13921.2 R Simple", "105671.6 R Simple",
        "1678535.6 R Simple"}},
  };
  const std::vector<std::int64_t> sizes{1 << 10, 32 << 10, 1 << 20, 8 << 20, 64 << 20, 1 << 30};
  for (const Example& example : examples) {
    CAPTURE(example.name);
    const NcclModel model = model_of(example.machine, example.version, example.servers, example.each);
    const ChannelPlan& graph = model.communicator().graph;
    CHECK(fmt::format("{}x{:g}", graph.channels, graph.between) == example.channels);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const NcclTime best = model.choice(kAllReduce, Bytes{sizes[i]});
      CHECK(fmt::format("{:.1f} {} {}", best.seconds * 1e6, best.algorithm == kTree ? 'T' : 'R',
                        to_string(best.protocol)) == example.cells[i]);
    }
  }
}

TEST_CASE("NCCL: start-up times of 16 servers with 8 V100 and 100 Gbit/s") {
  const NcclModel model = model_of("dgx-1v-1x100g", k223, 16, 8);
  CHECK(start_up_us(model, kRing, kLl) == near(311.6));
  CHECK(start_up_us(model, kRing, kSimple) == near(1190));
  CHECK(start_up_us(model, kTree, kLl) == near(55.2));
  CHECK(start_up_us(model, kTree, kSimple) == near(176.4));
  // The plateau begins where each of the two channels has 64 B a rank.
  CHECK(start_up_us(model, kRing, kSimple, 2 * 128 * 64 - 1) == near(1190));
  CHECK(start_up_us(model, kRing, kSimple, 2 * 128 * 64) == near(1190 * 1.9));
  // 2.18 counts two hops more between servers, and one base less.
  const NcclModel before = model_of("dgx-1v-1x100g", k218, 16, 8);
  CHECK(start_up_us(before, kRing, kLl) == near(311.6 + 2 * (2.7 - 1)));
  CHECK(start_up_us(before, kTree, kSimple) == near(176.4 - 8.4));
  // 2.10: hops inside with LL take 1.8 times as long with several servers, and nothing is kept back by the host.
  const NcclModel first = model_of("dgx-1v-1x100g", k210, 16, 8);
  CHECK(start_up_us(first, kRing, kLl) == near(3.6 + 224 * 0.47 * 1.8 + 30 * 2.7));
  CHECK(start_up_us(first, kTree, kLl) == near(4.4 + 2 * (7 * 0.52 * 1.8 + 4 * 5)));
  CHECK(start_up_us(first, kTree, kSimple) == near(2 * (7 * 28 + 4 * 28)));
  CHECK(start_up_us(first, kRing, kSimple) == near(8.4 + 224 * 3.4 + 30 * 9.6));
}

TEST_CASE("NCCL: the plateau of 2.10 begins at 4 KiB a rank") {
  const NcclModel model = model_of("dgx-1v-1x100g", k210, 2, 8);
  const double flat = start_up_us(model, kRing, kSimple, 16 * 4096 - 1);
  CHECK(start_up_us(model, kRing, kSimple, 16 * 4096) == near(1.9 * flat));
  CHECK(start_up_us(model, kRing, kSimple, 16 * 4096, CollectiveKind::all_gather) < flat);
}

TEST_CASE("NCCL: a larger all-reduce may take less time") {
  const NcclModel model = model_of("dgx-1v-1x100g", k223, 16, 8);
  bool falls = false;
  double before = 0;
  for (std::int64_t m = 1 << 10; m <= 64 << 20; m += m / 16) {
    const double now = model.choice(kAllReduce, Bytes{m}).seconds;
    falls = falls || now < before;
    before = now;
  }
  CHECK(falls);
  // f rises from 0.5 to 0.6 at 2 MiB.
  const auto tree = [&](std::int64_t m) { return time_of(model.times(kAllReduce, Bytes{m}), kTree, kSimple).seconds; };
  CHECK(tree(2 << 20) < tree((2 << 20) - 64));
  CHECK(tree_correction(kSimple, (2 << 20) - 1) == near(0.5));
  CHECK(tree_correction(kSimple, 2 << 20) == near(0.6));
  CHECK(tree_correction(kLl, 63) == near(1));
  CHECK(tree_correction(kSimple, std::int64_t{1} << 40) == near(1));
}

TEST_CASE("NCCL: half an all-reduce, broadcast and reduce") {
  const NcclModel model = model_of("dgx-a100", k223, 4, 8);
  // 31 steps, 3 of them between servers; AMD keeps hops inside at 3 x 2 us with Simple.
  CHECK(start_up_us(model, kRing, kSimple, 1024, CollectiveKind::all_gather) == near(8.4 + 28 * 6 + 3 * 14));
  CHECK(start_up_us(model, kRing, kLl, 1024, CollectiveKind::reduce_scatter) == near(6.6 + 28 * 2 + 3 * 2.7));
  const NcclTime gather = time_of(model.times(CollectiveKind::all_gather, Bytes{1 << 30}), kRing, kSimple);
  CHECK(gather.bandwidth == near(8 * 24e9 * 32 / 31));
  // Eight channels have rings of their own: a hop of the tree for each rank.
  CHECK(start_up_us(model, kRing, kSimple, 1024, CollectiveKind::broadcast) == near(8.4 + 32 * 14));
  CHECK(start_up_us(model, kRing, kLl, 1024, CollectiveKind::reduce) == near(6.6 + 32 * 2.7));
  CHECK(start_up_us(model_of("dgx-a100", k223, 1, 8), kRing, kSimple, 1024, CollectiveKind::broadcast) ==
        near(8.4 + 3.4));
  CHECK(start_up_us(model_of("pcie-v100-100g", k223, 4, 4), kRing, kSimple, 1024, CollectiveKind::broadcast) ==
        near(8.4 + 14));
  CHECK(model.times(CollectiveKind::broadcast, Bytes{1024}).size() == 3);
}

TEST_CASE("NCCL: bandwidths of LL by version, CPU and collective") {
  const auto ll = [](const NcclModel& model, CollectiveKind kind) {
    return time_of(model.times(kind, Bytes{1 << 20}), kRing, kLl).bandwidth * 1e-9 / model.ranks();
  };
  // A quarter of 120 GB/s among eight that add, a third among those that don't; half from 2.21 on, but at most 39.
  CHECK(ll(model_of("dgx-1v", k218, 1, 8), kAllReduce) == near(30.0 / 14));
  CHECK(ll(model_of("dgx-1v", k218, 1, 8), CollectiveKind::broadcast) == near(39.0 / 8));
  CHECK(ll(model_of("dgx-1v", k223, 1, 8), kAllReduce) == near(39.0 / 14));
  CHECK(ll(model_of("dgx-a100", k223, 2, 8), kAllReduce) == near(22.5 / 30));
  CHECK(ll(model_of("dgx-h100", k223, 2, 8), kAllReduce) == near(39.0 / 30));
  CHECK(ll(model_of("dgx-h100", k223, 1, 8), kAllReduce) == near(141.0 / 14));
}

TEST_CASE("NCCL: NVLink SHARP by version") {
  const auto alone = [](NcclVersion version, CollectiveKind kind) {
    const NcclModel model = model_of("dgx-h100", version, 1, 8);
    return time_of(model.times(kind, Bytes{1 << 30}), NcclAlgorithm::nvls, kSimple);
  };
  CHECK(model_of("dgx-h100", k223, 1, 8).communicator().nvls == ChannelPlan{8, 40, 40});
  CHECK_FALSE(offers(model_of("dgx-h100", k210, 1, 8), kAllReduce, NcclAlgorithm::nvls));
  CHECK_FALSE(offers(model_of("dgx-a100", k223, 1, 8), kAllReduce, NcclAlgorithm::nvls));
  CHECK(alone(k218, kAllReduce).start_up == near(23e-6));
  CHECK(alone(k218, CollectiveKind::all_gather).bandwidth == near(320e9 * 5 / 6));
  CHECK(alone(k223, kAllReduce).start_up == near(25e-6));
  CHECK(alone(k223, kAllReduce).bandwidth == near(320e9 * 5 / 6));
  CHECK(alone(k223, CollectiveKind::all_gather).bandwidth == near(320e9));
  CHECK(alone(k228, kAllReduce).bandwidth == near(8 * 40e9 * 0.85 * 7 / 8 * 2 * 8 / 14));
  CHECK(alone(k228, CollectiveKind::all_gather).bandwidth == near(8 * 40e9 * 0.85 * 7 / 8 * 7 / 8));
  CHECK(alone(k230, CollectiveKind::all_gather).bandwidth == near(8 * 40e9 * 0.85 * 7 / 8));
  // The tree between servers needs no SHARP in the network, NVLS does.
  const NcclModel three = model_of("dgx-h100", k228, 3, 8);
  CHECK_FALSE(offers(three, kAllReduce, NcclAlgorithm::nvls));
  CHECK(start_up_us(three, NcclAlgorithm::nvls_tree, kSimple) == near(25 + 2 * 20.9));
  CHECK(start_up_us(model_of("dgx-h100", k218, 3, 8), NcclAlgorithm::nvls_tree, kSimple) == near(23 + 2 * 2 * 19));
  CHECK(time_of(three.times(kAllReduce, Bytes{1 << 30}), NcclAlgorithm::nvls_tree, kSimple).bandwidth ==
        near(8 * 45.5e9 * 24 / 46));
  CHECK_FALSE(offers(model_of("dgx-h100", k228, 1, 8), kAllReduce, NcclAlgorithm::nvls_tree));
}

TEST_CASE("NCCL: switches that add, and PAT") {
  NcclMachine machine = find_nccl_machine("dgx-h100");
  machine.sharp = true;
  machine.net_latency = 1;
  const NcclModel model{nccl_communicator(machine, on_servers(4, 8), {.version = k223})};
  // The latency of the plug-in counts twice with Simple.
  CHECK(start_up_us(model, NcclAlgorithm::collnet_direct, kSimple) == near(2 * (3.7 + 7 * 0.4) + 31 + 2));
  CHECK(start_up_us(model, NcclAlgorithm::collnet_chain, kSimple) == near(2 * 7 * 2.8 + 30 + 2));
  CHECK(start_up_us(model, NcclAlgorithm::nvls, kSimple) == near(25 + 18 + 2));
  CHECK(start_up_us(model, kTree, kLl) == near(6.8 + 2 * (7 * 0.6 + 2 * (5 + 1))));
  CHECK(time_of(model.times(kAllReduce, Bytes{1 << 20}), NcclAlgorithm::collnet_direct, kSimple).bandwidth ==
        near(8 * 48e9 * 0.85 / 2));
  const NcclModel one{nccl_communicator(find_nccl_machine("dgx-h100"), on_servers(10, 1), {.version = k223})};
  CHECK(start_up_us(one, NcclAlgorithm::pat, kSimple, 1024, CollectiveKind::all_gather) ==
        near(8 + 3 * 14 / 3.5 + 2.8 * 10));
  CHECK_FALSE(offers(one, kAllReduce, NcclAlgorithm::pat));
  CHECK_FALSE(offers(model, CollectiveKind::all_gather, NcclAlgorithm::pat));
  // With one GPU a server the ring has the tree's hops of the network.
  CHECK(start_up_us(one, kRing, kLl) == near(6.6 + 18 * 5));
}

TEST_CASE("NCCL: grouped sends of an all-to-all") {
  const Bytes bytes{80 << 20};
  const NcclMachine& pcie = find_nccl_machine("pcie-v100-10g");
  const auto seconds = [&](const NcclMachine& machine, int servers, int each) {
    const NcclModel model{nccl_communicator(machine, on_servers(servers, each), {.version = k223})};
    return model.choice(CollectiveKind::all_to_all, bytes).seconds;
  };
  // Three quarters of the data of each of four GPUs leave the server at 1.2 GB/s; 12 peers on other servers.
  CHECK(seconds(pcie, 4, 4) == near((8.4 + 14 + 12 * 16) * 1e-6 + 4 * bytes.to_double() * 0.75 / 1.2e9));
  CHECK(seconds(pcie, 1, 4) == near((8.4 + 5.7) * 1e-6 + bytes.to_double() * 0.75 / 10e9));
  // Ten servers with a GPU each: nine peers, 0.9 of the data.
  CHECK(seconds(find_nccl_machine("dgx-h100"), 10, 1) ==
        near((8.4 + 14 + 9 * 2) * 1e-6 + bytes.to_double() * 0.9 / 48e9));
  // By rails: nine messages, and seven eighths of what leaves a server pass an NVLink before.
  CHECK(seconds(find_nccl_machine("dgx-h100"), 10, 8) ==
        near((8.4 + 14 + 9 * 2) * 1e-6 + bytes.to_double() * 0.9 / 48e9));
}

TEST_CASE("NCCL: a fitted hop and a fitted bandwidth") {
  const NcclCommunicator ranks =
      nccl_communicator(find_nccl_machine("dgx-1v-1x100g"), on_servers(16, 8), {.version = k223});
  const NcclModel planned{ranks}, slower{ranks, {.hop = 25.0, .channel_rate = 6.0}};
  // Twenty us more for each of eight hops of the tree and thirty of the ring; half the rate.
  CHECK(start_up_us(slower, kTree, kLl) == near(55.2 + 8 * 20));
  CHECK(start_up_us(slower, kTree, kSimple) == near(176.4 + 8 * 20));
  CHECK(start_up_us(slower, kRing, kLl) == near(311.6 + 30 * 20));
  const auto rate = [](const NcclModel& model) {
    return time_of(model.times(kAllReduce, Bytes{1 << 30}), kRing, kSimple).bandwidth;
  };
  CHECK(rate(slower) == near(rate(planned) / 2));
  const NcclModel same{ranks, {.hop = 5.0, .channel_rate = 12.0}};
  for (std::int64_t m = 8; m <= 1 << 30; m *= 8)
    CHECK(same.choice(kAllReduce, Bytes{m}).seconds == near(planned.choice(kAllReduce, Bytes{m}).seconds));
}

TEST_CASE("NCCL: refusals") {
  NcclCommunicator ranks = nccl_communicator(find_nccl_machine("dgx-1v"), on_servers(2, 8), {.version = k223});
  CHECK_THROWS_AS(static_cast<void>(NcclModel{ranks}.times(CollectiveKind::exchange, Bytes{8})), InputError);
  CHECK_THROWS_AS(static_cast<void>(NcclModel{ranks}.times(kAllReduce, Bytes{0})), InputError);
  CHECK_THROWS_AS((NcclModel{ranks, {.hop = -1.0}}), InputError);
  CHECK_THROWS_AS((NcclModel{ranks, {.channel_rate = 0.0}}), InputError);
  NcclCommunicator single = ranks;
  single.ranks_by_server = {1};
  CHECK_THROWS_AS(NcclModel{single}, InputError);
  NcclCommunicator blackwell = ranks;
  blackwell.gpu = GpuGeneration::blackwell;
  CHECK_THROWS_AS(NcclModel{blackwell}, InputError);
  blackwell.version = k228;
  CHECK_NOTHROW(NcclModel{blackwell});
  NcclCommunicator none = ranks;
  none.graph.channels = 0;
  CHECK_THROWS_AS(NcclModel{none}, InputError);
  NcclCommunicator slow = ranks;
  slow.graph.between = 0;
  CHECK_THROWS_AS(NcclModel{slow}, InputError);
  CHECK(read_nccl_version("2.29.2") == NcclVersion{2, 29, 2});
  for (const char* text : {"2.23", "2.23.4.1", "2.23.x", "2.12.7", "2.20.5", "2.30.8", "3.0.0", ""}) {
    CAPTURE(text);
    CHECK_THROWS_AS(static_cast<void>(read_nccl_version(text)), InputError);
  }
  for (const char* text : {"2.10.3", "2.18.5", "2.23.4", "2.30.7"})
    CHECK(print_version(read_nccl_version(text)) == text);
}
