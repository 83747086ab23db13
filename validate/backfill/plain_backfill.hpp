#pragma once
// Backfilling played plainly: the free GPUs of each server, plain placement rules, and every instant at which something
// may change looked at. Times are whole seconds. The policies of the program are compared with it, job by job.

#include <cstdint>
#include <string>
#include <vector>

namespace contend {

/// A job that waits for GPUs; times in seconds.
struct WaitingJob {
  std::int64_t submit = 0;
  int gpus = 1;
  std::int64_t duration = 0;
  std::int64_t limit = 0;  ///< 0: the duration
  int user = 0;
  [[nodiscard]] std::int64_t estimate() const { return limit > 0 ? limit : duration; }
  [[nodiscard]] std::int64_t runs() const { return limit > 0 && limit < duration ? limit : duration; }
  bool operator==(const WaitingJob&) const = default;
};

using ByServer = std::vector<int>;  // GPUs by server
/// Returns the GPUs of each server that a job of so many gets where so many are free; all 0 if it has to wait.
using PlaceRule = ByServer (*)(int gpus, const ByServer& free, int per_server);

/// A placement policy of the program, and a plain loop that plays its rule.
struct NamedRule {
  const char* name;
  PlaceRule rule;
};
/// consolidated, worst-fit, spread and first-fit.
[[nodiscard]] const std::vector<NamedRule>& place_rules();

struct PlainOutcome {
  std::vector<std::int64_t> starts, first_plans;  ///< by job, in seconds; -1: none
  std::vector<ByServer> places;                   ///< by job
  bool operator==(const PlainOutcome&) const = default;
};
/// By job, `100@0:2 1:1` for a start at 100 s with two GPUs of server 0 and one of server 1.
[[nodiscard]] std::vector<std::string> texts_of(const PlainOutcome& outcome);

/// What backfilling of the program has as parameters; 0: no limit, or no rounding.
struct PlainLimits {
  std::int64_t depth = 0, per_user = 0, window = 0, resolution = 0;
  bool whole_servers = false;
};

[[nodiscard]] PlainOutcome plain_easy(const std::vector<WaitingJob>& jobs, int servers, int per_server, PlaceRule rule,
                                      const PlainLimits& limits = {});
[[nodiscard]] PlainOutcome plain_conservative(const std::vector<WaitingJob>& jobs, int servers, int per_server,
                                              PlaceRule rule, const PlainLimits& limits = {});

/// The parameters of Slurm that are played, in seconds.
struct PlainSlurm {
  std::int64_t interval = 30, window = 86'400, resolution = 60, end_window = 30, sched_interval = 60, batch_delay = 3;
  std::int64_t max_test = 500, max_user = 0, depth = 100;
};
/// Slurm second by second. A plan is a set of servers from one time to another; nothing else is kept.
[[nodiscard]] PlainOutcome plain_slurm(const std::vector<WaitingJob>& jobs, int servers, int per_server, PlaceRule rule,
                                       const PlainSlurm& slurm);

}  // namespace contend
