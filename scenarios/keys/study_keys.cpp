#include "scenarios/keys/study_keys.hpp"

#include "scenarios/keys/key_rows.hpp"
#include "scenarios/keys/policy_codec.hpp"
#include "scenarios/keys/target_codec.hpp"

namespace contend {

using key_rows::row;

std::vector<ScenarioKey> study_keys() {
  constexpr int kMaxWorkers = 1 << 20;
  return {
      row<&IterationStudy::training>(
          "overlap.training", optional_codec(title_codec(), ""),
          "entry of training to study: an iteration of one job that trains it, alone in the network"),
      row<&IterationStudy::workers>(
          "overlap.workers", distinct_list_codec<int>(integer_codec<int>(1, kMaxWorkers), 1, "integers"),
          "numbers of workers to study; with network.sites the first that many sites, by default all"),
      row<&IterationStudy::fusion>(
          "overlap.fusion", policies_codec(policy_kind("fusion")),
          "fusion policies to compare; auto: that of the entry, all: each with its usual parameters"),
      row<&IterationStudy::compression>(
          "overlap.compression", policies_codec(policy_kind("compression")),
          "compression methods to compare, each with every fusion policy; auto: that of the entry, all: each with its "
          "usual parameters"),
      row<&IterationStudy::iterations_to_target>(
          "overlap.iterations_to_target", targets_codec(),
          "iterations that a method needs to reach a target, relative to training without compression, and the source "
          "of that factor, because convergence is not simulated. A map gives factors to methods with any parameters "
          "and may name methods that are not studied; a list gives them to exactly these policies; empty: unknown"),
      row<&IterationStudy::engine>(
          "overlap.executor", choice_codec<bool>({{"fast", false}, {"engine", true}}),
          "fast: the executor that planners use; engine: also executes each iteration on the engine and stops with an "
          "error if the two differ by a nanosecond"),
  };
}

}  // namespace contend
