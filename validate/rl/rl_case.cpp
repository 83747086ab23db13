#include "validate/rl/rl_case.hpp"

#include "sim/check.hpp"
#include "sim/random_stream.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace contend {

namespace {

constexpr std::int64_t kPicoseconds = 1000;

RlSpec spec_of(const RlCase& each) {
  RlSpec spec;
  spec.mode = each.mode == RlCase::Mode::synchronous    ? RlMode::synchronous
              : each.mode == RlCase::Mode::one_step_off ? RlMode::one_step_off
                                                        : RlMode::asynchronous;
  spec.trainings = each.trainings;
  spec.bound = {each.groups_of_training, each.every, each.eta};
  spec.reward = Time::nanoseconds(each.reward);
  spec.weights = Time::nanoseconds(each.exchange);
  spec.change = Time::nanoseconds(each.change);
  spec.training = TrainingLaw{Time::nanoseconds(each.train), each.train_token * kPicoseconds};
  spec.group = [groups = each.groups](GroupNumber number) {
    return groups[static_cast<std::size_t>(number) % groups.size()];
  };
  spec.order = each.in_order ? BatchOrder::submitted : BatchOrder::finished;
  spec.concurrent = each.concurrent;
  spec.partial = each.partial;
  spec.recompute = each.recompute;
  return spec;
}

FleetSpec pool_of(const RlCase& each) {
  ReplicaSpec replica;
  replica.law.overhead = each.overhead * kPicoseconds;
  replica.law.weights = each.weights * kPicoseconds;
  replica.law.token = each.token * kPicoseconds;
  replica.law.cache = each.cache * kPicoseconds;
  replica.tokens = each.tokens;
  replica.batch = each.batch;
  FleetSpec pool;
  pool.replicas = static_cast<int>(each.replicas);
  pool.replica = replica;
  return pool;
}

template <std::size_t N>
std::int64_t one_of(RandomStream& stream, const std::array<std::int64_t, N>& values) {
  return values[static_cast<std::size_t>(stream.uniform_integer(0, static_cast<std::int64_t>(N) - 1))];
}

/// Answers with a long tail.
std::int64_t random_answer(RandomStream& stream) {
  return stream.uniform() < 0.1 ? stream.uniform_integer(20, 60) : stream.uniform_integer(1, 12);
}

}  // namespace

std::string text_of(const RlOutcome& outcome) {
  std::string text;
  for (const RlOutcome::Step& each : outcome.steps)
    text += fmt::format("{} {}..{} [{}]/[{}] ", each.ready, each.train, each.end, fmt::join(each.groups, " "),
                        fmt::join(each.stale, " "));
  return text + fmt::format("end {}, asked {}", outcome.end, outcome.asked);
}

RlLoop rl_loop_of(const RlCase& each) {
  return RlLoop{spec_of(each), pool_of(each)};
}

RlOutcome program_rl(const RlCase& each) {
  RlLoop loop = rl_loop_of(each);
  RlOutcome outcome;
  outcome.end = run_to_end(loop).ns();
  for (const RlStep& step : loop.steps()) {
    RlOutcome::Step& plain = outcome.steps.emplace_back();
    plain.ready = step.ready.ns();
    plain.train = step.begin.ns();
    plain.end = step.end.ns();
    for (const TakenGroup& taken : step.groups) {
      plain.groups.push_back(taken.group);
      plain.stale.push_back(taken.staleness);
    }
  }
  outcome.asked = loop.totals().tokens_asked;
  return outcome;
}

Time run_to_end(RlLoop& loop) {
  Time now;
  while (!loop.is_over()) {
    now = loop.next();
    CONTEND_CHECK(now < Time::never(), "RL post-training waits for what never happens");
    loop.advance(now);
  }
  return now;
}

RlCase random_rl_case(std::uint64_t seed) {
  RandomStream stream{seed, "validate-rl"};
  RlCase each;
  each.replicas = stream.uniform_integer(1, 4);
  each.overhead = one_of<3>(stream, {0, 100, 730});
  each.weights = 1000;
  each.token = one_of<3>(stream, {0, 30, 400});
  each.cache = one_of<3>(stream, {0, 1, 7});
  each.tokens = one_of<3>(stream, {4096, 16, 5});
  each.batch = one_of<4>(stream, {1'000'000, 1, 3, 8});
  each.mode = stream.uniform() < 0.2   ? RlCase::Mode::synchronous
              : stream.uniform() < 0.2 ? RlCase::Mode::one_step_off
                                       : RlCase::Mode::asynchronous;
  each.groups_of_training = stream.uniform_integer(1, 4);
  each.trainings = stream.uniform_integer(2, 12);
  each.reward = one_of<3>(stream, {0, 500, 2300});
  each.train = stream.uniform_integer(0, 40'000);
  each.train_token = one_of<3>(stream, {0, 10, 333});
  each.exchange = one_of<3>(stream, {0, 1000, 4700});
  if (each.mode == RlCase::Mode::synchronous) each.change = one_of<2>(stream, {0, 700});
  if (each.mode == RlCase::Mode::asynchronous) {
    each.every = one_of<3>(stream, {1, 2, 3});
    each.eta = static_cast<double>(one_of<6>(stream, {0, 1, 2, 4, 6, 12})) / 4;
    each.concurrent = stream.uniform_integer(1, 12);
    each.in_order = stream.uniform() < 0.5;
    each.partial = stream.uniform() < 0.7;
    each.recompute = each.partial && stream.uniform() < 0.5;
  }
  const double dropped = stream.uniform() < 0.5 ? 0 : 0.3;
  const std::int64_t answers = stream.uniform_integer(1, 5);
  for (int g = 0; g < 97; ++g) {
    AnswerGroup& group = each.groups.emplace_back();
    group.prompt = stream.uniform_integer(1, 20);
    for (std::int64_t a = 0; a < answers; ++a) group.answers.push_back(random_answer(stream));
    group.is_kept = g == 0 || stream.uniform() >= dropped;
  }
  return each;
}

}  // namespace contend
