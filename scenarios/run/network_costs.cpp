#include "scenarios/run/network_costs.hpp"

#include "sim/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace contend {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

TimePerByte at_rate(ByteRate rate) {
  return TimePerByte{kNanosecondsPerSecond / rate.bytes_per_second()};
}

/// Compares words, not ids one by one: a stage of a large job has thousands.
bool same_gpus(std::span<const GpuId> a, std::span<const GpuId> b) {
  static_assert(std::has_unique_object_representations_v<GpuId>);
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

/// The costs of transfers, kept by shape.
class CostsByShape {
 public:
  CostsByShape(const Scenario& scenario, std::vector<const TrainingEntry*> entries)
      : scenario_{scenario},
        entries_{std::move(entries)},
        whole_{network_cost(scenario.network)},
        formula_{cost_formula(scenario)},
        on_server_(static_cast<std::size_t>(scenario.cluster.servers)) {}

  TransferCost operator()(const TransferRequest& request) {
    if (request.kind == OpKind::message) return message(lie_of(request).most);
    const bool is_whole = request.scope == CollectiveScope::all && request.collective == CollectiveKind::all_reduce;
    if (formula_ == CostFormula::measured && is_whole) return {whole_.alpha, whole_.beta, whole_.eta};
    JobShape shape = lie_of(request).shape;
    if (!entries_.empty() && entries_[request.job.index()] != nullptr)
      shape = shape_of_entry(*entries_[request.job.index()], shape);
    const auto known = costs_.find(shape);
    const ExchangeCost& cost =
        known != costs_.end() ? known->second : costs_.emplace(shape, exchange_cost(scenario_, shape)).first->second;
    const bool grouped = request.scope == CollectiveScope::groups;
    return cost.transfer(request.collective, grouped ? CollectiveScope::all : request.scope, request.bytes);
  }

 private:
  /// What the cost of a request depends on of the GPUs that it joins.
  struct Lie {
    OpKind kind = OpKind::collective;
    CollectiveScope scope = CollectiveScope::all;
    RankGroups groups;
    std::vector<GpuId> gpus, peers;
    JobShape shape;  ///< of a collective
    int most = 0;    ///< messages through one direction of an interface
  };

  /// A job repeats its requests. Comparing many GPUs with those of an earlier one is faster than counting them.
  const Lie& lie_of(const TransferRequest& request) {
    constexpr std::size_t kMany = 64;
    if (request.gpus.size() < kMany) {
      set(last_, request);
      return last_;
    }
    if (lies_.size() <= request.job.index()) lies_.resize(request.job.index() + 1);
    std::vector<Lie>& of_job = lies_[request.job.index()];
    for (const Lie& known : of_job) {
      if (known.kind == request.kind && known.scope == request.scope && known.groups == request.groups &&
          same_gpus(known.gpus, request.gpus) && same_gpus(known.peers, request.peers))
        return known;
    }
    Lie& lie = of_job.emplace_back();
    lie.kind = request.kind;
    lie.scope = request.scope;
    lie.groups = request.groups;
    lie.gpus.assign(request.gpus.begin(), request.gpus.end());
    lie.peers.assign(request.peers.begin(), request.peers.end());
    set(lie, request);
    return lie;
  }

  void set(Lie& lie, const TransferRequest& request) {
    if (request.kind == OpKind::message)
      lie.most = most_leaving(request);
    else if (request.scope == CollectiveScope::groups)
      lie.shape = group_shape(request.gpus, request.groups, scenario_.cluster.gpus_per_server);
    else
      lie.shape = shape_of(request);
  }

  [[nodiscard]] std::size_t server_of(GpuId gpu) const {
    return gpu.index() / static_cast<std::size_t>(scenario_.cluster.gpus_per_server);
  }

  /// The most messages that leave or reach one server.
  int most_leaving(const TransferRequest& request) {
    const bool joint = !request.peers.empty();
    const std::span<const GpuId> senders = joint ? request.gpus : request.gpus.first(1);
    const std::span<const GpuId> receivers = joint ? request.peers : request.gpus.last(1);
    int most = 0;
    for (const std::span<const GpuId> side : {senders, receivers}) {
      for (std::size_t i = 0; i < side.size(); ++i) {
        if (server_of(senders[i]) != server_of(receivers[i])) most = std::max(most, ++on_server_[server_of(side[i])]);
      }
      for (const GpuId gpu : side) on_server_[server_of(gpu)] = 0;
    }
    return most;
  }

  /// Messages between servers share the directions of their interfaces; inside a server each GPU has a link of its own.
  [[nodiscard]] TransferCost message(int most) const {
    const ChannelCost inside = inside_cost(scenario_.network);
    if (most == 0) return {inside.alpha, inside.beta, {}, TransferLane::inside};
    const TimePerByte beta{whole_.beta.ns_per_byte() * most};
    const bool shares = scenario_.network.fidelity == Fidelity::contention;
    return {whole_.alpha, std::max(beta, inside.beta),
            shares ? TimePerByte{whole_.eta.ns_per_byte() * most} : TimePerByte{}};
  }

  JobShape shape_of(const TransferRequest& request) {
    JobShape shape{static_cast<int>(request.gpus.size()), 0, 0};
    for (const GpuId gpu : request.gpus) {
      int& ranks = on_server_[server_of(gpu)];
      if (++ranks == 1) ++shape.servers;
      shape.per_server = std::max(shape.per_server, ranks);
    }
    for (const GpuId gpu : request.gpus) on_server_[server_of(gpu)] = 0;
    return shape;
  }

  Scenario scenario_;
  std::vector<const TrainingEntry*> entries_;  // by job; empty: no job has parameter servers
  AlphaBeta whole_;
  CostFormula formula_;
  std::vector<int> on_server_;          // ranks of one request
  std::vector<std::vector<Lie>> lies_;  // by job, of many GPUs
  Lie last_;                            // of few
  std::map<JobShape, ExchangeCost> costs_;
};

/// What collectives cost by the formula in effect.
ExchangeCost collective_cost(const Scenario& scenario, const JobShape& shape, const AlphaBeta& network) {
  const ChannelCost link{network.alpha, network.beta, scenario.network.gamma};
  switch (cost_formula(scenario)) {
    case CostFormula::measured: {
      const LinearCost all_reduce{network.alpha, network.beta};
      return shape.ranks > 1 ? ExchangeCost::measured(all_reduce, shape.ranks) : ExchangeCost::measured(all_reduce);
    }
    case CostFormula::halving_doubling:
      return ExchangeCost::halving_doubling(shape.ranks, link);
    case CostFormula::ring:
    case CostFormula::automatic:
      break;
  }
  return ExchangeCost::two_level(shape.ranks, shape.servers, shape.per_server, inside_cost(scenario.network), link);
}

}  // namespace

AlphaBeta network_cost(const Scenario::Network& network) {
  AlphaBeta cost;
  cost.alpha = network.alpha;
  CONTEND_CHECK(network.beta || network.nic, "a scenario says how fast a network interface is");
  cost.beta = network.beta ? *network.beta : at_rate(*network.nic);
  cost.eta = network.eta.value_or(TimePerByte{cost.beta.ns_per_byte() * kEtaOverBeta});
  cost.tick = network.tick;
  return cost;
}

Interference interference_of(const Scenario::Network& network) {
  const auto millionths = [](double factor) { return static_cast<std::int64_t>(std::llround(factor * 1e6)); };
  return {millionths(network.interference.compute), millionths(network.interference.network)};
}

CostFormula cost_formula(const Scenario& scenario) {
  const Scenario::Network& network = scenario.network;
  if (network.formula != CostFormula::automatic) return network.formula;
  return network.beta && !scenario.overlap.given() ? CostFormula::measured : CostFormula::ring;
}

std::string_view to_string(CostFormula formula) {
  switch (formula) {
    case CostFormula::automatic:
      return "auto";
    case CostFormula::ring:
      return "ring";
    case CostFormula::halving_doubling:
      return "halving-doubling";
    case CostFormula::measured:
      return "measured";
  }
  check_failed(__FILE__, __LINE__, "a formula", "unknown");
}

ChannelCost inside_cost(const Scenario::Network& network) {
  ChannelCost cost{network.inside.alpha, {}, network.gamma};
  if (network.inside.beta) cost.beta = *network.inside.beta;
  if (network.inside.bandwidth) cost.beta = at_rate(*network.inside.bandwidth);
  return cost;
}

JobShape group_shape(std::span<const GpuId> gpus, const RankGroups& groups, int per_server) {
  const auto server_of = [&](std::size_t rank) { return gpus[rank].index() / static_cast<std::size_t>(per_server); };
  const int count = groups.count(static_cast<int>(gpus.size()));
  std::vector<std::map<std::size_t, int>> ranks(static_cast<std::size_t>(count));  // by group and server
  for (std::size_t rank = 0; rank < gpus.size(); ++rank)
    ++ranks[static_cast<std::size_t>(groups.of(static_cast<int>(rank)))][server_of(rank)];
  JobShape shape{groups.size, 1, 1, 1};
  std::map<std::size_t, int> sharing;  // groups that leave a server
  for (const auto& group : ranks) {
    int most = 0;
    for (const auto& [server, here] : group) {
      most = std::max(most, here);
      if (group.size() > 1) shape.sharing = std::max(shape.sharing, ++sharing[server]);
    }
    const int servers = static_cast<int>(group.size());
    if (std::pair{servers, most} > std::pair{shape.servers, shape.per_server}) {
      shape.servers = servers;
      shape.per_server = most;
    }
  }
  return shape;
}

JobShape shape_of_entry(const TrainingEntry& entry, JobShape shape) {
  if (entry.exchange != ExchangeKind::parameter_server) return shape;
  shape.parameter_servers = entry.servers.value_or(shape.ranks);
  shape.colocated = entry.colocated;
  return shape;
}

ExchangeCost exchange_cost(const Scenario& scenario, const JobShape& shape) {
  AlphaBeta network = network_cost(scenario.network);
  network.beta = TimePerByte{network.beta.ns_per_byte() * shape.sharing};
  network.eta = TimePerByte{network.eta.ns_per_byte() * shape.sharing};
  const bool served = shape.parameter_servers > 0;
  ExchangeCost cost = served ? ExchangeCost::parameter_server(shape.ranks, shape.parameter_servers, shape.colocated,
                                                              {network.alpha, network.beta, scenario.network.gamma})
                             : collective_cost(scenario, shape, network);
  const bool shares = scenario.network.fidelity == Fidelity::contention;
  cost.penalty = shares ? network.eta.ns_per_byte() / network.beta.ns_per_byte() : -1;
  if (shares && !served) {
    cost.measured_beta = network.beta;
    cost.measured_eta = network.eta;
  }
  cost.interference = interference_of(scenario.network);
  return cost;
}

AlphaBeta transfer_costs(const Scenario& scenario, std::vector<const TrainingEntry*> entries) {
  AlphaBeta cost = network_cost(scenario.network);
  const auto each = std::make_shared<CostsByShape>(scenario, std::move(entries));
  cost.each = [each](const TransferRequest& request) { return (*each)(request); };
  cost.carries_inside = scenario.network.inside.given();
  return cost;
}

}  // namespace contend
