#pragma once
// Declares the suite `serving`: replicas that answer requests, against cases worked out by hand, whole traces, closed
// forms, a simulator of plain loops, and a recorded run.

#include "validate/checked_table.hpp"

#include <cstdio>
#include <string>

namespace contend {

/// Runs the suite and prints its tables and verdicts. Returns a SuiteVerdict.
int validate_serving(std::FILE* out);

/// $CONTEND_DATA/serving, or ../shared/data/serving.
[[nodiscard]] std::string serving_folder();

/// The cases S of hand_cases.jsonl by both simulators, and half hours of Azure's traces.
[[nodiscard]] CheckedTable serving_exact();
/// Random cases by models/serving, with leaps and without, and by plain loops.
[[nodiscard]] CheckedTable serving_random();
/// Queues and batches whose means are known.
[[nodiscard]] CheckedTable serving_closed_forms();
/// A run of vLLM as recorded, by the measured kernels of its GPU and by the GPU's data sheet.
[[nodiscard]] CheckedTable serving_recorded();
/// Products and norms of steps by data sheets beside measured kernels, only shown.
[[nodiscard]] CheckedTable serving_products();

}  // namespace contend
