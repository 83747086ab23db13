#include "policies/scheduling/lanes.hpp"

#include <iterator>

namespace contend {

void Lanes::insert(const Place& place, const JobView& job, std::int32_t shape) {
  lanes_.try_emplace(shape, Lane{job, shape}).first->second.jobs.insert(place);
}

void Lanes::leave_round() {
  std::pop_heap(round_.begin(), round_.end(), is_later);
  round_.pop_back();
}

void Lanes::advance(Outcome outcome) {
  std::pop_heap(round_.begin(), round_.end(), is_later);
  Lane& lane = *round_.back();
  lane.next = outcome == Outcome::started ? lane.jobs.erase(lane.next) : std::next(lane.next);
  if (outcome == Outcome::refused_alike || lane.next == lane.jobs.end()) {
    round_.pop_back();
  } else {
    std::push_heap(round_.begin(), round_.end(), is_later);
  }
}

}  // namespace contend
