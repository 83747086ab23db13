#pragma once
// Reads timelines of training steps in Chrome's trace format, an array of events, plain or gzip, as ByteDance publishes
// them (github.com/ByteDance-Seed/StragglerAnalysis). A process is a data-parallel rank; a thread is named `PP rank 2,
// TP rank 0, compute`. Complete events (ph X) have a time and a length in microseconds, and args with `step` and
// `seq_id`, the number among the events of their name.

#include "models/reliability/what_if.hpp"

#include <string>
#include <vector>

namespace contend {

/// The operations of all steps, in order of the file. Throws InputError for a file that is no such timeline.
[[nodiscard]] std::vector<StepOp> read_step_timeline(const std::string& path);

}  // namespace contend
