#pragma once
// What one iteration of a job takes that has the cluster to itself.

#include "scenarios/spec/training_system.hpp"
#include "sim/graph.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace contend {

/// Asked every few milliseconds; false stops the run, whose time is then Time::never().
using GoesOn = std::function<bool()>;

/// The time of an iteration of a job of that model, a training entry or profile, on the first GPUs of the cluster,
/// without other owners of servers and without events of links: the time of one iteration once iterations have settled,
/// and the mean of 39 where they go on to differ. `graph`, if given, replaces the graph of the model, and has as many
/// ranks. Throws InputError if the cluster has fewer GPUs, and as TrainingGraphs does.
[[nodiscard]] Time lone_iteration(const TrainingSystem& system, const std::string& model, int gpus,
                                  const std::optional<IterationGraph>& graph = {}, const GoesOn& goes_on = {});

/// The time of such a job of so many iterations, >= 1, from its begin to its end.
[[nodiscard]] Time lone_job(const TrainingSystem& system, const std::string& model, int gpus, std::int64_t iterations,
                            const GoesOn& goes_on = {});

}  // namespace contend
