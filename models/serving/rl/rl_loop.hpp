#pragma once
// RL post-training: a pool of rollouts, which answers prompts, and a trainer, which takes groups of answers and gives
// new weights back. Modes and equations: docs/models/rl.md. The loop is a state machine over a Fleet and a
// StalenessCounter; its owner takes it from one instant to the next.

#include "models/serving/fleet.hpp"
#include "models/serving/rl/staleness_counter.hpp"
#include "sim/units.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace contend {

enum class RlMode {
  synchronous,   ///< generate, train, move weights, in turn
  one_step_off,  ///< the next batch is generated while one is trained (verl)
  asynchronous,  ///< groups are begun whenever the counter of staleness lets them (AReaL, verl, NeMo-RL, ROLL)
};

/// A prompt and its answers, in tokens, all at least 1.
struct AnswerGroup {
  std::int64_t prompt = 1;
  std::vector<std::int64_t> answers;
  bool is_kept = true;  ///< false: a filter drops the group, such as one whose answers are all right

  /// Prompt and answer of each.
  [[nodiscard]] std::int64_t tokens() const;
};

/// A training that takes a time, and further time for each token of its prompts and answers.
struct TrainingLaw {
  Time constant;
  std::int64_t token_ps = 0;  ///< picoseconds; the sum over all tokens is rounded up to the nanosecond
  [[nodiscard]] Time operator()(std::int64_t training, std::int64_t tokens) const;
};

struct RlSpec {
  RlMode mode = RlMode::synchronous;
  std::int64_t trainings = 1;  ///< >= 1, in all
  StalenessBound bound;        ///< its `groups` make up a training in every mode; the others are asynchronous
  Time reward;                 ///< from the last answer of a group to its reward
  Time weights;                ///< from the trainer to the rollouts, which stand meanwhile
  Time change;                 ///< of GPUs from rollouts to training, and back again; synchronous only
  /// The time of a training, from 0, of so many tokens.
  std::function<Time(std::int64_t training, std::int64_t tokens)> training = TrainingLaw{};
  /// The groups, in order from 0.
  std::function<AnswerGroup(GroupNumber)> group;

  // Asynchronous.
  BatchOrder order = BatchOrder::submitted;  ///< submitted or finished
  std::int64_t concurrent = 1;               ///< >= 1: most groups that run, until they are scored
  /// True: weights move once all replicas have ended their step, and unfinished answers go on with them. False: no
  /// group is begun until all that run are scored, and then weights move.
  bool partial = true;
  bool recompute = false;  ///< unfinished answers compute their caches again, with the new weights
};

/// A training as it was.
struct RlStep {
  Time ready, begin, end;  ///< when its groups were there, or the training before had taken its own; the training
  std::int64_t tokens = 0;
  std::vector<TakenGroup> groups;  ///< in the order in which they were taken
};

/// What the trainer does.
enum class RlPhase { waiting, changing, training, draining, weights, changing_back, over };
inline constexpr std::size_t kRlPhases = 7;

struct RlTotals {
  std::array<Time, kRlPhases> trainer{};  ///< time in each phase
  Time pool_stands;                       ///< no replica was in a step
  Time groups_ran;                        ///< from begin to reward, summed over scored groups
  std::int64_t groups_begun = 0, groups_scored = 0, groups_dropped = 0, groups_trained = 0;
  std::int64_t tokens_asked = 0;                      ///< of answers that were begun
  std::int64_t tokens_answered = 0;                   ///< of answers that have ended
  std::int64_t tokens_trained = 0;                    ///< of answers and their prompts
  std::int64_t staleness_sum = 0, staleness_max = 0;  ///< of trained groups

  [[nodiscard]] Time spent(RlPhase phase) const { return trainer[static_cast<std::size_t>(phase)]; }
};

class RlLoop {
 public:
  /// Begins at instant 0. Throws InputError if the specification can't work, with the reason.
  RlLoop(RlSpec spec, FleetSpec pool);

  /// The next instant at which something happens; Time::never() once it is over.
  [[nodiscard]] Time next();
  /// Takes the loop to `now`, which isn't after next().
  void advance(Time now);
  /// All GPUs are lost at `now`, which isn't after next(), and with them caches and what the trainer is at. Answers
  /// given so far, rewards and groups that are ready stay. Nothing else happens until resume().
  void lose(Time now);
  /// The GPUs are back: replicas compute the lost caches again, and the trainer begins its phase again.
  void resume(Time now);
  [[nodiscard]] bool is_over() const { return phase_ == RlPhase::over; }

  [[nodiscard]] std::span<const RlStep> steps() const { return steps_; }
  [[nodiscard]] const RlTotals& totals() const { return totals_; }
  /// For how long the trainer has trained until `now`, the instant of the last advance() or later, before next().
  [[nodiscard]] Time trained(Time now) const;
  [[nodiscard]] const StalenessCounter& counter() const { return counter_; }
  [[nodiscard]] const Fleet& pool() const { return pool_; }

 private:
  struct Begun {
    AnswerGroup group;
    Time at;
    std::size_t unfinished = 0;
  };
  using Scoring = std::pair<Time, GroupNumber>;

  void account(Time now);
  void collect_answers();
  void score_groups();
  void begin_groups();
  void begin_group();
  /// Goes on to the next phase of the trainer if it can at this instant.
  bool go_on();
  void enter(RlPhase phase, Time length);
  void begin_training();
  void end_training();
  void end_exchange();
  [[nodiscard]] bool is_drained() const;

  RlSpec spec_;
  Fleet pool_;
  StalenessCounter counter_;
  RlTotals totals_;
  std::vector<RlStep> steps_;
  RlPhase phase_ = RlPhase::waiting;
  Time now_, length_, until_ = Time::never();  // the length and the end of a phase that takes a time
  Time ready_;                                 // since when the trainer could take the next batch, if it can
  bool generates_ = true;                      // waves: the next batch is generated
  std::vector<Begun> groups_;                  // by number
  std::vector<GroupNumber> group_of_;          // by request of the pool
  std::priority_queue<Scoring, std::vector<Scoring>, std::greater<>> scorings_;
};

}  // namespace contend
