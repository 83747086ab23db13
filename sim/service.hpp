#pragma once
// Service is a port: it decides for a job that answers others how its GPUs are used. A server of a language model
// answers requests, a server of federated training answers clients. An instance belongs to one job, and lives from the
// first start of the job to the end of the run, so requests that arrive while the job holds no GPUs wait for it.

#include "sim/federated_round.hpp"
#include "sim/ids.hpp"
#include "sim/token_gaps.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// Why the request at the head of a queue was not admitted to a step of a replica.
enum class RequestWait : std::uint8_t {
  none,    ///< it was admitted to the first step that began after it came
  batch,   ///< as many requests ran as may
  tokens,  ///< others had the tokens of the step
  memory,  ///< the KV cache had no room
};

/// What became of a request. A time is Time::never() until it has come, or if the run has ended before.
struct RequestResult {
  Time arrival;                         ///< from the start of the run
  std::int64_t prompt = 1, answer = 1;  ///< tokens; the answer has the first one, which the prompt gives
  Time admitted = Time::never();        ///< begin of the first step that computed a token of it
  Time first = Time::never();           ///< its first token; an eviction later doesn't change it
  Time end = Time::never();             ///< its last token
  std::int32_t evictions = 0;           ///< from the memory of a replica, after which its tokens are recomputed
  std::int32_t replica = -1;  ///< to which it was sent last; apart: of prefill, then of decode; -1: to none yet
  RequestWait waited_for = RequestWait::none;  ///< until it was admitted; if it was kept by several, by the last

  [[nodiscard]] bool has_begun() const { return first != Time::never(); }
  [[nodiscard]] bool has_ended() const { return end != Time::never(); }
  /// Time to the first token. Only if there is one.
  [[nodiscard]] Time ttft() const { return first - arrival; }
  /// End to end. Only of answers that have ended.
  [[nodiscard]] Time e2e() const { return end - arrival; }
  /// Mean time of each token after the first, in seconds. Only of answers of at least two tokens that have ended.
  [[nodiscard]] double tpot_s() const { return (end - first).to_seconds() / static_cast<double>(answer - 1); }
  bool operator==(const RequestResult&) const = default;
};

/// What users of a service expect of each answer; nothing of what isn't given.
struct ServiceTargets {
  std::optional<Time> ttft, tpot;
};

/// What RL post-training has done: sums, of which figures are means.
struct RlReport {
  Time elapsed;  ///< in which its GPUs answered and trained
  std::int64_t trainings = 0;
  Time trainer_waited;  ///< for how long the trainer waited for groups of answers
  Time pool_stood;      ///< for how long no replica was in a step
  std::int64_t groups = 0;
  Time groups_ran;                                                 ///< from begin to reward, summed over `groups`
  std::int64_t trained = 0, staleness_sum = 0, staleness_max = 0;  ///< groups; versions by which weights had moved on
};

/// What the GPUs of a service drew, and the row of racks in which they stand (models/serving/power_row.hpp). All
/// services of a row have the figures of the row by the end of the run.
struct PowerReport {
  double energy_j = 0;                ///< of the GPUs, while the service held them
  Time capped;                        ///< for how long a cap was in force on them while it answered
  double row_peak = 0;                ///< the largest mean power of the row in a period, by its budget
  double row_mean = 0;                ///< mean power of the row by its budget
  Time over;                          ///< for how long the row drew more than its budget, in whole periods
  double over_j = 0;                  ///< energy beyond the budget
  std::int64_t caps = 0, brakes = 0;  ///< commands that lowered clocks, and those among them that braked
};

/// What a service has done.
struct ServiceReport {
  std::vector<RequestResult> requests;  ///< by arrival
  ServiceTargets targets;
  std::int64_t tokens = 0;       ///< of answers, given by now
  std::int64_t recomputed = 0;   ///< tokens of prompts and answers that were computed again after an eviction or a loss
  Time busy;                     ///< for which replicas were in a step, summed over replicas
  double running_s = 0;          ///< for which requests ran, summed over requests, in seconds; over `busy`: mean batch
  TokenGaps gaps{};              ///< between the tokens of each answer
  std::optional<RlReport> rl{};  ///< of RL post-training
  std::optional<FederatedReport> federated{};
  std::optional<PowerReport> power{};
  std::optional<double> kv_peak{};  ///< the largest share of a replica's cache that was in use; none: without a limit
};

/// How the GPUs of a service change while it goes on.
struct ServiceMove {
  static constexpr std::size_t kNew = SIZE_MAX;
  std::vector<std::size_t> from;  ///< by rank: its rank before, or kNew
  Time restart;                   ///< of a preempted job, which replicas on new GPUs take if nothing else is known
  Time detection;                 ///< until somebody notices that GPUs have failed
};

/// What the services of one run have in common, by name. The first service that asks for a thing makes it.
class ServiceShelf {
 public:
  template <class T, class Make>
  std::shared_ptr<T> get(const std::string& name, const Make& make) {
    std::shared_ptr<void>& place = things_[name];
    if (!place) place = make();
    return std::static_pointer_cast<T>(place);
  }

 private:
  std::map<std::string, std::shared_ptr<void>> things_;  // of one type by name
};

class Service {
 public:
  Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  virtual ~Service() = default;

  /// To be called once, before begin(): the shelf that it shares with other services of the run. The shelf outlives it.
  virtual void share(ServiceShelf& /*shelf*/) {}
  /// Its GPUs begin to answer, for the first time or again. What has arrived by now waits.
  virtual void begin(Time now) = 0;
  /// The next instant at which advance() is due, after begin(); never() if nothing is left to do.
  [[nodiscard]] virtual Time next() const = 0;
  /// Does what falls on `now`, which is next().
  virtual void advance(Time now) = 0;
  /// True if all requests have been answered, and no other will come.
  [[nodiscard]] virtual bool done() const = 0;
  /// It is not done before: a bound that holds whatever happens.
  [[nodiscard]] virtual Time earliest_end() const = 0;
  /// It loses its GPUs now, and with them all that is in their memory. True if it has given a token since begin().
  virtual bool lose(Time now) = 0;
  /// The replicas that it would start if it had GPUs: how many each needs.
  [[nodiscard]] virtual std::vector<int> asks() const { return {}; }
  /// Ranks whose GPUs it needs no longer, never all.
  [[nodiscard]] virtual std::vector<std::size_t> unused() const { return {}; }
  /// The ranks with which it would go on without these, which are lost, in rising order; none: it can't.
  [[nodiscard]] virtual std::vector<std::size_t> left_without(std::span<const std::size_t> /*lost*/) const {
    return {};
  }
  /// It goes on with other GPUs: unused() ones have left, left_without() some, or more have come. busy() counts from
  /// here, by the new ranks.
  virtual void move(Time /*now*/, const ServiceMove& /*to*/) {}
  /// For how long the GPU of this rank was in a step from the last begin() or move() until `now`, which isn't after
  /// next().
  [[nodiscard]] virtual Time busy(std::size_t rank, Time now) const = 0;
  /// The report by now, at the end of the run: nothing else is called after that.
  [[nodiscard]] virtual ServiceReport report(Time now) = 0;
};

/// The service of a job, from its first start on.
struct ServiceRun {
  std::unique_ptr<Service> its;
  bool begun = false;               ///< it answers: the job holds its GPUs, and its restart is over
  std::vector<GpuId> moves_from{};  ///< while it goes on with other GPUs: the GPUs before, by rank; else none
  Time detection{};                 ///< of the failure for which it moves
};

/// Makes the service of a job that was submitted at this time.
using ServiceMaker = std::function<std::unique_ptr<Service>(Time submitted)>;

}  // namespace contend
