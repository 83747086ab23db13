// How channels are planned on machines that don't exist, at the limits of each rule.

#include "network/library/nccl_machine.hpp"

#include "sim/error.hpp"
#include "tests/near.hpp"

#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace contend;

namespace {

NcclMachine machine_of(GpuGeneration gpu, double gpu_rate) {
  NcclMachine machine;
  machine.gpu = gpu;
  machine.gpu_rate = gpu_rate;
  machine.nics = 4;
  machine.nic_rate = machine.nic_slot = 48;
  return machine;
}

ChannelPlan inside(GpuGeneration gpu, double gpu_rate) {
  return plan_channels(machine_of(gpu, gpu_rate), 8, false);
}

NcclMachine pcie(double gpu_rate, double socket_rate) {
  NcclMachine machine = machine_of(GpuGeneration::volta, gpu_rate);
  machine.link = InsideLink::pcie;
  machine.socket_rate = socket_rate;
  machine.gpus = 4;
  machine.nics = 1;
  return machine;
}

NcclCommunicator with_graph(const NcclMachine& machine, std::vector<int> ranks, const ChannelPlan& graph,
                            NcclVersion version = {}) {
  return nccl_communicator(machine, std::move(ranks), {.version = version, .graph = graph});
}

}  // namespace

TEST_CASE("NCCL planning: fast channels inside a server are doubled") {
  CHECK(inside(GpuGeneration::volta, 20) == ChannelPlan{1, 20, 20});
  CHECK(inside(GpuGeneration::volta, 19) == ChannelPlan{1, 18, 18});
  CHECK(inside(GpuGeneration::volta, 30) == ChannelPlan{2, 15, 15});
  CHECK(inside(GpuGeneration::ampere, 30) == ChannelPlan{2, 15, 15});
  CHECK(inside(GpuGeneration::hopper, 30) == ChannelPlan{1, 30, 30});
  CHECK(inside(GpuGeneration::hopper, 49) == ChannelPlan{1, 40, 40});
  CHECK(inside(GpuGeneration::hopper, 50) == ChannelPlan{2, 25, 25});
  CHECK(inside(GpuGeneration::hopper, 130) == ChannelPlan{4, 30, 30});
  CHECK(inside(GpuGeneration::hopper, 960) == ChannelPlan{32, 30, 30});
  CHECK(inside(GpuGeneration::hopper, 2000) == ChannelPlan{32, 30, 30});
  CHECK(inside(GpuGeneration::volta, 3) == ChannelPlan{1, 3, 3});
  CHECK_THROWS_AS(static_cast<void>(inside(GpuGeneration::volta, 2.9)), InputError);
}

TEST_CASE("NCCL planning: one channel over PCIe, as fast as the sockets let it be") {
  CHECK(plan_channels(pcie(24, 0), 4, false) == ChannelPlan{1, 20, 20});
  CHECK(plan_channels(pcie(24, 10), 4, false) == ChannelPlan{1, 10, 10});
  CHECK(plan_channels(pcie(9, 10), 4, false) == ChannelPlan{1, 9, 9});
}

TEST_CASE("NCCL planning: a channel for each interface that the ranks have to themselves") {
  NcclMachine machine = machine_of(GpuGeneration::volta, 400);
  const auto channels = [&](int gpus) { return plan_channels(machine, gpus, true).channels; };
  CHECK(channels(1) == 4);
  machine.near_nics = true;
  for (const auto& [gpus, expected] : {std::pair{1, 1}, {2, 1}, {3, 1}, {4, 2}, {5, 2}, {6, 3}, {8, 4}}) {
    CHECK(channels(gpus) == expected);
  }
  CHECK(plan_channels(machine, 8, true) == ChannelPlan{4, 48, 48});
  machine.nic_slot = 24;
  CHECK(plan_channels(machine, 8, true) == ChannelPlan{4, 24, 24});
  machine.nic_slot = 48;
  machine.nic_rate = 12;
  CHECK(plan_channels(machine, 8, true) == ChannelPlan{4, 12, 12});
  // Of g ranks g - 1 send inside: 100 x 8 / (4 x 7) is 28.6 GB/s.
  machine = machine_of(GpuGeneration::volta, 100);
  CHECK(plan_channels(machine, 8, true) == ChannelPlan{4, 28, 28});
  CHECK(plan_channels(machine, 2, true) == ChannelPlan{4, 48, 48});
  CHECK(plan_channels(pcie(24, 10), 4, true) == ChannelPlan{1, 12, 12});
  CHECK(plan_channels(pcie(24, 10), 2, true) == ChannelPlan{1, 20, 20});
  CHECK(plan_channels(pcie(24, 10), 1, true) == ChannelPlan{1, 48, 48});
}

TEST_CASE("NCCL planning: how many ranks and interfaces a server has") {
  const NcclMachine machine = machine_of(GpuGeneration::hopper, 370.8);
  for (const int gpus : {0, 9}) {
    CHECK_THROWS_AS(static_cast<void>(plan_channels(machine, gpus, false)), InputError);
    CHECK_THROWS_AS(static_cast<void>(with_graph(machine, {8, gpus}, {1, 20, 20})), InputError);
  }
  CHECK_THROWS_WITH_AS(static_cast<void>(with_graph(machine, {0, 9}, {1, 20, 20})),
                       "expected 1 to 8 ranks on a server, which has as many GPUs, got 0", InputError);
  CHECK_NOTHROW(static_cast<void>(plan_channels(machine, 1, true)));
  NcclMachine one = machine;
  one.nics = 1;
  CHECK_NOTHROW(static_cast<void>(plan_channels(one, 8, true)));
  one.nics = 0;
  CHECK_THROWS_AS(static_cast<void>(plan_channels(one, 8, true)), InputError);
}

TEST_CASE("NCCL planning: channels of NVLink SHARP") {
  NcclMachine machine = machine_of(GpuGeneration::hopper, 370.8);
  machine.nvswitch = true;
  const auto plan = [&](int gpus, bool several = false) { return plan_nvls_channels(machine, gpus, several); };
  CHECK(plan(1).channels == 0);
  CHECK(plan(2) == ChannelPlan{2, 60, 60});
  CHECK(plan(6) == ChannelPlan{6, 50, 50});
  CHECK(plan(7) == ChannelPlan{7, 40, 40});
  CHECK(plan(7, true) == ChannelPlan{7, 40, 48});
  machine.gpus = 16;
  CHECK(plan(12) == ChannelPlan{8, 40, 40});
  machine.nvswitch = false;
  CHECK(plan(8).channels == 0);
  machine.nvswitch = true;
  machine.link = InsideLink::pcie;
  CHECK(plan(8).channels == 0);
  machine.link = InsideLink::nvlink;
  machine.gpu = GpuGeneration::ampere;
  CHECK(plan(8).channels == 0);
}

TEST_CASE("NCCL planning: the channels that a communicator launches") {
  const NcclMachine hopper = machine_of(GpuGeneration::hopper, 370.8), ampere = machine_of(GpuGeneration::ampere, 240);
  const auto launched = [](const NcclMachine& machine, std::vector<int> ranks, int channels, double rate) {
    return with_graph(machine, std::move(ranks), {channels, rate, rate}).launched;
  };
  // Twice the channels of the graph, and four times few fast ones between servers.
  CHECK(launched(hopper, {4, 4}, 4, 46) == 16);
  CHECK(launched(hopper, {4, 4}, 4, 45) == 8);
  CHECK(launched(hopper, {4, 4}, 7, 46) == 28);
  CHECK(launched(hopper, {4, 4}, 8, 46) == 16);
  CHECK(launched(hopper, {8}, 4, 46) == 8);
  CHECK(launched(ampere, {4, 4}, 4, 46) == 8);
  CHECK(launched(ampere, {4, 4}, 16, 46) == 32);
  CHECK(launched(ampere, {4, 4}, 17, 46) == 32);
  CHECK(launched(ampere, {4, 4}, 33, 46) == 33);
}

TEST_CASE("NCCL planning: what follows from links and servers") {
  NcclMachine machine = machine_of(GpuGeneration::ampere, 240);
  const ChannelPlan two{2, 20, 15}, one{1, 20, 15};
  CHECK(with_graph(machine, {4, 4}, one).same_ring);
  CHECK_FALSE(with_graph(machine, {4, 4}, two).same_ring);
  CHECK_FALSE(with_graph(machine, {8}, two).same_ring);
  CHECK(with_graph(machine, {4, 4}, two).server_rate == near(30));
  CHECK(with_graph(machine, {8}, two).server_rate == 0);
  CHECK(with_graph(machine, {8}, two).gpu_rate == 240);
  CHECK_FALSE(with_graph(machine, {4, 4}, two).aggregates);
  CHECK_FALSE(with_graph(machine, {4, 4}, two).ll128);
  machine.nvswitch = true;
  CHECK(with_graph(machine, {8}, two).same_ring);
  CHECK_FALSE(with_graph(machine, {4, 4}, two).same_ring);
  CHECK(with_graph(machine, {4, 4}, two, {2, 12, 0}).aggregates);
  CHECK_FALSE(with_graph(machine, {4, 4}, two, {2, 11, 9}).aggregates);
  CHECK_FALSE(with_graph(machine, {8}, two, {2, 12, 0}).aggregates);
  machine.near_nics = true;
  CHECK(with_graph(machine, {4, 4}, two).ll128);
  // Over PCIe ranks that are alone on their servers may use LL128.
  machine.link = InsideLink::pcie;
  machine.socket_rate = 10;
  CHECK(with_graph(machine, {1, 1}, two).ll128);
  CHECK_FALSE(with_graph(machine, {1, 2}, two).ll128);
  CHECK(with_graph(machine, {8}, two).gpu_rate == 10);
  CHECK(with_graph(machine, {1, 1}, two).plain_tree);
  CHECK_FALSE(with_graph(machine, {1, 2}, two).plain_tree);
  // Blackwell has lists of its own, which end at 18 GB/s.
  NcclMachine blackwell = machine_of(GpuGeneration::blackwell, 700);
  blackwell.nvswitch = true;
  CHECK(with_graph(blackwell, {8}, two).nvls == ChannelPlan{8, 70, 70});
  CHECK(plan_channels(blackwell, 8, false) == ChannelPlan{14, 45, 45});
  blackwell.gpu = GpuGeneration::hopper;
  CHECK(with_graph(blackwell, {8}, two).nvls.channels == 8);
}

TEST_CASE("NCCL planning: only one rank alone exchanges in no time") {
  const NcclLibrary library{find_nccl_machine("dgx-a100")};
  const std::vector<int> alone{1}, two{2}, apart{1, 1};
  CHECK(library.seconds(CollectiveKind::all_reduce, Bytes{1024}, alone) == 0);
  CHECK(library.seconds(CollectiveKind::all_reduce, Bytes{1024}, two) > 0);
  CHECK(library.seconds(CollectiveKind::all_reduce, Bytes{1024}, apart) > 0);
}
