#pragma once
// Admission takes a job through every stage of its life outside its iterations: arrival, queue, placement, preemption,
// end and retry (admission.cpp). It runs the scheduling passes and carries out what the policies decide
// (admission_actions.cpp); Allocation gives and takes the GPUs.

#include "sim/allocation.hpp"
#include "sim/engine_state.hpp"
#include "sim/eviction.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace contend {

class Admission : private SchedulingActions {
 public:
  explicit Admission(EngineState& state) : state_{state}, allocation_{state} {}

  /// Schedules the first arrival.
  void begin();
  /// The reason why the job can never start: its demand is more than the empty cluster has, or the placement policy has
  /// no place for it there. An empty text if it can. To be called after look_at_empty_cluster().
  [[nodiscard]] std::string why_never_starts(JobId job) const;
  /// Asks the placement policy about every demand of the workload, of elastic jobs with every number of GPUs, on every
  /// type of servers. No job may have started; begin() calls it.
  void look_at_empty_cluster();
  /// Submits the next job of the list.
  void on_arrival();
  /// Submits a job that came after others, at JobRun::arrival.
  void on_follow(JobId job);
  /// True if a job is submitted after the end of this one.
  [[nodiscard]] bool has_followers(JobId job) const { return !followers_.empty() && !followers_[job.index()].empty(); }
  /// Ends a graph job that has run its last iteration.
  void on_finished(JobId job);
  /// Ends a job whose service is done.
  void on_answered(JobId job);
  /// Ends the current attempt of a timed job that has run its time.
  void on_job_end(JobId job);
  /// Queues a job again for its next attempt.
  void on_retry(JobId job);
  /// Takes its GPUs from a running job because of a failure. It returns to the queue once the failure has been found,
  /// or ends if that has happened too often. `detection` is the time until somebody notices; nothing: a planned outage,
  /// from which it returns at once.
  void interrupt(JobId job, std::optional<Time> detection);
  /// Has a running job go on with these of its GPUs, a number that it can have, because it loses the others.
  void shrink(JobId job, std::span<const GpuId> gpus);
  /// Has an elastic job that loses these GPUs go on with as many of its others as it can use, the first ones by rank.
  /// False if it can't.
  bool shrinks(JobId job, std::span<const GpuId> lost);
  /// The service of a job asks for GPUs, or needs some no longer, which are free from now on.
  void on_service(JobId job);
  /// True if a running job could be placed now if it didn't hold its GPUs, and these were out of service.
  [[nodiscard]] bool has_place_without(JobId job, std::span<const GpuId> gpus);
  /// Frees a GPU that an interrupted job has kept, if there is such a job.
  void let_go(GpuId gpu) { allocation_.let_go(gpu); }
  /// Marks a pass as due because GPUs have become free though no job has left.
  void room_has_grown() { pass_is_due_ = true; }
  /// True if jobs will be submitted or queue again.
  [[nodiscard]] bool expects_jobs() const { return next_ < arrivals_.size() || !coming_.empty(); }
  /// Marks a pass as due: a policy asked for one at this instant, or the quantum put it here.
  void on_pass();
  /// Runs one pass of the scheduling policy if one is due and a job waits (or SchedulingPolicy::idle_passes).
  void scheduling_pass();
  /// What is wrong where the run ends with jobs that wait and could run: the policy wants to start none of them. Empty
  /// if no job waits, or the policy has tried.
  [[nodiscard]] std::string why_nothing_starts() const;
  /// The earliest instant, known now, at which something other than the end of a running job may start a pass.
  [[nodiscard]] Time next_intervention() const;

 private:
  // SchedulingActions
  bool start(JobId job) override;
  bool start_in(JobId job, const ClusterView& usable) override;
  bool plan_in(JobId job, const ClusterView& then, std::vector<GpuId>& place) override;
  bool start_on(JobId job, std::int32_t type) override;
  using SchedulingActions::start_with;
  bool start_with(JobId job, int gpus, std::int32_t type) override;
  bool start_at(JobId job, std::span<const GpuId> gpus) override;
  bool resize(JobId job, int gpus) override;
  void refuse(JobId job, std::string_view reason) override;
  [[nodiscard]] bool refused_alike() const override { return refused_alike_; }
  bool start_preempting(JobId job, std::span<const JobId> candidates) override;
  void place_anew(std::span<const Claim> order, std::int64_t capacity) override;
  bool plan_together(std::span<SizedClaim> claims) override;
  void take_places(std::span<const SizedClaim> claims) override;
  [[nodiscard]] bool preemption_costs() const override {
    const auto has_costs = [](const PreemptionCosts& costs) {
      return costs.restart > Time{} || costs.start > Time{} || costs.checkpoint_interval > Time{};
    };
    if (state_.job_costs.empty()) return has_costs(state_.options.rules.preemption);
    return std::any_of(state_.job_costs.begin(), state_.job_costs.end(), has_costs);
  }
  [[nodiscard]] RoomNeeded room_needed(JobId job) const override {
    if (!state_.spec.types.empty()) return {};  // it depends on the type
    return state_.policies.placement->room_needed(state_.job(job), state_.spec.gpus_per_server);
  }
  void preempt(JobId job, JobId by) override;
  void blocked(JobId job, Why why, JobId by) override;
  void remark(std::string_view what, std::span<const JobId> jobs) override;
  void in_line(JobId job, PlaceInLine place) override {
    if (state_.options.decisions != nullptr) state_.options.decisions->in_line(state_.clock, job, place);
  }
  void reserved(JobId job, Time start, std::span<const GpuId> gpus) override {
    if (state_.options.decisions != nullptr) state_.options.decisions->reserved(state_.clock, job, start, gpus);
  }
  [[nodiscard]] bool placement_is_due() const override { return placement_at_ <= state_.clock; }
  [[nodiscard]] bool recording() const override { return state_.options.decisions != nullptr; }

  using Demand = EngineState::Demand;
  [[nodiscard]] std::span<const JobPace> paces_of(const JobSpec& job) const;
  /// Starts the job on servers of the first of these types that has a place for it in `usable`.
  bool start_on_first(JobId job, std::span<const std::int32_t> types, const ClusterView& usable);
  /// Puts the GPUs on which a running job could have that number of them into `chosen_`; none if there is no place.
  void find_place_resized(JobId job, int gpus);
  /// plan_together(), once the running jobs of the claims have left their GPUs. `reserved` gets the claims whose places
  /// are reserved.
  bool find_places_for(std::span<SizedClaim> claims, std::vector<SizedClaim*>& reserved);
  /// Throws InputError if the job can't have so many GPUs.
  void check_size(JobId job, int gpus) const;

  /// True if the placement policy has a place for the job with so many GPUs on any type of servers in the empty
  /// cluster. Notes the types on which it has none (EngineState::placeless).
  bool look_for_place(JobId job, int gpus);
  /// Gives services what they ask for, as far as it goes: free GPUs, then GPUs of jobs of lower priority, which shrink
  /// or are preempted.
  void give_to_services();
  void give_to_service(JobId job);
  /// Puts the GPUs of one more replica of a service into `chosen_`; false if there is no place.
  bool find_replica_place(JobId job, int gpus);
  /// Has a running job go on with these GPUs, which no policy has chosen.
  void go_on_with(JobId job, std::span<const GpuId> gpus);
  void schedule_next_arrival();
  void find_followers();
  /// Has an event of this job happen at that time, which is later than now, or now; it puts the job into the queue.
  void expect(JobId job, Time time, CalendarEvent::Kind kind);
  /// Submits the job, or rejects one that the cluster could never run.
  void submit(JobId job);
  /// Puts a job that ends for good into that state, and has those come that waited for its end.
  void end(JobId job, JobState state);
  void release_followers(JobId job);
  /// Has the job queue again at that time, which is later than now, or now.
  void queue_at(JobId job, Time time);
  void come_back(JobId job);
  /// A job is about to start: counts the preemptions of this pass that made room for it if it comes back after a
  /// failure. Where the policy didn't say for whom they were, those are its own whose GPUs it gets.
  void note_second_order(JobId job, std::span<const GpuId> gpus);
  /// Ends a job that failures have interrupted too often.
  void give_up(JobId job);
  /// Counts the time since it left its GPUs.
  void count_away(JobRun& job) const;
  /// Throws PolicyError if the policies decide on and on, and no job will ever run.
  void watch_decisions();
  [[nodiscard]] Time next_arrival() const;
  void enqueue(JobId job);
  void order_ties();
  /// Prepares the next attempt of a timed job, and schedules its return to the queue. Of the work of the last one
  /// `unsaved` was not in a checkpoint when it ended.
  void retry(JobId job, Time unsaved);
  /// The place of a job that is submitted again now among jobs with equal keys.
  [[nodiscard]] std::int64_t tie_of_resubmission(std::int64_t tie);
  void schedule_pass(Time time);
  /// The first multiple of the quantum that is not before `time`.
  [[nodiscard]] Time at_quantum(Time time) const;
  void ask_for_next_decision();
  /// The places for which place_anew() asks, empty for none, while its jobs are away.
  [[nodiscard]] std::vector<std::vector<GpuId>> find_places(std::span<const Claim> order, std::int64_t capacity);
  void tell_left(JobId job);
  /// Throws InputError if preemptions have undone all work of timed jobs, again and again.
  void watch_progress(JobId preempted) const;
  /// The same for failures.
  void watch_failures(JobId interrupted) const;
  /// The first job that holds a GPU of the place of this one; none() if its GPUs have room or it has no place.
  /// True if the job requires a level no domain of which has enough free GPUs.
  [[nodiscard]] bool lacks_domain(const JobSpec& job) const;
  [[nodiscard]] JobId holder_of_place(const JobSpec& job) const;
  /// True if on some of its types as many GPUs are in service as the job needs at least.
  [[nodiscard]] bool has_enough_in_service(const JobSpec& job) const;
  [[noreturn]] void illegal_step(JobId job, const char* what) const;
  /// Throws PolicyError unless the policy may start the job now.
  void check_waits(JobId job);

  EngineState& state_;
  Allocation allocation_;
  std::vector<JobId> arrivals_;  // those that come after no others, by (submit, id)
  std::size_t next_ = 0;
  std::int64_t resubmissions_ = 0;
  std::vector<Time> coming_;  // when jobs queue that return, or come after others; a heap: the earliest is in front
  std::vector<std::vector<JobId>> followers_;  // of each job: those that come after it; empty if no job has any
  std::vector<std::uint32_t>
      not_ended_;  // of each job: jobs of JobSpec::after that have not ended; empty if no job has any
  bool pass_is_due_ = false;
  bool in_pass_ = false;
  bool asks_for_starts_ = false;  // in the last pass the policy wanted to start a job, or planned to
  bool refused_alike_ = false;    // of the last start()
  EventHandle pass_event_;
  Time pass_at_ = Time::never();       // time of that event
  Time placement_at_ = Time::never();  // when the placement policy wants a pass
  std::vector<GpuId> chosen_;
  Eviction eviction_{state_};
  std::map<JobId, std::size_t> asking_;  // whose services ask for GPUs, and for how many replicas
  std::vector<JobId> victims_;
  std::vector<JobId> ended_in_pass_;  // the policy has yet to be notified of these
  std::set<std::string, std::less<>> remarked_;
  std::size_t in_vain_ = 0;         // preemptions since any job saved work or ended
  std::size_t struck_in_vain_ = 0;  // interruptions by failures since any job saved work or ended
  std::size_t asked_in_vain_ = 0;   // passes in a row in which no job ran, and behind which nothing is to happen
  struct PushedOut {
    JobId job, by;
    std::vector<GpuId> gpus;
    GpuTime undone{};
  };
  std::vector<PushedOut> pushed_out_;  // in this pass; empty if nothing can fail
  /// By demand with the preferred number of GPUs: there is a place in the empty cluster, or the demand is more than it
  /// has.
  std::map<Demand, bool> has_place_;
};

}  // namespace contend
