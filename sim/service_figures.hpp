#pragma once
// What users of services see, as figures over requests.

#include "sim/service.hpp"
#include "sim/statistics.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace contend {

/// The mean of a time over requests, and percentiles, which interpolate linearly, in seconds; NaN over none.
struct RequestTimes {
  double mean_s = kNaN, p50_s = kNaN, p99_s = kNaN;
};

/// Quantiles of gaps between tokens, in seconds, within 1.6% (TokenGaps); NaN over none.
struct RequestGaps {
  double p50_s = kNaN, p99_s = kNaN;
};

/// Means over the trainings of RL post-training, and over their groups of answers; NaN without trainings.
struct RlFigures {
  double step_s = kNaN;          ///< from a training to the next
  double group_s = kNaN;         ///< from the begin of a group to its reward
  double trainer_wait_s = kNaN;  ///< of a training, for its groups
  double pool_wait_s = kNaN;     ///< of a training: no replica was in a step
};

/// Figures over rounds of federated training; NaN without them.
struct FederatedFigures {
  double rounds = kNaN, failed = kNaN;     ///< rounds that were closed, or versions; rounds that made no version
  double round_s = kNaN;                   ///< from the begin of a round, or a version, to the next, a mean
  double updates = kNaN, lost = kNaN;      ///< of clients, in versions; clients that worked in vain
  double sent_b = kNaN, dropped_b = kNaN;  ///< bytes, both ways; useless bytes among them
};

/// What GPUs of services drew, and their rows of racks; NaN without the power of services.
struct PowerFigures {
  double energy_j = kNaN;                   ///< of the GPUs of services
  double capped_s = kNaN;                   ///< under a cap, the longest of the services
  double row_peak = kNaN, row_mean = kNaN;  ///< power by budget, of the row with the highest one
  double over_s = kNaN, over_j = kNaN;      ///< of the row that was above its budget for longest
  double caps = kNaN, brakes = kNaN;        ///< commands to a row, the most of them
};

/// Figures over the requests that had arrived by the end of the run. Rates are over the time from the first arrival to
/// the last token of an answer that has ended, or to the end of the run if one hasn't. NaN without requests.
struct ServiceFigures {
  double requests = kNaN, answered = kNaN;
  RequestTimes ttft;            ///< to the first token, of requests that have one
  RequestTimes tpot;            ///< of each further token, of answers of at least two tokens
  RequestTimes e2e;             ///< to the last token, of answers
  RequestGaps itl;              ///< from token to token, over all tokens of all answers
  double targets_met = kNaN;    ///< share of the requests whose answers meet all targets; NaN without targets
  double goodput_per_s = kNaN;  ///< answers that meet all targets in a second; NaN without targets
  double tokens_per_s = kNaN;   ///< tokens of answers in a second
  double mean_batch = kNaN;     ///< requests that run together, over the steps of all replicas
  double kv_peak = kNaN;        ///< largest share of the cache of a replica that was in use; NaN without a limit
  double evictions = kNaN;
  RlFigures rl;
  FederatedFigures federated;
  PowerFigures power;
  double staleness_mean = kNaN, staleness_max = kNaN;  ///< of groups that RL trained and of updates, in versions
};

/// The figures over the requests of these services at the end of the run, each request under the targets of its
/// service.
[[nodiscard]] ServiceFigures figures_of(std::span<const ServiceReport* const> services, Time end);

}  // namespace contend
