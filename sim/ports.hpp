#pragma once
// The ports: small abstract classes where a study swaps parts. The engine (sim/simulation.hpp) calls them; the rooms
// network/ and policies/ implement them; sim/ never names an implementation.
//
// A policy decides and does nothing else: it sees const views and answers; the engine checks the answer, carries it
// out, and stops with an error that names the policy if the answer is illegal.

#include "sim/cluster_view.hpp"
#include "sim/graph.hpp"
#include "sim/ids.hpp"
#include "sim/scheduling.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// Decides which GPUs a job gets.
class PlacementPolicy {
 public:
  virtual ~PlacementPolicy() = default;
  /// Appends the GPUs of the job to the empty `chosen`: `job.gpus` different ones of ClusterView::servers_for, each of
  /// which `fits`, on servers with the CPUs and memory for its ranks there. Rank i runs on chosen[i]. Leaves `chosen`
  /// empty if the job has to wait.
  virtual void place(const ClusterView& cluster, const JobView& job, std::vector<GpuId>& chosen) = 0;
  /// True if whether a job has to wait depends on what it demands of the cluster alone: then one that was refused
  /// stands for all its like until GPUs are freed, and they needn't be asked about.
  [[nodiscard]] virtual bool refuses_alike() const { return false; }
  /// When a job that it left waiting may get another answer though nothing happens until then, later than now;
  /// Time::never() if none may. Asked after each pass, if any job waits; there is a pass then.
  [[nodiscard]] virtual Time next_decision(const ClusterView& /*cluster*/) { return Time::never(); }
};

/// A message or collective that is ready, or on its way.
struct TransferRequest {
  JobId job;
  OpKind kind = OpKind::collective;
  CollectiveKind collective = CollectiveKind::all_reduce;
  CollectiveScope scope = CollectiveScope::all;
  Bytes bytes;
  int ranks = 1;
  std::span<const ServerId>
      servers;                  ///< the servers it touches, ascending; at least two, or none if it stays inside one
  std::span<const GpuId> gpus;  ///< of a collective, by rank; of a message, sender and receiver
};

struct ActiveTransfer {
  JobId job;
  double remaining_bytes = 0;
};

/// The traffic as a communication policy sees it, at the current instant.
class NetworkView {
 public:
  virtual ~NetworkView() = default;
  /// Transfers now using the network interface of the server.
  [[nodiscard]] virtual std::size_t active_count(ServerId server) const = 0;
  virtual void active(ServerId server, std::vector<ActiveTransfer>& transfers) const = 0;
};

/// Decides which ready message may enter the network now: it enters when every server that it touches would take it. Of
/// several that could, those with the smallest keys go first, as long as the answer stays yes.
///
/// The answer for a server may depend only on the request and the traffic of that server, never on absolute time; and
/// more traffic there may turn a yes into a no, but not a no into a yes. So a message that was refused is asked about
/// again only when the server that refused it has lost a transfer.
class CommunicationPolicy {
 public:
  virtual ~CommunicationPolicy() = default;
  /// Order in which messages enter: as SchedulingPolicy::key.
  [[nodiscard]] virtual std::int64_t key(const JobView& job) const = 0;
  /// Whether `server`, one of those of the request, would take the message now.
  [[nodiscard]] virtual bool may_start(const TransferRequest& request, ServerId server,
                                       const NetworkView& network) const = 0;
};

using TransferId = Id<struct TransferTag>;

class LeapableNetwork;
struct NetworkReport;

/// How long transfers take. Keeps the progress of every active transfer when rates change. Calls come with
/// non-decreasing `now`.
class NetworkModel : public NetworkView {
 public:
  /// Time of a transfer that has the network to itself.
  [[nodiscard]] virtual Time solo_time(const TransferRequest& request) const = 0;
  virtual TransferId start(const TransferRequest& request, Time now) = 0;
  /// When the next transfer ends if nothing changes before; Time::never() if none is active.
  [[nodiscard]] virtual Time next_end() const = 0;
  /// Moves the clock of the view, before policies look at it.
  virtual void set_now(Time now) = 0;
  /// Ends the transfers that are due at `now` and appends them in order of their ids.
  virtual void finish_due(Time now, std::vector<TransferId>& ended) = 0;
  virtual void cancel(TransferId transfer, Time now) = 0;

  /// What the transfers of a job or the interface of a server have accumulated until `now`.
  struct Usage {
    Time active;     ///< time with at least one transfer
    Time contended;  ///< time with contention (k >= 2)
    std::int64_t transfers = 0;
    Bytes bytes;  ///< sizes of the messages of started transfers
  };
  [[nodiscard]] virtual Usage server_usage(ServerId server, Time now) const = 0;
  [[nodiscard]] virtual Usage job_usage(JobId job, Time now) const = 0;

  /// Whether it knows what collectives among some of the ranks cost (CollectiveScope); others see `all` only.
  [[nodiscard]] virtual bool knows_scopes() const { return false; }
  /// False if messages between GPUs of one server take no time and are never handed over.
  [[nodiscard]] virtual bool carries_inside_servers() const { return false; }
  /// What leaping needs, or nullptr: then jobs that communicate are executed event by event.
  [[nodiscard]] virtual LeapableNetwork* leaping() { return nullptr; }
  /// Writes what is known of single links (RunResult::fabric) at the end of a run.
  virtual void report(Time, NetworkReport&) {}
};

/// A network model whose transfers can be leapt over.
class LeapableNetwork {
 public:
  virtual ~LeapableNetwork() = default;
  /// The model depends on absolute time only through its remainder modulo this; 0 if not at all.
  [[nodiscard]] virtual Time grid() const { return Time{}; }
  /// Appends all that decides the future of the transfer, relative to `now`, as plain words.
  virtual void save_state(TransferId transfer, Time now, std::vector<std::uint64_t>& words) const = 0;
  /// The transfer goes on `by` later with the same relative state.
  virtual void shift(TransferId transfer, Time by) = 0;
  /// A leap by `times` periods, `by` in all: a job or the interface of a server accumulates `times` x `per_period`.
  virtual void leap_usage(JobId job, const NetworkModel::Usage& per_period, std::int64_t times, Time by) = 0;
  virtual void leap_usage(ServerId server, const NetworkModel::Usage& per_period, std::int64_t times, Time by) = 0;
};

/// Listens to what happens on GPUs and in the network, e.g. to draw a timeline. An observed run is not leapt over.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void compute(GpuId gpu, JobId job, const Op& op, std::int64_t iteration, Time start, Time end) = 0;
  virtual void transfer(const TransferRequest& request, const Op& op, std::int64_t iteration, Time start, Time end) = 0;
};

}  // namespace contend
