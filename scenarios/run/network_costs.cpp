#include "scenarios/run/network_costs.hpp"

#include "calibration/calibrated_device.hpp"
#include "models/overlap/library_cost.hpp"
#include "models/overlap/link_cost.hpp"
#include "scenarios/training/trained_model.hpp"
#include "sim/check.hpp"
#include "traces/link_matrix_csv.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {
namespace {

/// The cost with which so many bytes take longest.
class Slowest {
 public:
  explicit Slowest(Bytes bytes) : bytes_{bytes.to_double()} {}

  void add(const TransferCost& cost) {
    const double ns = static_cast<double>(cost.alpha.ns()) + cost.beta.ns_per_byte() * bytes_;
    if (ns <= longest_) return;
    longest_ = ns;
    cost_ = cost;
  }
  [[nodiscard]] const TransferCost& cost() const { return cost_; }

 private:
  double bytes_, longest_ = -1;
  TransferCost cost_;
};

/// The costs of transfers, kept by shape.
class CostsByShape {
 public:
  CostsByShape(const ClusterSetup& cluster, const NetworkSetup& network, std::vector<JobExchange> exchanges)
      : network_{network},
        per_server_{cluster.gpus_per_server},
        exchanges_{std::move(exchanges)},
        whole_{network_cost(network)},
        is_measured_{cost_formula(network).basis == CostBasis::whole && !network.inside.given()},
        on_server_(static_cast<std::size_t>(cluster.servers)),
        islands_(islands_of_servers(cluster, network)) {}

  TransferCost operator()(const TransferRequest& request) {
    if (request.kind == OpKind::message) return message(request);
    const bool is_whole = request.scope == CollectiveScope::all && request.collective == CollectiveKind::all_reduce;
    if (is_measured_ && is_whole) return {whole_.alpha, whole_.beta, whole_.eta};
    const bool grouped = request.scope == CollectiveScope::groups;
    Slowest slowest{request.bytes};
    for (JobShape shape : lie_of(request).shapes) {
      if (!exchanges_.empty()) shape = with_servers(exchanges_[request.job.index()], shape);
      const auto known = costs_.find(shape);
      const ExchangeCost& cost =
          known != costs_.end() ? known->second : costs_.emplace(shape, exchange_cost(network_, shape)).first->second;
      slowest.add(cost.transfer(request.collective, grouped ? CollectiveScope::all : request.scope, request.bytes));
    }
    return slowest.cost();
  }

 private:
  /// What the cost of a request depends on of the GPUs that it joins.
  struct Lie {
    std::vector<JobShape> shapes;  ///< of a collective, by network
    /// Messages through one direction of an interface, by network: the most on a server.
    std::vector<std::pair<int, int>> most;
  };

  /// A job repeats its requests, and many GPUs are counted once.
  const Lie& lie_of(const TransferRequest& request) {
    constexpr std::size_t kMany = 64;
    if (request.gpus.size() < kMany || request.same_ranks == 0) {
      set(last_, request);
      return last_;
    }
    const auto [known, is_new] = lies_.try_emplace(request.same_ranks);
    if (is_new) set(known->second, request);
    return known->second;
  }

  void set(Lie& lie, const TransferRequest& request) {
    if (request.kind == OpKind::message)
      set_leaving(lie.most, request);
    else if (request.scope == CollectiveScope::groups)
      lie.shapes = group_shapes(request.gpus, request.groups, per_server_, islands_);
    else
      lie.shapes.assign(1, shape_of(request));
  }

  [[nodiscard]] std::size_t server_of(GpuId gpu) const { return gpu.index() / static_cast<std::size_t>(per_server_); }

  /// The most messages that leave or reach one server, by network.
  void set_leaving(std::vector<std::pair<int, int>>& all, const TransferRequest& request) {
    const bool joint = !request.peers.empty();
    const std::span<const GpuId> senders = joint ? request.gpus : request.gpus.first(1);
    const std::span<const GpuId> receivers = joint ? request.peers : request.gpus.last(1);
    all.clear();
    const auto network_of = [&](std::size_t i) {
      const int island = island_of(server_of(senders[i]));
      return island == island_of(server_of(receivers[i])) ? island : kNoIsland;
    };
    const auto count = [&](int network) {
      int most = 0;
      for (const std::span<const GpuId> side : {senders, receivers}) {
        for (std::size_t i = 0; i < side.size(); ++i) {
          if (server_of(senders[i]) == server_of(receivers[i]) || network_of(i) != network) continue;
          most = std::max(most, ++on_server_[server_of(side[i])]);
        }
        for (const GpuId gpu : side) on_server_[server_of(gpu)] = 0;
      }
      if (most > 0) all.emplace_back(network, most);
    };
    if (islands_.empty()) return count(kNoIsland);
    std::vector<int> networks;
    for (std::size_t i = 0; i < senders.size(); ++i) networks.push_back(network_of(i));
    std::sort(networks.begin(), networks.end());
    networks.erase(std::unique(networks.begin(), networks.end()), networks.end());
    for (const int network : networks) count(network);
  }

  /// Messages between servers share the directions of their interfaces; inside a server each GPU has a link of its own.
  TransferCost message(const TransferRequest& request) {
    const ChannelCost inside = inside_cost(network_);
    const Lie& lie = lie_of(request);
    if (lie.most.empty()) return {inside.alpha, inside.beta, {}, TransferLane::inside};
    const bool shares = network_.traits().shares;
    Slowest slowest{request.bytes};
    for (const auto& [island, most] : lie.most) {
      const AlphaBeta network = island == kNoIsland ? whole_ : network_cost(network_, island);
      slowest.add({network.alpha, std::max(TimePerByte{network.beta.ns_per_byte() * most}, inside.beta),
                   shares ? TimePerByte{network.eta.ns_per_byte() * most} : TimePerByte{}});
    }
    return slowest.cost();
  }

  [[nodiscard]] int island_of(std::size_t server) const { return islands_.empty() ? kNoIsland : islands_[server]; }

  JobShape shape_of(const TransferRequest& request) {
    JobShape shape{static_cast<int>(request.gpus.size()), 0, 0};
    if (!request.gpus.empty()) shape.island = island_of(server_of(request.gpus.front()));
    for (const GpuId gpu : request.gpus) {
      if (island_of(server_of(gpu)) != shape.island) shape.island = kNoIsland;
      int& ranks = on_server_[server_of(gpu)];
      if (++ranks == 1) ++shape.servers;
      shape.per_server = std::max(shape.per_server, ranks);
    }
    for (const GpuId gpu : request.gpus) on_server_[server_of(gpu)] = 0;
    if (shape.servers < 2) shape.island = kNoIsland;
    return shape;
  }

  NetworkSetup network_;
  int per_server_;
  std::vector<JobExchange> exchanges_;  // by job, or empty
  AlphaBeta whole_;
  bool is_measured_;
  std::vector<int> on_server_;                   // ranks of one request
  std::vector<int> islands_;                     // by server; empty: there are none
  std::unordered_map<std::uint64_t, Lie> lies_;  // by TransferRequest::same_ranks, of many GPUs
  Lie last_;                                     // of few
  std::map<JobShape, ExchangeCost> costs_;
};

/// The costs of transfers between sites, kept by job and the sites that it lies on.
class CostsBySites {
 public:
  CostsBySites(const NetworkSetup& network, std::uint64_t seed, std::vector<JobExchange> exchanges)
      : network_{network}, seed_{seed}, exchanges_{std::move(exchanges)}, all_{read_sites(network)} {}

  TransferCost operator()(const TransferRequest& request) {
    if (request.kind == OpKind::message) return message(request);
    const bool grouped = request.scope == CollectiveScope::groups;
    const auto count =
        grouped ? static_cast<std::size_t>(request.groups.count(static_cast<int>(request.gpus.size()))) : 1;
    Slowest slowest{request.bytes};
    for (std::size_t group = 0; group < count; ++group) {
      std::vector<std::size_t> sites;
      for (std::size_t rank = 0; rank < request.gpus.size(); ++rank) {
        if (!grouped || static_cast<std::size_t>(request.groups.of(static_cast<int>(rank))) == group)
          sites.push_back(request.gpus[rank].index());
      }
      if (sites.size() < 2) continue;
      slowest.add(cost_of(request.job, sites)
                      .transfer(request.collective, grouped ? CollectiveScope::all : request.scope, request.bytes));
    }
    return slowest.cost();
  }

 private:
  const ExchangeCost& cost_of(JobId job, const std::vector<std::size_t>& sites) {
    const auto known = costs_.find({job, sites});
    if (known != costs_.end()) return known->second;
    const PeerRule peers = exchanges_.empty() ? PeerRule{} : exchanges_[job.index()].peers;
    return costs_.emplace(std::pair{job, sites}, exchange_cost(network_, all_.only(sites), peers, seed_)).first->second;
  }

  [[nodiscard]] TransferCost message(const TransferRequest& request) const {
    const bool joint = !request.peers.empty();
    const std::span<const GpuId> senders = joint ? request.gpus : request.gpus.first(1);
    const std::span<const GpuId> receivers = joint ? request.peers : request.gpus.last(1);
    TransferCost slowest;
    for (std::size_t i = 0; i < senders.size(); ++i) {
      if (senders[i] == receivers[i]) continue;
      const std::optional<SiteLink>& link = all_.link(senders[i].index(), receivers[i].index());
      if (!link)
        throw InputError{fmt::format("a message from {} to {} has no link", all_.sites()[senders[i].index()],
                                     all_.sites()[receivers[i].index()])};
      slowest.alpha = std::max(slowest.alpha, link->latency);
      slowest.beta = std::max(slowest.beta, TimePerByte{link->ns_per_byte()});
    }
    return slowest;
  }

  NetworkSetup network_;
  std::uint64_t seed_;
  std::vector<JobExchange> exchanges_;  // by job, or empty
  LinkMatrix all_;                      // a site has one server of one GPU
  std::map<std::pair<JobId, std::vector<std::size_t>>, ExchangeCost> costs_;
};

}  // namespace

AlphaBeta network_cost(const NetworkSetup& network, int island) {
  AlphaBeta cost;
  cost.alpha = network.alpha;
  CONTEND_CHECK(network.beta || network.nic, "a scenario says how fast a network interface is");
  cost.beta = network.beta ? *network.beta : at_rate(*network.nic);
  const double penalty = network.contention_penalty.value_or(network.sites ? 0 : network.traits().usual_penalty);
  cost.eta = network.eta.value_or(TimePerByte{cost.beta.ns_per_byte() * penalty});
  cost.tick = network.tick;
  if (island == kNoIsland) return cost;
  const NetworkSetup::Island& own = network.islands[static_cast<std::size_t>(island)];
  const double ratio = cost.eta.ns_per_byte() / cost.beta.ns_per_byte();
  if (own.alpha) cost.alpha = *own.alpha;
  cost.beta = at_rate(own.nic);
  cost.eta = TimePerByte{cost.beta.ns_per_byte() * ratio};
  return cost;
}

namespace {

/// The devices on which a study or jobs train; of a published profile and of a file of layer times nobody says it.
std::vector<std::string> devices_of(const IterationStudy& study, const std::vector<TrainingEntry>& training) {
  std::vector<std::string> devices;
  const auto add = [&](const TrainingSetup& setup, bool is_parallel) {
    const bool named =
        setup.device.calibrated || is_parallel || (setup.model && !setup.layers && published_profile(setup) == nullptr);
    std::string name = setup.device.calibrated ? setup.device.calibrated->profile().device : setup.device.name;
    if (!named) name.clear();
    if (std::ranges::find(devices, name) == devices.end()) devices.push_back(std::move(name));
  };
  if (study.given()) {
    add(study.entry, false);
    return devices;
  }
  for (const TrainingEntry& each : training) {
    if (each.name != kDefaultEntry) add(each, each.parallel.has_value());
  }
  return devices;
}

/// Whether jobs may lie on one server, on several, or both.
std::vector<TransferPath> transfer_paths(const ClusterSetup& cluster, const IterationStudy& study) {
  if (!study.given()) return {path_of(cluster.servers)};
  std::vector<TransferPath> paths;
  for (const int workers : study.workers) {
    if (workers > 1) paths.push_back(workers > cluster.gpus_per_server ? TransferPath::between : TransferPath::inside);
  }
  return paths;
}

}  // namespace

TransferPath path_of(int servers) {
  return servers > 1 ? TransferPath::between : TransferPath::inside;
}

std::vector<const UsualInterference*> usual_interferences_of(const IterationStudy& study,
                                                             const std::vector<TrainingEntry>& training,
                                                             TransferPath path) {
  std::vector<const UsualInterference*> rows;
  for (const std::string& device : devices_of(study, training)) rows.push_back(usual_interference(device, path));
  return rows;
}

std::vector<Complaint> interference_complaints(const ClusterSetup& cluster, const NetworkSetup& network,
                                               const IterationStudy& study,
                                               const std::vector<TrainingEntry>& training) {
  const auto& both = network.interference.both;
  if (!both || !both->usual) return {};
  const auto complaint = [&](std::string reason) {
    return std::vector<Complaint>{
        {.key = "network.interference", .reason = std::move(reason), .hint = "give the factor, or none"}};
  };
  const std::vector<std::string> devices = devices_of(study, training);
  if (devices.empty()) return complaint("auto goes by the devices of training, and there are none");
  for (const TransferPath path : transfer_paths(cluster, study)) {
    const std::vector<const UsualInterference*> rows = usual_interferences_of(study, training, path);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (devices[i].empty()) return complaint("auto goes by the device, and layer times of a file don't say it");
      if (rows[i] == nullptr)
        return complaint(fmt::format("no figure is known for {} {}", devices[i],
                                     path == TransferPath::inside ? "inside a server" : "between servers"));
      if (rows[i]->compute != rows[0]->compute || rows[i]->network != rows[0]->network)
        return complaint(fmt::format("{} and {} differ, and a run has one factor", devices[0], devices[i]));
    }
  }
  return {};
}

Interference interference_of(const NetworkSetup& setup, const IterationStudy& study,
                             const std::vector<TrainingEntry>& training, TransferPath path) {
  const auto millionths = [](double factor) { return static_cast<std::int64_t>(std::llround(factor * 1e6)); };
  const auto& given = setup.interference;
  double compute = given.compute, network = given.network;
  if (given.both && given.both->usual) {
    const std::vector<const UsualInterference*> rows = usual_interferences_of(study, training, path);
    const UsualInterference* const row = rows.empty() ? nullptr : rows.front();
    if (row == nullptr) return {};  // interference_complaints() has refused what lies on such a path
    compute = row->compute;
    network = row->network;
  } else if (given.both) {
    compute = network = given.both->factor;
  }
  if (!setup.traits().paces_transfers && given.both) network = 0;
  return {millionths(compute), millionths(network)};
}

std::vector<JobShape> group_shapes(std::span<const GpuId> gpus, const RankGroups& groups, int per_server,
                                   std::span<const int> islands) {
  const auto server_of = [&](std::size_t rank) { return gpus[rank].index() / static_cast<std::size_t>(per_server); };
  const int count = groups.count(static_cast<int>(gpus.size()));
  std::vector<std::map<std::size_t, int>> ranks(static_cast<std::size_t>(count));  // by group and server
  for (std::size_t rank = 0; rank < gpus.size(); ++rank)
    if (const int group = groups.of(static_cast<int>(rank)); group >= 0)
      ++ranks[static_cast<std::size_t>(group)][server_of(rank)];
  std::map<std::pair<int, int>, JobShape> shapes;  // by network and size of the group
  std::map<std::size_t, int> counts;               // groups that leave a server
  int sharing = 1;
  for (std::size_t g = 0; g < ranks.size(); ++g) {
    const std::map<std::size_t, int>& group = ranks[g];
    const int size = groups.size_of(static_cast<int>(g));
    if (size < 2 && groups.lists) continue;  // it sends nothing
    int most = 0, island = kNoIsland;
    const auto servers = static_cast<int>(group.size());
    if (servers > 1 && !islands.empty()) {
      island = islands[group.begin()->first];
      if (std::ranges::any_of(group, [&](const auto& each) { return islands[each.first] != island; }))
        island = kNoIsland;
    }
    for (const auto& [server, here] : group) {
      most = std::max(most, here);
      if (servers > 1) sharing = std::max(sharing, ++counts[server]);
    }
    JobShape& shape = shapes.try_emplace({island, size}, JobShape{size, 1, 1, 1}).first->second;
    shape.island = island;
    if (std::pair{servers, most} > std::pair{shape.servers, shape.per_server}) {
      shape.servers = servers;
      shape.per_server = most;
    }
  }
  std::vector<JobShape> all;
  for (auto& [key, shape] : shapes) {
    shape.sharing = sharing;
    all.push_back(shape);
  }
  return all;
}

const JobShape& slowest_shape(const NetworkSetup& network, const std::vector<JobShape>& shapes, Bytes bytes) {
  const JobShape* slowest = &shapes.front();
  if (shapes.size() == 1) return *slowest;
  Time longest;
  for (const JobShape& each : shapes) {
    const Time time = exchange_cost(network, each).of(CollectiveKind::all_reduce).of(bytes);
    if (time <= longest) continue;
    longest = time;
    slowest = &each;
  }
  return *slowest;
}

JobExchange exchange_of(const TrainingSetup& setup) {
  return {setup.exchange == ExchangeKind::parameter_server, setup.servers, setup.colocated, setup.hosts};
}

JobShape with_servers(const JobExchange& exchange, JobShape shape) {
  if (!exchange.served) return shape;
  shape.parameter_servers = exchange.servers.value_or(shape.ranks);
  shape.colocated = exchange.colocated;
  return shape;
}

LinkMatrix read_sites(const NetworkSetup& network) {
  CONTEND_CHECK(network.sites.has_value(), "the scenario has links between sites");
  return read_link_matrix(*network.sites);
}

ExchangeCost exchange_cost(const NetworkSetup& network, const LinkMatrix& sites, const PeerRule& peers,
                           std::uint64_t seed) {
  ExchangeCost cost = link_cost(sites, network.gamma, peers, seed);
  cost.penalty = network.traits().shares ? network.contention_penalty.value_or(0) : -1;
  return cost;
}

ExchangeCost exchange_cost(const NetworkSetup& network, const JobShape& shape) {
  AlphaBeta link = network_cost(network, shape.island);
  link.beta = TimePerByte{link.beta.ns_per_byte() * shape.sharing};
  link.eta = TimePerByte{link.eta.ns_per_byte() * shape.sharing};
  const bool served = shape.parameter_servers > 0;
  const AlphaBeta usual = link;
  const auto& many = network.many_senders;
  if (many.free && !served) {
    const double factor = std::max(1.0, std::pow(shape.servers / *many.free, many.exponent));
    link.beta = TimePerByte{link.beta.ns_per_byte() * factor};
    link.eta = TimePerByte{link.eta.ns_per_byte() * factor};
  }
  const CostFormula& formula = cost_formula(network);
  const auto collectives = [&](const AlphaBeta& between) {
    return formula.cost(formula, network, {shape.ranks, shape.servers, shape.per_server, shape.sharing}, between);
  };
  ExchangeCost cost = served ? ExchangeCost::parameter_server(
                                   {shape.ranks, shape.servers, shape.per_server}, shape.parameter_servers,
                                   shape.colocated, inside_cost(network), {link.alpha, link.beta, network.gamma})
                             : collectives(link);
  if (many.free && !served) {  // in a tree few send at once
    cost = cost.with_lines([few = collectives(usual)](CollectiveKind kind, CollectiveScope scope) {
      const bool is_tree = kind == CollectiveKind::reduce || kind == CollectiveKind::broadcast;
      return is_tree ? std::optional{few.of(kind, scope)} : std::nullopt;
    });
  }
  const bool shares = network.traits().shares;
  cost.penalty = shares ? link.eta.ns_per_byte() / link.beta.ns_per_byte() : -1;
  if (shares && !served) {
    cost.measured_beta = link.beta;
    cost.measured_eta = link.eta;
  }
  return cost;
}

AlphaBeta transfer_costs(const ClusterSetup& cluster, const NetworkSetup& network, std::uint64_t seed,
                         std::vector<JobExchange> exchanges) {
  AlphaBeta cost = network_cost(network);
  if (network.sites) {
    const auto each = std::make_shared<CostsBySites>(network, seed, std::move(exchanges));
    cost.each = [each](const TransferRequest& request) { return (*each)(request); };
    return cost;
  }
  const auto each = std::make_shared<CostsByShape>(cluster, network, std::move(exchanges));
  cost.each = [each](const TransferRequest& request) { return (*each)(request); };
  cost.carries_inside = network.inside.given() || cost_formula(network).basis == CostBasis::library;
  return cost;
}

}  // namespace contend
