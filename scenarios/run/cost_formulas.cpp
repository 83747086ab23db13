#include "scenarios/run/cost_formulas.hpp"

#include "network/collectives/on_servers.hpp"
#include "sim/check.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace contend {
namespace {

ExchangeCost::Machines machines_of(const LibraryRanks& ranks) {
  return {ranks.ranks, ranks.servers, ranks.per_server};
}

ExchangeCost on_link(const CostFormula& row, const NetworkSetup& network, const LibraryRanks& ranks,
                     const AlphaBeta& between) {
  return ExchangeCost::by(*row.algorithm, machines_of(ranks), inside_cost(network),
                          {between.alpha, between.beta, network.gamma});
}

/// Without a link inside servers, every rank counts as a server of its own.
ExchangeCost as_measured(const CostFormula&, const NetworkSetup& network, const LibraryRanks& ranks,
                         const AlphaBeta& between) {
  const LinearCost all_reduce{between.alpha, between.beta};
  if (!network.inside.given()) return ExchangeCost::measured(all_reduce, {ranks.ranks, ranks.ranks, 1});
  return ExchangeCost::measured(all_reduce, machines_of(ranks), inside_cost(network));
}

/// NCCL has no model of an exchange in pairs, which therefore pays for the link.
ExchangeCost by_library(const CostFormula&, const NetworkSetup& network, const LibraryRanks& ranks,
                        const AlphaBeta& between) {
  const ExchangeCost others = ExchangeCost::by(usual_algorithm(CollectiveKind::all_reduce), machines_of(ranks),
                                               inside_cost(network), {between.alpha, between.beta, network.gamma});
  return ranks.ranks == 1 ? others : library_cost(nccl_library(network), ranks, others);
}

std::vector<CostFormula> make_rows() {
  std::vector<CostFormula> rows;
  for (const CollectiveAlgorithm& each : collective_algorithms())
    rows.push_back({each.name, CostBasis::link, &each, on_link});
  rows.push_back({kMeasuredFormula, CostBasis::whole, nullptr, as_measured});
  rows.push_back({kNcclCollectives, CostBasis::library, nullptr, by_library});
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

const CostFormula& cost_formula(const NetworkSetup& network) {
  if (network.traits().has_topology && network.collectives == kNcclCollectives) return find_formula(kNcclCollectives);
  if (network.formula != kAutoFormula) return find_formula(network.formula);
  return find_formula(network.beta ? kMeasuredFormula : "ring");
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
  return NcclLibrary{machine, {.version = read_nccl_version(given.version)}, fit};
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
