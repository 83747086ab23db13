#pragma once
// Declares the suite `faults`: jobs that are interrupted and clusters whose servers break down, against closed forms
// and published figures.

#include "validate/checked_table.hpp"

#include <cstdio>

namespace contend {

/// Runs the suite and prints its tables and verdicts. Returns 0 if every check held.
int validate_faults(std::FILE* out);

/// The efficiency of jobs that are interrupted at random and save checkpoints, against Daly's formula.
[[nodiscard]] CheckedTable faults_daly();
/// Queues whose servers break down, and queues with several servers, against closed forms.
[[nodiscard]] CheckedTable faults_queues();
/// Jobs of Meta's clusters: mean times to interruption and effective training time.
[[nodiscard]] CheckedTable faults_rsc();
/// The 54 days of Llama 3.
[[nodiscard]] CheckedTable faults_llama();
/// Synchronous jobs with stragglers.
[[nodiscard]] CheckedTable faults_stragglers();
/// A published timeline of a straggling job, replayed without stragglers.
[[nodiscard]] CheckedTable faults_what_if();
/// Collisions of hashed flows, and jobs that take turns on a link.
[[nodiscard]] CheckedTable faults_fabric();
/// Spot instances that come and go.
[[nodiscard]] CheckedTable faults_spot();
/// Jobs that go on without GPUs that have failed.
[[nodiscard]] CheckedTable faults_redundancy();
/// CheckFree's lists of lost stages.
[[nodiscard]] CheckedTable faults_lost_stages();
/// The probability that copies in memory survive, as in Gemini.
[[nodiscard]] CheckedTable faults_copies();
/// Jobs that do something about slow components.
[[nodiscard]] CheckedTable faults_mitigation();
/// Jobs whose paths and priorities are planned together.
[[nodiscard]] CheckedTable faults_planning();

}  // namespace contend
