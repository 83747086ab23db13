// RL post-training played plainly: every step of every replica, every sequence looked at, no sums. It knows nothing of
// models/serving/; rules of steps: docs/models/serving.md, of modes: docs/models/rl.md.

#include "validate/rl/rl_case.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>

namespace contend {

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

struct PlainSequence {
  std::int64_t group = 0, prompt = 0, answer = 0, given = 0, computed = 0, computes = 0;
};

struct PlainPlace {
  std::deque<PlainSequence> queue;
  std::vector<PlainSequence> runs;
  std::int64_t ends = kNever;  // of its step
};

struct PlainGroup {
  std::int64_t version = 0, unfinished = 0, scored_at = kNever;
  bool is_scored = false, is_taken = false;
};

class PlainRl {
 public:
  explicit PlainRl(const RlCase& given) : case_{given}, places_(static_cast<std::size_t>(given.replicas)) {}

  RlOutcome play() {
    switch (case_.mode) {
      case RlCase::Mode::synchronous:
        synchronous();
        break;
      case RlCase::Mode::one_step_off:
        one_step_off();
        break;
      case RlCase::Mode::asynchronous:
        asynchronous();
        break;
    }
    return out_;
  }

 private:
  // The pool.
  void begin_group() {
    const AnswerGroup& group = case_.group(std::ssize(groups_));
    groups_.push_back({version_, std::ssize(group.answers), kNever, false, false});
    for (const std::int64_t answer : group.answers) {
      std::size_t least = 0;
      for (std::size_t p = 1; p < places_.size(); ++p)
        if (load(places_[p]) < load(places_[least])) least = p;
      places_[least].queue.push_back({std::ssize(groups_) - 1, group.prompt, answer, 0, 0, 0});
      out_.asked += answer;
    }
  }

  static std::size_t load(const PlainPlace& place) { return place.queue.size() + place.runs.size(); }

  void begin_steps() {
    for (PlainPlace& place : places_) {
      if (place.ends != kNever) continue;
      std::int64_t budget = case_.tokens, computed = 0, cached = 0;
      for (PlainSequence& each : place.runs) {
        each.computes = std::min(budget, each.prompt + each.given - each.computed);
        budget -= each.computes;
      }
      while (!place.queue.empty() && budget > 0 && std::ssize(place.runs) < case_.batch) {
        PlainSequence each = place.queue.front();
        place.queue.pop_front();
        each.computes = std::min(budget, each.prompt + each.given - each.computed);
        budget -= each.computes;
        place.runs.push_back(each);
      }
      for (const PlainSequence& each : place.runs) {
        if (each.computes == 0) continue;
        computed += each.computes;
        cached += each.computed + each.computes;
      }
      if (computed == 0) continue;
      place.ends = now_ + case_.overhead + std::max(case_.weights, case_.token * computed) + case_.cache * cached;
    }
  }

  void end_steps_and_score() {
    for (PlainPlace& place : places_) {
      if (place.ends != now_) continue;
      place.ends = kNever;
      std::vector<PlainSequence> still;
      for (PlainSequence& each : place.runs) {
        each.computed += each.computes;
        if (each.computed == each.prompt + each.given) ++each.given;
        if (each.given < each.answer) {
          still.push_back(each);
          continue;
        }
        PlainGroup& group = groups_[static_cast<std::size_t>(each.group)];
        if (--group.unfinished == 0) group.scored_at = now_ + case_.reward;
      }
      place.runs = still;
    }
    for (std::int64_t g = 0; g < std::ssize(groups_); ++g) {
      PlainGroup& group = groups_[static_cast<std::size_t>(g)];
      if (group.scored_at != now_ || group.is_scored) continue;
      group.is_scored = true;
      if (case_.group(g).is_kept) finished_.push_back(g);
    }
  }

  [[nodiscard]] std::int64_t pool_next() const {
    std::int64_t next = kNever;
    for (const PlainPlace& place : places_) next = std::min(next, place.ends);
    for (const PlainGroup& group : groups_)
      if (!group.is_scored) next = std::min(next, group.scored_at);
    return next;
  }

  [[nodiscard]] std::int64_t running() const {
    return std::count_if(groups_.begin(), groups_.end(), [](const PlainGroup& each) { return !each.is_scored; });
  }

  // Generation of a batch by itself, in waves.
  std::vector<std::int64_t> generate() {
    std::vector<std::int64_t> batch;
    while (std::ssize(batch) < case_.groups_of_training) {
      const std::int64_t first = std::ssize(groups_);
      for (std::int64_t g = 0; g < case_.groups_of_training; ++g) begin_group();
      begin_steps();
      while (running() > 0) {
        now_ = pool_next();
        end_steps_and_score();
        begin_steps();
      }
      for (std::int64_t g = first; g < std::ssize(groups_); ++g)
        if (case_.group(g).is_kept) batch.push_back(g);
    }
    batch.resize(static_cast<std::size_t>(case_.groups_of_training));
    ready_ = now_;
    return batch;
  }

  /// Notes the training that begins now, and returns when it ends.
  std::int64_t train(const std::vector<std::int64_t>& batch, std::int64_t ready) {
    RlOutcome::Step step{ready, now_, now_ + case_.train, batch, {}};
    for (const std::int64_t g : batch) {
      for (const std::int64_t answer : case_.group(g).answers)
        step.end += case_.train_token * (case_.group(g).prompt + answer);
      step.stale.push_back(version_ - groups_[static_cast<std::size_t>(g)].version);
      groups_[static_cast<std::size_t>(g)].is_taken = true;
    }
    out_.steps.push_back(step);
    return step.end;
  }

  void synchronous() {
    for (std::int64_t k = 0; k < case_.trainings; ++k) {
      const std::vector<std::int64_t> batch = generate();
      now_ += case_.change;
      now_ = train(batch, ready_);
      now_ += case_.exchange + case_.change;
      ++version_;
    }
    out_.end = now_;
  }

  void one_step_off() {
    std::vector<std::int64_t> batch = generate();
    for (std::int64_t k = 0; k < case_.trainings; ++k) {
      if (k > 0) {
        now_ += case_.exchange;
        ++version_;
      }
      const std::int64_t end = train(batch, ready_);
      if (k + 1 < case_.trainings) batch = generate();
      now_ = std::max(now_, end);
    }
    out_.end = now_ + case_.exchange;
  }

  // The first groups of the order, if the trainer finds enough of them.
  [[nodiscard]] std::vector<std::int64_t> next_batch() const {
    std::vector<std::int64_t> batch;
    if (case_.in_order) {
      for (std::int64_t g = 0; g < std::ssize(groups_); ++g) {
        const PlainGroup& group = groups_[static_cast<std::size_t>(g)];
        if (!group.is_scored) break;
        if (!group.is_taken && case_.group(g).is_kept) batch.push_back(g);
      }
    } else {
      for (const std::int64_t g : finished_)
        if (!groups_[static_cast<std::size_t>(g)].is_taken) batch.push_back(g);
    }
    batch.resize(std::min(batch.size(), static_cast<std::size_t>(case_.groups_of_training)));
    return batch;
  }

  [[nodiscard]] bool stand() const {
    return std::all_of(places_.begin(), places_.end(), [](const PlainPlace& each) { return each.ends == kNever; });
  }

  void lose_caches() {
    for (PlainPlace& place : places_) {
      for (PlainSequence& each : place.runs) each.computed = 0;
      place.queue.insert(place.queue.begin(), place.runs.begin(), place.runs.end());
      place.runs.clear();
    }
  }

  /// True if the trainer begins something else at this instant.
  bool trainer_goes_on() {
    const std::vector<std::int64_t> batch = next_batch();
    const bool can_take = std::ssize(batch) == case_.groups_of_training;
    if (can_take && !could_take_) ready_ = now_;
    could_take_ = can_take;
    if (does_ == Does::waits && can_take) {
      until_ = train(batch, ready_);
      could_take_ = false;
      does_ = Does::trains;
    } else if (does_ == Does::trains && now_ == until_) {
      const std::int64_t done = std::ssize(out_.steps);
      does_ = done == case_.trainings ? Does::nothing : done % case_.every == 0 ? Does::drains : Does::waits;
      out_.end = now_ + case_.exchange;
    } else if (does_ == Does::drains && (case_.partial ? stand() : running() == 0)) {
      until_ = now_ + case_.exchange;
      does_ = Does::exchanges;
    } else if (does_ == Does::exchanges && now_ == until_) {
      ++version_;
      if (case_.partial && case_.recompute) lose_caches();
      does_ = Does::waits;
    } else {
      return false;
    }
    return true;
  }

  void asynchronous() {
    for (;;) {
      end_steps_and_score();
      while (trainer_goes_on()) {
      }
      if (does_ == Does::nothing) return;
      const bool exchanges = does_ == Does::drains || does_ == Does::exchanges;
      while (!exchanges && running() < case_.concurrent && may_begin()) begin_group();
      if (!exchanges || !case_.partial) begin_steps();
      now_ = pool_next();
      if (does_ == Does::trains || does_ == Does::exchanges) now_ = std::min(now_, until_);
    }
  }

  /// accepted + running < N M (v + 1 + eta), in quarters.
  [[nodiscard]] bool may_begin() const {
    const auto quarters = static_cast<std::int64_t>(case_.eta * 4);
    return 4 * (std::ssize(finished_) + running()) <
           case_.groups_of_training * case_.every * (4 * (version_ + 1) + quarters);
  }

  const RlCase& case_;
  RlOutcome out_;
  std::vector<PlainPlace> places_;
  std::vector<PlainGroup> groups_;
  std::vector<std::int64_t> finished_;  // kept ones, as they were scored
  std::int64_t now_ = 0, version_ = 0, ready_ = 0;
  enum class Does { waits, trains, drains, exchanges, nothing } does_ = Does::waits;  // asynchronous
  std::int64_t until_ = kNever;
  bool could_take_ = false;
};

}  // namespace

RlOutcome plain_rl(const RlCase& each) {
  return PlainRl{each}.play();
}

}  // namespace contend
