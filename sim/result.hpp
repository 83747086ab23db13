#pragma once
// RunResult holds the results of a run as plain data: rows per job, GPU and link, and the totals of the run.

#include "sim/folding_counts.hpp"
#include "sim/ids.hpp"
#include "sim/job.hpp"
#include "sim/service_figures.hpp"
#include "sim/sharing.hpp"
#include "sim/totals.hpp"
#include "sim/units.hpp"
#include "sim/use_log.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// What a job sends in an iteration, as a mean over its phases.
struct IterationTraffic {
  std::size_t messages = 0;    ///< collectives, in the phase that has most
  double sent_bytes = 0;       ///< by a worker over all its links
  double interface_bytes = 0;  ///< by a server through its interfaces
};

/// What something draws and emits, and what that costs (models/energy/meter.hpp).
struct Consumption {
  double energy_j = 0;                          ///< of GPUs, without the rest of the data centre
  std::optional<double> carbon_g{}, water_l{};  ///< CO2e, water; if the site's intensities are known
  std::optional<double> price{};                ///< of the energy, if it is known
  bool operator==(const Consumption&) const = default;
};

/// The results of one job, with its totals at the end of the run.
struct JobResult : JobTotals {
  JobId id;
  std::string name;
  std::string model;
  JobState state = JobState::submitted;
  bool measured = true;  ///< submitted in the measured window
  bool follows = false;  ///< it comes after other jobs (JobSpec::after), so policies decide when it is submitted
  std::string reason;    ///< why it failed or was given up, else empty
  int gpus = 0;
  int servers = 0;    ///< servers spanned at the last start; 0 if it never started
  bool torn = false;  ///< there, ranks that belong on one server lay on several (Workload::torn)
  /// To be done and done, without those that only complete others (JobSpec::extra_iterations).
  std::int64_t iterations = 0, iterations_done = 0;
  /// Of its last attempt, as the job list says, unless its time limit ended the job; `failed` if it was given up.
  JobOutcome outcome = JobOutcome::completed;
  int attempts = 0;                   ///< begun
  std::string vc, user;               ///< empty: no virtual cluster, user not known
  std::optional<Time> measured_wait;  ///< as the job list says
  Time submit;                        ///< never() if the jobs before it have not ended
  Time start = Time::never();         ///< first start; never() if it did not start
  Time finish = Time::never();        ///< or when it was given up; never() if neither happened
  bool elastic = false;               ///< it may have other numbers of GPUs than `gpus`
  double kept_gpu_s = 0;              ///< GPU time of its work that was kept (sim/kept_time.hpp), if anything can fail
  Time own{};                         ///< of a job with a duration: work of the attempts that were made, on each GPU
  Time shared;                        ///< part of `held` beside other jobs with a duration on a GPU (sim/sharing.hpp)
  Time lost_to_sharing;               ///< part of `shared` by which it came to be later
  std::string shared_with;            ///< the jobs beside which it ran longest: names, divided by `;`
  std::string server_type;            ///< of its last start; empty without types of servers
  std::optional<Time> deadline;       ///< as the job list says
  std::optional<double> cost;         ///< of its GPU time by the prices of the GPUs, and of its energy, if any is known
  std::optional<Consumption> drawn;   ///< by the GPUs that it held, if their power is known
  /// Finish-time fairness (Mahajan et al., NSDI 2020, section 3): completion time over the time that the job would take
  /// alone on a 1/n share of the cluster (sim/fairness.hpp). Of finished jobs.
  std::optional<double> rho;
  std::optional<ServiceFigures> answers;    ///< of a job with a service that has started
  std::optional<IterationTraffic> traffic;  ///< of a job with an iteration graph that has started
  IterationNotes notes;                     ///< of its graph
  std::optional<FoldingCounts> folding;     ///< of a job with an iteration graph that has started

  /// Completion time: finish - submit. Only for finished jobs, and until the end of those that were given up.
  [[nodiscard]] Time jct() const { return finish - submit; }
  /// Queueing time: start - submit. Only for started jobs.
  [[nodiscard]] Time queueing() const { return start - submit; }
  /// Time on GPUs doing work that was kept.
  [[nodiscard]] Time useful() const { return held - overhead - redone; }
  /// Its part of the time since submission, in the queue and out of it: effective training time (arXiv 2410.21680).
  /// Only for jobs that have held GPUs.
  [[nodiscard]] double effective() const { return useful().to_seconds() / (held + waited + away).to_seconds(); }
  /// Mean time on GPUs of an iteration, and the part of it without computing. Only for jobs that have completed an
  /// iteration.
  [[nodiscard]] Time iteration() const { return Time::nanoseconds(held.ns() / iterations_done); }
  /// Of an elastic job that has held GPUs: their mean number over that time.
  [[nodiscard]] std::optional<double> mean_gpus() const {
    if (!elastic || held <= Time{}) return std::nullopt;
    return gpu_time.to_seconds() / held.to_seconds();
  }
  /// Of the useful() time: restarts, checkpoints and work that was undone are part of an iteration and not of this.
  [[nodiscard]] Time exposed() const {
    const Time rest = useful() - (compute + slowed - skipped).on_each_of(gpus);
    return Time::nanoseconds(std::max(Time{}, rest).ns() / iterations_done);
  }
};

/// The results of one GPU, with its totals at the end of the run.
struct GpuResult : GpuTotals {
  GpuId id;
  ServerId server;
  std::int64_t jobs = 0;             ///< jobs that were placed on it
  Time down{};                       ///< out of service: failed, or kept as a spare
  Time held{};                       ///< by jobs, as UseLog::held(), if the run keeps uses
  std::optional<double> energy_j{};  ///< if its power is known
};

/// The results of the servers of one type, as sums over their GPUs.
struct TypeResult {
  std::string name;
  std::int64_t servers = 0, gpus = 0;
  GpuTime busy;                        ///< as GpuResult::busy
  std::int64_t jobs = 0;               ///< jobs that were placed on its GPUs, counted on each
  double price = 0;                    ///< of a GPU for an hour; 0 if it is not known
  double utilisation = 0;              ///< busy time over GPUs x time from 0 to the end of the run, 0..1
  std::optional<Consumption> drawn{};  ///< by all its GPUs from 0 to the end of the run
};

/// What the service of one job has done.
struct ServiceResult : ServiceReport {
  JobId job;
};

/// The states of the GPUs of one type in one hour of the run, and their consumption.
struct MeteredHour {
  std::int64_t hour = 0;                                          ///< 0: the first
  std::string type;                                               ///< of servers; empty: all are alike
  double idle_gpu_s = 0, waiting_gpu_s = 0, computing_gpu_s = 0;  ///< as StatePower has them
  Consumption drawn;
};

/// The results of one network interface of a server.
struct LinkResult {
  std::string name;  ///< e.g. `server3/nic`
  ServerId server;
  Time busy;       ///< at least one transfer active
  Time contended;  ///< at least two transfers active
  std::int64_t transfers = 0;
  Bytes bytes;  ///< sum of message sizes of the transfers that used it
};

/// The results of one direction of a link of the fabric, if the network model knows links (fidelity `flow`).
struct FabricLinkResult {
  /// The bytes that a job sent over it.
  struct User {
    JobId job;
    double bytes = 0;
  };
  std::string name;         ///< e.g. `leaf0->spine1`
  double bandwidth = 0;     ///< bytes per second
  double bytes = 0;         ///< carried
  double utilisation = 0;   ///< bytes over its capacity from the start of the run to its end, 0..1
  Time busy;                ///< time with at least one flow of positive rate
  std::vector<User> users;  ///< by falling bytes, then by id
  Time down{};              ///< time without bandwidth
  Time reduced{};           ///< time with a part of its bandwidth
};

/// The utilisation of a link in one interval of the run.
struct LinkSample {
  std::size_t link = 0;  ///< index into NetworkReport::links
  Time start;
  double utilisation = 0;  ///< bytes over its capacity in the interval, 0..1
};

/// Time that transfers of a job lost because transfers of another job sent over the same link.
struct SharedDelay {
  JobId job;
  JobId by;              ///< the other job, or the job itself: its other transfers
  std::size_t link = 0;  ///< that limited the transfers; index into NetworkReport::links, without them RunResult::links
  Time lost;             ///< by which the bytes took longer than alone, summed over transfers
};

/// The results of the links of the fabric; empty if the network model does not know links.
struct NetworkReport {
  std::vector<FabricLinkResult> links;
  Time interval;                      ///< length of a sample; 0: none were taken
  std::vector<LinkSample> samples;    ///< by link, then start; intervals without traffic are left out
  std::vector<SharedDelay> delays{};  ///< of the jobs for which they were asked: by job, then by falling loss
  bool has_delays = false;            ///< they were asked for, of any job
};

/// How busy the cluster was in the measured window, as sums over all GPUs, interfaces and jobs, in seconds.
struct BusyTimes {
  double gpu_s = 0, link_s = 0, transfer_s = 0, contended_s = 0;
  double length_s = 0;  ///< of the window
};

/// What no policy beats with the finished jobs that are measured (sim/bounds.hpp); NaN if there are none.
struct LowerBounds {
  double avg_jct_s = std::numeric_limits<double>::quiet_NaN();
  double makespan_s = std::numeric_limits<double>::quiet_NaN();
};

/// Everything a run returns.
struct RunResult {
  std::vector<JobResult> jobs;
  std::vector<GpuResult> gpus;
  std::vector<TypeResult> types;  ///< empty without types of servers
  std::vector<LinkResult> links;
  std::vector<SharedTime> sharing;      ///< by job, then by falling time; empty if no jobs with a duration shared GPUs
  std::vector<ServiceResult> services;  ///< by job: of those with a service that have started
  NetworkReport fabric;
  std::vector<HeldSpan> uses;        ///< by job, then in order of time, if SimulationOptions::keeps_uses
  std::vector<MeteredHour> hours;    ///< by hour, then type; empty if the power of GPUs isn't known
  std::optional<Consumption> drawn;  ///< by all GPUs from 0 to the end of the run
  std::string currency;              ///< of prices; empty if it isn't known
  Time end;                          ///< time of the last event: the makespan if the first job arrives at 0
  std::uint64_t events = 0;          ///< events executed one by one
  std::uint64_t leapt_events = 0;    ///< events skipped by leaping; with `events`, the number without leaping
  std::uint64_t leaps = 0;
  std::vector<std::string> remarks;  ///< for the user, of the scheduling policy, in order of time, and of what fails
  bool may_fail = false;             ///< components or jobs may fail in this run
  bool stops_iterations = false;     ///< jobs with iteration graphs stop for their checkpoints
  std::int64_t failures = 0;         ///< of components, and outages, whether a job was there or not
  std::uint64_t fingerprint = 0;     ///< hash over every event that was executed, in order
  std::uint64_t digest = 0;          ///< hash over jobs, gpus and links: the same with and without leaping
  std::optional<BusyTimes> window;   ///< if the run has a measured window
  LowerBounds bounds;
  bool interrupted = false;  ///< stopped by the user or by `until` before all jobs ended
};
/// The name of the link that limited the transfers, or of the interface if the network model doesn't know links.
[[nodiscard]] inline const std::string& place_of(const RunResult& run, const SharedDelay& delay) {
  return run.fabric.links.empty() ? run.links[delay.link].name : run.fabric.links[delay.link].name;
}
/// The names of the jobs, divided by `;`.
[[nodiscard]] std::string names_of(const RunResult& run, std::span<const JobId> jobs);
/// What RunResult::digest is for these results.
[[nodiscard]] std::uint64_t digest_of(const RunResult& result);

/// The figures of one run that tables and comparisons show, over its measured jobs. Times are in seconds and over the
/// finished jobs; NaN if there are none.
struct Summary {
  std::size_t jobs = 0;
  std::size_t finished = 0;        ///< ran to their ends
  std::size_t killed = 0;          ///< of these, at their own time limits
  std::size_t failed_outcome = 0;  ///< of these, with a last attempt that failed, as the job list says
  std::size_t failed = 0;          ///< refused by the cluster or the scheduling policy
  std::size_t given_up = 0;        ///< interrupted by failures more often than they may start again
  std::size_t unfinished = 0;      ///< submitted, and not ended when the run stopped
  std::size_t not_submitted = 0;   ///< not submitted yet when the run stopped
  double avg_jct_s = 0, median_jct_s = 0, p95_jct_s = 0, max_jct_s = 0;  ///< percentiles interpolate linearly
  double makespan_s = 0;                                                 ///< last finish - first submit
  double avg_queueing_s = 0;                                             ///< until the first start
  double avg_waiting_s = 0;                                              ///< over all waits
  std::int64_t preemptions = 0;                                          ///< of all jobs
  double interruptions = 0;             ///< of all jobs; NaN, as the next three, if nothing can fail
  double interruption_mean_s = 0;       ///< time on GPUs of all jobs over interruptions; NaN without any
  double goodput = 0;                   ///< GPU time of work that was kept over GPUs x length of the run, 0..1
  double second_order_preemptions = 0;  ///< JobResult::second_order_preemptions of all jobs; NaN as those above
  double effective_time = 0;            ///< the same over the GPUs of each job x its time since submission, 0..1
  double lost_gpu_s = 0;                ///< JobResult::lost of all jobs
  /// Busy GPU time over GPUs x makespan, 0..1. The makespan here reaches to the end of the last job, finished or given
  /// up, or, while jobs are unfinished, to the end of the run; with a measured window it is that window, and all jobs
  /// count.
  double gpu_utilisation = 0;
  double network_utilisation = 0;  ///< busy time of the interfaces over interfaces x makespan, 0..1
  double contended_share = 0;      ///< transfer time under contention over all transfer time, 0..1
  double gpu_hours = 0;            ///< GPU time that the jobs held
  std::int64_t restarts = 0;       ///< starts of jobs after their first
  /// Over the finished jobs that have JobResult::rho; NaN if there are none.
  double avg_rho = 0, max_rho = 0;
  double unfair_share = 0;  ///< share of them with rho > 1
  /// Jain's index of their 1 / rho (Jain, Chiu, Hawe, DEC TR-301, 1984): (sum x)^2 / (n sum x^2), 1/n to 1.
  double jain_index = 0;
  /// Share of the submitted jobs with a deadline that finished by then, without those that were killed at their limits
  /// or whose last attempt failed; NaN if no job has a deadline.
  double deadlines_met = 0;
  double cost = 0;         ///< sum of JobResult::cost; NaN if no price is known
  ServiceFigures answers;  ///< over the requests of the services of all measured jobs
  LowerBounds bounds;
  double avg_jct_by_bound = 0, makespan_by_bound = 0;  ///< the figures by their bounds; NaN without a bound above 0
  /// The consumption of the jobs, and of all GPUs from 0 to the end of the run, idle ones too. NaN if it isn't known.
  double job_energy_kwh = 0, job_carbon_g = 0, job_water_l = 0;
  double energy_kwh = 0, carbon_g = 0, water_l = 0, energy_cost = 0;
};

[[nodiscard]] Summary summarise(const RunResult& result);

/// What the figures over jobs are taken from.
struct JobTimes {
  JobState state = JobState::submitted;
  JobOutcome outcome = JobOutcome::completed;  ///< of a finished job
  int gpus = 0;
  Time submit;
  Time start = Time::never(), finish = Time::never();  ///< as JobResult has them
  Time held;
  std::optional<Time> waited{};       ///< nothing if it is not known
  std::optional<double> mean_gpus{};  ///< over the time on them, of an elastic job; else `gpus`
  /// Of a run in which something failed: interruptions by failures, the part of `held` that was spent on work that was
  /// kept, and the time between GPUs and queue.
  struct Failures {
    int interruptions = 0;
    Time useful, away;
  };
  std::optional<Failures> failures{};
  std::optional<double> cost{};  ///< as JobResult has them
  std::optional<Consumption> drawn{};
};
/// The figures over these jobs alone. The figures of GPUs and of the network are NaN, and preemptions and what they
/// undid are not counted; interruptions are if all jobs have JobTimes::failures.
[[nodiscard]] Summary summarise(std::span<const JobTimes> jobs);

}  // namespace contend
