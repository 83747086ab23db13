#pragma once
// The ports are the abstract classes behind which a study swaps parts. The engine (sim/simulation.hpp) calls them; the
// rooms network/ and policies/ implement them; sim/ never names an implementation.
//
// A policy only decides: it sees const views and answers. The engine checks the answer and carries it out; for an
// illegal answer it throws InputError that names the policy.

#include "sim/cluster_view.hpp"
#include "sim/graph.hpp"
#include "sim/ids.hpp"
#include "sim/scheduling.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace contend {

/// How a placement policy chooses among the domains of a level (sim/levels.hpp) for a job that has to lie in one.
struct DomainRule {
  /// Ranks that stay together on a server: a domain counts with the whole groups of so many that its servers take.
  int task = 1;
  bool one_task = false;  ///< a server takes one such group
  /// The domain with room of which the largest part is in use then; false: the domain of least room.
  bool most_used = false;
  bool last = false;         ///< of domains that are alike the last; false: the first
  bool from_lowest = false;  ///< lower levels than the required or preferred one are tried before it
  bool segment_by_segment =
      false;  ///< each segment has a domain chosen for it alone; false: as few domains as possible
};

/// Decides which GPUs a job gets.
class PlacementPolicy {
 public:
  virtual ~PlacementPolicy() = default;
  /// Appends the GPUs of the job to the empty `chosen`: `job.gpus` different ones of ClusterView::servers_for, each of
  /// which `fits`, on servers with the CPUs and memory for its ranks there. Rank i runs on chosen[i]. Leaves `chosen`
  /// empty if the job has to wait.
  virtual void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) = 0;
  /// Chooses GPUs as place() would, where `cluster` may show a later time than the present. Asking changes no later
  /// decision: a policy that draws random numbers draws them from a copy of its stream.
  virtual void plan(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) {
    place(cluster, job, chosen);
  }
  /// True if plan() would choose GPUs.
  [[nodiscard]] virtual bool has_place(const ClusterView& cluster, const JobView& job) {
    std::vector<GpuId> chosen;
    plan(cluster, job, chosen);
    return !chosen.empty();
  }
  /// True if the decision depends only on the job's resource demand; one refusal then holds for all jobs of equal
  /// demand until GPUs are freed.
  [[nodiscard]] virtual bool refuses_alike() const { return false; }
  /// True if the decision depends on nothing that running jobs do, but only on which resources they hold. What a job
  /// does on GPUs and servers of its own then concerns no decision, and the engine may leap over it beyond the next
  /// one.
  [[nodiscard]] virtual bool ignores_progress() const { return false; }
  /// The same where all GPUs of a server are held: the decision may depend on what jobs do on servers that have a GPU
  /// with room.
  [[nodiscard]] virtual bool ignores_progress_on_full_servers() const { return ignores_progress(); }
  /// True if no GPU that a job holds without reserving a share of it is ever chosen for another job.
  [[nodiscard]] virtual bool takes_free_gpus() const { return false; }
  /// Room without which place() certainly leaves the job waiting; nothing if the policy can't tell. It saves the engine
  /// the search for jobs to preempt.
  [[nodiscard]] virtual RoomNeeded room_needed(const JobView& /*job*/, int /*gpus_per_server*/) const { return {}; }
  /// How it chooses for this job, which has servers with so many GPUs.
  [[nodiscard]] virtual DomainRule domain_rule(const JobView& /*job*/, int /*gpus_per_server*/) const { return {}; }
  /// The next instant, later than now, at which the answer for a waiting job may change although nothing happens until
  /// then; Time::never() if there is none. The engine asks after each pass if any job waits, and runs a pass then.
  [[nodiscard]] virtual Time next_decision(const ClusterView& /*cluster*/) { return Time::never(); }
};

/// A message or collective that is ready for the network or being transferred.
struct TransferRequest {
  JobId job;
  OpKind kind = OpKind::collective;
  CollectiveKind collective = CollectiveKind::all_reduce;
  CollectiveScope scope = CollectiveScope::all;
  RankGroups groups;  ///< with CollectiveScope::groups
  Bytes bytes;        ///< of joint messages: of each; of a collective that is repeated: of each time
  int times = 1;      ///< a collective runs so many times, one after the other
  int ranks = 1;
  Bytes later;                        ///< what the job still sends between servers in this iteration, after this
  std::span<const ServerId> servers;  ///< it touches, ascending; empty if it stays inside one server
  /// `servers` without those whose interfaces NetworkModel::fold() has joined to another interface; empty: `servers`.
  std::span<const ServerId> interfaces;
  /// Two requests with one number, not 0, have the same job, kind, groups, gpus and peers.
  std::uint64_t same_ranks = 0;
  std::span<const GpuId> gpus;   ///< of a collective: by rank; of a message: sender and receiver, or all senders
  std::span<const GpuId> peers;  ///< of joint messages: the receivers, as many as senders; else empty

  [[nodiscard]] Bytes all_bytes() const { return bytes * times; }
};

/// What a job sends in each of its iterations.
struct JobTraffic {
  JobId job;
  GpuTime work;                           ///< of its tasks in an iteration
  std::span<const TransferRequest> each;  ///< the requests that it makes
  std::span<const double> times;          ///< by request: how often in an iteration, on average
  int gpus = 1;                           ///< of the job
};

/// A transfer in the network, as a communication policy sees it.
struct ActiveTransfer {
  JobId job;
  double remaining_bytes = 0;
  double later_bytes = 0;  ///< TransferRequest::later
};

/// The traffic as a communication policy sees it, at the current instant.
class NetworkView {
 public:
  virtual ~NetworkView() = default;
  /// Number of transfers that now use the network interface of the server.
  [[nodiscard]] virtual std::size_t active_count(ServerId server) const = 0;
  /// Appends these transfers to `transfers`.
  virtual void active(ServerId server, std::vector<ActiveTransfer>& transfers) const = 0;
};

/// Decides which ready messages may enter the network now. A message enters when every server that it touches accepts
/// it. If several could enter, they enter in order of their keys, smallest first, as long as they are still accepted.
///
/// The answer for a server may depend only on the request and the traffic of that server, never on absolute time. More
/// traffic may turn a yes into a no, but never a no into a yes. The engine therefore asks again about a refused message
/// only when the server that refused it has lost a transfer.
class CommunicationPolicy {
 public:
  virtual ~CommunicationPolicy() = default;
  /// Orders the messages that ask, smaller first; the conditions on SchedulingPolicy::key hold for it too.
  [[nodiscard]] virtual PolicyKey key(const JobView& job) const = 0;
  /// True if `server`, one of the servers of the request, accepts the message now.
  [[nodiscard]] virtual bool may_start(const TransferRequest& request, ServerId server,
                                       const NetworkView& network) const = 0;
  /// True if an answer holds for an iteration: once a message of it has entered, the other messages of the job in this
  /// iteration enter without being asked about.
  [[nodiscard]] virtual bool decides_per_iteration() const { return false; }
};

using TransferId = Id<struct TransferTag>;

class LeapableNetwork;
struct NetworkReport;
struct Plan;

/// Decides how long transfers take, and keeps the progress of every active transfer when rates change. `now` never
/// decreases from call to call.
class NetworkModel : public NetworkView {
 public:
  /// Duration of a transfer that has the network to itself.
  [[nodiscard]] virtual Time solo_time(const TransferRequest& request) const = 0;
  /// Starts a transfer. Its id may be the id of an earlier transfer that has ended.
  virtual TransferId start(const TransferRequest& request, Time now) = 0;
  /// The time at which the next transfer ends if nothing changes before; Time::never() if none is active.
  [[nodiscard]] virtual Time next_end() const = 0;
  /// Sets the instant for which NetworkView answers; called before policies look at it.
  virtual void set_now(Time now) = 0;
  /// Ends the transfers that are due at `now` and appends them to `ended` in order of their ids.
  virtual void finish_due(Time now, std::vector<TransferId>& ended) = 0;
  /// Makes the bytes of the transfer take `factor` times as long as without interference from now on, with factor >= 1
  /// (sim/interference.hpp). Its start-up does not change. Called only if can_slow_down().
  virtual void slow_down(TransferId /*transfer*/, double /*factor*/, Time /*now*/) {}
  [[nodiscard]] virtual bool can_slow_down() const { return false; }
  /// Removes a transfer that has not ended.
  virtual void cancel(TransferId transfer, Time now) = 0;

  /// Totals of the transfers of a job, or of the interface of a server.
  struct Usage {
    Time active;     ///< time with at least one transfer
    Time contended;  ///< time with contention: at least two transfers on an interface
    std::int64_t transfers = 0;
    Bytes bytes;  ///< sizes of the messages of started transfers

    friend Usage operator+(const Usage& a, const Usage& b) {
      return {a.active + b.active, a.contended + b.contended, a.transfers + b.transfers, a.bytes + b.bytes};
    }
    friend Usage operator-(const Usage& a, const Usage& b) {
      return {a.active - b.active, a.contended - b.contended, a.transfers - b.transfers, a.bytes - b.bytes};
    }
  };
  [[nodiscard]] virtual Usage server_usage(ServerId server, Time now) const = 0;
  [[nodiscard]] virtual Usage job_usage(JobId job, Time now) const = 0;

  /// True if it plans with the traffic of all jobs. Only then is enter() called.
  [[nodiscard]] virtual bool plans_ahead() const { return false; }
  /// The job is about to begin its iterations on its GPUs.
  virtual void enter(const JobTraffic& /*traffic*/, Time /*now*/) {}
  /// The job has left its GPUs, perhaps before it has entered; it has no transfers any more.
  virtual void leave(JobId /*job*/, Time /*now*/) {}

  /// True if servers that the same transfers touch may be simulated as one. Only then are fold() and unfold() called.
  [[nodiscard]] virtual bool folds_servers() const { return false; }
  /// No transfer touches these servers, ascending and at least two, and until unfold() whatever touches one of them
  /// touches all. TransferRequest::interfaces and NetworkView name the first of them only; server_usage() and
  /// leap_usage() go on naming each, and leaping over the first is leaping over all.
  virtual void fold(std::span<const ServerId> /*servers*/) {}
  /// Some of the servers that have been folded, ascending and without the first of them, are a set of their own from
  /// now on: the transfers that touch the others touch the first of these, too.
  virtual void unfold(std::span<const ServerId> /*apart*/) {}
  /// True if it has jobs wait before their iterations, so that they don't communicate at once. Only then is wait()
  /// called, and no job has two iterations in flight.
  [[nodiscard]] virtual bool shifts_iterations() const { return false; }
  /// From now until the next iteration of a job that has entered may begin.
  [[nodiscard]] virtual Time wait(JobId /*job*/, Time /*now*/) const { return Time{}; }

  /// A job, and since when a transfer of it has stood still because it has no route: the earliest of these; never() if
  /// all have one.
  struct Stall {
    JobId job;
    Time since;
  };
  /// Appends the stalls of the jobs for which they may have changed since the last call.
  virtual void take_stalls(std::vector<Stall>& /*changed*/) {}

  /// True if it also carries messages between GPUs of one server; otherwise they take no time and never reach it.
  [[nodiscard]] virtual bool carries_inside_servers() const { return false; }
  /// The interface for leaping. If it is nullptr, jobs that communicate are executed event by event.
  [[nodiscard]] virtual LeapableNetwork* leaping() { return nullptr; }
  /// Writes the figures of single links (RunResult::fabric) at the end of a run, if the model has them.
  virtual void report(Time, NetworkReport&) {}
};

/// By job in the way and place (SharedDelay::link), nanoseconds that a job's transfers have lost.
using DelayTotals = std::map<std::pair<JobId, std::size_t>, double>;

/// The amounts that a leap adds, or takes back where `times` is negative.
struct LeapablePeriod {
  Time length;
  std::int64_t times = 0;
  bool is_inside = false;  ///< it is a part of an iteration, which may recur as a whole
};

/// A network model whose transfers can be leapt over.
class LeapableNetwork {
 public:
  virtual ~LeapableNetwork() = default;
  /// The behaviour depends on absolute time only through its remainder modulo this; 0 if it does not depend on it.
  [[nodiscard]] virtual Time grid() const { return Time{}; }
  /// Appends everything that determines the future of the transfer, relative to `now`, as plain words.
  virtual void save_state(TransferId transfer, Time now, std::vector<std::uint64_t>& words) const = 0;
  /// Moves the transfer by `by` into the future without changing its relative state.
  virtual void shift(TransferId transfer, Time by) = 0;

  /// True if jobs meet only on the interfaces of servers that both send through. If not, save_state(job) tells whether
  /// a job is apart from others, and solo_time() has been asked for each of its messages before the first one starts.
  [[nodiscard]] virtual bool meet_on_interfaces() const { return true; }
  /// Appends what else determines the future of the transfers of a job: words that don't recur if other jobs may slow
  /// them down, or might have since the job began.
  virtual void save_state(JobId /*job*/, Time /*now*/, std::vector<std::uint64_t>& /*words*/) {}
  /// Totals of a job that the network keeps beside Usage.
  struct Totals {
    std::vector<std::int64_t> counts;
    DelayTotals delays;  ///< of a job whose delays are watched
  };
  /// Fills empty totals with the totals of the job at `now`.
  virtual void save_totals(JobId /*job*/, Time /*now*/, Totals& /*totals*/) {}
  /// How many periods a leap should cover at most, so that others have their turn, given what the job did in the last
  /// one.
  [[nodiscard]] virtual std::int64_t most_periods(const Totals& /*then*/, const Totals& /*now*/) const {
    return INT64_MAX;
  }
  /// Adds to them, for a leap, the work of the job in the last period, between the two accounts.
  virtual void leap_totals(JobId /*job*/, const Totals& /*then*/, const Totals& /*now*/, const LeapablePeriod&) {}
  /// Adds `times` x `per_period` to the totals of a job or of a server's interface, for a leap by `times` periods that
  /// covers the time `by`.
  virtual void leap_usage(JobId job, const NetworkModel::Usage& per_period, std::int64_t times, Time by) = 0;
  virtual void leap_usage(ServerId server, const NetworkModel::Usage& per_period, std::int64_t times, Time by) = 0;
};

using HostUseId = Id<struct HostUseTag>;

/// What the GPUs of a server share of it beside its network interface: the ways to host memory, and NVMe. `now` never
/// decreases from call to call.
class HostModel {
 public:
  virtual ~HostModel() = default;
  /// True if servers limit such traffic. Only then is it started.
  [[nodiscard]] virtual bool limits(const HostTraffic& each) const = 0;
  /// Each of these GPUs, one or more, moves `each` on its server, all at the same pace; `alone` is the time if servers
  /// limit nothing, > 0. The id may be the id of an earlier use that has ended.
  virtual HostUseId start(std::span<const GpuId> gpus, const HostTraffic& each, Time alone, Time now) = 0;
  /// Removes a use that has not ended.
  virtual void cancel(HostUseId use, Time now) = 0;
  /// The time at which the next use ends if nothing changes before; Time::never() if there is none.
  [[nodiscard]] virtual Time next_end() = 0;
  /// Ends the uses that are due at `now` and appends them to `ended` in order of their starts.
  virtual void finish_due(Time now, std::vector<HostUseId>& ended) = 0;
};

/// Receives every task and transfer that ends, e.g. to draw a timeline. An observed run does not leap.
class Observer {
 public:
  virtual ~Observer() = default;
  /// The job has GPUs and trains by this plan from now on. Operations that the other functions name are operations of
  /// the plan, which lives as long as the run. Not called for a timed job.
  virtual void begins(JobId /*job*/, const Plan& /*plan*/) {}
  /// A compute operation of `job` ran on `gpu` from `start` to `end`.
  virtual void compute(GpuId gpu, JobId job, const Op& op, std::int64_t iteration, Time start, Time end) = 0;
  virtual void transfer(const TransferRequest& request, const Op& op, std::int64_t iteration, Time start, Time end) = 0;
  /// A task of `job` ran on the lane of its rank on `gpu` from `start` to `end` (Op::lane). Spans of one lane, GPU and
  /// job don't overlap.
  virtual void task(GpuId /*gpu*/, JobId /*job*/, const Op& /*op*/, std::int64_t /*iteration*/, Time /*start*/,
                    Time /*end*/) {}
  /// A timed job ran on `gpu` from `start` to `end`, and all that time others held it, too, which are among `beside`:
  /// the jobs on any of its GPUs. Or it ran on a part of `gpu` that it had reserved, and others may have had the rest;
  /// then `beside` is empty. `op` and `attempt` are as compute() has them of a timed job that is alone.
  virtual void shared(GpuId /*gpu*/, JobId /*job*/, std::span<const JobId> /*beside*/, const Op& /*op*/,
                      std::int64_t /*attempt*/, Time /*start*/, Time /*end*/) {}
};

}  // namespace contend
