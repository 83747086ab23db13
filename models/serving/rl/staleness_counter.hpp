#pragma once
// The counter by which a pool of rollouts and a trainer exchange groups of answers and weights: which groups may be
// begun, which of them the trainer takes next, and how many versions old these are. A group is a prompt with all its
// answers. A pure state machine: it knows neither time nor replicas.
//
// Sources: AReaL, staleness_manager (a group is begun while accepted + running < N M (version + 1 + eta)), whose bound
// verl's (1 + s) N M new groups for a version is, too. Orders: queues of verl and AReaL (finished), target steps of
// NeMo-RL (submitted).

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace contend {

/// Which groups a trainer takes next.
enum class BatchOrder {
  submitted,  ///< groups that were begun first; it waits for each of them. None is older than the bound, rounded up
  finished,  ///< groups that were ready first. A long answer may be overtaken without limit; the mean age has the bound
  waves,     ///< groups that were begun first, once all begun groups are scored
};

struct StalenessBound {
  std::int64_t groups = 1;  ///< N >= 1: groups of a training
  std::int64_t every = 1;   ///< M >= 1: trainings of a version of the weights
  double eta = 0;           ///< >= 0, versions by which the weights may have moved on, in the mean
};

/// The number of a group in order of its begin, from 0.
using GroupNumber = std::int64_t;

/// A group that a trainer takes.
struct TakenGroup {
  GroupNumber group = 0;
  std::int64_t staleness = 0;  ///< versions by which the weights have moved on since it was begun
};

class StalenessCounter {
 public:
  StalenessCounter(const StalenessBound& bound, BatchOrder order);

  /// True if the bound lets another group begin: accepted + running < N M (version + 1 + eta).
  [[nodiscard]] bool may_begin() const { return accepted_ + running_ < per_version_ * (version_ + 1) + beyond_; }
  /// Begins a group with the present weights. The bound is for the owner to ask for.
  GroupNumber begin();
  /// A group that runs has all its answers and their rewards. One that isn't kept (its answers teach nothing) gives its
  /// place back.
  void score(GroupNumber group, bool is_kept);
  /// True if the trainer finds the groups of a training.
  [[nodiscard]] bool has_batch() const { return std::ssize(ready_) >= bound_.groups; }
  /// Takes them; has_batch().
  [[nodiscard]] std::vector<TakenGroup> take();
  /// Drops groups that are ready and weren't taken, and returns how many.
  std::int64_t drop_ready();
  /// The rollouts have got new weights.
  void next_version() { ++version_; }

  [[nodiscard]] std::int64_t version() const { return version_; }
  /// Groups that are begun and not scored.
  [[nodiscard]] std::int64_t running() const { return running_; }
  /// Groups that were kept, taken or not.
  [[nodiscard]] std::int64_t accepted() const { return accepted_; }
  [[nodiscard]] std::int64_t begun() const { return std::ssize(groups_); }

 private:
  struct Group {
    std::int64_t version = 0;
    std::optional<bool> is_kept;  // once it is scored
  };
  /// Makes scored groups ready, from the first group that has been neither made ready nor dropped.
  void make_ready_in_order();

  StalenessBound bound_;
  BatchOrder order_;
  std::int64_t per_version_, beyond_;  // N M, and N M eta, rounded up
  std::int64_t version_ = 0, running_ = 0, accepted_ = 0;
  std::vector<Group> groups_;
  GroupNumber looked_at_ = 0;      // all groups before it are ready, taken or dropped (not finished: order)
  std::deque<GroupNumber> ready_;  // in the order in which they are taken
};

}  // namespace contend
