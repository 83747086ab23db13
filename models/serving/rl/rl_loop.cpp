#include "models/serving/rl/rl_loop.hpp"

#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <numeric>

namespace contend {

namespace {

RlSpec checked(RlSpec spec) {
  const bool is_asynchronous = spec.mode == RlMode::asynchronous;
  if (spec.bound.groups < 1) throw InputError{"a training needs a group of answers"};
  if (spec.trainings < 1) throw InputError{"RL post-training needs a training"};
  if (is_asynchronous && spec.concurrent < 1) throw InputError{"at least one group of answers has to run at a time"};
  if (is_asynchronous && spec.bound.every < 1) throw InputError{"weights move after one training or more"};
  if (is_asynchronous && !(spec.bound.eta >= 0)) throw InputError{"no answer is younger than the weights: eta >= 0"};
  if (spec.mode != RlMode::synchronous && spec.change > Time{})
    throw InputError{"GPUs change sides between generation and training only where both take turns: mode synchronous"};
  if (!is_asynchronous) spec.bound.every = 1;
  return spec;
}

}  // namespace

std::int64_t AnswerGroup::tokens() const {
  return std::accumulate(answers.begin(), answers.end(), prompt * std::ssize(answers));
}

Time TrainingLaw::operator()(std::int64_t /*training*/, std::int64_t tokens) const {
  const Int128 ns = (Int128{token_ps} * tokens + 999) / 1000;
  if (ns > INT64_MAX) throw_time_overflow();
  return constant + Time::nanoseconds(static_cast<std::int64_t>(ns));
}

RlLoop::RlLoop(RlSpec spec, FleetSpec pool)
    : spec_{checked(std::move(spec))},
      pool_{std::move(pool)},
      counter_{spec_.bound, spec_.mode == RlMode::asynchronous ? spec_.order : BatchOrder::waves} {}

Time RlLoop::next() {
  if (is_over()) return Time::never();
  if (counter_.begun() == 0) return now_;
  Time at = std::min(pool_.next(), until_);
  if (!scorings_.empty()) at = std::min(at, scorings_.top().first);
  return at;
}

void RlLoop::advance(Time now) {
  account(now);
  pool_.advance(now);
  collect_answers();
  score_groups();
  while (go_on()) {
  }
  if (is_over()) return;
  begin_groups();
  pool_.advance(now);  // for what they have submitted
  pool_.begin_steps();
}

void RlLoop::account(Time now) {
  CONTEND_CHECK(now >= now_, "RL post-training goes back in time");
  totals_.trainer[static_cast<std::size_t>(phase_)] += now - now_;
  if (pool_.stands()) totals_.pool_stands += now - now_;
  now_ = now;
}

void RlLoop::collect_answers() {
  for (const RequestNumber request : pool_.ended()) {
    const GroupNumber group = group_of_[static_cast<std::size_t>(request)];
    Begun& begun = groups_[static_cast<std::size_t>(group)];
    if (--begun.unfinished == 0) {
      totals_.tokens_answered += begun.group.tokens() - begun.group.prompt * std::ssize(begun.group.answers);
      scorings_.emplace(now_ + spec_.reward, group);
    }
  }
}

void RlLoop::score_groups() {
  for (; !scorings_.empty() && scorings_.top().first <= now_; scorings_.pop()) {
    const bool was_ready = counter_.has_batch();
    const GroupNumber group = scorings_.top().second;
    const Begun& begun = groups_[static_cast<std::size_t>(group)];
    const bool is_kept = begun.group.is_kept;
    counter_.score(group, is_kept);
    ++totals_.groups_scored;
    totals_.groups_ran += now_ - begun.at;
    totals_.groups_dropped += is_kept ? 0 : 1;
    if (!was_ready && counter_.has_batch()) ready_ = now_;
  }
}

void RlLoop::begin_groups() {
  if (spec_.mode == RlMode::asynchronous) {
    // While weights are due to move, rollouts don't begin what they would go on with at once with other weights.
    if (phase_ != RlPhase::waiting && phase_ != RlPhase::training) return;
    while (counter_.running() < spec_.concurrent && counter_.may_begin()) begin_group();
  } else if (generates_ && counter_.running() == 0 && !counter_.has_batch()) {
    for (std::int64_t g = 0; g < spec_.bound.groups; ++g) begin_group();
  }
}

void RlLoop::begin_group() {
  const GroupNumber number = counter_.begin();
  Begun& begun = groups_.emplace_back();
  begun.group = spec_.group(number);
  begun.at = now_;
  begun.unfinished = begun.group.answers.size();
  CONTEND_CHECK(begun.unfinished > 0, "a group has no answer");
  for (const std::int64_t answer : begun.group.answers) {
    static_cast<void>(pool_.submit({now_, begun.group.prompt, answer, number}));
    group_of_.push_back(number);
    totals_.tokens_asked += answer;
  }
  ++totals_.groups_begun;
}

bool RlLoop::go_on() {
  switch (phase_) {
    case RlPhase::waiting:
      if (!counter_.has_batch()) return false;
      if (spec_.mode == RlMode::one_step_off && !steps_.empty())
        enter(RlPhase::weights, spec_.weights);
      else
        enter(RlPhase::changing, spec_.change);
      return true;
    case RlPhase::draining:
      if (!is_drained()) return false;
      enter(RlPhase::weights, spec_.weights);
      return true;
    case RlPhase::over:
      return false;
    default:
      break;
  }
  if (now_ < until_) return false;
  switch (phase_) {
    case RlPhase::changing:
      begin_training();
      break;
    case RlPhase::training:
      end_training();
      break;
    case RlPhase::weights:
      enter(RlPhase::changing_back, spec_.change);
      break;
    default:
      end_exchange();
      break;
  }
  return true;
}

void RlLoop::enter(RlPhase phase, Time length) {
  phase_ = phase;
  length_ = length;
  until_ = length == Time::never() ? length : now_ + length;
}

void RlLoop::begin_training() {
  RlStep step{ready_, now_, {}, 0, counter_.take()};
  if (spec_.mode != RlMode::asynchronous) totals_.groups_dropped += counter_.drop_ready();
  ready_ = now_;  // of the next batch, if it is there
  for (const TakenGroup& taken : step.groups) {
    step.tokens += groups_[static_cast<std::size_t>(taken.group)].group.tokens();
    totals_.staleness_sum += taken.staleness;
    totals_.staleness_max = std::max(totals_.staleness_max, taken.staleness);
    ++totals_.groups_trained;
  }
  totals_.tokens_trained += step.tokens;
  const std::int64_t number = std::ssize(steps_);
  enter(RlPhase::training, spec_.training(number, step.tokens));
  generates_ = spec_.mode == RlMode::one_step_off && number + 1 < spec_.trainings;
  steps_.push_back(std::move(step));
}

void RlLoop::end_training() {
  steps_.back().end = now_;
  const std::int64_t done = std::ssize(steps_);
  if (done == spec_.trainings) {  // nobody waits for answers that nobody will train
    enter(RlPhase::weights, spec_.weights);
  } else if (spec_.mode == RlMode::one_step_off || done % spec_.bound.every != 0) {
    enter(RlPhase::waiting, Time::never());
  } else {
    enter(RlPhase::draining, Time::never());
    if (spec_.mode == RlMode::asynchronous && spec_.partial) pool_.hold();
  }
}

bool RlLoop::is_drained() const {
  return spec_.partial ? pool_.stands() : counter_.running() == 0;
}

void RlLoop::end_exchange() {
  counter_.next_version();
  if (std::ssize(steps_) == spec_.trainings) return enter(RlPhase::over, Time::never());
  if (spec_.mode == RlMode::one_step_off) return begin_training();
  if (spec_.mode == RlMode::asynchronous && spec_.partial) pool_.release(spec_.recompute);
  generates_ = true;
  enter(RlPhase::waiting, Time::never());
}

Time RlLoop::trained(Time now) const {
  return totals_.spent(RlPhase::training) + (phase_ == RlPhase::training ? now - now_ : Time{});
}

void RlLoop::lose(Time now) {
  if (now == next()) advance(now);  // what ends at this instant isn't lost
  account(now);
  pool_.lose(now);
}

void RlLoop::resume(Time now) {
  now_ = now;
  if (until_ < Time::never()) enter(phase_, length_);
  advance(now);
}

}  // namespace contend
