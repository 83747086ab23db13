#pragma once
// A case of RL post-training in plain numbers, and what comes out of it: by the program's loop, and by plain loops that
// execute each step of each replica.

#include "models/serving/rl/rl_loop.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace contend {

/// Times in nanoseconds.
struct RlCase {
  enum class Mode { synchronous, one_step_off, asynchronous };

  // The pool: a step takes overhead + max(weights, token n) + cache C.
  std::int64_t replicas = 1, overhead = 0, weights = 0, token = 0, cache = 0;
  std::int64_t tokens = 4096, batch = 1'000'000;  ///< of a step

  Mode mode = Mode::synchronous;
  std::int64_t groups_of_training = 1, trainings = 1;
  std::int64_t reward = 0, train = 0, train_token = 0, exchange = 0, change = 0;
  std::int64_t every = 1, concurrent = 1;
  double eta = 0;  ///< a multiple of 1/4
  bool in_order = true, partial = true, recompute = false;

  std::vector<AnswerGroup> groups;  ///< and again from the first
  [[nodiscard]] const AnswerGroup& group(std::int64_t number) const {
    return groups[static_cast<std::size_t>(number) % groups.size()];
  }
};

struct RlOutcome {
  struct Step {
    std::int64_t ready = 0, train = 0, end = 0;
    std::vector<std::int64_t> groups, stale;
    bool operator==(const Step&) const = default;
  };
  std::vector<Step> steps;
  std::int64_t end = 0;    ///< of the last exchange of weights, and change
  std::int64_t asked = 0;  ///< tokens of all answers that were begun
  bool operator==(const RlOutcome&) const = default;
};
/// One line, for messages.
[[nodiscard]] std::string text_of(const RlOutcome& outcome);

[[nodiscard]] RlOutcome plain_rl(const RlCase& each);

/// The loop of the program for a case, to be run.
[[nodiscard]] RlLoop rl_loop_of(const RlCase& each);
/// Runs it to its end, and returns the instant of it.
Time run_to_end(RlLoop& loop);
[[nodiscard]] RlOutcome program_rl(const RlCase& each);

/// Small cases of all modes, orders and limits; seeds 1, 2, ...
[[nodiscard]] RlCase random_rl_case(std::uint64_t seed);

}  // namespace contend
