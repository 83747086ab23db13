#pragma once
// What a recorded rank did, before anything is simulated. All times are exact sums of whole nanoseconds.

#include "traces/recording/recording.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// How many tasks, and how long they took; tasks that overlap count each.
struct RecordedSum {
  std::int64_t tasks = 0;
  Time time;
};

/// The times of GPUs, each a union of the intervals of its tasks, summed over the GPUs of the rank.
struct RecordedTimes {
  Time span;           ///< from the first start to the last end
  Time busy;           ///< of anything
  Time compute;        ///< of kernels that compute
  Time communication;  ///< of kernels that communicate
  Time exposed;        ///< communication while no kernel computes; a copy is no computing
  Time alone;          ///< communication while nothing else is done
};

/// Where the time goes in which a GPU does nothing between two tasks.
struct IdleTimes {
  Time late_host;  ///< until the host launches the next task
  Time launching;  ///< from that launch to the start of the task
  Time device;     ///< the next task had been launched before: it waited for other streams, or the GPU for itself
  Time unknown;    ///< the launch of the next task was not recorded
};

/// From the start of a call that launches to the start of the task that it launches.
struct LaunchDelays {
  std::int64_t found = 0;  ///< tasks of the device whose launch was recorded
  std::int64_t tasks = 0;  ///< tasks of the device
  Time shortest;
  Time median;
};

/// Equal collectives: of one kind, in one group, of one size.
struct RecordedCollectives {
  RecordedCollective kind = RecordedCollective::generic;
  std::optional<std::size_t> group;  ///< index into the groups of the rank
  std::optional<Bytes> in, out;      ///< of each
  std::int64_t tasks = 0;
  Time time;      ///< of all; it contains waiting for late peers
  Time shortest;  ///< a bound of the transfer itself
};

struct StepSummary {
  RecordedStep step;
  RecordedTimes times;  ///< of what was launched inside the step
};

struct RankSummary {
  std::array<RecordedSum, kRecordedKinds> kinds{};
  std::vector<RecordedSum> lanes;  ///< as the lanes of the rank; `time` of a stream: of its tasks, of a thread:
                                   ///< of its outermost operations
  RecordedTimes times;
  IdleTimes idle;
  LaunchDelays launches;
  std::vector<StepSummary> steps;
  std::vector<RecordedCollectives> collectives;  ///< by total time, the longest first
};

/// The times that follow from starts are 0 for a rank that is not timed.
[[nodiscard]] RankSummary summarise(const RecordedRank& rank);

/// Bytes per second over the links of a ring that would take this long, as nccl-tests defines bus bandwidth (its
/// doc/PERFORMANCE.md): of n ranks, the whole tensor times 2(n-1)/n for all-reduce, (n-1)/n for all-gather,
/// reduce-scatter and all-to-all, 1 for the rest. Nothing if size or number of ranks isn't known, or the time is 0.
[[nodiscard]] std::optional<double> bus_bandwidth(const RecordedCollectives& each, std::int64_t ranks);

/// Mean, and standard deviation of the sample (0 for one).
struct MeanAndSpread {
  double mean_ns = 0, spread_ns = 0;
};
[[nodiscard]] MeanAndSpread step_lengths(const std::vector<RecordedStep>& steps);

}  // namespace contend
