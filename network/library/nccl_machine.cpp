#include "network/library/nccl_machine.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr int kMostChannels = 32;
constexpr int kMostNvlsHeads = 8;

// NVIDIA/nccl, src/graph/search.cc.
constexpr double kInside[] = {40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
constexpr double kBetween[] = {48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, 0.24, 0.12};
constexpr double kInsideHopper[] = {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
constexpr double kBetweenHopper[] = {48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12};

constexpr std::string_view kPlans = "NVIDIA DGX data sheets; channels as NCCL plans them (src/graph/search.cc)";

constexpr NcclMachine kMachines[] = {
    {.name = "dgx-1v",
     .summary = "8 V100 in a cube mesh of NVLinks, 4 interfaces of 100 Gbit/s",
     .source = kPlans,
     .gpu = GpuGeneration::volta,
     .gpu_rate = 6 * kPlannedNvlinkVolta,
     .nics = 4,
     .nic_rate = 12,
     .nic_slot = kPlannedPcie3,
     .near_nics = true},
    {.name = "dgx-1v-1x100g",
     .summary = "the same with one interface of 100 Gbit/s behind a socket",
     .source = kPlans,
     .gpu = GpuGeneration::volta,
     .gpu_rate = 6 * kPlannedNvlinkVolta,
     .nics = 1,
     .nic_rate = 12,
     .nic_slot = kPlannedPcie3},
    {.name = "dgx-a100",
     .summary = "8 A100 with NVSwitch, 8 interfaces of 200 Gbit/s",
     .source = kPlans,
     .gpu = GpuGeneration::ampere,
     .cpu = CpuVendor::amd,
     .nvswitch = true,
     .gpu_rate = 12 * kPlannedNvlinkAmpere,
     .nics = 8,
     .nic_rate = 24,
     .nic_slot = kPlannedPcie4,
     .near_nics = true},
    {.name = "dgx-h100",
     .summary = "8 H100 with NVSwitch and NVLink SHARP, 8 interfaces of 400 Gbit/s",
     .source = "NVIDIA DGX H100 data sheet; channels of NCCL 2.19.4 as in NVIDIA/nccl issue 1197",
     .gpu = GpuGeneration::hopper,
     .nvswitch = true,
     .gpu_rate = 18 * kPlannedNvlinkHopper,
     .nics = 8,
     .nic_rate = 48,
     .nic_slot = kPlannedPcie5,
     .near_nics = true},
    {.name = "pcie-v100-10g",
     .summary = "4 V100 on PCIe 3.0 and two sockets, one interface of 10 Gbit/s with TCP",
     .source = "planning rates of NCCL; 1.2 GB/s for 10 Gbit/s as in NVIDIA/nccl issue 601",
     .gpu = GpuGeneration::volta,
     .link = InsideLink::pcie,
     .gpus = 4,
     .gpu_rate = kPlannedPcie3,
     .socket_rate = kPlannedSocketIntel,
     .nics = 1,
     .nic_rate = 1.25,
     .nic_slot = kPlannedPcie3,
     .network_peer = 16},
    {.name = "pcie-v100-100g",
     .summary = "4 V100 on PCIe 3.0 and two sockets, one interface of 100 Gbit/s",
     .source = "planning rates of NCCL",
     .gpu = GpuGeneration::volta,
     .link = InsideLink::pcie,
     .gpus = 4,
     .gpu_rate = kPlannedPcie3,
     .socket_rate = kPlannedSocketIntel,
     .nics = 1,
     .nic_rate = 12,
     .nic_slot = kPlannedPcie3},
};

std::span<const double> rates(GpuGeneration gpu, bool several_servers) {
  if (gpu >= GpuGeneration::hopper)
    return several_servers ? std::span<const double>{kBetweenHopper} : std::span<const double>{kInsideHopper};
  return several_servers ? std::span<const double>{kBetween} : std::span<const double>{kInside};
}

/// The first rate that is not above `most`.
double first_that_fits(std::span<const double> list, double most, const NcclMachine& machine) {
  const auto found = std::ranges::find_if(list, [&](double rate) { return rate <= most; });
  if (found == list.end())
    throw InputError{fmt::format("{}: NCCL plans no channels over {} GB/s; its list ends at {}",
                                 machine.name.empty() ? "machine" : machine.name, most, list.back())};
  return *found;
}

void check(const NcclMachine& machine, int gpus, bool several_servers) {
  if (machine.gpu == GpuGeneration::blackwell)
    throw InputError{
        "the bandwidths that NCCL tries on Blackwell are not known here; give the channels that it prints"};
  if (gpus < 1 || gpus > machine.gpus)
    throw InputError{
        fmt::format("expected 1 to {} ranks on a server, which has as many GPUs, got {}", machine.gpus, gpus)};
  if (several_servers && machine.nics < 1) throw InputError{"several servers need a machine with network interfaces"};
}

/// The bandwidth between two GPUs on a ring over PCIe.
double pcie_rate(const NcclMachine& machine) {
  return machine.socket_rate > 0 ? std::min(machine.gpu_rate, machine.socket_rate) : machine.gpu_rate;
}

ChannelPlan plan_inside(const NcclMachine& machine) {
  const std::span<const double> list = rates(machine.gpu, false);
  if (machine.link == InsideLink::pcie) {
    const double rate = first_that_fits(list, pcie_rate(machine), machine);
    return {1, rate, rate};
  }
  double rate = first_that_fits(list, machine.gpu_rate, machine);
  int channels = std::max(1, static_cast<int>(std::floor(machine.gpu_rate / rate)));
  if (rate >= (machine.gpu >= GpuGeneration::hopper ? 50 : 25)) {
    channels *= 2;
    rate /= 2;
  }
  return {std::min(channels, kMostChannels), rate, rate};
}

/// One channel for each interface that the GPUs can have to themselves. All GPUs of a server but the last of the ring
/// send inside.
ChannelPlan plan_between(const NcclMachine& machine, int gpus) {
  const int channels =
      machine.near_nics ? std::clamp(machine.nics * gpus / machine.gpus, 1, machine.nics) : machine.nics;
  double most = std::min(machine.nic_rate, machine.nic_slot);
  if (gpus > 1) {
    const double inside = machine.link == InsideLink::pcie ? pcie_rate(machine) : machine.gpu_rate;
    most = std::min(most, inside * gpus / (channels * (gpus - 1.0)));
  }
  const double rate = first_that_fits(rates(machine.gpu, true), most, machine);
  return {channels, rate, rate};
}

}  // namespace

std::span<const NcclMachine> nccl_machines() {
  return kMachines;
}

const NcclMachine& find_nccl_machine(std::string_view name) {
  std::vector<std::string> names;
  for (const NcclMachine& machine : kMachines) {
    if (machine.name == name) return machine;
    names.emplace_back(machine.name);
  }
  Complaint complaint;
  std::string list;
  for (const std::string& each : names) list += (list.empty() ? "" : ", ") + each;
  complaint.reason = fmt::format("unknown machine \"{}\"; expected one of {}", name, list);
  if (const std::string near = nearest_name(std::string{name}, names); !near.empty())
    complaint.hint = fmt::format("did you mean \"{}\"?", near);
  throw InputError{std::move(complaint)};
}

ChannelPlan plan_channels(const NcclMachine& machine, int gpus, bool several_servers) {
  check(machine, gpus, several_servers);
  return several_servers ? plan_between(machine, gpus) : plan_inside(machine);
}

ChannelPlan plan_nvls_channels(const NcclMachine& machine, int gpus, bool several_servers) {
  check(machine, gpus, several_servers);
  if (!machine.nvswitch || machine.link != InsideLink::nvlink || nvls_efficiency(machine.gpu) == 0 || gpus < 2)
    return {};
  ChannelPlan plan;
  plan.channels = std::min(gpus, kMostNvlsHeads);
  // Each GPU sends its part of every channel to the switch, and is the head of one, to which the results come.
  plan.inside = first_that_fits(rates(machine.gpu, false), machine.gpu_rate / (plan.channels + 1), machine);
  plan.between = several_servers ? plan_between(machine, gpus).between : plan.inside;
  return plan;
}

NcclCommunicator nccl_communicator(const NcclMachine& machine, std::vector<int> ranks_by_server,
                                   const NcclChoices& choices) {
  if (ranks_by_server.empty()) throw InputError{"expected the ranks of one server or more"};
  const bool several = ranks_by_server.size() > 1;
  const auto [fewest, most] = std::ranges::minmax(ranks_by_server);
  if (most > machine.gpus || fewest < 1)
    throw InputError{fmt::format("expected 1 to {} ranks on a server, which has as many GPUs, got {}", machine.gpus,
                                 fewest < 1 ? fewest : most)};
  NcclCommunicator it;
  it.version = choices.version;
  it.gpu = machine.gpu;
  it.cpu = machine.cpu;
  it.link = machine.link;
  it.graph = choices.graph ? *choices.graph : plan_channels(machine, fewest, several);
  if (machine.gpu != GpuGeneration::blackwell) it.nvls = plan_nvls_channels(machine, fewest, several);
  it.launched = std::min(2 * it.graph.channels, kMostChannels);
  constexpr double kFast = 45;
  if (machine.gpu >= GpuGeneration::hopper && several && it.graph.inside > kFast && it.launched < 16) it.launched *= 2;
  it.launched = std::max(it.launched, it.graph.channels);
  it.same_ring = it.graph.channels == 1 || (!several && machine.nvswitch);
  it.plain_tree = std::ranges::all_of(ranks_by_server, [](int ranks) { return ranks == 1; });
  const bool alone_on_servers = most == 1;
  it.ll128 = (machine.link == InsideLink::nvlink || alone_on_servers) && (!several || machine.near_nics);
  it.nvswitch = machine.nvswitch;
  it.sharp = machine.sharp;
  it.net_latency = machine.net_latency;
  it.server_rate = several ? it.graph.channels * it.graph.between : 0;
  it.gpu_rate = machine.link == InsideLink::pcie ? pcie_rate(machine) : machine.gpu_rate;
  it.network_peer = machine.network_peer;
  it.inside_peer = machine.inside_peer;
  it.aggregates = several && machine.nvswitch && choices.version >= NcclVersion{2, 12, 0};
  it.ranks_by_server = std::move(ranks_by_server);
  return it;
}

NcclModel NcclLibrary::model(std::span<const int> ranks_by_server) const {
  return NcclModel{nccl_communicator(machine_, {ranks_by_server.begin(), ranks_by_server.end()}, choices_), fit_};
}

double NcclLibrary::seconds(CollectiveKind kind, Bytes bytes, std::span<const int> ranks_by_server) const {
  if (ranks_by_server.size() == 1 && ranks_by_server.front() == 1) return 0;
  return model(ranks_by_server).choice(kind, bytes).seconds;
}

}  // namespace contend
