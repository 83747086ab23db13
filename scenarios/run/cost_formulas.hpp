#pragma once
// The table behind `network.formula`: each row derives the time of every collective, by its ranks and bytes, from what
// the keys of `network` say about links. There is a row for each algorithm of network/collectives, one for a measured
// all-reduce, and one for NCCL.

#include "models/overlap/exchange_cost.hpp"
#include "models/overlap/library_cost.hpp"
#include "network/alpha_beta.hpp"
#include "network/collectives/algorithm.hpp"
#include "network/library/nccl_machine.hpp"
#include "scenarios/scenario.hpp"
#include "sim/error.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace contend {

/// What alpha and beta of `network` are the costs of.
enum class CostBasis : std::uint8_t {
  link,     ///< a link, on which an algorithm sends
  whole,    ///< a whole all-reduce, whatever the number of ranks
  library,  ///< messages only; collectives take what a library expects
};

/// A row of the table.
struct CostFormula {
  std::string_view name;
  CostBasis basis = CostBasis::link;
  const CollectiveAlgorithm* algorithm = nullptr;  ///< of a link; else null
  /// The costs of the collectives of ranks on servers, with alpha and beta as `network` has them for those ranks.
  ExchangeCost (*cost)(const CostFormula& row, const NetworkSetup& network, const LibraryRanks& ranks,
                       const AlphaBeta& between);
};

/// All rows: the algorithms in the order of their catalogue, then the measured all-reduce and NCCL.
[[nodiscard]] std::span<const CostFormula> cost_formulas();
/// The formula in effect.
[[nodiscard]] const CostFormula& cost_formula(const NetworkSetup& network);
/// NCCL on the machine of `network.nccl`, which names one. Throws InputError for one that it does not know.
[[nodiscard]] NcclLibrary nccl_library(const NetworkSetup& network);
/// What is wrong with `network.formula` and the keys that belong to it, for servers of so many GPUs.
[[nodiscard]] std::vector<Complaint> formula_complaints(const NetworkSetup& network, int per_server);
/// The time per byte on a link of that rate.
[[nodiscard]] TimePerByte at_rate(ByteRate rate);
/// The cost of a link inside a server; zero if `network.inside` is not given.
[[nodiscard]] ChannelCost inside_cost(const NetworkSetup& network);

}  // namespace contend
