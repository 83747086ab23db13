#include "network/link_changes.hpp"

#include <algorithm>
#include <utility>

namespace contend {

LinkChanges::LinkChanges(std::size_t links, std::vector<LinkEvent> events, std::vector<FailingLinks> failing,
                         std::uint64_t seed)
    : events_{std::move(events)},
      failing_{std::move(failing)},
      is_ill_(failing_.size()),
      groups_of_(failing_.empty() ? 0 : links),
      listed_(links, 1),
      factor_(links, 1) {
  std::ranges::stable_sort(events_, {}, &LinkEvent::time);
  streams_.reserve(failing_.size());
  for (std::uint32_t group = 0; group < failing_.size(); ++group) {
    for (const LinkId link : failing_[group].links) groups_of_[link.index()].push_back(group);
    streams_.emplace_back(seed, "failures/" + failing_[group].name);
    schedule(group, Time{});
  }
}

Time LinkChanges::next() const {
  const Time listed = next_event_ < events_.size() ? events_[next_event_].time : Time::never();
  return due_.empty() ? listed : std::min(listed, due_.front().at);
}

bool LinkChanges::may_change(LinkId link) const {
  const auto listed = events_.begin() + static_cast<std::ptrdiff_t>(next_event_);
  if (std::any_of(listed, events_.end(), [&](const LinkEvent& event) { return event.link == link; })) return true;
  return std::ranges::any_of(due_, [&](const Due& due) {
    return std::ranges::find(failing_[due.group].links, link) != failing_[due.group].links.end();
  });
}

void LinkChanges::advance(Time now, const std::function<void(const LinkEvent&)>& changed) {
  for (Time at = next(); at <= now && at != Time::never(); at = next()) {
    for (; next_event_ < events_.size() && events_[next_event_].time == at; ++next_event_) {
      const LinkEvent& event = events_[next_event_];
      listed_[event.link.index()] = event.factor;
      set(event.link, at, changed);
    }
    while (!due_.empty() && due_.front().at == at) {
      std::ranges::pop_heap(due_, std::greater<>{});
      const std::uint32_t group = due_.back().group;
      due_.pop_back();
      is_ill_[group] = !is_ill_[group];
      for (const LinkId link : failing_[group].links) set(link, at, changed);
      schedule(group, at);
    }
  }
}

void LinkChanges::set(LinkId link, Time at, const std::function<void(const LinkEvent&)>& changed) {
  double factor = listed_[link.index()];
  if (!groups_of_.empty()) {
    for (const std::uint32_t group : groups_of_[link.index()]) factor *= is_ill_[group] ? failing_[group].factor : 1;
  }
  if (factor == factor_[link.index()]) return;
  factor_[link.index()] = factor;
  changed({at, link, factor});
}

/// Draws how long the group stays as it has become at `now`.
void LinkChanges::schedule(std::uint32_t group, Time now) {
  const FailingLinks& links = failing_[group];
  const Time lasts = (is_ill_[group] ? links.repair : links.failure).draw(streams_[group]);
  if (lasts >= kEndOfClock - now) return;
  due_.push_back({now + lasts, group});
  std::ranges::push_heap(due_, std::greater<>{});
}

}  // namespace contend
