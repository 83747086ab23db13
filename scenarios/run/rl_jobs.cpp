#include "scenarios/run/rl_jobs.hpp"

#include "scenarios/run/lone_job.hpp"
#include "scenarios/run/lone_work.hpp"
#include "scenarios/run/service_requests.hpp"
#include "sim/error.hpp"
#include "sim/random_stream.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::int64_t kPicoseconds = 1000;

/// The time of a training of so many tokens on these GPUs.
std::function<Time(std::int64_t, std::int64_t)> training_time(const TrainingSystem& system, const RlEntry& entry,
                                                              int gpus) {
  const RlTraining& training = entry.training;
  if (!training.entry) return TrainingLaw{training.time, training.token.ns() * kPicoseconds};
  const std::optional<TrainingWork> work = lone_work(system, *training.entry, gpus);
  if (!work || work->tokens <= 0)
    throw InputError{{.key = fmt::format("rl.{}.training.entry", entry.name),
                      .reason = fmt::format("an iteration of training.{} has no tokens", *training.entry),
                      .hint = "a transformer with `parallel`, or training: {time: 60s, token: 1us}"}};
  const double token_ns = static_cast<double>(lone_iteration(system, *training.entry, gpus).ns()) / work->tokens;
  return [token_ns](std::int64_t /*number*/, std::int64_t tokens) {
    return Time::ceil_nanoseconds(token_ns * static_cast<double>(tokens));
  };
}

/// Draws groups of answers.
class Groups {
 public:
  Groups(const RlEntry& entry, std::uint64_t seed, std::string_view job)
      : answers_{entry.answers},
        kept_{entry.kept},
        prompt_{length_law(entry.prompt)},
        answer_{length_law(entry.answer)},
        prompts_{seed, stream(entry, job, "prompts")},
        lengths_{seed, stream(entry, job, "answers")},
        filter_{seed, stream(entry, job, "filter")} {}
  AnswerGroup operator()(GroupNumber /*number*/) {
    AnswerGroup group;
    group.prompt = prompt_.draw(prompts_);
    for (std::int64_t a = 0; a < answers_; ++a) group.answers.push_back(answer_.draw(lengths_));
    group.is_kept = filter_.uniform() < kept_;
    return group;
  }

 private:
  static std::string stream(const RlEntry& entry, std::string_view job, std::string_view what) {
    return fmt::format("rl/{}/{}/{}", entry.name, job, what);
  }

  std::int64_t answers_;
  double kept_;
  LengthLaw prompt_, answer_;
  RandomStream prompts_, lengths_, filter_;
};

}  // namespace

int rollout_gpus(const RlEntry& entry, int gpus) {
  return entry.rollout_gpus.value_or(gpus);
}

RlPlan rl_plan(const TrainingSystem& system, const RlEntry& entry, const FleetSpec& pool, int gpus, std::uint64_t seed,
               std::string_view job) {
  RlPlan plan;
  plan.first_trainer = entry.rollout_gpus ? static_cast<std::size_t>(*entry.rollout_gpus) : 0;
  plan.pool = pool;
  RlSpec& spec = plan.spec;
  spec.mode = entry.mode;
  spec.trainings = entry.trainings;
  spec.bound = {entry.groups, entry.every, entry.eta};
  spec.reward = entry.reward;
  spec.weights = entry.weights;
  spec.change = entry.change;
  spec.training = training_time(system, entry, gpus - static_cast<int>(plan.first_trainer));
  spec.group = Groups{entry, seed, job};
  spec.order = entry.order;
  spec.concurrent = entry.concurrent.value_or(std::numeric_limits<std::int64_t>::max());
  spec.partial = entry.partial;
  spec.recompute = entry.recompute;
  try {
    plan.alone = time_alone(spec, pool);
  } catch (const InputError& error) {
    throw InputError{{.key = fmt::format("rl.{}", entry.name),
                      .reason = error.complaints().front().reason,
                      .hint = fmt::format("more blocks or tokens in serving.{}, or shorter answers", entry.rollout)}};
  }
  return plan;
}

}  // namespace contend
