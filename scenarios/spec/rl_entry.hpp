#pragma once
// An entry of `rl`: RL post-training by the jobs that name it, whose GPUs answer prompts and train.

#include "models/serving/rl/rl_loop.hpp"
#include "scenarios/spec/serving_entry.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace contend {

/// How long a training takes: by a law, or by the iteration of an entry of `training`.
struct RlTraining {
  std::optional<std::string> entry{};  ///< its iterations, as many as the tokens fill, a part counting as a part
  Time time{};                         ///< with `token`: without an entry
  Time token{};                        ///< for each token of prompts and answers
  bool operator==(const RlTraining&) const = default;
};

struct RlEntry {
  std::string name;
  std::set<std::string, std::less<>> given;  ///< members
  std::string rollout;                       ///< an entry of `serving`, whose replicas answer
  std::optional<int> rollout_gpus{};         ///< of a job; none: all of them answer and train in turn
  RlTraining training{};
  RlMode mode = RlMode::synchronous;
  std::int64_t trainings = 10, groups = 1, answers = 1;
  LengthSetup prompt{}, answer{};
  double kept = 1;  ///< share of the groups that a filter keeps
  Time reward{}, weights{}, change{};
  Bytes weights_bytes{};                   ///< sent to the rollouts beside `weights`
  std::optional<ByteRate> weights_rate{};  ///< at this rate; none: over the network, from trainer to rollout

  // Asynchronous.
  double eta = 1;
  std::int64_t every = 1;
  std::optional<std::int64_t> concurrent{};  ///< none: as many as the bound lets begin
  BatchOrder order = BatchOrder::submitted;
  bool partial = true, recompute = false;
};

}  // namespace contend
