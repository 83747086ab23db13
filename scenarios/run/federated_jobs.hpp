#pragma once
// The numbers of a job whose model is an entry of `federated`.

#include "scenarios/run/federated_service.hpp"
#include "scenarios/spec/federated_entry.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <string_view>

namespace contend {

/// What such a job does on so many GPUs. Its clients are drawn from streams of the entry, so that all its jobs have
/// equal ones, and who is asked from one of the job. Throws InputError with the member that can't be.
[[nodiscard]] FederatedPlan federated_plan(const FederatedEntry& entry, int gpus, std::uint64_t seed,
                                           std::string_view job, Time submitted);

}  // namespace contend
