#pragma once
// Who sits on which GPU: cells are split when a job takes some of their GPUs, and merged when they have become equal.

#include "sim/engine_state.hpp"

#include <vector>

namespace contend {

/// Seats the ranks of the graph job on the cells of its GPUs (JobRun::gpus). Makes JobRun::live, but starts nothing.
void occupy(EngineState& state, JobId job);

/// Takes the graph job off its cells, which ends JobRun::live; a task of it that runs is cut off, and the time that it
/// has run counts as busy.
void leave(EngineState& state, JobId job);

/// The first task of the chain that the cell runs has ended; its service is credited elsewhere, by way of a promise.
void end_of_link(EngineState& state, Cell& cell, JobRun& run, Occupant& occupant);

/// Merges those of the given cells, each of which has just begun a task, that can't be told apart.
void merge_equal(EngineState& state, const std::vector<CellId>& just_started);

/// Stops the program if GPUs, cells and jobs disagree about who sits where. For debug builds.
void check_seats(const EngineState& state);

}  // namespace contend
