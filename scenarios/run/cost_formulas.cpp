#include "scenarios/run/cost_formulas.hpp"

#include "models/overlap/library_cost.hpp"
#include "models/overlap/link_cost.hpp"
#include "models/services/stored_exchange.hpp"
#include "network/collectives/on_servers.hpp"
#include "sim/check.hpp"
#include "traces/link_matrix_csv.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace contend {
namespace {

ExchangeCost::Machines machines_of(const JobShape& shape) {
  return {shape.ranks, shape.servers, shape.per_server};
}

ChannelCost between_cost(const CostInputs& in) {
  return {in.between.alpha, in.between.beta, in.network.gamma};
}

ExchangeCost on_link(const CostFormula& row, const CostInputs& in) {
  return ExchangeCost::by(*row.algorithm, machines_of(in.shape), inside_cost(in.network), between_cost(in));
}

/// Without a link inside servers, every rank counts as a server of its own.
ExchangeCost as_measured(const CostFormula&, const CostInputs& in) {
  const LinearCost all_reduce{in.between.alpha, in.between.beta};
  if (!in.network.inside.given()) return ExchangeCost::measured(all_reduce, {in.shape.ranks, in.shape.ranks, 1});
  return ExchangeCost::measured(all_reduce, machines_of(in.shape), inside_cost(in.network));
}

/// NCCL has no model of an exchange in pairs, which therefore pays for the link.
ExchangeCost by_library(const CostFormula&, const CostInputs& in) {
  const JobShape& shape = in.shape;
  const ExchangeCost others = ExchangeCost::by(usual_algorithm(CollectiveKind::all_reduce), machines_of(shape),
                                               inside_cost(in.network), between_cost(in));
  if (shape.ranks == 1) return others;
  return library_cost(nccl_library(in.network), {shape.ranks, shape.servers, shape.per_server, shape.sharing}, others);
}

/// Each rank has a link of its own to the store, wherever it lies.
ExchangeCost over_store(const CostFormula& row, const CostInputs& in) {
  return stored_exchange(in.shape.ranks, between_cost(in), in.network.poll, row.name == kStoreScatterFormula);
}

ExchangeCost through_servers(const CostFormula&, const CostInputs& in) {
  return ExchangeCost::parameter_server(machines_of(in.shape), in.exchange.servers.value_or(in.shape.ranks),
                                        in.exchange.colocated, inside_cost(in.network), between_cost(in));
}

ExchangeCost between_sites(const CostFormula&, const CostInputs& in) {
  if (in.shape.sites.size() < 2) return {};
  return link_cost(in.sites.only(in.shape.sites), in.network.gamma, in.exchange.peers, in.seed, in.network.ring);
}

constexpr CostFormula kThroughServers{"parameter servers", CostBasis::servers, nullptr, through_servers};
constexpr CostFormula kBetweenSites{"links between sites", CostBasis::sites, nullptr, between_sites};

std::vector<CostFormula> make_rows() {
  std::vector<CostFormula> rows;
  for (const CollectiveAlgorithm& each : collective_algorithms())
    rows.push_back({each.name, CostBasis::link, &each, on_link});
  rows.push_back({kMeasuredFormula, CostBasis::whole, nullptr, as_measured});
  rows.push_back({kNcclCollectives, CostBasis::library, nullptr, by_library});
  for (const std::string_view name : {kStoreFormula, kStoreScatterFormula})
    rows.push_back({name, CostBasis::store, nullptr, over_store});
  return rows;
}

const CostFormula& find_formula(std::string_view name) {
  const auto found = std::ranges::find(cost_formulas(), name, &CostFormula::name);
  CONTEND_CHECK(found != cost_formulas().end(), "the formula is a row of the table");
  return *found;
}

}  // namespace

std::span<const CostFormula> cost_formulas() {
  static const std::vector<CostFormula> rows = make_rows();
  return rows;
}

const CostFormula& cost_formula(const NetworkSetup& network, const JobExchange& exchange) {
  if (network.sites) return kBetweenSites;
  if (exchange.served) return kThroughServers;
  if (network.traits().has_topology && network.collectives == kNcclCollectives) return find_formula(kNcclCollectives);
  if (network.formula != kAutoFormula) return find_formula(network.formula);
  return find_formula(network.beta ? kMeasuredFormula : "ring");
}

JobExchange exchange_of(const TrainingSetup& setup) {
  return {setup.exchange == ExchangeKind::parameter_server, setup.servers, setup.colocated, setup.hosts};
}

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

LinkMatrix read_sites(const NetworkSetup& network) {
  if (!network.sites) return {};
  LinkMatrix sites = read_link_matrix(*network.sites);
  if (!network.in_flight) return sites;
  const LinkMatrix given = sites;
  for (std::size_t from = 0; from < given.size(); ++from) {
    for (std::size_t to = 0; to < given.size(); ++to) {
      const std::optional<SiteLink>& link = given.link(from, to);
      if (!link) continue;
      const std::optional<SiteLink>& back = given.link(to, from);
      const double round_trip_s = (link->latency + (back ? back->latency : link->latency)).to_seconds();
      if (round_trip_s <= 0) continue;
      const double rate = std::min(link->rate.bytes_per_second(), network.in_flight->to_double() / round_trip_s);
      sites.set(from, to, {link->latency, ByteRate{rate}});
    }
  }
  return sites;
}

ExchangeCost CostTable::of(const JobShape& shape, const JobExchange& exchange) const {
  const CostFormula& row = cost_formula(network_, exchange);
  AlphaBeta usual = network_cost(network_, shape.island);
  usual.beta = TimePerByte{usual.beta.ns_per_byte() * shape.sharing};
  usual.eta = TimePerByte{usual.eta.ns_per_byte() * shape.sharing};
  AlphaBeta link = usual;
  const auto& many = network_.many_senders;
  const bool disturbed = many.free && row.basis == CostBasis::link;
  if (disturbed) {
    const double factor = std::max(1.0, std::pow(shape.servers / *many.free, many.exponent));
    link.beta = TimePerByte{link.beta.ns_per_byte() * factor};
    link.eta = TimePerByte{link.eta.ns_per_byte() * factor};
  }
  const auto on = [&](const AlphaBeta& between) {
    return row.cost(row, {network_, shape, exchange, between, sites_, seed_});
  };
  ExchangeCost cost = on(link);
  if (disturbed) {  // in a tree few send at once
    cost = cost.with_lines([few = on(usual)](CollectiveKind kind, CollectiveScope scope) {
      const bool is_tree = kind == CollectiveKind::reduce || kind == CollectiveKind::broadcast;
      return is_tree ? std::optional{few.of(kind, scope)} : std::nullopt;
    });
  }
  if (!network_.traits().shares) {
    cost.penalty = -1;
    return cost;
  }
  cost.penalty = link.eta.ns_per_byte() / link.beta.ns_per_byte();
  cost.measured_beta = link.beta;
  cost.measured_eta = link.eta;
  return cost;
}

NcclLibrary nccl_library(const NetworkSetup& network) {
  constexpr double kMicroseconds = 1e-3, kGiga = 1e9;
  const NetworkSetup::Nccl& given = network.nccl;
  CONTEND_CHECK(given.machine.has_value(), "a scenario with NCCL names its machine");
  NcclMachine machine = find_nccl_machine(*given.machine);
  machine.sharp = given.sharp;
  machine.net_latency = static_cast<double>(given.latency.ns()) * kMicroseconds;
  NcclFit fit;
  if (given.hop) fit.hop = static_cast<double>(given.hop->ns()) * kMicroseconds;
  if (given.channel_rate) fit.channel_rate = given.channel_rate->bytes_per_second() / kGiga;
  if (given.between) machine.between = *given.between;
  if (!given.further.empty() || !given.shares.empty())
    fit.network = network_times(given.measured ? machine.between : "", given.further, given.shares);
  return NcclLibrary{
      machine, {.version = nccl_version(network), .measured = given.measured, .in_place = given.in_place}, fit};
}

int servers_of_domain(const NetworkSetup& network) {
  if (!network.nccl.machine) return 1;
  const NcclMachine& machine = find_nccl_machine(*network.nccl.machine);
  return std::max(1, machine.domain / machine.gpus);
}

NcclVersion nccl_version(const NetworkSetup& network) {
  const NetworkSetup::Nccl& given = network.nccl;
  return given.version ? read_nccl_version(*given.version) : find_nccl_machine(*given.machine).version;
}

std::vector<Complaint> formula_complaints(const NetworkSetup& network, int per_server) {
  std::vector<Complaint> complaints;
  if (network.formula == kMeasuredFormula && !network.beta)
    complaints.push_back({.key = "network.formula",
                          .reason = "measured costs are those of a whole all-reduce, and network.nic is the rate of a "
                                    "link",
                          .hint = "give network.beta, or network.formula: ring"});
  const CostFormula& formula = cost_formula(network);
  if (network.many_senders.free && formula.basis != CostBasis::link)
    complaints.push_back({.key = "network.many_senders.free",
                          .reason = fmt::format("changes what a byte takes on a link, and with network.formula: {} the "
                                                "link does not say what collectives take",
                                                formula.name),
                          .hint = "network.formula: ring, or no such key"});
  if (formula.basis != CostBasis::library) return complaints;
  if (!network.nccl.machine) {
    complaints.push_back({.key = "network.nccl.machine",
                          .reason = "NCCL plans with the links of a server, and the scenario does not name one",
                          .hint = "such as dgx-a100"});
    return complaints;
  }
  const auto check_length = [&](const char* key, const std::vector<double>& given, std::size_t length, const char* of) {
    if (!given.empty() && given.size() != length)
      complaints.push_back(
          {.key = key, .reason = fmt::format("expected {} numbers, {}, got {}", length, of, given.size())});
  };
  check_length("network.nccl.further", network.nccl.further, 3, "for LL, LL128 and Simple");
  check_length("network.nccl.shares", network.nccl.shares, 5, "of ring, tree, nvls, sends and LL128");
  const NcclMachine& machine = find_nccl_machine(*network.nccl.machine);
  if (per_server > machine.gpus)
    complaints.push_back(
        {.key = "network.nccl.machine",
         .reason = fmt::format("a {} has {} GPUs, and servers have {} here", machine.name, machine.gpus, per_server),
         .hint = fmt::format("at most {} GPUs a server", machine.gpus)});
  return complaints;
}

TimePerByte at_rate(ByteRate rate) {
  constexpr double kNanosecondsOfSecond = 1e9;
  return TimePerByte{kNanosecondsOfSecond / rate.bytes_per_second()};
}

ChannelCost inside_cost(const NetworkSetup& network) {
  ChannelCost cost{network.inside.alpha, {}, network.gamma};
  if (network.inside.beta) cost.beta = *network.inside.beta;
  if (network.inside.bandwidth) cost.beta = at_rate(*network.inside.bandwidth);
  return cost;
}

}  // namespace contend
