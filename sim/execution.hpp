#pragma once
// What is in progress in a simulation: tasks on cells of GPUs, messages in the network, and the executions of jobs
// whose iterations are graphs. Plain data, of which EngineState has one of each; its header says what a cell is.

#include "sim/calendar.hpp"
#include "sim/fetch.hpp"
#include "sim/graph_plan.hpp"
#include "sim/interference.hpp"
#include "sim/lanes.hpp"
#include "sim/large_pages.hpp"
#include "sim/pending_counts.hpp"
#include "sim/ports.hpp"
#include "sim/simulation.hpp"
#include "sim/totals.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>

namespace contend {

using CellId = Id<struct CellTag>;

/// Bound on the rounding by which keys may differ from a function affine in whole iterations (SchedulingPolicy::key).
inline constexpr PolicyKey kKeyRounding = 5;

inline constexpr std::int32_t kDone = -1;  ///< in a table of pending counts; 0 means ready, running or in the network

/// A task that is ready to run and waits for its GPUs.
struct ReadyTask {
  JobId job;
  OpId op;
  Slot slot = 0;
  std::uint16_t seat = 0;  ///< index of its occupant in the cell, unless occupants have left since
  bool operator==(const ReadyTask& other) const { return job == other.job && op == other.op && slot == other.slot; }
};

// The types of what an event needs begin at a cache line (sim/fetch.hpp). Their members stand in the order in which
// events need them, the members of one line together.

/// The ranks of one job on the GPUs of a cell. It fills one line.
struct alignas(kCacheLine) Occupant {
  JobId job;
  RoleId role;
  int rank = 0;            ///< global number; meaningful only if the job is not foldable
  Time remaining_compute;  ///< of each rank
  PendingCounts pending;   ///< [slot x ops + op], of per-rank operations
  LaneTable lanes;         ///< of tasks beside `compute`
};
static_assert(sizeof(Occupant) == kCacheLine);

/// A set of GPUs that are simulated as one; the top of this file defines it. Most have one GPU and a few jobs, whose
/// lists lie inside.
struct alignas(kCacheLine) Cell {
  bool busy = false;
  bool chained = false;     ///< the tasks that follow `running` on the same ranks are included in `end`
  bool touched = false;     ///< true if it may have to take a task at the end of this instant
  bool is_unpaced = false;  ///< true if its tasks or transfers began or ended at this instant
  ReadyTask running;
  std::int32_t slowness = Slowdown::kFullPace;  ///< of its tasks now
  Time started, end;
  EventHandle event;
  GpuTotals totals;  ///< of each GPU since GpuState::totals was last brought up to date

  std::pmr::vector<Occupant> occupants;  ///< in order of start
  boost::container::small_vector<ReadyTask, 8> ready;

  boost::container::small_vector<JobId, 10> who;  ///< the jobs of `occupants`
  boost::container::small_vector<GpuId, 1> gpus;
  std::uint64_t formed = 0;  ///< EngineState::groups_changed when it was last split or merged
  std::uint64_t seated = 0;  ///< EngineState::groups_changed when a job was last seated on it

  PacedTask pace;  ///< of `running`, if the options have any interference

  explicit Cell(std::pmr::memory_resource* memory) : occupants{memory} {}

  static constexpr int kLinesOfTask = 2;  ///< that the end of a task may need; more if several tasks are ready

  [[nodiscard]] int ranks() const { return static_cast<int>(gpus.size()); }
};
static_assert(sizeof(Cell) == 6 * kCacheLine);

struct GpuState {
  CellId cell;
  GpuTotals totals;  ///< without Cell::totals
  std::int64_t jobs_started = 0;
  boost::container::small_vector<JobId, 2> timed;  ///< timed jobs that hold it, in order of start
  int whole_jobs = 0;                              ///< of these, that didn't ask for a part of it only
  Time whole_since;                                ///< since when there have been such jobs without a gap
};

/// The servers between which some messages or collectives of a job pass, all those between the same ranks.
struct JoinedServers {
  std::vector<ServerId> all;     ///< ascending; empty if they stay inside servers
  std::vector<ServerId> folded;  ///< the same without those for which another one stands (sim/server_folding.hpp)
  std::uint64_t number = 0;      ///< TransferRequest::same_ranks
};

/// A message or collective that waits to be admitted to the network or is being transferred.
struct Traffic {
  JobId job;
  OpId op;
  Slot slot = 0;
  int rank = -1;              ///< sender's global rank of a message; -1 for a collective and for joint messages
  std::array<GpuId, 2> ends;  ///< of a message that is not joint
  /// The servers of these, if they are two; none otherwise.
  std::array<ServerId, 2> between;
  const JoinedServers* among = nullptr;  ///< those that anything else touches; JobExecution has them
  Time since;                            ///< when it became ready; once admitted, when it started

  /// The servers it touches; empty if it stays inside one.
  [[nodiscard]] std::span<const ServerId> servers() const {
    if (among != nullptr) return among->all;
    return between[0].valid() ? std::span<const ServerId>{between} : std::span<const ServerId>{};
  }
  /// The same without those for which another one stands.
  [[nodiscard]] std::span<const ServerId> interfaces() const {
    return among != nullptr ? std::span<const ServerId>{among->folded} : servers();
  }
};

/// Service done at one instant of a chain of tasks and credited later: when the chain ends or when its value is needed.
struct Promise {
  Time at;
  GpuTime service;
};

/// The ranks that an operation joins: the ranks of so many roles, in groups (none: {0, 0}) or lists, or of two roles.
struct JoinedRanks {
  RoleId role, peer;
  std::int32_t roles = 1;  ///< from `role` on
  int stride = 0, size = 0;
  std::int32_t lists = -1;  ///< PlannedOp::lists
  auto operator<=>(const JoinedRanks&) const = default;
};

/// The messages of a job that wait in one of its channels (sim/graph.hpp).
struct ChannelQueue {
  struct Entry {
    std::int64_t iteration = 0;
    std::int32_t priority = 0;
    OpId op;
    Slot slot = 0;
    std::size_t message = 0;  ///< index into the courier's waiting messages
    auto operator<=>(const Entry&) const = default;
  };
  std::vector<Entry> ready;     ///< a heap: the first to be committed is in front
  std::deque<Entry> committed;  ///< in order of entering
  int in_network = 0;           ///< messages in the network
  Bytes bytes;                  ///< committed or in the network
};

/// A timer of a job (sim/graph.hpp) that runs, or the end of the patience with which an iteration waits for late ranks.
struct RunningTimer {
  OpId op;  ///< none: the end of patience
  Slot slot = 0;
  Time end;  ///< never() while `use` says when it ends
  EventHandle event;
  HostUseId use{};  ///< of a timer that HostModel carries; none: it ends by its event
};

/// A point of a graph job's work to which it can return.
struct SavedIteration {
  std::int64_t iteration = 0;
  Time at;        ///< when the work after it began
  Time overhead;  ///< JobRun::overhead then
};

/// What a job that stands still waits for (sim/saver.hpp).
enum class SavingStep : std::uint8_t {
  none,     ///< it doesn't stand still
  waiting,  ///< for the last checkpoint to be written
  copying,  ///< for the cost of a checkpoint
  writing,  ///< for its bytes to be written
  shifted,  ///< not for a checkpoint, but for the network to let its next iteration begin (NetworkModel::wait)
};

/// The work of a timed job that writes its checkpoints to a store, while it runs. All work is the work of each GPU.
struct TimedSaving {
  SavingStep step = SavingStep::none;
  Time standing_since;        ///< while `step` isn't none
  Time from;                  ///< when it went on last
  Time restart;               ///< part of the time since `from` before it works
  Time done;                  ///< work until `from`, or until it stopped
  Time saved, being_saved;    ///< work in the last checkpoint, and in the one that is written beside the work
  Time overhead, restarting;  ///< time until `from`, or until it stopped
};

/// A cell of a job, and where the job was among its occupants when something last looked (EngineState::occupant).
struct SeatedCell {
  // A list of these is a list of cells.
  SeatedCell(CellId id, std::size_t at = 0) : cell{id}, seat{static_cast<std::uint16_t>(at)} {}  // NOLINT
  operator CellId() const { return cell; }                                                       // NOLINT
  [[nodiscard]] std::size_t index() const { return cell.index(); }
  bool operator==(const CellId& other) const { return cell == other; }
  CellId cell;
  std::uint16_t seat = 0;
};

/// The execution of a graph job; it exists while the job holds GPUs.
struct alignas(kCacheLine) JobExecution {
  Slot current = 0;    ///< slot of the oldest iteration in flight
  bool stops = false;  ///< every `save_every` iterations, for a checkpoint
  SavingStep step = SavingStep::none;
  bool paced = false;                              ///< the network may have it wait between two iterations
  std::array<std::int32_t, kMostInFlight> left{};  ///< instances not yet done, by slot
  std::int64_t iterations = 1;  ///< JobRun::iterations, which changes only while the job holds no GPUs
  PendingCounts pending;        ///< as Occupant::pending, of collectives

  Time remaining_communication;  ///< if the job were alone in the network
  std::vector<SeatedCell> cells;
  std::vector<ServerId> servers;               ///< ascending
  int waiting = 0;                             ///< messages held back
  std::array<bool, kMostInFlight> admitted{};  ///< a message between servers has entered the network, by slot

  alignas(kCacheLine) JobView for_key;  ///< EngineState::view_for_key; what keys are made of fills its first line

  alignas(kCacheLine) boost::container::small_vector<TransferId, 2> transfers;  ///< in the network
  Time waiting_since;
  std::array<Bytes, kMostInFlight> unsent{};  ///< what Op::sends() has yet to send, by slot
  Time standing_since;                        ///< while `step` isn't none, or before it has begun

  alignas(kCacheLine) Time iterated;  ///< when it began, or its last iteration ended
  /// After this iteration a checkpoint is due; -1: it isn't known, because none has ended that would say how long they
  /// take.
  std::int64_t next_save = -1;
  /// By operation: of `joined`; nullptr: it joins two ranks, or none.
  boost::container::small_vector<const JoinedServers*, 3> joined_by;

  /// Iterations between two checkpoints; 0: as many as take a given time.
  alignas(kCacheLine) std::int64_t save_every = 1;
  SavedIteration saved;         ///< the last checkpoint of this run, or its begin
  SavedIteration interval;      ///< where the work since the last checkpoint began, or this run
  SavedIteration saved_before;  ///< the last checkpoint but one of this run, or its begin

  std::vector<Promise> promises;  ///< of tasks inside chains
  /// When its last iterations ended, by the number that had ended then, modulo kEndsKept; empty without leaping.
  std::vector<Time> ends;
  static constexpr std::int64_t kEndsKept = 32;

  std::map<JoinedRanks, JoinedServers> joined;       ///< what its messages and collectives join
  std::vector<std::vector<ServerId>> same_servers;   ///< that are simulated as their first (sim/server_folding.hpp)
  std::vector<ChannelQueue> channels;                ///< as in the plan
  std::vector<RunningTimer> timers;                  ///< in order of starting
  std::vector<CellId> cell_of_rank;                  ///< only if not foldable
  std::array<std::uint32_t, kMostInFlight> phase{};  ///< of the iterations in flight, by slot
  std::vector<std::int32_t> round_left{};            ///< [slot x rounds + round]: as `left`, of PlannedRounds
  std::array<std::int32_t, kMostInFlight> lap{};     ///< rounds that have ended before any that hasn't, by slot
  bool has_leapt = false;                            ///< over the rounds that the graph of `current` leaves out
  std::int64_t host_uses = 0;                        ///< that have begun, for each GPU (EngineState::host_uses)
  bool begun = false;                                ///< false while it restarts after a failure
  /// It stands, and begins again, because of a failure that its redundancy covers or because a GPU has come back. Its
  /// checkpoints are those from before.
  bool goes_on = false;
  /// With patience, by slot: when the first task of the iteration was ready that late ranks may drop, or never(); and
  /// whether a rank has done all that is awaited of it.
  std::array<Time, kMostInFlight> ready_since{Time::never(), Time::never(), Time::never(), Time::never()};
  std::array<bool, kMostInFlight> patience_runs{};
  LateHistory late;            ///< with patience; by the numbers of the GPUs
  SavedIteration first;        ///< where this run began
  SavedIteration being_saved;  ///< the one that is written beside the work

  static constexpr int kLines = 3;       ///< that an event may need
  static constexpr int kLinesOfEnd = 2;  ///< from `iterated` on: that the end of an iteration needs, too
};

}  // namespace contend
