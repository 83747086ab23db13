#pragma once
// The services of jobs that name an entry of `rl`.

#include "scenarios/run/rl_service.hpp"
#include "scenarios/spec/training_system.hpp"

#include <cstdint>
#include <memory>
#include <string_view>

namespace contend {

/// The GPUs of such a job whose replicas answer: all, or `rollout_gpus` of the entry.
[[nodiscard]] int rollout_gpus(const RlEntry& entry, int gpus);

/// The plan of a job with so many GPUs, whose replicas are `pool`. Prompts, answers and filters have streams of their
/// own, by seed, entry and job. Throws InputError if a training takes no time that is known, or the loop can't work.
[[nodiscard]] RlPlan rl_plan(const TrainingSystem& system, const RlEntry& entry, const FleetSpec& pool, int gpus,
                             std::uint64_t seed, std::string_view job);

}  // namespace contend
