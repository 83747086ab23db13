#pragma once
// The network that a job trains, with the times of its layers on one worker.

#include "models/cost_model.hpp"
#include "models/layers.hpp"
#include "models/overlap/problem.hpp"
#include "models/training_profile.hpp"
#include "scenarios/scenario.hpp"

#include <cstddef>
#include <optional>

namespace contend {

/// The published profile that the setup names as its model, or nullptr.
[[nodiscard]] const TrainingProfile* published_profile(const TrainingSetup& setup);
/// The layers of the catalogue's network that the setup names, with its sequence length and its attention, or of the
/// table that it names; nothing if it names none. Throws InputError for a length that the network can't have, or a
/// table that can't be read.
[[nodiscard]] std::optional<LayerTable> network_of(const TrainingSetup& setup);
/// True if there is a file of times for some layers of the model and a calibrated device for the others.
[[nodiscard]] bool completes_table(const TrainingSetup& setup);
/// The network with its layer times, scaled if the setup says so. `setup` names a model or a file of layers. Throws
/// InputError, e.g. for a file that can't be read.
[[nodiscard]] TimedModel trained_model(const TrainingSetup& setup);

/// By what the setup's device times kernels of layers.
[[nodiscard]] RooflineOptions roofline_options(const TrainingSetup& setup);
/// The times of kernels on the device of the setup.
[[nodiscard]] KernelCosts kernel_costs(const TrainingSetup& setup);
/// The entry as the ranks of a pipeline rank see it, which may have a device of their own.
[[nodiscard]] TrainingEntry entry_of_rank(const TrainingEntry& entry, std::size_t rank);
/// What happens around each message.
[[nodiscard]] ExchangeWork exchange_work(const TrainingSetup& setup);
/// Gives the problem the method, which must outlive it and may be nullptr, with its route and its kernels.
void use_method(const TrainingSetup& setup, const CompressionMethod* method, OverlapProblem& problem);

}  // namespace contend
