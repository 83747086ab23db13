#pragma once
// The collectives inside the passes of a parallel job: the collectives of tensor, context and expert parallelism. A
// pass is timed with what they take in an empty network; where the collectives are to meet other traffic, they become
// operations of the graph.

#include "sim/graph.hpp"
#include "sim/units.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace contend {

/// The kinds of parallelism whose ranks talk to each other inside passes.
enum class PassGroup : std::uint8_t { tensor, context, expert };
inline constexpr std::size_t kPassGroups = 3;

/// A flag for each of them.
using PassGroups = std::array<bool, kPassGroups>;

/// True if a group of more than one has ranks on several servers where consecutive ranks fill one server after another.
/// The groups follow a rule: they are no lists.
[[nodiscard]] bool leaves_servers(const RankGroups& groups, int gpus_per_server);

/// A collective within each group of a pipeline rank.
struct PassCollective {
  PassGroup of = PassGroup::tensor;
  CollectiveKind kind = CollectiveKind::all_reduce;
  RankGroups groups;
  Bytes bytes;    ///< of the full tensor on one rank, each time
  int times = 1;  ///< in a pass, >= 0
  Time beside{};  ///< computing of the pass that may go on during all of them together; 0: nothing
};

/// What a pass of a unit sends.
struct PassTraffic {
  std::vector<PassCollective> collectives;
  /// By kind of parallelism: the part of the pass's duration that its collectives add in an empty network.
  std::array<Time, kPassGroups> added{};

  void add(PassGroup of, Time time, const std::vector<PassCollective>& sent);
  /// Their time for the kinds with a flag.
  [[nodiscard]] Time added_by(const PassGroups& kinds) const;
};

/// The collectives of several passes, of the kinds with a flag. Equal ones are one that runs more often; those that
/// nothing goes on beside stay apart from the others.
[[nodiscard]] std::vector<PassCollective> sum_of(const std::vector<const PassTraffic*>& passes,
                                                 const PassGroups& kinds);

}  // namespace contend
