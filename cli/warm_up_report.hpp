#pragma once
// Says where the warm-up of runs ends: `contend results FOLDER --warm-up`, and a note of `contend run`.

#include "results/replica.hpp"
#include "results/result_reader.hpp"
#include "scenarios/scenario.hpp"

#include <span>
#include <string>

namespace contend {

/// The question to the rule, the rule's answer, and how the rule changes the average.
[[nodiscard]] std::string warm_up_text(std::span<const StoredReplica> runs);

/// A note for runs without `measure.from` whose average wait grows by more than a twentieth without the warm-up; else
/// empty. Completion times say too little unasked: the times of single jobs differ by orders of magnitude.
/// Runs that left jobs unfinished have none: which jobs of the end are missing depends on their times.
[[nodiscard]] std::string warm_up_note(const MeasureSetup& measure, std::span<const Replica> replicas);

}  // namespace contend
