#include "sim/agenda.hpp"

#include <algorithm>
#include <functional>

namespace contend {

Time Agenda::next_of(std::uint32_t component) const {
  return std::min(times_[component].turn, times_[component].isolation);
}

void Agenda::schedule(Time at, Kind kind, std::uint32_t index) {
  if (kind == Kind::turn) times_[index].turn = at;
  if (kind == Kind::isolation) times_[index].isolation = at;
  if (at == Time::never()) return;
  due_.push_back({at, kind, index});
  std::push_heap(due_.begin(), due_.end(), std::greater<>{});
}

Agenda::Due Agenda::pop() {
  std::pop_heap(due_.begin(), due_.end(), std::greater<>{});
  const Due due = due_.back();
  due_.pop_back();
  return due;
}

bool Agenda::is_taken_back(const Due& due) const {
  return (due.kind == Kind::turn && times_[due.index].turn != due.at) ||
         (due.kind == Kind::isolation && times_[due.index].isolation != due.at);
}

std::optional<Agenda::Due> Agenda::take() {
  while (!due_.empty() && due_.front().at == state_.clock) {
    const Due due = pop();
    const bool is_stale = is_taken_back(due);
    if (is_stale && due.kind == Kind::turn) continue;  // the component has become part of a cold spare: no event
    ++state_.events;
    if (is_stale) continue;
    if (due.kind == Kind::turn) times_[due.index].turn = Time::never();
    if (due.kind == Kind::isolation) times_[due.index].isolation = Time::never();
    return due;
  }
  return std::nullopt;
}

void Agenda::settle() {
  while (!due_.empty() && due_.front().kind == Kind::turn && is_taken_back(due_.front())) pop();
  state_.next_outage = due_.empty() ? Time::never() : due_.front().at;
  if (state_.next_outage == Time::never()) return;
  if (state_.calendar.pending(event_)) {
    if (state_.next_outage < event_at_) state_.calendar.reschedule(event_, event_at_ = state_.next_outage);
    return;
  }
  event_at_ = state_.next_outage;
  event_ = state_.calendar.schedule(state_.next_outage, Phase::failures, {CalendarEvent::Kind::outage});
}

}  // namespace contend
