#include "network/library/nccl_machine.hpp"

#include "network/catalogue.hpp"
#include "sim/check.hpp"
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

constexpr double kInsideBlackwell[] = {90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
constexpr double kBetweenBlackwell[] = {96, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12};

template <class Value, std::size_t kCount>
Value named(std::string_view text, const Value (&values)[kCount]) {
  const auto found = std::ranges::find_if(values, [&](Value value) { return to_string(value) == text; });
  CONTEND_CHECK(found != std::end(values), "the catalogue has known words");
  return *found;
}

NcclMachine machine_of(const TextEntry& entry) {
  constexpr GpuGeneration kGpus[] = {GpuGeneration::volta, GpuGeneration::ampere, GpuGeneration::hopper,
                                     GpuGeneration::blackwell};
  NcclMachine machine;
  machine.name = entry.name;
  machine.summary = entry.text("summary");
  machine.source = entry.text("source");
  machine.gpu = named(entry.text("gpu"), kGpus);
  machine.cpu = entry.text("cpu") == "amd" ? CpuVendor::amd : CpuVendor::intel;
  machine.link = entry.text("link") == "pcie" ? InsideLink::pcie : InsideLink::nvlink;
  machine.nvswitch = entry.has("nvswitch");
  machine.gpus = static_cast<int>(entry.number("gpus"));
  machine.domain = static_cast<int>(entry.number("domain"));
  machine.gpu_rate = entry.number("rate");
  machine.socket_rate = entry.number("socket");
  machine.nics = static_cast<int>(entry.number("nics"));
  machine.nic_rate = entry.number("planned");
  machine.nic_slot = entry.number("slot");
  machine.near_nics = entry.has("near-nics");
  machine.net_latency = entry.number("latency");
  machine.network_peer = entry.number("peer", machine.network_peer);
  machine.inside = entry.text("inside");
  machine.between = entry.text("between");
  if (entry.has("version")) machine.version = read_nccl_version(entry.text("version"));
  return machine;
}

std::span<const double> rates(GpuGeneration gpu, bool several_servers) {
  if (gpu == GpuGeneration::blackwell)
    return several_servers ? std::span<const double>{kBetweenBlackwell} : std::span<const double>{kInsideBlackwell};
  if (gpu == GpuGeneration::hopper)
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
  const int most = std::max(machine.gpus, machine.domain);
  if (gpus < 1 || gpus > most)
    throw InputError{fmt::format("expected 1 to {} ranks on a server, which has as many GPUs, got {}", most, gpus)};
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
  const int nics = machine.nics * std::max(1, machine.domain / machine.gpus);
  const int channels =
      std::min(machine.near_nics ? std::clamp(machine.nics * gpus / machine.gpus, 1, nics) : nics, kMostChannels);
  double most = std::min(machine.nic_rate, machine.nic_slot);
  if (gpus > 1) {
    const double inside = machine.link == InsideLink::pcie ? pcie_rate(machine) : machine.gpu_rate;
    most = std::min(most, inside * gpus / (channels * (gpus - 1.0)));
  }
  const double rate = first_that_fits(rates(machine.gpu, true), most, machine);
  return {channels, rate, rate};
}

/// Ranks by NVLink domain, each of so many servers.
std::vector<int> by_domain(const std::vector<int>& ranks_by_server, int servers) {
  std::vector<int> domains;
  for (std::size_t i = 0; i < ranks_by_server.size(); ++i) {
    if (i % static_cast<std::size_t>(servers) == 0) domains.push_back(0);
    domains.back() += ranks_by_server[i];
  }
  return domains;
}

}  // namespace

std::span<const NcclMachine> nccl_machines() {
  static const std::vector<NcclMachine> kAll = [] {
    std::vector<NcclMachine> all;
    for (const TextEntry& each : machines())
      if (each.has("gpu")) all.push_back(machine_of(each));
    return all;
  }();
  return kAll;
}

const NcclMachine& find_nccl_machine(std::string_view name) {
  std::vector<std::string> names;
  for (const NcclMachine& machine : nccl_machines()) {
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
  const auto [least, largest] = std::ranges::minmax(ranks_by_server);
  if (largest > machine.gpus || least < 1)
    throw InputError{fmt::format("expected 1 to {} ranks on a server, which has as many GPUs, got {}", machine.gpus,
                                 least < 1 ? least : largest)};
  if (machine.domain > machine.gpus) ranks_by_server = by_domain(ranks_by_server, machine.domain / machine.gpus);
  const bool several = ranks_by_server.size() > 1;
  const auto [fewest, most] = std::ranges::minmax(ranks_by_server);
  NcclCommunicator it;
  it.version = choices.version;
  it.gpu = machine.gpu;
  it.cpu = machine.cpu;
  it.link = machine.link;
  it.graph = choices.graph ? *choices.graph : plan_channels(machine, fewest, several);
  it.nvls = plan_nvls_channels(machine, fewest, several);
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
  it.in_place = choices.in_place;
  if (!choices.measured) return it;
  it.inside_times = find_inside_times(machine.inside);
  if (const NetworkTimes* const times = find_network_times(machine.between)) it.network_times = *times;
  return it;
}

NcclModel NcclLibrary::model(std::span<const int> ranks_by_server) const {
  return NcclModel{nccl_communicator(machine_, {ranks_by_server.begin(), ranks_by_server.end()}, choices_), fit_};
}

double NcclLibrary::in_flight() const {
  constexpr double kBuffer = 4.0 * 1024 * 1024;
  if (machine_.nics < 1) return 0;
  const auto servers = 2 * static_cast<std::size_t>(std::max(1, machine_.domain / machine_.gpus));
  const NcclCommunicator between = nccl_communicator(machine_, std::vector<int>(servers, machine_.gpus), choices_);
  return kBuffer * between.launched / between.graph.channels;
}

double NcclLibrary::seconds(CollectiveKind kind, Bytes bytes, std::span<const int> ranks_by_server) const {
  if (ranks_by_server.size() == 1 && ranks_by_server.front() == 1) return 0;
  return model(ranks_by_server).choice(kind, bytes).seconds;
}

}  // namespace contend
