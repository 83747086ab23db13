#pragma once
// Muri's trace3 in the engine, where jobs share GPUs by their stages.

#include "sim/result.hpp"
#include "validate/elastic/timed_run.hpp"

#include <optional>
#include <string>

namespace contend {

/// The trace on 8 servers of 8 GPUs under a policy, with at most `most` jobs on a GPU. Jobs take their stages of
/// storage, GPU and network in turns; the rest of the iteration time is the stage of the CPUs. Preemptions cost
/// nothing. AntMan's guaranteed jobs have priority 1, and under `antman` are not slowed down; others take twice as long
/// there. Nothing if the trace is not there.
[[nodiscard]] std::optional<RunResult> run_muri_sharing(const std::string& policy, const PolicyValues& parameters,
                                                        int most);

}  // namespace contend
