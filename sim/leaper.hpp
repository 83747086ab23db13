#pragma once
// The leaper skips whole periods of jobs that repeat themselves. It is exact: a leap ends in the state and at the
// nanosecond that event-by-event execution would reach.
//
// The leaper puts jobs into groups so that what happens in one group does not depend on any other group: jobs that
// share a GPU, or that communicate through the same server, are in one group. Two facts keep groups small.
//   - A job dominates if it does not communicate and its key is the smallest on each of its GPUs, by more than
//     the iterations in flight of every other job there. It never gives up its GPUs: its next task is always ready when
//     one ends, and the others can't get beyond the iteration that waits for those GPUs. The other jobs do not affect
//     it, and for them its GPUs are unavailable until it ends.
//   - A job is stuck if it waits for nothing but such GPUs. It has no effect on any other job until one is free again.
//
// All durations are integers, so the state of a group relative to now (the running tasks and their time left, the
// dependencies still pending, the remainder of every transfer) often recurs. If it recurs and nothing outside
// intervenes, the group repeats itself as long as every comparison of keys has the same result. The leaper then moves
// the group by n periods at once, where n is limited by
//   - the next event from outside: an arrival, a decision of the scheduling policy, the end of a timed job or of the
//     run, the earliest end of a job that dominates one of the group, or, while jobs are queued or the policy decides
//     without any (SchedulingPolicy::idle_passes), the earliest instant at which any other job could end;
//   - the last iterations of each job of the group: its end is never skipped;
//   - a checkpoint for which a job of the group stops (sim/saver.hpp). While one stands still, the group doesn't leap.
//     A job that shares no GPU and no interface leaps over checkpoints, too, if it goes on after one as after the one
//     before;
//   - the first period in which two jobs that meet on a GPU or a server could change the order of their keys.
//
// A group is closed if its jobs hold every GPU on which another job could disturb them, and no policy looks at what
// running jobs have done there (SchedulingPolicy::ignores_progress). Then decisions elsewhere neither change it nor
// notice how far it is, and its horizon is its own: the next failure or repair on its servers, a failure of one of its
// jobs, the end of a restart, the end of the run. So a failure somewhere in a large cluster costs events only where it
// strikes.
//
// Where jobs may meet on links beside interfaces, as flows do, a job leaps only while no other job uses its links and
// nothing of its own is in the network (LeapableNetwork::meet_on_interfaces).
//
// What a job does to begin, to leave or to be seated again concerns only jobs that are connected with it by GPUs and
// servers. Groups are formed again for those alone; now and then for all, because jobs may become dominant or stuck.
//
// The leaper looks at the state of a group whenever one job of the group, the anchor, completes an iteration. It
// compares the whole state, word by word, with the one saved last. As in Brent's cycle finding (BIT 20, 1980), it saves
// a state after 1, 2, 4, 8, ... looks.
//
// An iteration that repeats rounds, such as a pipeline of many micro-batches, is leapt over in its middle: its graph
// leaves rounds out, and the leaper looks at a job that is alone in its group whenever a round has ended. If the state
// relative to the rounds recurs, it adds the rounds left out, all at once (sim/planned_rounds.hpp).

#include "sim/admission.hpp"
#include "sim/engine_state.hpp"
#include "sim/outages.hpp"
#include "sim/pulse.hpp"
#include "sim/round_hosts.hpp"
#include "sim/totals.hpp"
#include "sim/transfer_log.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace contend {

class Leaper {
 public:
  Leaper(EngineState& state, const Admission& admission, const Outages& outages, Pulse& pulse)
      : state_{state},
        admission_{admission},
        outages_{outages},
        pulse_{pulse},
        network_{state.network->leaping()},
        log_{log_of(*state.network)},
        ignores_progress_{state.policies.scheduling->ignores_progress() &&
                          state.policies.placement->ignores_progress_on_full_servers()},
        sees_servers_with_room_{!state.policies.placement->ignores_progress()} {}

  /// Looks for recurrences and leaps. To be called when everything at an instant has been handled.
  void after_instant();
  /// For a run that stops here: takes the groups that are ahead of the clock back by whole periods, to less than a
  /// period before it. That concerns what results are made of; the run can't go on.
  void take_back();

 private:
  /// What a job has done, as a whole, and has left on each of its cells.
  struct JobAccount {
    std::int64_t completed = 0;
    std::int32_t lap = 0;  // JobExecution::lap of the iteration in front
    Bytes unsent;          // in that iteration
    PolicyKey key = 0, communication_key = 0;
    GpuTime remaining_service;
    JobTotals totals;
    Time remaining_communication;
    NetworkModel::Usage usage;
    LeapableNetwork::Totals network;
    std::int64_t server_transfers = 0, host_uses = 0;
    std::vector<Time> remaining_compute;
  };

  /// What the jobs of a group had done when its state was saved.
  struct Account {
    Time time;
    std::vector<JobAccount> jobs;
    std::vector<GpuTotals> gpus;             // by cell: of each of its GPUs
    std::vector<NetworkModel::Usage> usage;  // by server
    std::int64_t host_uses = 0;              // of all servers
  };

  /// A leap of a group that may be ahead of the clock.
  struct Leap {
    std::vector<JobId> jobs;
    std::vector<CellId> cells;
    std::vector<ServerId> servers;
    Account then, now;  // between which the period was found that recurs
    Time landing;
    [[nodiscard]] Time period() const { return now.time - then.time; }
  };

  /// The rounds of an iteration whose graph leaves rounds out, as of the last look that was saved.
  struct SeenRounds {
    std::int64_t iteration = -1;
    std::vector<std::uint64_t> state;  // as Group::saved
    Account account;
    std::vector<std::size_t> launched;  // by role: Leaper::launched_
    GpuTime ahead;                      // Leaper::time_ahead()
    int looks = 0, looks_until_save = 1;
  };

  struct Group {
    std::vector<JobId> jobs;           // ascending
    std::vector<CellId> cells;         // that run tasks of these jobs only
    std::vector<ServerId> servers;     // that carry traffic of these jobs only
    std::vector<std::uint64_t> seats;  // which cells the jobs sit on, and since when these exist
    std::vector<JobId> dominators;     // jobs of other groups whose end sets one of these free
    bool earthbound = false;           // a network that can't be leapt over, or counters of several jobs
    bool closed = false;               // see above
    JobId anchor = JobId::none();
    int iterations_since_anchor = 0;
    std::vector<std::uint64_t> saved;                   // relative state
    Account account;                                    // at that time
    std::vector<std::uint64_t> saved_after_checkpoint;  // relative state when its job went on after the last one
    Account account_after_checkpoint;
    SeenRounds rounds;
    int looks = 0, looks_until_save = 1;
    std::int64_t anchor_iterations = 0, stride = 1;  // a look is taken every `stride` iterations of the anchor
    Time ahead_until;                                // where the last leap landed
  };

  // leap_groups.cpp: which jobs depend on each other
  void consider_regrouping();
  /// Fills region_ with the jobs that changes since the last look may have put into another group.
  void find_region();
  void regroup_all();
  /// Forms new groups of the jobs of region_: of whole sets of connected jobs, ascending, and of jobs that have left.
  void regroup();
  struct OldGroups;
  /// Joins those jobs of region_ in parent_ that share a server or a cell; fills cells_ and servers_.
  void join_jobs();
  /// Takes the groups of region_ out of groups_.
  [[nodiscard]] OldGroups take_groups();
  /// Returns the indices of the groups into which parent_ divides region_.
  [[nodiscard]] std::vector<std::uint32_t> form_groups(OldGroups& old);
  [[nodiscard]] bool is_member(JobId job) const;
  void find_dominant();
  [[nodiscard]] bool is_earthbound(const Group& group) const;
  [[nodiscard]] bool is_closed(const Group& group) const;
  [[nodiscard]] bool holds_server(const Group& group, ServerId server) const;
  [[nodiscard]] std::uint32_t new_group();
  [[nodiscard]] bool dominates(JobId job) const;
  [[nodiscard]] bool is_stuck(JobId job) const;
  [[nodiscard]] bool is_dominated(const Cell& cell) const;
  [[nodiscard]] bool communicates(JobId job) const;
  /// True if it uses interfaces of servers, or what else its GPUs share of them, where others may meet it.
  [[nodiscard]] bool meets_on_servers(JobId job) const;
  void find_dominators();

  // leaper.cpp: recurrence and leap
  void look(Group& group);
  /// To be called when the only job of the group goes on after a checkpoint for which it has stopped.
  void look_after_checkpoint(Group& group);
  /// To be called when a round of the only job of the group has ended (sim/planned_rounds.hpp).
  void look_at_rounds(Group& group);

  // leap_state.cpp: the state of a group, and what of it moves
  void write_state(const Group& group);
  /// Writes the state of a group of one job relative to the rounds of its iteration in front. Returns false unless the
  /// job is in steady rounds: the first of them that is_untouched() is one. It has to be in no round behind that,
  /// either.
  [[nodiscard]] bool write_state_in_rounds(const Group& group);
  /// Of an occupant, or of what the job does as a whole.
  void write_pending(JobId job, const Occupant* occupant);
  void write_rounds(JobId job, const Occupant* occupant);
  /// Ends that an operation waits for, as if no host that is ahead had launched it; all its own if it waits for none.
  [[nodiscard]] std::uint64_t count_of(JobId job, const Occupant* occupant, Slot slot, OpId op) const;
  /// Ends of launches of an operation by hosts of roles that run free, or only by those that are ahead.
  [[nodiscard]] std::int32_t launches_done(JobId job, const Occupant* occupant, Slot slot, OpId op,
                                           bool only_ahead) const;
  /// Sets launched_ and is_ahead_.
  void find_hosts(JobId job);
  /// What hosts that are ahead have done of the iterations in flight.
  [[nodiscard]] GpuTime time_ahead(JobId job) const;
  /// True if the hosts that are ahead remain so: they had launched all that devices have begun since.
  [[nodiscard]] bool stay_ahead(const JobRun& run, const SeenRounds& seen, std::int64_t rounds, Time period) const;
  [[nodiscard]] bool is_skipped(const JobRun& run, OpId op) const;
  /// True if no operation of the round has begun, and nothing that one waits for has ended.
  [[nodiscard]] bool is_untouched(JobId job, std::size_t round) const;
  [[nodiscard]] std::uint64_t number_of(const JobRun& run, OpId op, Slot slot) const;
  [[nodiscard]] std::uint64_t in_flight(const JobRun& run, OpId op, Slot slot) const;
  void write_task(const Cell& cell, Time now);
  void write_counters(JobId job);
  void shift_counters(JobId job, std::int64_t iterations, Time by);
  void write_patience(const JobRun& run, Time now);
  void write_lanes(const Occupant& occupant, const JobRun& run, Time now);
  /// Hosts that are ahead are moved by the time that they take for so many rounds.
  void shift_lanes(Occupant& occupant, Time by, std::int64_t rounds);

  // leaper.cpp again
  /// The clock of the group: a group that has leapt is ahead of the others.
  [[nodiscard]] Time now_of(const Group& group) const { return std::max(state_.clock, group.ahead_until); }
  [[nodiscard]] Account take_account(const Group& group) const;
  /// True if its own jobs did all the work on the cells and servers of the group since the account was taken. A job
  /// that was stuck then and is stuck now may have worked in between.
  [[nodiscard]] bool was_undisturbed(const Group& group, const Account& then, const Account& now) const;
  [[nodiscard]] Time horizon(const Group& group) const;
  [[nodiscard]] Time horizon_of_closed(const Group& group) const;
  /// No earlier than this the measured window needs to look at the cluster: its ends, and the end of its last job.
  [[nodiscard]] Time window_horizon() const;
  [[nodiscard]] Time earliest_end(JobId job) const;
  struct KeyRange {
    PolicyKey before, after;  // key at the start and end of a period
  };
  /// Calls `visit` with each set of jobs whose keys are compared: the jobs on one GPU or those on one server.
  template <class Visit>
  void for_each_rivalry(const Group& group, const Visit& visit) const;
  [[nodiscard]] std::int64_t periods_in_order(const Group& group, const Account& then, const Account& now) const;
  [[nodiscard]] bool is_in_order_after(const Group& group, const Account& then, const Account& now,
                                       std::int64_t periods) const;
  /// `saves`: a period ends with a checkpoint, and has no other one. At most `most`.
  [[nodiscard]] std::int64_t possible_periods(const Group& group, const Account& then, const Account& now, bool saves,
                                              std::int64_t most = INT64_MAX) const;
  void leap(Group& group, Account then, Account now, std::int64_t periods);
  /// Adds so many periods to the totals of the group that leaps, and to the times at which it is.
  void add_periods(const Leap& leap, std::int64_t periods);
  void add_periods(JobId job, const JobAccount& then, const JobAccount& now, std::int64_t periods, Time by);
  [[nodiscard]] static std::int64_t events_in_period(const JobRun& run, const JobAccount& then, const JobAccount& now);
  void remember(Leap leap);

  EngineState& state_;
  const Admission& admission_;
  const Outages& outages_;
  Pulse& pulse_;
  LeapableNetwork* const network_;  // null: groups that communicate are executed event by event
  TransferLog* const log_;          // null: nobody asks for one
  const bool ignores_progress_;     // both policies do, at least on full servers
  const bool sees_servers_with_room_;
  std::vector<Group> groups_;  // some have no jobs
  std::vector<std::uint32_t> unused_groups_;
  std::vector<std::uint32_t> group_of_;        // by job; kNoGroup
  std::vector<std::uint64_t> dominant_since_;  // by job: EngineState::groups_changed; 0 if it is not
  std::vector<std::uint8_t> stuck_;            // by job
  std::uint64_t seen_changes_ = UINT64_MAX;
  std::uint64_t next_regroup_ = 0, next_regroup_of_all_ = 0;  // as numbers of events
  std::uint64_t patience_ = 0;                                // events between two regroupings while nothing changes
  bool has_changed_ = false;                                  // since all groups were formed
  std::map<const Plan*, RoundHosts> hosts_by_plan_;
  std::vector<Leap> leaps_;        // those that may not have landed, for take_back()
  std::size_t most_leaps_ = 1024;  // before the landed ones are forgotten

  // Scratch.
  // Of write_state_in_rounds(): rounds that have ended, those that have begun on devices, and, by role, those that
  // hosts have launched, and whether these are ahead of all that recurs.
  std::size_t lap_ = 0, touched_ = 0;
  std::vector<std::size_t> launched_;
  std::vector<bool> is_ahead_;
  const RoundHosts* hosts_ = nullptr;
  std::vector<std::uint64_t> words_;
  std::vector<JobId> region_;
  std::vector<CellId> cells_;                                   // of the region, ascending
  std::vector<ServerId> servers_;                               // between which its jobs communicate, ascending
  std::vector<std::uint8_t> is_in_region_, is_seen_;            // by job, by server
  std::vector<std::uint32_t> parent_;                           // by job
  std::vector<std::uint32_t> group_of_cell_, group_of_server_;  // kNoGroup outside the region
};

}  // namespace contend
