#pragma once
// The iteration graph: what a training job repeats. Operations are compute on a rank, a collective over a group of
// ranks, or point-to-point messages, with the dependencies between them; studies are passes that build or rewrite it.
//
// The graph is stored folded. A role is a set of ranks that do the same (the workers of a data-parallel job, one stage
// of a pipeline): a compute operation stands for one task on every rank of its role, so a graph of 2048 workers has as
// many operations as one of two. A graph in which every rank differs has roles of one rank each.

#include "sim/ids.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

using RoleId = Id<struct RoleTag>;
using ChannelId = Id<struct ChannelTag>;

enum class OpKind : std::uint8_t { compute, collective, message };
/// `exchange`: every rank swaps its tensor with one other (rank i with i + n/2, where n is odd one has no partner).
enum class CollectiveKind : std::uint8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  broadcast,
  reduce,
  all_to_all,
  exchange,
};
inline constexpr std::size_t kCollectiveKinds = 7;

/// Which ranks of a role take part together. Beyond `all` the collective is several at once, one a group.
enum class CollectiveScope : std::uint8_t {
  all,
  server,   ///< the ranks on each server
  leaders,  ///< one rank of every server
  peers,    ///< the ranks with the same place on their servers: as many groups as a server has ranks
};
inline constexpr std::size_t kCollectiveScopes = 4;

/// A set of ranks that execute the same operations.
struct Role {
  std::string name;
  int ranks = 1;
};

/// A queue of a job in front of the network, like a stream of a communication library or the scheduler of ByteScheduler
/// (SOSP 2019). Collectives that are ready wait in it by iteration, priority and id. The first is committed as long as
/// fewer than `messages` are, or the bytes committed are less than `window` (a credit, which the last one may
/// overdraw); what is committed enters the network in that order, at most `messages` at a time, whatever becomes ready
/// meanwhile.
struct Channel {
  std::string name;
  int messages = 1;         ///< >= 1; in the network at once
  Bytes window = Bytes{1};  ///< >= 1
};

/// One operation of an iteration.
/// compute: `duration` on each rank of `role`. collective: `bytes` (the size of the full tensor on one rank) over
/// the ranks of `role` in `scope`. message: `bytes` from rank i of `role` to rank i of `peer`, for every i.
struct Op {
  std::string name;
  OpKind kind = OpKind::compute;
  RoleId role;
  RoleId peer;                                             ///< message only
  Time duration;                                           ///< compute only
  Bytes bytes;                                             ///< collective and message
  CollectiveKind collective = CollectiveKind::all_reduce;  ///< collective only
  CollectiveScope scope = CollectiveScope::all;            ///< collective only
  ChannelId channel;                                       ///< collective only; none: straight into the network
  std::int32_t priority = 0;                               ///< in its channel or on its rank; smaller goes first
};

/// `after` starts only when `before` has ended: in the same iteration (lag 0) or the one before (lag 1). Between two
/// per-rank operations rank i waits for rank i; a collective waits for, and releases, all ranks of its role.
struct Dependency {
  OpId before;
  OpId after;
  int lag = 0;
};

class IterationGraph {
 public:
  RoleId add_role(std::string name, int ranks);
  OpId add_compute(std::string name, RoleId role, Time duration);
  OpId add_collective(std::string name, CollectiveKind kind, RoleId role, Bytes bytes,
                      CollectiveScope scope = CollectiveScope::all);
  OpId add_message(std::string name, RoleId from, RoleId to, Bytes bytes);
  ChannelId add_channel(std::string name, int messages, Bytes window);
  void put_into(ChannelId channel, OpId op, std::int32_t priority);
  void add_dependency(OpId before, OpId after, int lag = 0);

  [[nodiscard]] const std::vector<Role>& roles() const { return roles_; }
  [[nodiscard]] const std::vector<Channel>& channels() const { return channels_; }
  [[nodiscard]] const std::vector<Op>& ops() const { return ops_; }
  [[nodiscard]] const std::vector<Dependency>& dependencies() const { return dependencies_; }
  /// The same graph with this many ranks in every role. All ranks of a role do the same, so that two of them stand for
  /// any number wherever the network does not tell them apart.
  [[nodiscard]] IterationGraph with_ranks(int ranks) const;
  [[nodiscard]] int ranks() const;  ///< over all roles
  /// Compute time of one iteration on one rank of `role`.
  [[nodiscard]] Time compute_per_rank(RoleId role) const;
  /// Compute time of one iteration summed over all ranks: GPU time, the unit of service.
  [[nodiscard]] Time compute_total() const;

  /// Throws InputError if the graph can't be executed: no operation, a cycle within an iteration, a dependency between
  /// per-rank operations of roles of different size, a negative duration or size, a lag other than 0 or 1, a channel
  /// without room, something else than a collective in a channel.
  void validate() const;

 private:
  std::vector<Role> roles_;
  std::vector<Channel> channels_;
  std::vector<Op> ops_;
  std::vector<Dependency> dependencies_;
};

/// Builds a graph from a line per item, for tests and experiments; times in ns, sizes in bytes:
///   role worker 4 | compute forward worker 36 | all-reduce grads worker 1000 | message m a b 10
///   forward -> grads | grads => forward        (`=>` is lag 1)
///   channel stream 1 5000 | put grads stream 3  (messages and window of a channel; an operation and its priority)
/// Items are separated by `|` or a newline. Throws InputError with the item that can't be read.
IterationGraph graph_from_text(std::string_view text);

}  // namespace contend
