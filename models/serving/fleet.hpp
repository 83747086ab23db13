#pragma once
// Replicas of a model that answer requests, step by step, as engines with continuous batching do (vLLM v1, first come,
// first served). A fleet knows nothing of clusters: its owner gives it requests, asks for the next instant at which
// something ends, and takes it there. The rules of a step stand in docs/models/serving.md.
//
// An owner's loop: while next() isn't never: advance(next()), whatever the owner does at that instant, begin_steps().

#include "models/serving/replica.hpp"
#include "models/serving/request.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace contend {

/// How a request gets its replica when it arrives, among the replicas that take new requests.
enum class RequestRouting : std::uint8_t {
  round_robin,  ///< the next one by index
  least,        ///< the one with the fewest outstanding requests; of several the first
  affinity,     ///< prefix modulo their number; requests without a prefix go by `least`
};

/// Prefill and decode on replicas of their own.
struct DecodeSpec {
  int replicas = 0;  ///< of decode; 0: a replica does both
  /// A cache of n tokens is sent in latency + n x per_token, one after the other of each prefill replica.
  Time latency{};
  Time per_token{};
};

/// Starts and stops replicas by the number of outstanding requests.
struct ScalingRule {
  Time period{};    ///< between checks, the first after one period; 0: the number of replicas is constant
  double up = 0;    ///< outstanding > up x (live + starting): one more starts
  double down = 0;  ///< outstanding < down x live, and none is starting: the last one takes no new requests
  Time cold{};      ///< from its start a replica takes so long until it takes requests; not one that still ends answers
  int least = 1;    ///< replicas, >= 1
  int most = 1;
  bool by_owner = false;  ///< the rule only asks for replicas, and the owner starts and stops them
};

struct FleetSpec {
  int replicas = 1;       ///< that take requests at first, >= 1
  ReplicaSpec replica{};  ///< all alike, for decode, too
  RequestRouting routing = RequestRouting::least;
  Speculation speculation{};
  DecodeSpec decode{};
  ScalingRule scaling{};
  Time begin{};  ///< the instant from which the periods of the scaling rule count
};

class Fleet {
 public:
  /// Throws InputError if the specification allows no step.
  explicit Fleet(FleetSpec spec);
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  /// Throws InputError if the request is empty, or if no replica's memory or budget holds it.
  void check(const ServedRequest& request) const;
  /// Gives the fleet a request, which arrives at `request.arrival`, not before the instant of the last advance().
  /// Throws as check() does.
  RequestNumber submit(const ServedRequest& request);

  /// The next instant at which the fleet has to act: an arrival, the end of a step or of several equal ones, of a
  /// transfer, a replica that has started, a check of the scale. Time::never() if nothing is left to do.
  [[nodiscard]] Time next();
  /// Takes the fleet to `now`, which isn't after next() or before an earlier instant, and does what falls on that
  /// instant, in this order: steps end, transfers end, requests arrive (by number), the scale is checked. Replicas that
  /// are idle then stay so until begin_steps(). It may be called again at one instant, for requests submitted since.
  void advance(Time now);
  /// Idle replicas begin a step, unless the fleet is held.
  void begin_steps();

  /// The requests that have ended in the last advance(), and in a lose() since.
  [[nodiscard]] std::span<const RequestNumber> ended() const { return ended_; }
  /// Valid until the next submit().
  [[nodiscard]] const RequestResult& record(RequestNumber request) const { return records_[request]; }
  [[nodiscard]] std::span<const RequestResult> records() const { return records_; }

  /// Each replica stops at the end of its step and begins no other, until release(). A leap over several steps is cut
  /// short at the end of the step in which the instant of the last advance() falls. Transfers go on.
  void hold();
  [[nodiscard]] bool held() const { return held_; }
  /// True if no replica is in a step.
  [[nodiscard]] bool stands() const;
  /// Replicas go on at the next begin_steps(). With `recompute` the caches are lost, those on their way and the hits of
  /// waiting requests, too: running requests go to the head of the queue in their order, with nothing computed.
  void release(bool recompute);
  /// All replicas go on with this clock (ReplicaSpec::clocks) from their next steps on, from the instant of the last
  /// advance() on. Leaps are cut as by hold().
  void set_clock(std::size_t clock);
  /// What a replica has drawn in steps until `now`, in mW x ns, as busy(); steps that were lost count.
  [[nodiscard]] Int128 drawn(int replica, Time now) const;
  /// All caches and steps are lost at `now`, as if the GPUs had failed: running requests go to the head of the queue,
  /// and those whose caches are on their way to the head of the queue of prefill. Steps that end at `now` end first.
  void lose(Time now);
  /// One replica loses its caches and its step; `replica` counts replicas of prefill, then of decode.
  void lose(Time now, int replica);

  // Replicas that come and go, without prefill apart.
  /// So many more replicas would be started if the owner had a place for them: by the rule, or in place of stopped
  /// ones.
  [[nodiscard]] int asked() const { return asked_; }
  /// The number of the replica that is to be started next.
  [[nodiscard]] int vacant() const;
  /// The replica vacant() takes requests from `ready` on.
  void start(Time now, Time ready);
  /// A replica stops. If its requests have not ended, they are lost with its caches, as if it had failed, and are sent
  /// to others at `again`, in their order: their answers so far are then parts of their prompts.
  void stop(Time now, int replica, Time again);
  /// True if the replica takes no requests by the rule, and has none left.
  [[nodiscard]] bool drained(int replica) const {
    return stages_[static_cast<std::size_t>(replica)] == Stage::draining && outstanding(replica) == 0;
  }
  /// As lose(now), and those that take requests are the first FleetSpec::replicas; requests of others are sent again.
  void restart(Time now);

  /// Replicas of prefill (or of both), and behind them replicas of decode; all that have ever taken requests.
  [[nodiscard]] int replicas() const { return static_cast<int>(replicas_.size() + decoders_.size()); }
  /// Requests on the replica, in its queue and running.
  [[nodiscard]] std::int64_t outstanding(int replica) const { return part(replica).outstanding(); }
  /// Requests that have arrived and not ended.
  [[nodiscard]] std::int64_t outstanding() const { return outstanding_; }
  /// True if all requests have arrived and ended.
  [[nodiscard]] bool done() const { return outstanding_ == 0 && next_arrival_ == arrivals_.size(); }
  /// Of one replica, and of all, up to the ends of their steps.
  [[nodiscard]] const ServingTotals& totals(int replica) const { return part(replica).totals(); }
  [[nodiscard]] ServingTotals totals() const;
  /// For how long a replica has been in steps until `now`, the instant of the last advance() or later: those that have
  /// ended, and the step or leap in which it is.
  [[nodiscard]] Time busy(int replica, Time now) const;
  /// When the number of replicas that take requests changed by the scaling rule, or by start(), and to which number.
  [[nodiscard]] std::span<const std::pair<Time, int>> scaled() const { return scaled_; }

 private:
  /// Of a replica of prefill (or of both).
  enum class Stage : std::uint8_t {
    gone,
    starting,
    live,      ///< takes requests
    draining,  ///< ends its answers and takes no more
  };
  struct Transfer {
    ServedSequence sequence;
    int from = 0;
    Time end = Time::never();
  };
  using StepEnd = std::pair<Time, int>;
  using TransferEnd = std::pair<Time, RequestNumber>;
  template <class T>
  using Earliest = std::priority_queue<T, std::vector<T>, std::greater<>>;

  [[nodiscard]] const ServingReplica& part(int replica) const;
  static constexpr int kDecoders = 1 << 24;
  /// The index within the fleet of a replica's number for the owner.
  [[nodiscard]] int index_of(int replica) const;
  [[nodiscard]] ServingReplica& at(int index);
  void grow(int replicas);
  void cut_leaps();
  void drop_stale();
  void end_steps();
  void arrive();
  void check_scale();
  void set_stage(std::size_t replica, Stage stage);
  [[nodiscard]] bool is_vacant(std::size_t replica) const;
  [[nodiscard]] int live() const { return static_cast<int>(takers_.size()); }
  /// Has a replica that ends its answers take requests again; false if there is none.
  bool revive();
  void start_more();
  void stop_last();
  void end_starts();
  [[nodiscard]] Time next_check() const;
  [[nodiscard]] int route(std::int64_t prefix);
  void put_routed(const ServedSequence& sequence);
  void send_again();
  void send(const ServedSequence& sequence, int from);
  void deliver(const Transfer& transfer);
  void put(int replica, ServedSequence sequence);

  FleetSpec spec_;
  std::vector<RequestResult> records_;
  std::deque<ServingReplica> replicas_;
  std::deque<ServingReplica> decoders_;                            // have indices from kDecoders on
  std::vector<std::pair<RequestNumber, ServedRequest>> arrivals_;  // from next_arrival_ on, by (time, number)
  std::size_t next_arrival_ = 0;
  Earliest<StepEnd> step_ends_;  // stale where the replica's step ends at another instant
  Earliest<TransferEnd> transfer_ends_;
  std::map<RequestNumber, Transfer> transfers_;
  std::vector<std::int64_t> loads_;            // of each replica of prefill: outstanding()
  std::vector<Time> link_free_;                // of each replica of prefill
  std::vector<Stage> stages_;                  // of each replica of prefill
  std::vector<int> takers_;                    // the live ones, rising
  std::multimap<Time, std::size_t> starting_;  // by when they are ready
  std::multimap<Time, ServedSequence> again_;  // by when they are sent again
  std::deque<ServedSequence> unrouted_;        // while no replica takes requests
  int asked_ = 0;
  std::size_t clock_ = 0;
  std::vector<int> touched_;  // replicas that may begin a step
  std::vector<RequestNumber> ended_;
  std::vector<std::pair<Time, int>> scaled_;
  std::vector<ServedSequence> gone_;
  Time now_{};
  Time last_check_{};
  int last_routed_ = -1;
  std::int64_t outstanding_ = 0;
  bool held_ = false;
};

}  // namespace contend
