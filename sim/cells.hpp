#pragma once
// Cells record which graph jobs run on which GPUs (sim/engine_state.hpp defines a cell). A cell is split when a job
// takes some of its GPUs; cells are merged when they have become equal.

#include "sim/engine_state.hpp"

#include <vector>

namespace contend {

/// Seats the ranks of a graph job on the cells of its GPUs (JobRun::gpus). Creates JobRun::live, but starts no task.
void occupy(EngineState& state, JobId job);

/// Removes a graph job from its cells and destroys JobRun::live. A running task of the job is cut off; the time it has
/// run counts as busy.
void leave(EngineState& state, JobId job);

/// Ends the first task of the chain that the cell runs. Its service is not credited here: a Promise does that.
void end_of_link(EngineState& state, CellId cell, JobRun& run, Occupant& occupant);

/// Schedules the end of the task that runs on a lane of the occupant of a cell.
[[nodiscard]] EventHandle schedule_on_lane(EngineState& state, CellId cell, const Occupant& occupant, std::size_t lane);

/// Makes tasks on the GPU and its streams take as many thousandths of their time from now on, and the rest of one in
/// progress (sim/slowness.hpp). To be called before the tasks of this instant start.
void set_slowness(EngineState& state, GpuId gpu, std::int32_t slowness);
/// The same with what ails the GPU and what redundancy has its job do, which multiply, rounded up.
void update_slowness(EngineState& state, GpuId gpu);

/// Has the leaper forget the states that it has seen of the jobs on the server.
void forget_saved_state(EngineState& state, ServerId server);

/// Merges equal cells among the given ones, each of which has just begun a task.
void merge_equal(EngineState& state, const std::vector<CellId>& just_started);

/// Stops the program if GPUs, cells and jobs disagree about which job runs where. For debug builds.
void check_seats(const EngineState& state);

}  // namespace contend
