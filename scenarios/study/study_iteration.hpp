#pragma once
// One iteration of a study: a number of workers, a compression method and a fusion policy, as a graph to be executed.

#include "models/overlap/steady_state.hpp"
#include "scenarios/spec/training_system.hpp"

#include <memory>

namespace contend {

struct StudyPolicies {
  std::unique_ptr<CompressionMethod> method;  ///< nullptr: nothing is compressed
  std::unique_ptr<FusionPolicy> fusion;
};
[[nodiscard]] StudyPolicies make_study_policies(const NetworkSetup& network, const IterationStudy& study,
                                                std::uint64_t seed, const PolicyChoice& compression,
                                                const PolicyChoice& fusion);

/// Gives the problem the method, which must outlive it, with the costs of its exchanges and kernels. Throws InputError.
void use_method(const TrainingSystem& system, const CompressionMethod* method, OverlapProblem& problem);

/// How an iteration, whose phases repeat, goes once the job has settled. If the study asks for it (`overlap.executor:
/// engine`), the engine executes the same iterations, and another instant of any of their ends is a broken invariant.
[[nodiscard]] SteadyState settle(const IterationStudy& study, const OverlapProblem& problem,
                                 const IterationGraph& graph);

/// Ranks of each role on the engine: two do what any number does, because the cost knows how many there are.
[[nodiscard]] int simulated_ranks(const OverlapProblem& problem);

}  // namespace contend
