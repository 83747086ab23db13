#pragma once
// EngineState is the state of a running simulation, as plain data. The parts of the engine work on it: the executor
// runs iteration graphs, the courier carries their messages, the admission starts and ends jobs, and the leaper skips
// whole periods.
//
// A cell is a set of GPUs in the same state: they hold the same jobs, each with interchangeable ranks at the same
// progress, and they have run the same task since the same instant. What happens to one of them happens to all, so they
// are simulated as one. A new job that takes only some GPUs of a cell splits it; cells that have become equal are
// merged. Without leaping every cell is a single GPU.

#include "sim/calendar.hpp"
#include "sim/cluster.hpp"
#include "sim/counters.hpp"
#include "sim/execution.hpp"
#include "sim/fetch.hpp"
#include "sim/fingerprint.hpp"
#include "sim/folding_counts.hpp"
#include "sim/graph_plan.hpp"
#include "sim/interference.hpp"
#include "sim/kept_time.hpp"
#include "sim/large_pages.hpp"
#include "sim/load_order.hpp"
#include "sim/pending_counts.hpp"
#include "sim/ports.hpp"
#include "sim/random_stream.hpp"
#include "sim/result.hpp"
#include "sim/sharing.hpp"
#include "sim/simulation.hpp"
#include "sim/totals.hpp"
#include "sim/use_log.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace contend {

class JobBody;

/// A job of the run. It is small, because a million of them may wait or have ended. What an event of an iteration graph
/// reads stands first, close together.
struct alignas(kCacheLine) JobRun {
  PolicyKey key = 0;  ///< of the scheduling policy
  Time next_promise = Time::never();
  bool key_is_stale = true;
  bool waits = false;         ///< in the queue of the scheduling policy
  bool is_cut = false;        ///< the present or last run of a timed job is ended by its time limit
  bool resumes = false;       ///< a timed job that was preempted: its next start, or the present one, is a restart
  bool gave_up = false;       ///< failures interrupted it too often: it is given up once that is noticed
  bool was_struck = false;    ///< an interruption ended its last run: its next start, or the present one, pays for it
  bool was_planned = false;   ///< that interruption was no failure
  bool saved_itself = false;  ///< before that it saved its work (Mitigation::restart), and pays for that, too
  bool resubmits = false;     ///< its next retry counts as a submission (RetryRule::at_end)
  bool balances = false, reroutes = false;  ///< steps of Mitigation that it has taken in its present run
  JobState state = JobState::submitted;
  const Plan* plan = nullptr;                        ///< null for a timed job
  std::unique_ptr<JobExecution, ReturnToPool> live;  ///< of a graph job, while it runs
  std::int64_t completed = 0;                        ///< iterations
  const JobSpec* spec = nullptr;
  GpuTime remaining_service;  ///< as in JobView; of a running timed job: its value at `since`
  std::vector<GpuId> gpus;    ///< by rank, while it runs
  Time start = Time::never();
  /// While the job runs or waits, times on GPUs and in the queue are counted until `since`. The first total, `compute`,
  /// is the last member that an event of an iteration graph reads.
  JobTotals totals;
  GpuTime total_service;    ///< as in JobView
  PolicyKey key_reach = 0;  ///< by how much the key falls in as many iterations as may be in flight
  Time since;               ///< start of the present run or wait
  Time finish = Time::never();
  JobBody* body = nullptr;   ///< the use that the job makes of its GPUs (sim/job_body.hpp)
  int width = 1;             ///< GPUs that it holds or is to be placed on; while it waits JobSpec::gpus
  int attempt = 0;           ///< index of the attempt that runs or waits; the last is JobSpec::attempts.size()
  int servers_spanned = 0;   ///< at the last start
  bool is_torn = false;      ///< at the last start: it runs the graph of Workload::torn
  std::int32_t pace = 1000;  ///< of the present run of a timed job (WorkSegment)
  std::int32_t type = -1;    ///< of the servers of its last start
  std::int64_t type_pace = kNominalPace;  ///< as `pace`
  double cost = 0;                        ///< of its GPU time until `since`
  int struck = 0;                         ///< interruptions by failures of components, or its own
  int failures = 0;                       ///< failed attempts of a timed job after which it was retried
  int timeouts = 0;                       ///< attempts of a timed job that were killed at its limit and retried
  Time undone_at_ends{};                  ///< work on each GPU that the ends of attempts of a timed job undid
  std::int64_t tie = 0;                   ///< JobView::tie
  Time arrival;                           ///< its first submission; never() until the jobs before it have ended
  Time submitted;                         ///< JobView::submit
  EventHandle end;                        ///< the calendar event at `ends`
  /// Of a timed job, while it runs: its end unless it is preempted. Of a job with an iteration graph that restarts or
  /// stops for the cost of a checkpoint: the end of that.
  Time ends = Time::never();
  std::unique_ptr<TimedSaving> saving;  ///< of a timed job that writes to the store, while it runs
  Time later_attempts;                  ///< of a timed job: the work of all attempts after `attempt`, on each GPU
  /// Of a graph job: iterations that it has done and, at its present size, those left. Whatever runs a job goes by this
  /// number; JobSpec::iterations counts iterations of the preferred size, and belongs to input and results.
  std::int64_t iterations = 1;
  /// Of an elastic graph job: parts of its work (JobSize) that were left, and iterations that it had done, when it took
  /// its present size.
  std::int64_t parts_left = 0, sized_at = 0;
  Time detecting;                     ///< until its last failure is, or was, noticed; counted when it comes back
  Time vacated;                       ///< when it left its GPUs last to come back later
  std::int64_t server_transfers = 0;  ///< started transfers, counted once on each server
  std::unique_ptr<const std::vector<PacedWork>> parts{};  ///< of a job with regimes: at its last start
  std::unique_ptr<SharedClock> shared{};                  ///< of a timed job that has shared a GPU in its present run
  std::unique_ptr<ServiceRun> serving{};                  ///< of a job with JobSpec::service, once it has started

  static constexpr int kLines = 2;  ///< that an event of an iteration graph may need

  /// The mean time of the iterations that have ended since its present start, of a graph job; 0 if none has.
  [[nodiscard]] Time mean_iteration() const {
    if (!live || !live->begun || completed == live->first.iteration) return Time{};
    const Time spent = live->iterated - live->first.at - (totals.overhead - live->first.overhead);
    return Time::nanoseconds(spent.ns() / (completed - live->first.iteration));
  }
  /// Of a timed job: the work left for its present or next run, on each GPU.
  [[nodiscard]] Time attempt_left() const { return remaining_service.on_each_of(spec->gpus) - later_attempts; }
  /// Of a timed job: the work of its attempt, done or not, on each GPU.
  [[nodiscard]] Time attempt_length() const {
    const auto index = static_cast<std::size_t>(attempt);
    return index < spec->attempts.size() ? spec->attempts[index] : *spec->duration;
  }
  /// JobSpec::deadline of a job that has been submitted.
  [[nodiscard]] std::optional<Time> deadline() const {
    if (!spec->deadline || arrival == Time::never()) return spec->deadline;
    return *spec->deadline - spec->submit + arrival;
  }
  [[nodiscard]] bool is_last_attempt() const { return attempt == static_cast<int>(spec->attempts.size()); }
  /// Attempts of a timed job that have begun and ended, except the last.
  [[nodiscard]] int retries() const { return failures + timeouts; }
  void begin_next_attempt();  ///< of a timed job whose attempt has failed
  /// Of a timed job that holds no GPUs: its attempt has so much work left again; the rest of its work is lost.
  void undo_until_left(Time left);
  [[nodiscard]] WorkSegment segment(const PreemptionCosts& costs) const {
    if (!parts) return {attempt_left(), pause(costs), pace, type_pace};
    return {attempt_left(), pause(costs), pace, type_pace, attempt_length() - attempt_left(), *parts};
  }
  [[nodiscard]] bool elastic() const { return spec->sizes >= 0; }
  /// The time on its GPUs before its work goes on.
  [[nodiscard]] Time pause(const PreemptionCosts& costs) const {
    return costs.start + (resumes ? costs.restart : Time{}) + (was_struck ? costs.rescue : Time{}) +
           (saved_itself ? costs.checkpoint + costs.persist - (costs.renews ? costs.start : Time{}) : Time{});
  }
  void promise(Time when, GpuTime service);
  [[nodiscard]] std::size_t at(Slot slot, OpId op) const { return slot * plan->ops.size() + op.index(); }
  /// True if the iteration of the slot has this operation.
  [[nodiscard]] bool has(Slot slot, OpId op) const {
    const Op& its = plan->ops[op.index()].op;
    return its.phase == kEveryPhase || its.is_in(live->phase[slot]);
  }
  /// True if the iteration, `after` > 0 behind the one in front, is in flight, too, and not behind a checkpoint.
  [[nodiscard]] bool is_open(int after) const {
    return after < plan->in_flight && completed + after < live->iterations && !live->paced &&
           !(live->stops && live->next_save >= 0 && completed + after >= live->next_save);
  }
  /// The slot of the next iteration, and of the one before.
  [[nodiscard]] Slot next(Slot slot) const {
    return slot + 1 == plan->in_flight ? Slot{0} : static_cast<Slot>(slot + 1);
  }
  [[nodiscard]] Slot before(Slot slot) const { return static_cast<Slot>((slot == 0 ? plan->in_flight : slot) - 1); }
  /// By how many iterations the iteration of the slot is behind the one in front.
  [[nodiscard]] int place_of(Slot slot) const {
    return slot >= live->current ? slot - live->current : slot + plan->in_flight - live->current;
  }
  [[nodiscard]] std::int64_t iteration_of(Slot slot) const { return completed + place_of(slot); }
};

/// When a job fails by itself: after a time of running, over all its starts.
struct OwnFailures {
  RandomStream stream;
  Time left;                ///< running time until the next failure, from `since` on; never(): none
  Time at = Time::never();  ///< while it runs: when that is
  EventHandle event;
};

/// The payload of a calendar event: its kind and the cell or job that it concerns.
struct CalendarEvent {
  enum class Kind : std::uint8_t {
    task_end,
    lane_end,
    counted,
    job_end,
    arrival,
    follows,
    retry,
    pass,
    wake,
    service,
    outage,
    job_failure,
    stall,
    timer_end,
    shifted,
    saves,
    copied,
    written,
    hosts
  };
  Kind kind;
  CellId cell{};         ///< task_end and lane_end only
  JobId job{};           ///< none for arrivals, passes, outages, the store and hosts
  std::uint16_t seat{};  ///< task_end: ReadyTask::seat when the task began; lane_end: index into Plan::lanes
};

/// The whole state of a run, and the view of it that policies get.
struct EngineState : ClusterView {
  EngineState(const ClusterSpec& cluster, Workload jobs, PolicySet set, std::unique_ptr<NetworkModel> model,
              SimulationOptions run_options);

  ClusterSpec spec;
  Workload workload;
  std::vector<Plan> plans;
  std::map<std::size_t, Plan> torn_plans;  ///< by graph: Workload::torn, once a job needs it
  PolicySet policies;
  std::unique_ptr<NetworkModel> network;
  SimulationOptions options;
  bool fold = false;                    ///< merge equal cells
  std::vector<JobId> host_users;        ///< by HostUseId, of those that have not ended
  std::vector<std::int64_t> host_uses;  ///< by server: uses that have begun, for each GPU; empty if there are none
  EventHandle host_event;               ///< the end of the next of them

  std::map<std::pair<JobId, std::string>, CounterState> counters;  ///< by job, none of shared ones, and name

  Time clock;
  Calendar<CalendarEvent> calendar;
  RunMemory arena;
  std::pmr::vector<JobRun> jobs{&arena.pages};
  std::vector<PreemptionCosts> job_costs;  ///< by job; empty if they are the same for all
  std::vector<GpuState> gpu;
  std::pmr::vector<Cell> cells{&arena.pages};
  std::vector<CellId> unused_cells;
  /// By cell: the work left of all occupants on each GPU, which falls when an operation ends. It lies apart from cells,
  /// because placements look at many loads, and the end of a transfer changes the loads of all cells of a job.
  std::vector<GpuTime> loads;
  std::vector<CellId> touched;  ///< cells to look at when the instant ends
  std::vector<CellId> unpaced;  ///< cells whose rates the pacer has to look at
  std::vector<JobId> unshared;  ///< timed jobs whose speeds the sharer has to look at
  /// By timed job and the jobs beside it: the time, and what of it was lost, in thousand-millionths of a nanosecond.
  std::map<std::pair<JobId, std::vector<JobId>>, std::pair<Time, Int128>> shared_times;
  std::size_t waiting = 0;                         ///< queued and preempted jobs
  std::vector<JobId> running;                      ///< in no order
  std::vector<std::uint32_t> running_at;           ///< by job: its index in `running`
  std::vector<std::optional<Traffic>> in_network;  ///< by TransferId
  std::size_t jobs_ended = 0;
  std::size_t measured_left = 0;  ///< jobs of the measured window that have not ended
  Capacity capacity;
  std::vector<std::string> remarks;                    ///< RunResult::remarks
  std::vector<std::pair<JobId, std::string>> reasons;  ///< of failed jobs, by id once the run has ended
  std::uint64_t events = 0, leapt_events = 0, leaps = 0;
  Fingerprint fingerprint;
  std::vector<JobId> away;           ///< running jobs that the view leaves out for now (hide())
  std::vector<JobId> iterated;       ///< jobs that completed an iteration at this instant
  std::vector<JobId> lapped;         ///< jobs of which a round ended at this instant (PlannedRounds)
  std::vector<JobId> saved_now;      ///< jobs of iterations that go on at this instant after a checkpoint
  Time next_outage = Time::never();  ///< the next instant at which a component fails or comes back
  /// By GPU: its totals when it went out of service, while a job holds it unused; empty without RedundancyRule.
  std::vector<std::optional<GpuTotals>> covered;
  std::vector<OwnFailures> own_failures;  ///< by job; empty if jobs don't fail by themselves
  KeptTime kept_time;                     ///< measures if anything can fail
  UseLog uses;                            ///< keeps something if SimulationOptions::keeps_uses
  std::uint64_t given_back = 0;           ///< counts what jobs and failures have given back of GPUs
  std::uint64_t groups_changed = 0;       ///< counts changes of which jobs share GPUs or servers
  /// Where these changes were since the leaper looked last: jobs that began, left or were seated again, and servers
  /// that jobs have left. Nothing is noted without leaping.
  std::vector<JobId> changed_jobs;
  std::vector<ServerId> changed_servers;
  std::vector<std::int32_t> server_slowness;  ///< by server: of the bytes of its transfers; empty if that never changes
  /// By GPU, in thousandths of the time of its tasks: how slow it is, and how much work its job of iterations gives it
  /// because of redundancy (RedundancyRule::paces) or of slow replicas (Mitigation). Each is empty if that never
  /// changes.
  std::vector<std::int32_t> gpu_slowness, job_work;
  std::vector<JobId> started;  ///< jobs of iterations that started at this instant; nothing is noted without Mitigation
  std::vector<std::uint32_t> sending_jobs;          ///< by server: graph jobs on it that have several servers
  std::vector<JobId> folded_for;                    ///< by server: the job in whose JobExecution::same_servers it is
  std::uint64_t joined_made = 0;                    ///< JoinedServers so far
  std::vector<FoldingCounts> folding;               ///< by job, once one with an iteration graph has started
  std::vector<RandomStream> jitter;                 ///< by GPU: of the times of its tasks; empty without jitter
  mutable std::vector<CellId> changed_loads;        ///< cells noted since the last search in load_order
  mutable std::vector<std::uint8_t> load_is_noted;  ///< by cell: true if it is among these
  mutable LoadOrder load_order;
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::int32_t>> type_orders;  ///< by gpu_type and pace
  std::vector<std::int32_t> server_types;  ///< by server; empty if all are alike
  /// The GPUs of a job that has several types of them.
  struct MixedGpus {
    std::string types;  ///< their names, with `+` between them
    double price = 0;   ///< of one of them for an hour: the mean
  };
  std::map<JobId, MixedGpus> mixed;         ///< by job, since its last start
  std::vector<std::vector<int>> size_gpus;  ///< by JobSpec::sizes: the numbers of GPUs
  /// What decides whether a job has a place: virtual cluster, GPUs, type of GPU, place of its own, levels, pace, ranks.
  using Demand = std::tuple<std::int32_t, int, std::int32_t, std::int32_t, std::int32_t, std::int32_t, RankDemand>;
  /// Of a job that has so many GPUs.
  [[nodiscard]] static Demand demand_of(const JobSpec& job, int gpus) {
    return {job.vc, gpus, job.gpu_type, job.place, job.level, job.pace, RankDemand{job}};
  }
  /// Demands with a type of servers (-1: all are alike) that has the GPUs for it, but on which the placement policy has
  /// no place for it, not even in the empty cluster.
  std::set<std::pair<Demand, std::int32_t>> placeless;
  /// Servers, the last ones, that the cluster has at no time: spares, which stand in for others, or those that are
  /// never lent, because the first ones are lent first. There are no spares where servers are lent.
  [[nodiscard]] int absent_servers() const;

  [[nodiscard]] JobRun& run(JobId job) { return jobs[job.index()]; }
  [[nodiscard]] Cell& at(CellId cell) { return cells[cell.index()]; }
  [[nodiscard]] Occupant& occupant(CellId cell, JobId job);
  [[nodiscard]] Occupant& occupant(SeatedCell& seat, JobId job);
  /// The key of a graph job that runs.
  [[nodiscard]] PolicyKey key(JobId job);
  /// As view(job, true), of a graph job that runs.
  [[nodiscard]] const JobView& view_for_key(JobId job) const;
  /// The time that the run of a timed job so far would have taken without others on its GPUs.
  [[nodiscard]] Time alone(const JobRun& run) const {
    return run.shared ? run.shared->shown(clock) : clock - run.since;
  }
  /// The time of the run of a timed job so far that it stood still or was slower because of failures that its
  /// redundancy covers, and because of what that costs. 0 of jobs that share GPUs.
  [[nodiscard]] Time lost_to_covered(const JobRun& run) const {
    return options.failures.redundancy.any() && run.shared ? clock - run.since - alone(run) : Time{};
  }
  [[nodiscard]] bool is_covered(GpuId id) const { return !covered.empty() && covered[id.index()].has_value(); }
  /// The totals of a GPU until `now`, as if none were covered.
  [[nodiscard]] GpuTotals totals_of(GpuId id, Time now) const;
  /// A GPU goes out of service, and its job goes on without it.
  void cover(GpuId id) { covered[id.index()] = totals_of(id, clock); }
  /// A covered GPU works again, or its job leaves it. Meanwhile it did nothing.
  void uncover(GpuId id) {
    GpuTotals& totals = gpu[id.index()].totals;
    totals = totals - (totals_of(id, clock) - *covered[id.index()]);
    covered[id.index()].reset();
  }
  /// What redundancy a job has, with its own number of stages.
  [[nodiscard]] RedundancyRule redundancy_of(const JobRun& run) const;
  /// The ranks of a running job whose GPUs are covered.
  [[nodiscard]] std::vector<int> ranks_out(const JobRun& run) const;
  /// Gives a running timed job the end that its clock says.
  void end_by_clock(JobRun& run);
  /// Sets the speed of a running timed job that goes on without its covered GPUs, after it has stood still for a time.
  void go_on_covered(JobId job, Time stands);
  /// Sets how long the tasks on each GPU take, of a job of iterations that goes on without its covered GPUs.
  void set_job_work(const JobRun& run);
  /// By rank of a job of iterations, in thousandths: the part of its tasks that it does, so that all replicas take
  /// equally long, if the job moves micro-batches (JobRun::balances); else all of them.
  [[nodiscard]] std::vector<std::int32_t> shares_of_work(const JobRun& run) const;
  /// How many thousandths of their time the tasks of the slowest rank of such a job take, or its slowest transfers,
  /// because of components that are slow.
  [[nodiscard]] std::int32_t slowest_task(const JobRun& run) const;
  [[nodiscard]] std::int32_t slowest_transfer(const JobRun& run) const;
  /// What is left of the slowness of its transfers, in thousandths of their time.
  [[nodiscard]] std::int32_t rerouted(const JobRun& run, std::int32_t slowness) const;
  /// Takes all of a GPU that no job holds, so that no job fits, and gives it back.
  void take_out_of_service(GpuId id);
  void put_into_service(GpuId id);
  /// Has the sharer look at the timed jobs on a GPU; nothing without a law.
  void mark_sharing(GpuId id) {
    if (!options.sharing.any()) return;
    const auto& timed = gpu[id.index()].timed;
    unshared.insert(unshared.end(), timed.begin(), timed.end());
  }
  /// Shows a timed job to the observer, as a task named `run` whose iteration is the attempt: from its start, or since
  /// its speed changed last, until now. Jobs that reserved a part of their GPUs are left out, because the spans of one
  /// GPU must not overlap.
  void show_run(JobId job) const;
  /// Adds the time since its speed changed last to shared_times, of a timed job with a clock, and shows it.
  void count_sharing(JobId job);
  /// The speed of a timed job beside others, ascending, on a GPU; 0: they can't run there together.
  [[nodiscard]] std::int64_t speed_of(JobId job, std::span<const JobId> others, std::int32_t type) const;
  /// The GPU time that a run that shares GPUs has to pay for, in seconds: each of the jobs on a GPU pays its part.
  [[nodiscard]] double paid_gpu_s(const JobRun& run) const;
  /// Work that a running timed job has done since its last start.
  [[nodiscard]] WorkDone work_done(const JobRun& run) const;
  /// Of a graph job that begins, or comes to its planned checkpoint: plans the next one. True if one is due now.
  bool plan_checkpoint(JobRun& run) const;
  /// What is saved of a job's work, and what that costs.
  [[nodiscard]] const PreemptionCosts& costs_of(const JobRun& run) const {
    return job_costs.empty() ? options.rules.preemption : job_costs[static_cast<std::size_t>(&run - jobs.data())];
  }
  /// The compute time that a running graph job loses if it goes back to the end of this iteration, with the tasks that
  /// run now.
  [[nodiscard]] GpuTime undone(const JobRun& run, std::int64_t iteration) const;
  /// The last checkpoint of a running graph job that can be read by now.
  [[nodiscard]] const SavedIteration& durable(const JobRun& run) const;
  /// The job as a policy sees it; `for_key` leaves out what SchedulingPolicy::key must not depend on.
  [[nodiscard]] JobView view(JobId job, bool for_key) const;
  /// Service done inside chains by `now` that is not yet credited.
  [[nodiscard]] static GpuTime promised(const JobRun& run, Time now);
  /// Credits the service that promised() returns.
  static void settle(JobRun& run, Time now);

  /// True if servers limit what the operation moves on them.
  [[nodiscard]] bool is_carried_by_hosts(const Op& op) const {
    return op.duration > Time{} && op.host.any() && options.hosts != nullptr && options.hosts->limits(op.host);
  }
  /// Schedules the end of the next timer that servers carry. To be called whenever one has begun or ended.
  void follow_hosts();
  /// A counter of a job's plan.
  [[nodiscard]] CounterState& counter(JobId job, CounterId id) {
    const Counter& named = jobs[job.index()].plan->counters[id.index()];
    return counters[{named.shared ? JobId::none() : job, named.name}];
  }
  /// Forgets what a job that leaves its GPUs waits for.
  void stop_awaiting(JobId job);
  /// Throws InputError if nothing happens any more, as `next` says, and a job waits for a counter.
  void check_awaits(Time next) const;
  /// Stops all timers of a running job.
  void stop_timers(JobRun& run);
  /// True if the key of `other` stays above the key of `job` as long as `job` keeps a GPU that both want. Meanwhile
  /// `other` can't get beyond its iterations in flight.
  [[nodiscard]] bool stays_behind(JobId other, JobId job);
  /// The tasks of a running chain that have ended: their number, and their compute time on each GPU.
  struct Links {
    int tasks = 0;
    Time duration;
  };
  [[nodiscard]] Links done_in_chain(const Cell& cell) const;
  void touch(CellId cell);
  /// Adds the job to changed_jobs.
  void note_change(JobId job) {
    if (options.leap && (changed_jobs.empty() || changed_jobs.back() != job)) changed_jobs.push_back(job);
  }
  /// Have the processor fetch into its caches what an event will need: first the cell and the job of the end of a task,
  /// then, once these are there, what they refer to, and last what the end of its iteration needs. In a large cluster
  /// all of it has left the caches since it was last used, and so it is fetched while events before it are executed.
  void fetch_cell(const CalendarEvent& event) const;
  void fetch_work(const CalendarEvent& event) const;
  void fetch_traffic(const CalendarEvent& event) const;
  void fetch_occupant(const SeatedCell& cell) const;
  void fetch_cells_of(JobId job) const;
  void fetch_occupants_of(JobId job) const;
  /// Fetches what decides which task of the cell goes first.
  void fetch_keys(const Cell& cell) const;
  /// Has the pacer look at the rates of the cell at the end of this instant; nothing without interference.
  void mark_pace(CellId cell);
  /// Work left of a job on each GPU of a cell, counting a running chain as not begun.
  [[nodiscard]] GpuTime load_of(const Occupant& occupant) const {
    return GpuTime{occupant.remaining_compute, 1} +
           GpuTime{jobs[occupant.job.index()].live->remaining_communication, 1};
  }
  /// GPUs of a cell, and the first of them.
  [[nodiscard]] int ranks_of(CellId cell) const { return fold ? cells[cell.index()].ranks() : 1; }
  [[nodiscard]] GpuId first_of(CellId cell) const {
    return fold ? cells[cell.index()].gpus.front() : GpuId{cell.index()};
  }
  /// The cell of a GPU.
  [[nodiscard]] CellId cell_of(GpuId id) const { return fold ? gpu[id.index()].cell : CellId{id.index()}; }
  /// Work left on each GPU of a cell, of its occupants that are not away.
  [[nodiscard]] Time load_of_graph_jobs(CellId cell) const;
  /// Changes an element of `loads`.
  void change_load(CellId cell, GpuTime by) {
    loads[cell.index()] += by;
    note_load(cell);
  }
  /// Changes what jobs hold of a GPU.
  void take(GpuId id, const RankDemand& rank) {
    capacity.take(id, rank);
    load_order.note_room(server_of(id));
    note_load(gpu[id.index()].cell);
  }
  void give_back(GpuId id, const RankDemand& rank) {
    ++given_back;
    capacity.give_back(id, rank);
    load_order.note_room(server_of(id));
    note_load(gpu[id.index()].cell);
  }
  /// Says that the load of its GPUs has changed, or their room, or that it is about to fall with time alone.
  void note_load(CellId cell) const {
    if (std::exchange(load_is_noted[cell.index()], std::uint8_t{1}) != 0) return;
    changed_loads.push_back(cell);
  }
  /// How long a task takes that starts on the cell now. Draws a number if there is jitter.
  [[nodiscard]] Time length_on(const Cell& cell, Time planned);
  /// The factor of the time of a transfer's bytes, >= 1: the factor of the slowest server that it touches.
  [[nodiscard]] double slowness_of(const Traffic& traffic) const;
  void set_state(JobId job, JobState state);
  /// The types of servers on which the job may run, the fastest first, then their mix if it may mix them (mix_of); {-1}
  /// if all are alike.
  [[nodiscard]] std::span<const std::int32_t> types_for(const JobSpec& job) const;
  /// As job(), to be placed on servers of the type.
  [[nodiscard]] JobView view_on(JobId job, std::int32_t type) const;
  /// The price of the GPUs that a running job has held since its start.
  [[nodiscard]] double cost_of(const JobRun& job_run) const {
    constexpr double kHour_s = 3600;
    const double shares = RankDemand{*job_run.spec}.share > 0 ? RankDemand{*job_run.spec}.share : kWholeGpu;
    const auto its_mix =
        mixed.empty() ? mixed.end() : mixed.find(JobId{static_cast<std::size_t>(&job_run - jobs.data())});
    const double price = its_mix == mixed.end() ? price_of(job_run.type) : its_mix->second.price;
    if (job_run.shared) return price * (shares / kWholeGpu) * (paid_gpu_s(job_run) / kHour_s);
    return price * job_run.width * (shares / kWholeGpu) * ((clock - job_run.since).to_seconds() / kHour_s);
  }
  /// How the job runs on so many GPUs of the type.
  [[nodiscard]] JobPace pace_on(const JobSpec& job, int gpus, std::int32_t type,
                                const BatchRegime* regime = nullptr) const;
  /// The size of an elastic job with so many GPUs; nullptr if it has none.
  [[nodiscard]] const JobSize* size_of(const JobSpec& job, int gpus, const BatchRegime* regime = nullptr) const;
  /// Of an elastic graph job: the parts of its work that are not done after so many iterations in all.
  [[nodiscard]] std::int64_t parts_left(const JobRun& run, std::int64_t completed) const;

  // ClusterView
  [[nodiscard]] Time now() const override { return clock; }
  [[nodiscard]] std::size_t servers() const override { return static_cast<std::size_t>(spec.servers); }
  [[nodiscard]] std::size_t gpus() const override { return gpu.size(); }
  [[nodiscard]] ServerId server_of(GpuId id) const override { return capacity.server_of(id); }
  [[nodiscard]] Bytes free_memory(GpuId id) const override { return capacity.free_memory(id); }
  void jobs_on(GpuId id, std::vector<JobId>& on_gpu) const override;
  [[nodiscard]] JobView job(JobId id) const override { return view(id, false); }
  [[nodiscard]] std::span<const GpuId> gpus_of(JobId id) const override { return jobs[id.index()].gpus; }
  [[nodiscard]] Time load(GpuId id) const override;
  /// Leaves a running job out of the view, as if it had no GPUs, or shows it again. Capacity is the caller's concern.
  void hide(JobId job) {
    away.push_back(job);
    note_loads_of(job);
  }
  void show(JobId job) {
    std::erase(away, job);
    note_loads_of(job);
  }
  void note_loads_of(JobId job) const {
    for (const GpuId id : jobs[job.index()].gpus) note_load(gpu[id.index()].cell);
  }
  [[nodiscard]] bool is_away(JobId job) const {
    return !away.empty() && std::find(away.begin(), away.end(), job) != away.end();
  }
  [[nodiscard]] int free_gpus() const override { return capacity.free_gpus(); }
  [[nodiscard]] int free_gpus(ServerId id) const override { return capacity.free_gpus(id); }
  [[nodiscard]] ServerId next_server(int free, ServerId from) const override {
    return capacity.next_server(free, from);
  }
  [[nodiscard]] int free_share(GpuId id) const override { return capacity.free_share(id); }
  [[nodiscard]] std::int64_t free_milli_cpus(ServerId id) const override { return capacity.free_milli_cpus(id); }
  [[nodiscard]] Bytes free_host_memory(ServerId id) const override { return capacity.free_host_memory(id); }
  [[nodiscard]] bool fits(GpuId id, const JobView& job_view) const override {
    return capacity.fits(id, RankDemand{job_view});
  }
  [[nodiscard]] ServerRange servers_for(const JobView& job_view) const override {
    return capacity.servers_of(job_view.vc, job_view.server_type);
  }
  [[nodiscard]] std::size_t types() const override { return std::max<std::size_t>(1, spec.types.size()); }
  [[nodiscard]] ServerRange loanable() const override {
    const auto all = static_cast<std::uint32_t>(spec.servers);
    return {all - static_cast<std::uint32_t>(options.failures.loans.servers), all};
  }
  [[nodiscard]] ServerRange servers_of_type(std::int32_t type) const override {
    return contend::servers_of_type(spec, spec.types.empty() ? -1 : type);
  }
  [[nodiscard]] int gpus_per_server(std::int32_t type) const override {
    return contend::gpus_per_server(spec, spec.types.empty() ? -1 : type);
  }
  [[nodiscard]] Bytes gpu_memory(ServerId server) const override {
    const std::int32_t type = type_of(spec, server);
    return type < 0 ? spec.gpu_memory : spec.types[static_cast<std::size_t>(type)].gpu_memory;
  }
  [[nodiscard]] int gpus_in_service(std::int32_t vc, std::int32_t type) const override {
    return capacity.gpus_in_service(vc, spec.types.empty() ? -1 : type);
  }
  [[nodiscard]] std::uint64_t times_given_back(std::int32_t vc) const override { return capacity.times_given_back(vc); }
  [[nodiscard]] std::uint64_t service_changes(std::int32_t vc) const override { return capacity.service_changes(vc); }
  [[nodiscard]] int free_gpus_on(std::int32_t vc, std::int32_t type) const override {
    return capacity.free_gpus_on(vc, spec.types.empty() ? -1 : type);
  }
  [[nodiscard]] double speed_on(const JobView& job_view, std::int32_t type) const override {
    return speed_with(job_view, job_view.preferred_gpus, type);
  }
  [[nodiscard]] double speed_with(const JobView& job_view, int gpus, std::int32_t type) const override;
  [[nodiscard]] SteadySpeed steady_speed(JobId job) const override;
  [[nodiscard]] std::span<const int> sizes_of(JobId job) const override;
  [[nodiscard]] std::span<const BatchRegime> regimes_of(JobId job) const override;
  /// Has the view of a job with regimes reckon with its present batch.
  void take_present_batch(JobView& view) const;
  [[nodiscard]] int most_on_gpu() const override { return options.sharing.any() ? options.sharing.most : 1; }
  [[nodiscard]] double speed_beside(JobId job, std::span<const JobId> others, std::int32_t type) const override;
  [[nodiscard]] StageTimes stages_of(JobId job) const override {
    return options.sharing.any() ? options.sharing.law->stages(job) : StageTimes{};
  }
  [[nodiscard]] double price_of(std::int32_t type) const override {
    return spec.types.empty() ? 0 : spec.types[static_cast<std::size_t>(type)].price;
  }
  [[nodiscard]] GpuId next_gpu(const JobView& job_view, GpuId from) const override {
    return capacity.next_gpu(RankDemand{job_view}, from, servers_for(job_view));
  }
  void least_loaded(const JobView& job_view, std::size_t count, std::vector<GpuId>& chosen) const override {
    load_order.gpus(*this, job_view, count, chosen);
  }
  void least_loaded_servers(const JobView& job_view, std::size_t ranks, std::vector<ServerId>& chosen) const override {
    load_order.servers(*this, job_view, ranks, chosen);
  }
  [[nodiscard]] bool owns_servers(std::int32_t vc) const override { return capacity.owns_servers(vc); }
  [[nodiscard]] int free_gpus_of_vc(std::int32_t vc) const override { return capacity.free_gpus_of_vc(vc); }
  [[nodiscard]] int vc_quota(std::int32_t vc) const override { return capacity.vc_quota(vc); }
  [[nodiscard]] int vc_used(std::int32_t vc) const override { return capacity.vc_used(vc); }
  [[nodiscard]] int quota_left(std::int32_t vc) const override { return capacity.quota_left(vc); }
};

}  // namespace contend
