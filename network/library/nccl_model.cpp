#include "network/library/nccl_model.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr double kMicro = 1e-6, kGiga = 1e9;
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

double limited(double bandwidth, double most) {
  return most > 0 ? std::min(bandwidth, most) : bandwidth;
}

int floor_log2(int number) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(number))) - 1;
}

bool is_all_reduce(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce;
}
bool is_half_all_reduce(CollectiveKind kind) {
  return kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::all_gather;
}
bool is_one_way(CollectiveKind kind) {
  return kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
}

void check_plan(const ChannelPlan& plan, bool several, const char* name, std::vector<Complaint>& complaints) {
  const auto positive = [](double rate) { return std::isfinite(rate) && rate > 0; };
  if (plan.channels < 1 || plan.channels > 64)
    complaints.push_back({.reason = fmt::format("{}: expected 1 to 64 channels, got {}", name, plan.channels)});
  if (!positive(plan.inside) || (several && !positive(plan.between)))
    complaints.push_back({.reason = fmt::format("{}: expected bandwidths of a channel > 0, got {} and {} GB/s", name,
                                                plan.inside, plan.between)});
}

void check(const NcclCommunicator& it, const NcclFit& fit) {
  std::vector<Complaint> complaints;
  const auto complain = [&](std::string reason) { complaints.push_back({.reason = std::move(reason)}); };
  const bool several = it.ranks_by_server.size() > 1;
  if (std::ranges::any_of(it.ranks_by_server, [](int ranks) { return ranks < 1; }) ||
      std::accumulate(it.ranks_by_server.begin(), it.ranks_by_server.end(), std::int64_t{0}) < 2)
    complain("a collective needs two ranks or more, and one or more on each server");
  check_plan(it.graph, several, "channels", complaints);
  if (it.nvls.channels != 0) check_plan(it.nvls, several, "channels of NVLink SHARP", complaints);
  if (it.launched < it.graph.channels)
    complain(fmt::format("expected as many channels of the communicator as of the graph, {}, got {}", it.graph.channels,
                         it.launched));
  for (const double us : {it.net_latency, it.network_peer, it.inside_peer})
    if (!std::isfinite(us) || us < 0) complain(fmt::format("expected a time >= 0, got {} us", us));
  if (fit.hop && (!std::isfinite(*fit.hop) || *fit.hop < 0))
    complain(fmt::format("expected a latency of a hop >= 0, got {} us", *fit.hop));
  if (fit.channel_rate && (!std::isfinite(*fit.channel_rate) || *fit.channel_rate <= 0))
    complain(fmt::format("expected a bandwidth of a channel > 0, got {} GB/s", *fit.channel_rate));
  const bool by_constants = several || it.inside_times == nullptr;
  if (by_constants && it.gpu == GpuGeneration::blackwell && it.version < NcclVersion{2, 28, 0})
    complain(
        fmt::format("the constants of Blackwell are known from NCCL 2.28 on, not of {}", print_version(it.version)));
  if (!complaints.empty()) throw InputError{std::move(complaints)};
}

/// The share of the planned bandwidth that a network leaves; all of it if nothing is known of the network.
double network_share(const NetworkTimes& network, NcclAlgorithm algorithm, NcclProtocol protocol, int servers) {
  if (network == NetworkTimes{}) return 1;
  // NCCL counts a tree's bytes twice at an interface, which has a parent and children. Of two servers one is the root
  // and the other a leaf, so that bytes go through once.
  const double once = algorithm == NcclAlgorithm::tree && servers == 2 ? 2 : 1;
  return once * network.share(algorithm, protocol);
}

/// The bandwidth of an algorithm that the links inside servers of `here` > 1 ranks allow: a ring goes through each of
/// them once, and the chain of a tree twice, up and down, unless the switch adds.
double most_inside(const InsideTimes& times, NcclAlgorithm algorithm, double here, double ring_factor) {
  const double link = times.ring[static_cast<std::size_t>(NcclProtocol::simple)].rate * (times.mesh ? here - 1 : 1);
  if (algorithm == NcclAlgorithm::ring) return link * ring_factor;
  if (algorithm != NcclAlgorithm::tree && algorithm != NcclAlgorithm::nvls_tree) return kNoLimit;
  return std::max(link / 2 * here / (here - 1), here > 2 ? times.nvls.rate : 0);
}

}  // namespace

double bus_factor(CollectiveKind kind, int ranks) {
  const double share = static_cast<double>(ranks - 1) / ranks;
  if (is_all_reduce(kind)) return 2 * share;
  return is_half_all_reduce(kind) || kind == CollectiveKind::all_to_all ? share : 1;
}

bool nccl_has(CollectiveKind kind) {
  return kind != CollectiveKind::exchange;
}

NcclModel::NcclModel(NcclCommunicator communicator, const NcclFit& fit)
    : communicator_{std::move(communicator)}, constants_{&nccl_constants(communicator_.version)} {
  check(communicator_, fit);
  servers_ = static_cast<int>(communicator_.ranks_by_server.size());
  ranks_ = std::accumulate(communicator_.ranks_by_server.begin(), communicator_.ranks_by_server.end(), 0);
  per_server_ = static_cast<double>(ranks_) / servers_;
  if (fit.network) communicator_.network_times = *fit.network;
  if (fit.hop) {
    const Hops planned = hops(NcclAlgorithm::tree, NcclProtocol::ll);
    const InsideTimes* const measured = communicator_.inside_times;
    further_hop_ = *fit.hop - (servers_ > 1          ? planned.between
                               : measured != nullptr ? measured->ring[0].step
                                                     : planned.inside);
  }
  if (fit.channel_rate)
    rate_factor_ = *fit.channel_rate / (servers_ > 2 ? communicator_.graph.between : communicator_.graph.inside);
}

double NcclModel::steps(CollectiveKind kind) const {
  return is_all_reduce(kind) ? 2 * (ranks_ - 1) : is_half_all_reduce(kind) ? ranks_ - 1 : ranks_;
}

bool NcclModel::offers(NcclAlgorithm algorithm, NcclProtocol protocol, CollectiveKind kind) const {
  const NcclCommunicator& it = communicator_;
  if (protocol == NcclProtocol::ll128 && !it.ll128) return false;
  const bool simple = protocol == NcclProtocol::simple;
  constexpr int kMostHeads = 8;
  const auto few = [&] { return std::ranges::max(it.ranks_by_server) <= kMostHeads; };
  switch (algorithm) {
    case NcclAlgorithm::ring:
      return true;
    case NcclAlgorithm::tree:
      return is_all_reduce(kind);
    case NcclAlgorithm::collnet_direct:
      return simple && is_all_reduce(kind) && it.sharp && it.nvswitch && servers_ > 1 && few();
    case NcclAlgorithm::collnet_chain:
      return simple && is_all_reduce(kind) && it.sharp && constants_->has_chain && servers_ > 1;
    case NcclAlgorithm::nvls:
    case NcclAlgorithm::nvls_tree: {
      const bool tree = algorithm == NcclAlgorithm::nvls_tree;
      if (!simple || constants_->nvls == NvlsRule::none || it.nvls.channels < 2 || !it.nvswitch ||
          nvls_efficiency(it.gpu) == 0)
        return false;
      return tree ? servers_ > 1 && is_all_reduce(kind) : !is_one_way(kind) && (servers_ == 1 || it.sharp);
    }
    case NcclAlgorithm::pat:
      return simple && constants_->pat > 0 && is_half_all_reduce(kind) && ranks_ == servers_;
    case NcclAlgorithm::sends:
      return false;
  }
  return false;
}

NcclModel::Hops NcclModel::hops(NcclAlgorithm algorithm, NcclProtocol protocol) const {
  const auto a = static_cast<std::size_t>(algorithm), p = static_cast<std::size_t>(protocol);
  const NcclConstants& c = *constants_;
  Hops hops{};
  hops.inside = (communicator_.link == InsideLink::nvlink ? c.nvlink_hop : c.pcie_hop)[a][p];
  const bool as_tree = c.tree_hop_of_one && ranks_ == servers_;
  hops.between = c.network_hop[as_tree ? static_cast<std::size_t>(NcclAlgorithm::tree) : a][p];
  // With Simple the data are flushed to the memory of the GPU, which costs the latency of the plug-in again.
  hops.between += communicator_.net_latency * (protocol == NcclProtocol::simple ? 2 : 1);
  hops.between += communicator_.network_times.further[p];
  if (servers_ > 1 && protocol == NcclProtocol::ll) hops.inside *= c.ll_inside;
  double& fitted = servers_ > 1 ? hops.between : hops.inside;
  fitted = std::max(0.0, fitted + further_hop_);
  return hops;
}

double NcclModel::ring_start_up(NcclProtocol protocol, CollectiveKind kind, Bytes bytes, Hops hops) const {
  const NcclConstants& c = *constants_;
  const bool several = servers_ > 1;
  if (several && c.launch_overhead)
    hops.inside = std::max(hops.inside, launch_overhead_us(communicator_.cpu, protocol));
  const bool full = is_all_reduce(kind);
  const double crossings = !several ? 0 : full ? 2 * (c.ring_returns ? servers_ : servers_ - 1) : servers_ - 1;
  const double base = c.base[static_cast<std::size_t>(NcclAlgorithm::ring)][static_cast<std::size_t>(protocol)];
  const double us = base + (steps(kind) - crossings) * hops.inside + crossings * hops.between;
  if (!several || !full || protocol != NcclProtocol::simple) return us;
  constexpr double kOld = 1.9, kNew = 1.4;
  if (c.plateau_by_size) return bytes.to_double() >= ranks_ / 16.0 * 65536 ? us * kOld : us;
  if (bytes.count() / (std::int64_t{communicator_.launched} * ranks_) < 64) return us;
  return us * (communicator_.gpu == GpuGeneration::volta ? kOld : kNew);
}

/// Of broadcast and reduce. NCCL leaves out the latency of the plug-in here.
double NcclModel::one_way_start_up(NcclProtocol protocol) const {
  const NcclConstants& c = *constants_;
  const auto ring = static_cast<std::size_t>(NcclAlgorithm::ring), p = static_cast<std::size_t>(protocol);
  const bool chunks = !communicator_.same_ring && protocol == NcclProtocol::simple;
  const std::size_t row = chunks ? static_cast<std::size_t>(NcclAlgorithm::tree) : ring;
  const ByAlgorithm& table = servers_ > 1                               ? c.network_hop
                             : communicator_.link == InsideLink::nvlink ? c.nvlink_hop
                                                                        : c.pcie_hop;
  const double added = servers_ > 1 ? communicator_.network_times.further[p] : 0;
  const double hop = std::max(0.0, table[row][p] + added + further_hop_);
  return c.base[ring][p] + (communicator_.same_ring ? hop : ranks_ * hop);
}

double NcclModel::start_up(NcclAlgorithm algorithm, NcclProtocol protocol, CollectiveKind kind, Bytes bytes) const {
  const NcclConstants& c = *constants_;
  const Hops a = hops(algorithm, protocol);
  const double base = c.base[static_cast<std::size_t>(algorithm)][static_cast<std::size_t>(protocol)];
  const double between = servers_ > 1 ? a.between : 0;
  const int others = ranks_ / servers_ - 1;  // whole, as NCCL has it
  switch (algorithm) {
    case NcclAlgorithm::ring:
      return is_one_way(kind) ? one_way_start_up(protocol) : ring_start_up(protocol, kind, bytes, a);
    case NcclAlgorithm::tree:
      return base + 2 * (others * a.inside + floor_log2(servers_) * a.between);
    case NcclAlgorithm::collnet_direct:
      return base + 2 * (std::min(1, others) * a.inside + others * c.collnet_direct_serial) + between;
    case NcclAlgorithm::collnet_chain:
      return base + 2 * others * a.inside + between;
    case NcclAlgorithm::nvls:
      return base + a.inside + between;
    case NcclAlgorithm::nvls_tree:
      return base + a.inside + 2 * (c.nvls == NvlsRule::fixed ? servers_ - 1 : floor_log2(servers_)) * a.between;
    case NcclAlgorithm::pat:
      return base + floor_log2(servers_) * a.between / 3.5 + 2.8 * ranks_;
    case NcclAlgorithm::sends:
      break;
  }
  return 0;
}

double NcclModel::ll_most() const {
  const NcclConstants& c = *constants_;
  if (servers_ == 1) return c.ll_most_alone[static_cast<std::size_t>(communicator_.gpu)];
  const ByServers& row = communicator_.cpu == CpuVendor::amd ? c.ll_most_amd : c.ll_most_intel;
  return row[servers_ == 2 ? 1 : 2];
}

double NcclModel::all_channels(const ChannelPlan& plan) const {
  const double all = plan.channels * (servers_ <= 2 ? plan.inside : plan.between) * rate_factor_;
  return communicator_.gpu == GpuGeneration::ampere ? limited(all, constants_->most_on_ampere) : all;
}

double NcclModel::ring_bandwidth(NcclProtocol protocol, CollectiveKind kind) const {
  const NcclConstants& c = *constants_;
  const double all = all_channels(communicator_.graph);
  switch (protocol) {
    case NcclProtocol::ll: {
      const bool adds = is_all_reduce(kind) || kind == CollectiveKind::reduce;
      return limited(all * (servers_ > 1 || adds ? c.ring_ll : c.ring_ll_forward), ll_most());
    }
    case NcclProtocol::ll128: {
      const ByServers& most = c.ring_ll128_most[static_cast<std::size_t>(communicator_.gpu)];
      return limited(all * (per_server_ < 2 ? c.ring_ll128_alone : 0.92),
                     communicator_.graph.channels * most[static_cast<std::size_t>(std::min(servers_, 3) - 1)]);
    }
    case NcclProtocol::simple:
      break;
  }
  return all;
}

double NcclModel::tree_bandwidth(NcclProtocol protocol) const {
  const NcclConstants& c = *constants_;
  const auto gpu = static_cast<std::size_t>(communicator_.gpu);
  const auto size = static_cast<std::size_t>(std::min(servers_, 3) - 1);
  const int channels = communicator_.graph.channels;
  const double tree = limited(all_channels(communicator_.graph) * 0.92, channels * c.tree_most[gpu][size]);
  const double plain = communicator_.plain_tree ? c.plain_tree : 1;
  switch (protocol) {
    case NcclProtocol::ll:
      return limited(tree / 3.8, ll_most()) * plain;
    case NcclProtocol::ll128:
      return limited(tree * (servers_ == 1 ? 7.0 / 9 : 120.0 / 128), channels * c.tree_ll128_most[gpu][size]) * plain;
    case NcclProtocol::simple:
      break;
  }
  return tree * plain;
}

double NcclModel::collnet_bandwidth(NcclAlgorithm algorithm) const {
  const ChannelPlan& plan = communicator_.graph;
  const double all = plan.channels * plan.inside * rate_factor_;
  if (algorithm == NcclAlgorithm::collnet_chain) return all;
  const double gpus_a_channel = per_server_ / plan.channels;
  const double shared = all / (gpus_a_channel - (gpus_a_channel - 1) / 2);
  return communicator_.gpu >= GpuGeneration::hopper ? shared * 0.85 : shared;
}

double NcclModel::nvls_bandwidth(NcclAlgorithm algorithm, CollectiveKind kind) const {
  const NcclConstants& c = *constants_;
  const ChannelPlan& plan = communicator_.nvls;
  const bool tree = algorithm == NcclAlgorithm::nvls_tree;
  const double inside = plan.inside * rate_factor_;
  const double between = servers_ == 1 ? kNoLimit : plan.between * rate_factor_;
  const double halves = is_all_reduce(kind) ? 5.0 / 6 : 1;
  switch (c.nvls) {
    case NvlsRule::none:
      return 0;
    case NvlsRule::fixed:
      return all_channels(plan) * (tree ? 0.7 * servers_ / (2.0 * (servers_ - 1)) : 5.0 / 6);
    case NvlsRule::narrowest:
      return plan.channels * std::min(inside, tree && servers_ > 2 ? between / 2 : between) * halves;
    case NvlsRule::measured:
    case NvlsRule::measured_by_ring:
      break;
  }
  const auto gpu = static_cast<std::size_t>(communicator_.gpu);
  double channel = inside * nvls_efficiency(communicator_.gpu) * (plan.channels - 1) / plan.channels;
  channel *= is_all_reduce(kind) ? 2 : (per_server_ - 1) / per_server_;
  channel = std::min(channel, tree && servers_ == 2 ? 2 * between : between);
  if (tree) channel = limited(channel, c.nvls_tree_most[gpu][servers_ == 2 ? 1 : 2]);
  const bool by_ring = is_all_reduce(kind) || c.nvls == NvlsRule::measured_by_ring;
  return plan.channels * channel * (by_ring ? ranks_ / steps(kind) : 1);
}

/// By the constants, without the share that the network between servers leaves of it.
double NcclModel::bandwidth(NcclAlgorithm algorithm, NcclProtocol protocol, CollectiveKind kind) const {
  switch (algorithm) {
    case NcclAlgorithm::ring:
      return ring_bandwidth(protocol, kind) * ranks_ / steps(kind);
    case NcclAlgorithm::tree:
      return tree_bandwidth(protocol) / 2;
    case NcclAlgorithm::collnet_direct:
    case NcclAlgorithm::collnet_chain:
      return collnet_bandwidth(algorithm) / 2;
    case NcclAlgorithm::nvls:
    case NcclAlgorithm::nvls_tree:
      return nvls_bandwidth(algorithm, kind);
    case NcclAlgorithm::pat:
      return all_channels(communicator_.graph) * constants_->pat;
    case NcclAlgorithm::sends:
      break;
  }
  return 0;
}

NcclTime NcclModel::sends(Bytes bytes) const {
  const NcclCommunicator& it = communicator_;
  const bool neighbours = ranks_ > servers_;
  if ((neighbours && !(it.gpu_rate > 0)) || (servers_ > 1 && !(it.server_rate > 0)))
    throw InputError{fmt::format("grouped sends need rates > 0 of GPUs and servers, got {} and {} GB/s", it.gpu_rate,
                                 it.server_rate)};
  const Hops a = hops(NcclAlgorithm::sends, NcclProtocol::simple);
  const double block = bytes.to_double() / ranks_;
  double us =
      constants_->base[static_cast<std::size_t>(NcclAlgorithm::sends)][static_cast<std::size_t>(NcclProtocol::simple)] +
      (servers_ > 1 ? a.between : a.inside);
  double most = 0, longest_host = 0;  // seconds of bytes; us of peers
  for (const int here : it.ranks_by_server) {
    const double others = ranks_ - here;
    // To an interface of another rail the data go through the GPU beside it.
    const double relayed = it.aggregates ? others * (here - 1) / here : 0;
    if (here > 1) most = std::max(most, (here - 1 + relayed) * block / (it.gpu_rate * rate_factor_ * kGiga));
    const double left = it.network_times.sends;
    if (servers_ > 1) most = std::max(most, here * others * block / (it.server_rate * left * rate_factor_ * kGiga));
    const double messages = it.aggregates ? servers_ - 1 : others;
    longest_host = std::max(longest_host, it.network_peer * messages + it.inside_peer * (here - 1));
  }
  us += longest_host;
  return {NcclAlgorithm::sends, NcclProtocol::simple, us * kMicro + most, us * kMicro, bytes.to_double() / most};
}

std::vector<NcclTime> NcclModel::times_inside(CollectiveKind kind, Bytes bytes) const {
  std::vector<NcclTime> all;
  for (const NcclAlgorithm algorithm : {NcclAlgorithm::ring, NcclAlgorithm::nvls, NcclAlgorithm::sends}) {
    for (std::size_t p = 0; p < kNcclProtocols; ++p) {
      const auto protocol = static_cast<NcclProtocol>(p);
      const auto parts = communicator_.inside_times->parts(algorithm, protocol, kind, ranks_, bytes.to_double(),
                                                           communicator_.in_place, further_hop_, rate_factor_);
      if (parts)
        all.push_back(
            {algorithm, protocol, parts->start_up + parts->bytes, parts->start_up, bytes.to_double() / parts->bytes});
    }
  }
  return all;
}

std::vector<NcclTime> NcclModel::times(CollectiveKind kind, Bytes bytes) const {
  if (!nccl_has(kind)) throw InputError{"NCCL does not have this collective"};
  if (bytes <= Bytes{}) throw InputError{fmt::format("expected a size > 0, got {} B", bytes.count())};
  if (servers_ == 1 && communicator_.inside_times != nullptr) return times_inside(kind, bytes);
  if (kind == CollectiveKind::all_to_all) return {sends(bytes)};
  std::vector<NcclTime> all;
  for (std::size_t a = 0; a < kNcclAlgorithms; ++a) {
    for (std::size_t p = 0; p < kNcclProtocols; ++p) {
      const auto algorithm = static_cast<NcclAlgorithm>(a);
      const auto protocol = static_cast<NcclProtocol>(p);
      if (!offers(algorithm, protocol, kind)) continue;
      const bool corrected = algorithm == NcclAlgorithm::tree ||
                             (algorithm == NcclAlgorithm::nvls_tree && communicator_.gpu == GpuGeneration::blackwell &&
                              constants_->nvls == NvlsRule::measured_by_ring);
      NcclTime time{algorithm, protocol, 0, 0, 0};
      time.start_up = start_up(algorithm, protocol, kind, bytes) * kMicro;
      time.bandwidth = bandwidth(algorithm, protocol, kind);
      if (servers_ > 1) time.bandwidth *= network_share(communicator_.network_times, algorithm, protocol, servers_);
      if (servers_ > 1 && per_server_ > 1 && communicator_.inside_times != nullptr)
        time.bandwidth = std::min(
            time.bandwidth, most_inside(*communicator_.inside_times, algorithm, per_server_, ranks_ / steps(kind)));
      time.bandwidth *= kGiga;
      const double rate = time.bandwidth * (corrected ? tree_correction(protocol, bytes.count()) : 1);
      time.seconds = time.start_up + bytes.to_double() / rate;
      time.bandwidth = rate;
      all.push_back(time);
    }
  }
  return all;
}

NcclTime NcclModel::choice(CollectiveKind kind, Bytes bytes) const {
  const std::vector<NcclTime> all = times(kind, bytes);
  return *std::ranges::min_element(all, {}, &NcclTime::seconds);
}

}  // namespace contend
