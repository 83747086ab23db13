#pragma once
// Lanes hold the waiting jobs of a queue, those with the same demand in one lane. A round visits the jobs in order. If
// the placement policy refuses a job, it usually refuses the rest of its lane too, and the round passes over them all.
// So the cost of a round depends on the number of different demands and not on the length of the queue.

#include "sim/ports.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace contend {

class Lanes {
 public:
  /// The place of a job in the order: by key, then by JobView::tie, which is unique.
  struct Place {
    PolicyKey key = 0;
    std::int64_t tie = 0;
    JobId job{};
    auto operator<=>(const Place&) const = default;
  };
  enum class Outcome {
    started,
    refused,       ///< other jobs of the lane may still start in this round
    refused_alike  ///< no other job of the lane can start in this round
  };

  struct Lane {
    JobView example;         ///< a job of the lane, with the demand of all
    std::int32_t shape = 0;  ///< number of that demand, from Shapes
    std::set<Place> jobs{};
    std::set<Place>::iterator next{};  ///< the job that the current round visits next
  };

  /// Inserts a job that is not in the queue. In a round it is visited only if its lane has yet to reach its place.
  void insert(const Place& place, const JobView& job, std::int32_t shape);
  [[nodiscard]] const std::map<std::int32_t, Lane>& by_shape() const { return lanes_; }

  /// Begins a round over the lanes that `take_part`.
  template <class TakePart>
  void begin_round(const TakePart& take_part) {
    round_.clear();
    for (auto& [shape, lane] : lanes_) {
      if (lane.jobs.empty() || !take_part(lane)) continue;
      lane.next = lane.jobs.begin();
      round_.push_back(&lane);
    }
    std::make_heap(round_.begin(), round_.end(), is_later);
  }
  /// Returns the next job of the round, and nullptr at the end. A lane whose jobs `may_start` no more leaves the round.
  template <class MayStart>
  [[nodiscard]] const Place* front(const MayStart& may_start) {
    while (!round_.empty() && !may_start(*round_.front())) leave_round();
    return round_.empty() ? nullptr : &*round_.front()->next;
  }
  /// Moves on from the job that front() returned. A job that has started leaves the queue.
  void advance(Outcome outcome);
  /// Ends the round for the lanes for which `ends` holds.
  template <class Ends>
  void end_round_if(const Ends& ends) {
    std::erase_if(round_, [&](const Lane* lane) { return ends(*lane); });
    std::make_heap(round_.begin(), round_.end(), is_later);
  }

 private:
  [[nodiscard]] static bool is_later(const Lane* a, const Lane* b) { return *b->next < *a->next; }
  void leave_round();

  std::map<std::int32_t, Lane> lanes_;  // by shape
  std::vector<Lane*> round_;            // a heap: the lane with the next job is in front
};

}  // namespace contend
