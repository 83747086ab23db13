#include "scenarios/run/network_costs.hpp"

#include "calibration/calibrated_device.hpp"
#include "scenarios/run/islands.hpp"
#include "scenarios/training/trained_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
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

/// The costs of the transfers of a run, kept by the way in which jobs exchange and the shape of the ranks.
class CostsOfTransfers {
 public:
  CostsOfTransfers(const ClusterSetup& cluster, const NetworkSetup& network, std::uint64_t seed,
                   const std::vector<JobExchange>& exchanges)
      : table_{network, seed},
        ground_{ground_of(cluster, network)},
        whole_{network_cost(network)},
        is_measured_{cost_formula(network).basis == CostBasis::whole && !network.inside.given()},
        servers_of_domain_{servers_of_domain(network)},
        on_server_(static_cast<std::size_t>(cluster.servers)) {
    for (const JobExchange& each : exchanges) {
      const auto known = std::ranges::find(ways_, each, &Way::exchange);
      way_of_.push_back(static_cast<std::size_t>(known - ways_.begin()));
      if (known == ways_.end()) ways_.push_back({each, {}});
    }
    if (exchanges.empty()) ways_.emplace_back();
  }

  TransferCost operator()(const TransferRequest& request) {
    const bool is_whole = request.kind == OpKind::collective && request.scope == CollectiveScope::all &&
                          request.collective == CollectiveKind::all_reduce;
    if (is_measured_ && is_whole) return {whole_.alpha, whole_.beta, whole_.eta};
    const bool grouped = request.scope == CollectiveScope::groups;
    Slowest slowest{request.bytes};
    const Lie& lie = lie_of(request);
    for (const TransferCost& way : lie.messages) slowest.add(way);
    for (const JobShape& shape : lie.shapes)
      slowest.add(cost_of(request.job, shape)
                      .transfer(request.collective, grouped ? CollectiveScope::all : request.scope, request.bytes));
    return slowest.cost();
  }

 private:
  /// What the cost of a request depends on of the GPUs that it joins.
  struct Lie {
    std::vector<JobShape> shapes;        ///< of a collective, by network
    std::vector<TransferCost> messages;  ///< what messages cost on each network that they take
  };
  /// A way in which jobs exchange.
  struct Way {
    JobExchange exchange;
    std::map<JobShape, ExchangeCost> costs;
  };

  const ExchangeCost& cost_of(JobId job, const JobShape& shape) {
    Way& way = ways_[way_of_.empty() ? 0 : way_of_[job.index()]];
    const auto known = way.costs.find(shape);
    if (known != way.costs.end()) return known->second;
    return way.costs.emplace(shape, table_.of(shape, way.exchange)).first->second;
  }

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
    lie.shapes.clear();
    lie.messages.clear();
    if (request.kind == OpKind::message) {
      const bool joint = !request.peers.empty();
      const std::span<const GpuId> senders = joint ? request.gpus : request.gpus.first(1);
      const std::span<const GpuId> receivers = joint ? request.peers : request.gpus.last(1);
      if (ground_.sites)
        lie.messages.push_back(between_sites(senders, receivers));
      else
        set_by_network(lie.messages, senders, receivers);
    } else if (request.scope == CollectiveScope::groups) {
      lie.shapes = group_shapes(request.gpus, request.groups, ground_);
    } else {
      lie.shapes.push_back(shape_of(request.gpus));
    }
  }

  [[nodiscard]] std::size_t server_of(GpuId gpu) const {
    return gpu.index() / static_cast<std::size_t>(ground_.per_server);
  }

  /// The servers that NVLink joins to one domain are one for messages.
  [[nodiscard]] std::size_t domain_of(GpuId gpu) const {
    return server_of(gpu) / static_cast<std::size_t>(servers_of_domain_);
  }

  /// Messages between servers share the directions of their interfaces; inside a server each GPU has a link of its own.
  void set_by_network(std::vector<TransferCost>& all, std::span<const GpuId> senders,
                      std::span<const GpuId> receivers) {
    const ChannelCost inside = inside_cost(table_.network());
    const auto network_of = [&](std::size_t i) {
      const int island = island_of(server_of(senders[i]));
      return island == island_of(server_of(receivers[i])) ? island : kNoIsland;
    };
    const auto add = [&](int network) {
      int most = 0;  // messages that leave or reach one server
      for (const std::span<const GpuId> side : {senders, receivers}) {
        for (std::size_t i = 0; i < side.size(); ++i) {
          if (domain_of(senders[i]) == domain_of(receivers[i]) || network_of(i) != network) continue;
          most = std::max(most, ++on_server_[server_of(side[i])]);
        }
        for (const GpuId gpu : side) on_server_[server_of(gpu)] = 0;
      }
      if (most == 0) return;
      const AlphaBeta link = network == kNoIsland ? whole_ : network_cost(table_.network(), network);
      all.push_back({link.alpha, std::max(TimePerByte{link.beta.ns_per_byte() * most}, inside.beta),
                     table_.network().traits().shares ? TimePerByte{link.eta.ns_per_byte() * most} : TimePerByte{}});
    };
    if (ground_.islands.empty()) {
      add(kNoIsland);
    } else {
      std::set<int> networks;
      for (std::size_t i = 0; i < senders.size(); ++i) networks.insert(network_of(i));
      for (const int network : networks) add(network);
    }
    if (all.empty()) all.push_back({inside.alpha, inside.beta, {}, TransferLane::inside});
  }

  /// The messages of a request take as long as the slowest link of a pair.
  [[nodiscard]] TransferCost between_sites(std::span<const GpuId> senders, std::span<const GpuId> receivers) const {
    TransferCost slowest;
    for (std::size_t i = 0; i < senders.size(); ++i) {
      const std::size_t from = senders[i].index(), to = receivers[i].index();
      if (from == to) continue;
      const std::optional<SiteLink>& link = table_.sites().link(from, to);
      if (!link)
        throw InputError{fmt::format("a message from {} to {} has no link", table_.sites().sites()[from],
                                     table_.sites().sites()[to])};
      slowest.alpha = std::max(slowest.alpha, link->latency);
      slowest.beta = std::max(slowest.beta, TimePerByte{link->ns_per_byte()});
    }
    return slowest;
  }

  [[nodiscard]] int island_of(std::size_t server) const {
    return ground_.islands.empty() ? kNoIsland : ground_.islands[server];
  }

  JobShape shape_of(std::span<const GpuId> gpus) {
    JobShape shape{static_cast<int>(gpus.size()), 0, 0};
    if (!gpus.empty()) shape.island = island_of(server_of(gpus.front()));
    for (const GpuId gpu : gpus) {
      if (island_of(server_of(gpu)) != shape.island) shape.island = kNoIsland;
      int& ranks = on_server_[server_of(gpu)];
      if (++ranks == 1) ++shape.servers;
      shape.per_server = std::max(shape.per_server, ranks);
      if (ground_.sites) shape.sites.push_back(gpu.index());
    }
    for (const GpuId gpu : gpus) on_server_[server_of(gpu)] = 0;
    if (shape.servers < 2) shape.island = kNoIsland;
    return shape;
  }

  CostTable table_;
  Ground ground_;
  AlphaBeta whole_;
  bool is_measured_;
  int servers_of_domain_;
  std::vector<Way> ways_;
  std::vector<std::size_t> way_of_;              // by job; empty: all jobs have the first
  std::vector<int> on_server_;                   // ranks of one request
  std::unordered_map<std::uint64_t, Lie> lies_;  // by TransferRequest::same_ranks, of many GPUs
  Lie last_;                                     // of few
};

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
    if (row == nullptr) return {};  // interference_complaints() has refused jobs on such a path
    compute = row->compute;
    network = row->network;
  } else if (given.both) {
    compute = network = given.both->factor;
  }
  if (!setup.traits().paces_transfers && given.both) network = 0;
  return {millionths(compute), millionths(network)};
}

Ground ground_of(const ClusterSetup& cluster, const NetworkSetup& network) {
  return {cluster.gpus_per_server, islands_of_servers(cluster, network), network.sites.has_value()};
}

JobShape first_shape(const ClusterSetup& cluster, const NetworkSetup& network, int ranks) {
  const int per_server = std::min(cluster.gpus_per_server, ranks);
  JobShape shape{ranks, (ranks + per_server - 1) / per_server, per_server};
  shape.island = island_of_first(network, shape.servers);
  if (!network.sites) return shape;
  shape.sites.resize(static_cast<std::size_t>(std::min(ranks, cluster.servers)));  // more never start
  std::iota(shape.sites.begin(), shape.sites.end(), std::size_t{0});
  return shape;
}

namespace {

/// Between sites no two groups need be alike.
std::vector<JobShape> groups_on_sites(std::span<const GpuId> gpus, const RankGroups& groups) {
  std::vector<JobShape> shapes(static_cast<std::size_t>(groups.count(static_cast<int>(gpus.size()))));
  for (std::size_t rank = 0; rank < gpus.size(); ++rank)
    if (const int group = groups.of(static_cast<int>(rank)); group >= 0)
      shapes[static_cast<std::size_t>(group)].sites.push_back(gpus[rank].index());
  std::erase_if(shapes, [](const JobShape& each) { return each.sites.size() < 2; });
  for (JobShape& each : shapes) each.ranks = each.servers = static_cast<int>(each.sites.size());
  return shapes;
}

}  // namespace

std::vector<JobShape> group_shapes(std::span<const GpuId> gpus, const RankGroups& groups, const Ground& ground) {
  if (ground.sites) return groups_on_sites(gpus, groups);
  const std::vector<int>& islands = ground.islands;
  const auto server_of = [&](std::size_t rank) {
    return gpus[rank].index() / static_cast<std::size_t>(ground.per_server);
  };
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

const JobShape& slowest_shape(const CostTable& costs, const std::vector<JobShape>& shapes, Bytes bytes) {
  const JobShape* slowest = &shapes.front();
  if (shapes.size() == 1) return *slowest;
  Time longest;
  for (const JobShape& each : shapes) {
    const Time time = costs.of(each).of(CollectiveKind::all_reduce).of(bytes);
    if (time <= longest) continue;
    longest = time;
    slowest = &each;
  }
  return *slowest;
}

namespace {

TransferCost scaled(const TransferCost& cost, double factor) {
  if (factor == 1) return cost;
  const auto longer = [&](TimePerByte each) { return TimePerByte{each.ns_per_byte() * factor}; };
  return {scaled(cost.alpha, factor), longer(cost.beta), longer(cost.eta), cost.lane};
}

}  // namespace

AlphaBeta transfer_costs(const ClusterSetup& cluster, const NetworkSetup& network, std::uint64_t seed,
                         const std::vector<JobExchange>& exchanges) {
  AlphaBeta cost = network_cost(network);
  const auto each = std::make_shared<CostsOfTransfers>(cluster, network, seed, exchanges);
  cost.each = [each, scales = network.scales](const TransferRequest& request) {
    return scaled((*each)(request), request.servers.empty() ? scales.inside : scales.between);
  };
  cost.carries_inside = network.inside.given() || cost_formula(network).basis == CostBasis::library;
  return cost;
}

}  // namespace contend
