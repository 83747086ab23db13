// How NCCL plans channels over the links of machines.

#include "network/library/nccl_machine.hpp"

#include "sim/error.hpp"
#include "tests/near.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace contend;

TEST_CASE("NCCL machines: channels as NCCL prints them") {
  const auto inside = [](const char* name, int gpus) { return plan_channels(find_nccl_machine(name), gpus, false); };
  const auto between = [](const char* name, int gpus) { return plan_channels(find_nccl_machine(name), gpus, true); };
  CHECK(inside("dgx-1v", 8) == ChannelPlan{6, 20, 20});
  CHECK(inside("dgx-a100", 8) == ChannelPlan{12, 20, 20});
  CHECK(inside("dgx-h100", 8) == ChannelPlan{12, 30, 30});      // NVIDIA/nccl issue 1197
  CHECK(inside("pcie-v100-10g", 4) == ChannelPlan{1, 10, 10});  // NVIDIA/nccl issue 1358
  CHECK(between("dgx-1v-1x100g", 8) == ChannelPlan{1, 12, 12});
  CHECK(between("dgx-1v", 8) == ChannelPlan{4, 12, 12});
  CHECK(between("dgx-a100", 8) == ChannelPlan{8, 24, 24});
  CHECK(between("dgx-h100", 8) == ChannelPlan{8, 48, 48});
  CHECK(between("dgx-h100", 1) == ChannelPlan{1, 48, 48});
  CHECK(between("pcie-v100-10g", 1) == ChannelPlan{1, 1.2, 1.2});
  CHECK(between("pcie-v100-100g", 4) == ChannelPlan{1, 12, 12});
  CHECK(plan_nvls_channels(find_nccl_machine("dgx-h100"), 8, false) == ChannelPlan{8, 40, 40});
  CHECK(plan_nvls_channels(find_nccl_machine("dgx-h100"), 8, true) == ChannelPlan{8, 40, 48});
  CHECK(plan_nvls_channels(find_nccl_machine("dgx-a100"), 8, false).channels == 0);
}

TEST_CASE("NCCL machines: channels of the communicator") {
  const auto launched = [](const char* name, std::vector<int> ranks) {
    return nccl_communicator(find_nccl_machine(name), std::move(ranks)).launched;
  };
  CHECK(launched("dgx-1v-1x100g", {8, 8}) == 2);
  CHECK(launched("dgx-a100", {8, 8}) == 16);
  CHECK(launched("dgx-h100", {8}) == 24);
  CHECK(launched("dgx-h100", {8, 8}) == 16);
  CHECK(launched("dgx-h100", {1, 1}) == 4);  // few and fast ones are doubled again
}

TEST_CASE("NCCL machines: LL128, trees and rails follow the links") {
  const auto ranks = [](const char* name, std::vector<int> by_server) {
    return nccl_communicator(find_nccl_machine(name), std::move(by_server));
  };
  CHECK(ranks("dgx-1v-1x100g", {8}).ll128);
  CHECK_FALSE(ranks("dgx-1v-1x100g", {8, 8}).ll128);
  CHECK(ranks("dgx-a100", {8, 8}).ll128);
  CHECK_FALSE(ranks("pcie-v100-10g", {4}).ll128);
  CHECK_FALSE(ranks("pcie-v100-10g", {1, 1}).ll128);
  CHECK(ranks("dgx-h100", {1, 1}).plain_tree);
  CHECK_FALSE(ranks("dgx-h100", {1, 8}).plain_tree);
  CHECK(ranks("dgx-h100", {8, 8}).aggregates);
  CHECK_FALSE(ranks("dgx-h100", {8}).aggregates);
  CHECK_FALSE(ranks("pcie-v100-10g", {4, 4}).aggregates);
}

TEST_CASE("NCCL machines: a library gives seconds for ranks on any servers") {
  const NcclLibrary library{find_nccl_machine("dgx-a100"), {.version = {2, 23, 4}}};
  const std::vector<int> even(16, 8), single{1};
  CHECK(library.seconds(CollectiveKind::all_reduce, Bytes{1 << 20}, even) == near(125.7e-6, 1e-3));
  CHECK(library.seconds(CollectiveKind::all_reduce, Bytes{1 << 20}, single) == near_absolute(0, 1e-15));
  // NCCL knows the mean number of ranks of a server only; its channels are the channels of the fewest.
  const std::vector<int> uneven{8, 4};
  const double seconds = library.seconds(CollectiveKind::all_reduce, Bytes{1 << 28}, uneven);
  const std::vector<int> fewer{4, 4};
  CHECK(seconds > library.seconds(CollectiveKind::all_reduce, Bytes{1 << 28}, fewer));
  const NcclLibrary given{find_nccl_machine("dgx-a100"), {.graph = ChannelPlan{4, 20, 10}}};
  CHECK(given.model(even).communicator().graph == ChannelPlan{4, 20, 10});
}

TEST_CASE("NCCL machines: what cannot be planned") {
  CHECK_THROWS_AS(static_cast<void>(find_nccl_machine("dgx-9")), InputError);
  CHECK_THROWS_AS(static_cast<void>(plan_channels(find_nccl_machine("dgx-1v"), 9, false)), InputError);
  NcclMachine machine = find_nccl_machine("dgx-h100");
  machine.nics = 0;
  CHECK_THROWS_AS(static_cast<void>(plan_channels(machine, 8, true)), InputError);
  CHECK_NOTHROW(static_cast<void>(plan_channels(machine, 8, false)));
  machine.gpu_rate = 2;
  CHECK_THROWS_AS(static_cast<void>(plan_channels(machine, 8, false)), InputError);
  machine.gpu = GpuGeneration::blackwell;
  CHECK_THROWS_AS(static_cast<void>(plan_channels(machine, 8, false)), InputError);
  CHECK_THROWS_AS(static_cast<void>(nccl_communicator(find_nccl_machine("dgx-1v"), {8, 9})), InputError);
  CHECK_THROWS_AS(static_cast<void>(nccl_communicator(find_nccl_machine("dgx-1v"), {})), InputError);
}
