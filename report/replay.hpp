#pragma once
// Simulates the scenario of a result folder again and records its spans. A run is a function of its scenario and seed,
// so a replay costs less than storing spans, mostly unseen, with every run; the digest in the manifest shows whether it
// was the same run.

#include "network/link_use.hpp"
#include "report/run_folder.hpp"
#include "report/span_recorder.hpp"
#include "sim/result.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace contend {

struct Replay {
  Timeline timeline;  ///< links of the fabric follow the lanes of the servers
  BusyBins gpu_busy, nic_busy;
  NetworkReport fabric;
  std::vector<LinkUseSample> link_uses;  ///< at fidelity `flow`
  Time end;
};

struct ReplayOutcome {
  std::optional<Replay> replay;
  std::string reason;  ///< a sentence that says why there is no replay
};

/// Replays a run; `stopped` is called now and then, and true abandons the replay. A missing input of the scenario is a
/// reason, not an error, because the folder's tables can still be shown.
[[nodiscard]] ReplayOutcome replay_run(const RunFolder& folder, const RunFolder::Run& run, const SpanLimits& limits,
                                       const std::function<bool()>& stopped);

}  // namespace contend
