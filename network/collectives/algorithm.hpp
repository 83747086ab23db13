#pragma once
// A CollectiveAlgorithm describes an algorithm of collectives by its schedule (the messages that it sends) and its
// closed form (the time that it takes on an idle network). A new algorithm is one .cpp, one line in rows.hpp and one in
// algorithm_table.cpp.
//
// Closed forms are alpha-beta-gamma costs: a step costs alpha, plus beta for each byte that a rank sends or receives
// (it does both at once), plus gamma for each byte that it reduces. There are n ranks; V is the size in bytes of the
// full tensor on one rank, also for reduce-scatter, all-gather (of its result) and all-to-all. Each row has its formula
// and source; tests compare the formula with the executed schedule on an idle switch. The fidelities `analytic` and
// `contention` take these closed forms (network/collectives/on_servers.hpp), and fidelity `flow` executes the
// schedules.

#include "network/collectives/schedule.hpp"
#include "sim/graph.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// The ranks of a collective and their grouping. Ranks are numbered in ring order; rank 0 is the root of broadcast and
/// reduce.
///
/// A collective may run on several stripes at once, each with an equal part of the data and with an order of its own,
/// so that it uses several interfaces of a server (network/collectives/stripes.hpp). The rings, chains and double
/// binary trees have stripes; other algorithms spread over the interfaces without.
struct CollectiveShape {
  int ranks = 2;            ///< >= 2
  std::vector<int> groups;  ///< sizes of the levels from inside to outside; their product is `ranks`; {}: not grouped
  int chunks = 1;           ///< number of pieces in pipelined algorithms, >= 1
  /// The order of the ranks in each stripe; {}: one stripe in order of rank.
  std::vector<std::vector<int>> stripes;
  int servers = 0;  ///< parameter server: each of the first ranks serves a part; 0: all ranks do
};

/// The cost of a message as one rank sees it while all ranks communicate, or the cost of a whole collective. Whoever
/// makes it chooses the unit of time; a closed form has the unit of the costs that it is given.
struct LinkCost {
  double alpha = 0;  ///< start-up time
  double beta = 0;   ///< time per byte

  [[nodiscard]] double of(double bytes) const { return alpha + beta * bytes; }
};

/// The costs of a network for closed forms.
struct CollectiveCosts {
  LinkCost flat;                 ///< between neighbours in order of rank, for algorithms without levels
  std::vector<LinkCost> levels;  ///< on level i of `groups`, the last for all further ones; empty: `flat`
  std::vector<LinkCost>
      leaders;  ///< on level i of `groups` while only the first rank of each group below sends; empty: `levels`
  std::vector<double> hops;  ///< start-up from each rank to the next one around a ring; empty: by `levels`
  double gamma = 0;          ///< time per byte reduced
  bool two_ports = false;    ///< the left and the right neighbour are reached over separate links, as in a torus

  [[nodiscard]] LinkCost on_level(std::size_t level) const { return at(levels, level, flat); }
  [[nodiscard]] LinkCost of_leaders(std::size_t level) const { return at(leaders, level, on_level(level)); }

 private:
  static LinkCost at(const std::vector<LinkCost>& costs, std::size_t level, const LinkCost& otherwise) {
    return costs.empty() ? otherwise : costs[level < costs.size() ? level : costs.size() - 1];
  }
};

/// How the closed form of an algorithm counts servers that hold several ranks.
enum class OnServers : std::uint8_t {
  around,   ///< by `flat` and `hops`: messages enter and leave each server once
  levels,   ///< by `levels` and `leaders`: the groups of the shape are the ranks of a server, and the servers
  counted,  ///< not at all: the messages of its lock-step schedule are counted instead
};

/// A row of the table of algorithms.
struct CollectiveAlgorithm {
  std::string_view name;
  std::string_view summary;  ///< one line
  std::string_view formula;  ///< of the all-reduce, or of its first kind; a, b, g are alpha, beta and gamma
  std::string_view source;
  std::span<const CollectiveKind> kinds;
  /// The reason why it can't be used for this shape; empty if it can.
  std::string (*refusal)(CollectiveKind kind, const CollectiveShape& shape);
  /// Appends the steps to the schedule.
  void (*expand)(CollectiveKind kind, const CollectiveShape& shape, std::int64_t bytes, StepForm form,
                 CollectiveSchedule& schedule);
  /// The closed form for the chunks of the shape: a start-up time, and a time per byte of V.
  LinkCost (*closed_form)(CollectiveKind kind, const CollectiveShape& shape, const CollectiveCosts& costs);
  OnServers on_servers;
  /// The number of chunks, as a real number, that minimises the closed form if reducing is free, or beyond which they
  /// gain little; 1 for kinds that it does not pipeline. Null if it pipelines none.
  double (*best_chunks)(CollectiveKind kind, const CollectiveShape& shape, double bytes, const LinkCost& cost);
};

/// All algorithms, in the order of the catalogue.
[[nodiscard]] std::span<const CollectiveAlgorithm> collective_algorithms();
[[nodiscard]] bool supports(const CollectiveAlgorithm& algorithm, CollectiveKind kind);

/// The algorithm of that name. Throws InputError if there is none (with the nearest name) or if it does not support the
/// kind (with those that do).
[[nodiscard]] const CollectiveAlgorithm& find_collective_algorithm(std::string_view name, CollectiveKind kind);

/// The schedule of a collective. Throws InputError with all reasons: fewer than 2 ranks, no bytes, a shape that the
/// algorithm refuses.
[[nodiscard]] CollectiveSchedule expand_collective(const CollectiveAlgorithm& algorithm, CollectiveKind kind,
                                                   const CollectiveShape& shape, Bytes bytes,
                                                   StepForm form = StepForm::exact);
/// The closed form at that size, in seconds if `costs` are. Throws as `expand_collective`.
[[nodiscard]] double collective_seconds(const CollectiveAlgorithm& algorithm, CollectiveKind kind,
                                        const CollectiveShape& shape, Bytes bytes, const CollectiveCosts& costs);

/// The schedule of one message from rank 0 to rank 1, which costs alpha + V beta.
[[nodiscard]] CollectiveSchedule point_to_point(Bytes bytes);

}  // namespace contend
