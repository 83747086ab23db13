#pragma once
// An iteration graph describes the work that a training job repeats: its operations and the dependencies between them.
// An operation is compute on each rank, a task on another lane of each rank, a collective over a group of ranks,
// point-to-point messages, a timer, or a post or an await of a counter. Passes build and rewrite such graphs.
//
// The graph is stored folded. A role is a set of ranks that do the same (the workers of a data-parallel job, one stage
// of a pipeline). One compute operation represents a task on every rank of its role, so a graph of 2048 workers has as
// many operations as one of two. A graph in which every rank differs has roles of one rank each.

#include "sim/ids.hpp"
#include "sim/iteration_phases.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

using RoleId = Id<struct RoleTag>;
using ChannelId = Id<struct ChannelTag>;
using CounterId = Id<struct CounterTag>;

enum class OpKind : std::uint8_t { compute, collective, message, timer, task, post, await };

/// What of a rank runs its operations, one after the other: the GPU, which other jobs may use between them, or a lane
/// that belongs to the rank alone. Lanes run side by side. A rank has up to kMostStreams further streams: kernels that
/// its GPU runs beside the kernels of `compute`.
enum class Lane : std::uint8_t {
  compute,   ///< the GPU
  host,      ///< the thread that launches what the GPU does
  copy_in,   ///< copies from the host to the GPU
  copy_out,  ///< copies from the GPU to the host
  stream     ///< the first of the further streams
};
inline constexpr int kMostStreams = 8;
/// The further stream of that number, 0 <= number < kMostStreams.
[[nodiscard]] constexpr Lane stream_lane(int number) {
  return static_cast<Lane>(static_cast<int>(Lane::stream) + number);
}
/// True for a further stream. As the GPU runs its kernels, a slow GPU slows them.
[[nodiscard]] constexpr bool is_stream(Lane lane) {
  return lane >= Lane::stream;
}
[[nodiscard]] std::string name_of(Lane lane);  ///< such as "copy-in", "stream-0"
/// The lane of that name; nothing if there is none.
[[nodiscard]] std::optional<Lane> lane_named(std::string_view name);

/// The collective operations. In `exchange` every rank swaps its tensor with one other: of n ranks, rank i with rank
/// i + n/2. If n is odd, one rank has no partner.
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
[[nodiscard]] std::string_view name_of(CollectiveKind kind);  ///< such as "all-reduce"

/// The groups of ranks among which a collective runs; each group runs a collective of its own.
enum class CollectiveScope : std::uint8_t {
  all,      ///< one group of all ranks of the role
  server,   ///< a group for each server: the ranks on it
  leaders,  ///< one group of one rank of every server
  peers,    ///< a group for each place on a server: the ranks with that place on their servers
  groups,   ///< the groups of Op::groups, which follow from the numbers of the ranks and not from where they lie
};
/// Those that follow from where the ranks lie.
inline constexpr std::size_t kCollectiveScopes = 4;

/// Groups of ranks as lists. A rank is a number within its role, from 0 on. Groups may differ in size, and their order
/// and the order of the ranks in them are kept: an algorithm such as a ring visits the ranks in this order.
class RankLists {
 public:
  /// Throws InputError if a group is empty, a rank is negative, or a rank is in two groups or in one twice.
  explicit RankLists(std::vector<std::vector<int>> groups);

  [[nodiscard]] const std::vector<std::vector<int>>& groups() const { return groups_; }
  /// The group of a rank; -1 if it is in none.
  [[nodiscard]] int of(int rank) const {
    const auto index = static_cast<std::size_t>(rank);
    return index < of_.size() ? of_[index] : -1;
  }
  [[nodiscard]] int ranks() const { return static_cast<int>(of_.size()); }  ///< that a role needs: the last rank + 1
  [[nodiscard]] int most() const { return most_; }                          ///< ranks of the largest group
  friend bool operator==(const RankLists& a, const RankLists& b) { return a.groups_ == b.groups_; }

 private:
  std::vector<std::vector<int>> groups_;
  std::vector<int> of_;  // by rank
  int most_ = 0;
};

/// Groups of the ranks of a role, by a rule or as lists. The rule says the same as lists would, without a word for each
/// rank: a group has `size` ranks, `stride` apart, and rank r is in group (r / (stride size)) stride + r mod stride.
/// With tensor-parallel degree t as the fastest coordinate of a rank, the tensor-parallel groups are {1, t}, and the
/// data-parallel groups of d ranks are {t, d} (Megatron-LM, parallel_state).
/// Lists need not have all ranks. A rank in none of them sends nothing; like all ranks of its role it has to be ready
/// before the collective begins, and waits for its end, because all ranks of a role do equal work; interference counts
/// the rank as taking part. Ranks that don't wait are a role of their own.
struct RankGroups {
  int stride = 1;                            ///< >= 1
  int size = 1;                              ///< >= 1; stride x size divides the number of ranks
  std::shared_ptr<const RankLists> lists{};  ///< the groups, in place of what `stride` and `size` say, if given

  [[nodiscard]] int count(int ranks) const { return lists ? static_cast<int>(lists->groups().size()) : ranks / size; }
  /// The group of a rank; -1 if it is in none.
  [[nodiscard]] int of(int rank) const {
    return lists ? lists->of(rank) : rank / (stride * size) * stride + rank % stride;
  }
  [[nodiscard]] int most() const { return lists ? lists->most() : size; }  ///< ranks of the largest group
  /// The ranks of a group.
  [[nodiscard]] int size_of(int group) const {
    return lists ? static_cast<int>(lists->groups()[static_cast<std::size_t>(group)].size()) : size;
  }
  friend bool operator==(const RankGroups& a, const RankGroups& b);
};

/// For how long an iteration waits for late ranks, and which it may leave behind. Let the first rank have done all
/// tasks that collectives and timers wait for a time t after its role's first task of the iteration was ready. Who has
/// not after t x (1 + tolerance / 1000) is late. If the late ranks fit the pattern, which has Role::late as
/// LatePattern::most, all that waits for them begins then, and what they have left to do for it is dropped. Otherwise
/// the iteration waits for all (Krishnan, Ram, Khisti, ICLR 2023, section 4).
struct Patience {
  std::int32_t tolerance = 1000;  ///< >= 0
  int burst = 1, window = 1;      ///< of LatePattern
  friend bool operator==(const Patience&, const Patience&) = default;
};

/// A set of ranks that execute the same operations.
struct Role {
  std::string name;
  int ranks = 1;
  /// Ranks, fewer than all, that an iteration leaves behind if they are late. Its collectives and timers begin when all
  /// others have done the task that they wait for, and once all of these of an iteration have begun, what late ranks
  /// have left to do for them is dropped. 0: all are waited for.
  int late = 0;
  /// If given, the ranks that an iteration leaves behind are those that take much longer than the fastest one.
  std::optional<Patience> patience{};
};

/// A queue of a job in front of the network, like a stream of a communication library or the scheduler of ByteScheduler
/// (SOSP 2019). Ready collectives wait in it ordered by iteration, priority and id. The first one is committed while
/// fewer than `messages` are committed or the committed bytes are below `window` (a credit that the last one may
/// overdraw). Committed collectives enter the network in the order of committing, at most `messages` at a time, even if
/// one of higher priority becomes ready meanwhile.
struct Channel {
  std::string name;
  int messages = 1;         ///< most collectives in the network at once, >= 1
  Bytes window = Bytes{1};  ///< credit in bytes, >= 1
};

/// Iterations that may be in flight at once: of graphs that don't say how many, and at most.
inline constexpr int kUsuallyInFlight = 2;
inline constexpr int kMostInFlight = 4;

/// A number that `post` operations raise and `await` operations wait for, across iterations and jobs. It begins at 0
/// and never falls. What an iteration has posted stays when the iteration is lost and runs again, and the second run of
/// the iteration doesn't post. A graph posts with one operation at most, in each of its iterations, in their order.
struct Counter {
  std::string name;     ///< unique in its graph
  bool shared = false;  ///< one for all jobs of a run that share a counter of this name; else each job has its own
};

/// The phase of operations that all iterations have (sim/iteration_phases.hpp).
inline constexpr std::int32_t kEveryPhase = -1;

/// The round of operations that belong to none.
inline constexpr std::int32_t kNoRound = -1;

/// Rounds that an iteration has and its graph leaves out, between two rounds of the graph that are alike, such as most
/// micro-batches of a long pipeline. An iteration of such a graph has to leap over them (sim/planned_rounds.hpp).
struct RoundsLeftOut {
  std::int64_t count = 0;  ///< >= 0
  std::int32_t like = 0;   ///< the round of the graph (Op::round) that they are like, each a round behind the other

  friend bool operator==(const RoundsLeftOut&, const RoundsLeftOut&) = default;
};

/// Who sums what a collective sends: its ranks, or processes to which they push and from which they pull.
enum class ParameterServers : std::uint8_t {
  none,
  colocated,  ///< on the servers of the ranks
  elsewhere,  ///< so it passes through the interface of a server even if that has all ranks
};

/// What an operation moves on the server of each of its ranks, for each of them, >= 0.
struct HostTraffic {
  Bytes out{};     ///< from the GPU to the server
  Bytes in{};      ///< from the server to the GPU
  Bytes memory{};  ///< read and written in host memory
  Bytes nvme{};    ///< read from and written to NVMe

  [[nodiscard]] bool any() const { return *this != HostTraffic{}; }
  friend bool operator==(const HostTraffic&, const HostTraffic&) = default;
};

/// One operation of an iteration. A compute operation takes `duration` on the GPU of each rank of `role`, and a task on
/// another `lane` of each. Of what is ready, a GPU or lane runs the operations of a job in order of iteration, priority
/// and id. A collective runs over the ranks of `role` in `scope`, or over the ranks of `roles` roles in their order, of
/// which `role` is the first; its `bytes` are the size of the full tensor on one rank. It runs `times` times, one after
/// the other, which the network carries as one transfer. A message sends `bytes` from rank i of `role` to rank i of
/// `peer`, for every i. If it is `joint`, these messages are one transfer: they begin when all ranks are ready and end
/// together. Joint messages keep ranks that do the same in step, so that the engine can simulate many of them as one. A
/// timer takes `duration` and no lane, such as a cycle of a background thread on the host; it begins when all ranks of
/// `role` are ready. A post raises `counter` by `amount`, once for its role, when all ranks of `role` are ready. An
/// await ends once all ranks of `role` are ready and the counter has reached `amount` x (i + 1 - `bound`), where i
/// counts the iterations of the job from 0: with a bound of 0 an iteration waits for what is posted for it, with a
/// larger bound it may be as many iterations ahead (the staleness of Ho et al., NeurIPS 2013). Both take no time and no
/// lane. In an iteration of another phase than `phase` there is no such operation, and nothing waits for it.
struct Op {
  std::string name;
  OpKind kind = OpKind::compute;
  RoleId role;
  RoleId peer;                                             ///< message only
  bool joint = false;                                      ///< message only
  Lane lane = Lane::compute;                               ///< of a task another one
  Time duration;                                           ///< compute, task and timer
  Bytes bytes;                                             ///< collective and message
  CollectiveKind collective = CollectiveKind::all_reduce;  ///< collective only
  CollectiveScope scope = CollectiveScope::all;            ///< collective only
  RankGroups groups;                                       ///< collective only, with CollectiveScope::groups
  std::int32_t roles = 1;                                  ///< collective only, >= 1: whose ranks it joins
  std::int32_t times = 1;                                  ///< collective only, >= 1
  ParameterServers servers = ParameterServers::none;       ///< collective only
  ChannelId channel;                                       ///< collective only; none: it needs no channel
  std::int32_t priority = 0;                               ///< in its channel or on its lane; smaller goes first
  std::int32_t phase = kEveryPhase;                        ///< of IterationPhases; kEveryPhase: in all iterations
  CounterId counter;                                       ///< post and await only
  std::int64_t amount = 1;                                 ///< post and await only, >= 1
  std::int64_t bound = 0;                                  ///< await only, >= 0
  HostTraffic host{};  ///< timer only: with a HostModel it takes longer than `duration` where servers are busy
  std::int32_t round = kNoRound;  ///< its part of an iteration that repeats a part, from 0 on (RoundsLeftOut)

  /// True if each rank has an instance of its own; false if there is one for all.
  [[nodiscard]] bool per_rank() const { return runs_on_lane() || (kind == OpKind::message && !joint); }
  /// True for compute operations and tasks.
  [[nodiscard]] bool runs_on_lane() const { return kind == OpKind::compute || kind == OpKind::task; }
  /// True for collectives and messages.
  [[nodiscard]] bool is_traffic() const { return kind == OpKind::collective || kind == OpKind::message; }
  [[nodiscard]] Bytes all_bytes() const { return bytes * times; }
  /// True if it may send something through the network interface of a server.
  [[nodiscard]] bool sends() const {
    return kind == OpKind::message || (kind == OpKind::collective && scope != CollectiveScope::server);
  }
  [[nodiscard]] bool counts() const { return kind == OpKind::post || kind == OpKind::await; }
  [[nodiscard]] bool is_in(std::size_t each) const {
    return phase == kEveryPhase || static_cast<std::size_t>(phase) == each;
  }
};

/// `after` starts only when `before` has ended, in the same iteration (lag 0) or the one before (lag 1). If both are
/// per-rank operations, rank i waits for rank i. A collective waits for all ranks of its role, and they wait for it.
struct Dependency {
  OpId before;
  OpId after;
  int lag = 0;
};

/// A graph under construction or finished. The add functions check nothing; validate() checks the whole graph.
class IterationGraph {
 public:
  RoleId add_role(std::string name, int ranks);
  OpId add(Op op);
  OpId add_compute(std::string name, RoleId role, Time duration);
  OpId add_timer(std::string name, RoleId role, Time duration);
  /// A task on the lane of each rank; on Lane::compute a compute operation.
  OpId add_task(std::string name, RoleId role, Time duration, Lane lane);
  OpId add_collective(std::string name, CollectiveKind kind, RoleId role, Bytes bytes,
                      CollectiveScope scope = CollectiveScope::all);
  /// A collective within each group, all at once.
  OpId add_collective(std::string name, CollectiveKind kind, RoleId role, Bytes bytes, RankGroups groups);
  OpId add_message(std::string name, RoleId from, RoleId to, Bytes bytes);
  OpId add_joint_message(std::string name, RoleId from, RoleId to, Bytes bytes);
  ChannelId add_channel(std::string name, int messages, Bytes window);
  CounterId add_counter(std::string name, bool shared = false);
  /// A post, with a dependency on the post of the iteration before, so that iterations post in order.
  OpId add_post(std::string name, RoleId role, CounterId counter, std::int64_t amount = 1);
  OpId add_await(std::string name, RoleId role, CounterId counter, std::int64_t amount = 1, std::int64_t bound = 0);
  /// Makes a collective go through the channel, with this priority.
  void put_into(ChannelId channel, OpId op, std::int32_t priority);
  void add_dependency(OpId before, OpId after, int lag = 0);
  /// Sets the phases of the iterations, and the phase to which an operation belongs.
  void set_phases(IterationPhases phases) { phases_ = std::move(phases); }
  /// Makes a collective run within each group.
  void put_into_groups(OpId op, RankGroups groups) {
    ops_[op.index()].scope = CollectiveScope::groups;
    ops_[op.index()].groups = std::move(groups);
  }
  /// Makes a collective run over the ranks of so many roles, of which its own is the first.
  void join_roles(OpId op, std::int32_t roles) { ops_[op.index()].roles = roles; }
  /// Makes a collective a push to, or a pull from, parameter servers.
  void serve(OpId op, ParameterServers servers) { ops_[op.index()].servers = servers; }
  /// Makes a collective run so many times.
  void repeat(OpId op, std::int32_t times) { ops_[op.index()].times = times; }
  /// Lets the iterations leave so many ranks of a role behind (Role::late).
  void leave_behind(RoleId role, int late, std::optional<Patience> patience = {}) {
    roles_[role.index()].late = late;
    roles_[role.index()].patience = patience;
  }
  /// Makes a timer the time of moving something on the servers of its ranks.
  void move_on_host(OpId timer, const HostTraffic& host) { ops_[timer.index()].host = host; }
  /// Lets so many iterations be in flight at once, kUsuallyInFlight to kMostInFlight: the next iteration begins when
  /// the first of them has ended.
  void set_in_flight(int iterations) { in_flight_ = iterations; }
  /// Puts the operations from that number on, up to the last one so far, into a round.
  void put_into_round(std::int32_t round, std::size_t from);
  void leave_out(RoundsLeftOut rounds) { left_out_ = rounds; }
  void put_into_phase(std::size_t phase, OpId op) { ops_[op.index()].phase = static_cast<std::int32_t>(phase); }
  /// Sets the place of an operation among those that are ready on its lane, smaller ones first.
  void prioritise(OpId op, std::int32_t priority) { ops_[op.index()].priority = priority; }

  [[nodiscard]] const IterationPhases& phases() const { return phases_; }
  [[nodiscard]] int in_flight() const { return in_flight_; }
  [[nodiscard]] const std::vector<Role>& roles() const { return roles_; }
  [[nodiscard]] const std::vector<Channel>& channels() const { return channels_; }
  [[nodiscard]] const std::vector<Counter>& counters() const { return counters_; }
  [[nodiscard]] const std::vector<Op>& ops() const { return ops_; }
  [[nodiscard]] const std::vector<Dependency>& dependencies() const { return dependencies_; }
  [[nodiscard]] const RoundsLeftOut& left_out() const { return left_out_; }
  /// How many operations of an iteration this one stands for, with the operations of rounds that are left out.
  [[nodiscard]] std::int64_t often(const Op& op) const {
    return left_out_.count > 0 && op.round == left_out_.like ? 1 + left_out_.count : 1;
  }
  /// The roles, channels, counters, iterations in flight and rounds left out of this graph, for other operations.
  [[nodiscard]] IterationGraph without_operations() const;
  /// The same graph with this many ranks in every role. All ranks of a role do equal work, so two of them represent any
  /// number unless the network tells them apart; so none is late.
  [[nodiscard]] IterationGraph with_ranks(int ranks) const;
  /// The same graph with compute operations and tasks on further streams that take `factor` times as long, > 0, rounded
  /// to the nanosecond. Other lanes don't belong to the GPU, and keep their times.
  [[nodiscard]] IterationGraph with_compute_times(double factor) const;
  [[nodiscard]] int ranks() const;  ///< over all roles
  /// The ranks of the roles of an operation.
  [[nodiscard]] int ranks_of(const Op& op) const;
  /// The last compute operation of the first role that every iteration has; none if there is none.
  [[nodiscard]] OpId last_compute() const;
  /// Compute time of one iteration of a phase on one rank of `role`.
  [[nodiscard]] Time compute_per_rank(RoleId role, std::size_t phase = 0) const;
  /// Compute time of one iteration of a phase summed over all ranks: GPU time, the unit of service.
  [[nodiscard]] GpuTime compute_total(std::size_t phase = 0) const;

  /// Throws InputError if the graph can't be executed: no operation, a cycle within an iteration, a dependency between
  /// per-rank operations of roles of different size, a negative duration or size, groups that don't divide the ranks
  /// of their roles or list others, an operation of roles that don't exist, or of several without being a collective, a
  /// lag other than 0 or 1, a channel without room, an operation in a channel that is
  /// not a collective, an operation that runs less than once, a message or computing that runs more often, or a phase
  /// that the graph doesn't have; or if late ranks can't be left behind: there are too many of them, ranks of several
  /// roles wait for each other or send messages of their own, something that joins ranks waits for more than one
  /// operation, or patience that is negative, has no burst, a window shorter than that, or is the patience of one role
  /// of several that leave ranks behind; or if an operation moves a negative size on hosts, or anything without being a
  /// timer; or if a task has no lane of its own, or anything else has one; or if a counter is missing, has no name of
  /// its own, is posted by two operations, in one phase only or out of order, or if a counter of the job alone is
  /// posted or awaited by none, rises by less in an iteration than an await waits for, or waits for a post behind the
  /// await; or if the iterations in flight are out of their range, or more than two where late ranks are left behind.
  void validate() const;
  /// By operation: true if a lane of a role that leaves late ranks behind runs it, and nothing that joins ranks comes
  /// before it in its iteration. So what waits for it may begin without some of the ranks.
  [[nodiscard]] std::vector<bool> tasks_before_joins() const;

 private:
  void validate_roles(const Op& op) const;
  void validate_operation(const Op& op) const;
  static void validate_groups(const Op& op, int ranks);
  void validate_order() const;
  void validate_late() const;
  void validate_counters() const;

  std::vector<Role> roles_;
  std::vector<Channel> channels_;
  std::vector<Counter> counters_;
  std::vector<Op> ops_;
  std::vector<Dependency> dependencies_;
  IterationPhases phases_;
  int in_flight_ = kUsuallyInFlight;
  RoundsLeftOut left_out_;
};

/// Builds a graph from a text, for tests and experiments. Times are in nanoseconds, sizes in bytes:
///   role worker 4 | compute forward worker 36 | all-reduce grads worker 1000 | message m a b 10 | timer t worker 5
///   task launch worker 5 host                   (a task, with its lane)
///   joint-message m a b 10 | groups grads 8 16  (stride and size of the groups of a collective)
///   lists grads 0,1,2 3,5                       (the groups of a collective as lists of ranks)
///   repeat grads 3                              (a collective that runs three times)
///   join grads 2                                (a collective over the ranks of two roles)
///   forward -> grads | grads => forward        (`=>` is lag 1)
///   channel stream 1 5000 | put grads stream 3  (a channel with messages and window; an operation with its priority)
///   host t 100 0 200 50                         (what a timer moves: out, in, memory, NVMe)
///   priority forward 2                          (of a compute operation or task)
///   cycle 3 1 | phase 1 grads                   (phases with their numbers of iterations; an operation of phase 1)
///   counter c | shared-counter d                (the job's own, or one for all jobs)
///   post p worker c 2 | await a worker c 2 1    (with the amount, and the bound of an await)
///   in-flight 3                                 (iterations)
///   warm-up 0.25                                (phases: a share of the iterations, and the others)
///   late worker 1                               (ranks of a role that are left behind if they are late)
///   late worker 1 1000 2 5                      (and with Patience: its tolerance, burst and window)
/// Items are separated by `|` or a newline. Throws InputError that quotes the item that can't be read.
IterationGraph graph_from_text(std::string_view text);

}  // namespace contend
