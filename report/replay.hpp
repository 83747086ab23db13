#pragma once
// Runs the scenario of a result folder once more with somebody who listens. A run is a function of its scenario and
// seed, so this costs less than spans written beside every run, of which most are never looked at; and the digest in
// the manifest tells whether it was the same run.

#include "report/run_folder.hpp"
#include "report/span_recorder.hpp"
#include "sim/result.hpp"

#include <functional>
#include <optional>
#include <string>

namespace contend {

struct Replay {
  Timeline timeline;  ///< links of the fabric behind the lanes of the servers
  BusyBins gpu_busy, nic_busy;
  NetworkReport fabric;
  Time end;
};

struct ReplayOutcome {
  std::optional<Replay> replay;
  std::string reason;  ///< why there is none, a sentence
};

/// `stopped` is asked now and then; true gives up. What the scenario reads and isn't there any more is a reason, not an
/// error: the tables of the folder can be shown all the same.
[[nodiscard]] ReplayOutcome replay_run(const RunFolder& folder, const RunFolder::Run& run, const SpanLimits& limits,
                                       const std::function<bool()>& stopped);

}  // namespace contend
