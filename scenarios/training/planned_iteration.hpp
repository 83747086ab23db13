#pragma once
// How the messages of an iteration are planned: for a job of a cluster and for a variant of an iteration study alike.

#include "models/overlap/iteration.hpp"
#include "models/overlap/problem.hpp"
#include "scenarios/spec/policy_choice.hpp"
#include "sim/job.hpp"

namespace contend {

/// An iteration with its messages, and what is known of it.
struct PlannedIteration {
  FusedIteration fused;
  IterationNotes notes;
};

/// Lets the policy plan the messages of the problem, whose compression method, if any, is set. `fusion` and
/// `compression` are how the two were chosen, and `batch` the samples of a worker, of whom so many are `counted`.
/// Throws InputError if policy and method can't work together.
[[nodiscard]] PlannedIteration plan_messages(const OverlapProblem& problem, const FusionPolicy& policy,
                                             const PolicyChoice& fusion, const PolicyChoice& compression, int batch,
                                             int counted);

}  // namespace contend
