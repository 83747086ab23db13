#include "sim/calendar.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/random_stream.hpp"

using contend::Calendar;
using contend::EventHandle;
using contend::Phase;
using contend::RandomStream;
using contend::Time;

namespace {

constexpr int kAhead = 5;

Time at(std::int64_t ns) {
  return Time::nanoseconds(ns);
}

std::vector<int> drain(Calendar<int>& calendar) {
  std::vector<int> payloads;
  while (!calendar.empty()) payloads.push_back(calendar.pop().payload);
  return payloads;
}

/// How many of the events were foreseen before they were popped, while at least `left` others were pending.
std::map<std::string, int> foreseen(int events, int left) {
  Calendar<int> calendar;
  RandomStream stream{3, "test.foresee"};
  for (int i = 0; i < events; ++i) calendar.schedule(at(stream.uniform_integer(0, 1'000'000)), Phase::completions, i);
  std::map<std::string, int> counts;
  std::map<int, int> ahead;  // how far ahead each was foreseen last
  for (int pops = 0; static_cast<int>(calendar.size()) > left; ++pops) {
    const int popped = calendar.pop().payload;
    ++counts["popped"];
    if (ahead.contains(popped)) ++counts[ahead[popped] == pops ? "in time" : "at another time"];
    calendar.foresee(kAhead, [&](int each) { ahead[each] = pops + 1 + kAhead; });
  }
  return counts;
}

/// The slow obvious calendar: a tree of all pending events by their full key.
class Oracle {
 public:
  using Key = std::tuple<Time, Phase, std::uint64_t>;

  Key schedule(Time time, Phase phase, int payload) {
    const Key key{time, phase, sequence_++};
    events.emplace(key, payload);
    return key;
  }
  Key reschedule(const Key& key, Time time) {
    const int payload = events.at(key);
    events.erase(key);
    return schedule(time, std::get<1>(key), payload);
  }

  std::map<Key, int> events;

 private:
  std::uint64_t sequence_ = 0;
};

struct Pending {
  EventHandle handle;
  Oracle::Key key;
};

/// The parameters of a random history: how many steps per hundred are schedules, cancels and reschedules (the rest are
/// pops), how many events may be pending, and how far ahead they lie.
struct Mix {
  int schedule, cancel, reschedule;
  std::size_t most_pending;
  std::int64_t horizon;
  bool bursts = false;  ///< most lie much nearer
};

/// Runs a calendar and its oracle through one random history.
class History {
 public:
  History(std::uint64_t seed, const Mix& mix) : random_{seed, "calendar_test"}, mix_{mix} {}

  void step() {
    const std::int64_t dice = random_.uniform_integer(0, 99);
    if (oracle_.events.empty() || (dice < mix_.schedule && pending_.size() < mix_.most_pending)) {
      schedule();
    } else if (dice < mix_.schedule + mix_.cancel) {
      cancel(pick());
    } else if (dice < mix_.schedule + mix_.cancel + mix_.reschedule) {
      reschedule(pick());
    } else {
      pop();
    }
    REQUIRE(calendar_.size() == oracle_.events.size());
    REQUIRE(calendar_.empty() == oracle_.events.empty());
    REQUIRE(calendar_.next_time() ==
            (oracle_.events.empty() ? Time::never() : std::get<0>(oracle_.events.begin()->first)));
  }

  void drain() {
    while (!oracle_.events.empty()) pop();
    REQUIRE(calendar_.empty());
    for (const EventHandle handle : gone_) REQUIRE_FALSE(calendar_.pending(handle));
  }

 private:
  /// Times that a horizon of its own spreads, and bursts.
  Time later() {
    std::int64_t horizon = mix_.horizon;
    if (mix_.bursts) horizon >>= random_.uniform_integer(0, 40);
    return now_ + at(random_.uniform_integer(0, horizon));
  }

  int pick() {
    const auto n = random_.uniform_integer(0, static_cast<std::int64_t>(pending_.size()) - 1);
    auto it = pending_.begin();
    std::advance(it, n);
    return it->first;
  }

  void schedule() {
    const Time time = later();
    const auto phase = static_cast<Phase>(random_.uniform_integer(0, 5));
    const int payload = next_payload_++;
    const EventHandle handle = calendar_.schedule(time, phase, payload);
    REQUIRE(calendar_.pending(handle));
    pending_.emplace(payload, Pending{handle, oracle_.schedule(time, phase, payload)});
  }

  void cancel(int payload) {
    Pending& event = pending_.at(payload);
    gone_.push_back(event.handle);
    calendar_.cancel(event.handle);
    REQUIRE_FALSE(calendar_.pending(event.handle));
    oracle_.events.erase(event.key);
    pending_.erase(payload);
  }

  void reschedule(int payload) {
    Pending& event = pending_.at(payload);
    const Time time = later();
    gone_.push_back(event.handle);
    calendar_.reschedule(event.handle, time);
    REQUIRE(calendar_.pending(event.handle));
    event.key = oracle_.reschedule(event.key, time);
  }

  void pop() {
    const auto event = calendar_.pop();
    const auto [key, payload] = *oracle_.events.begin();
    REQUIRE(event.payload == payload);
    REQUIRE(event.time == std::get<0>(key));
    REQUIRE(event.phase == std::get<1>(key));
    gone_.push_back(pending_.at(payload).handle);
    oracle_.events.erase(key);
    pending_.erase(payload);
    now_ = event.time;
  }

  RandomStream random_;
  Mix mix_;
  Calendar<int> calendar_;
  Oracle oracle_;
  std::map<int, Pending> pending_;
  std::vector<EventHandle> gone_;  // copies of handles whose event has left or moved on
  int next_payload_ = 0;
  Time now_;
};

}  // namespace

TEST_CASE("an empty calendar has no next time") {
  const Calendar<int> calendar;
  CHECK(calendar.empty());
  CHECK(calendar.size() == 0);
  CHECK(calendar.next_time() == Time::never());
  CHECK_FALSE(calendar.pending(EventHandle{}));
}

TEST_CASE("events come by time, then phase, then order of scheduling") {
  Calendar<int> calendar;
  calendar.schedule(at(5), Phase::metrics, 0);
  calendar.schedule(at(5), Phase::completions, 1);
  calendar.schedule(at(3), Phase::end, 2);
  calendar.schedule(at(5), Phase::completions, 3);
  calendar.schedule(at(7), Phase::completions, 4);
  calendar.schedule(at(5), Phase::failures, 5);
  CHECK(calendar.size() == 6);
  CHECK(calendar.next_time() == at(3));
  // At 3: 2. At 5: completions 1 before 3 as scheduled, failures 5, metrics 0. At 7: 4.
  CHECK(drain(calendar) == std::vector{2, 1, 3, 5, 0, 4});
}

TEST_CASE("pop returns time, phase and payload") {
  Calendar<std::uint64_t> calendar;
  const EventHandle handle = calendar.schedule(at(-4), Phase::arrivals, UINT64_MAX);
  const auto event = calendar.pop();
  CHECK(event.time == at(-4));
  CHECK(event.phase == Phase::arrivals);
  CHECK(event.payload == UINT64_MAX);
  CHECK_FALSE(calendar.pending(handle));
}

TEST_CASE("an event may be scheduled for the current instant, even in an earlier phase") {
  Calendar<int> calendar;
  calendar.schedule(at(5), Phase::scheduling, 0);
  calendar.schedule(at(5), Phase::metrics, 1);
  calendar.pop();
  calendar.schedule(at(5), Phase::completions, 2);
  CHECK(drain(calendar) == std::vector{2, 1});
}

TEST_CASE("a cancelled event never comes, and its handle never names another") {
  Calendar<int> calendar;
  EventHandle first = calendar.schedule(at(1), Phase::arrivals, 1);
  const EventHandle copy = first;
  calendar.schedule(at(2), Phase::arrivals, 2);
  calendar.cancel(first);
  CHECK_FALSE(calendar.pending(first));
  CHECK_FALSE(calendar.pending(copy));
  CHECK(calendar.size() == 1);
  CHECK(calendar.next_time() == at(2));
  const EventHandle reuse = calendar.schedule(at(1), Phase::arrivals, 3);  // takes over the slot of the first
  CHECK(calendar.pending(reuse));
  CHECK_FALSE(calendar.pending(copy));
  CHECK(drain(calendar) == std::vector{3, 2});
}

TEST_CASE("a rescheduled event keeps phase and payload and is the last among its equals") {
  Calendar<int> calendar;
  EventHandle moved = calendar.schedule(at(5), Phase::arrivals, 1);
  calendar.schedule(at(5), Phase::arrivals, 2);
  calendar.schedule(at(5), Phase::scheduling, 3);
  const EventHandle copy = moved;
  calendar.reschedule(moved, at(5));
  CHECK(calendar.pending(moved));
  CHECK_FALSE(calendar.pending(copy));
  CHECK(calendar.size() == 3);
  CHECK(drain(calendar) == std::vector{2, 1, 3});
}

TEST_CASE("an event can be moved to and fro") {
  Calendar<int> calendar;
  EventHandle moved = calendar.schedule(at(10), Phase::completions, 1);
  calendar.schedule(at(20), Phase::completions, 2);
  calendar.reschedule(moved, at(30));
  CHECK(calendar.next_time() == at(20));
  calendar.reschedule(moved, at(5));
  CHECK(calendar.next_time() == at(5));
  calendar.reschedule(moved, at(25));
  CHECK(drain(calendar) == std::vector{2, 1});
}

TEST_CASE("stale keys do not pile up") {
  // One event moved a hundred thousand times among a hundred others: only order and size can be seen from outside, the
  // compaction that this crosses again and again must disturb neither.
  Calendar<int> calendar;
  for (int i = 0; i < 100; ++i) calendar.schedule(at(1'000'000 + i), Phase::completions, i);
  EventHandle moved = calendar.schedule(at(1), Phase::completions, 100);
  for (int i = 0; i < 100'000; ++i) calendar.reschedule(moved, at(2'000'000 - i));
  CHECK(calendar.size() == 101);
  std::vector<int> expected(101);
  for (int i = 0; i < 101; ++i) expected[static_cast<std::size_t>(i)] = i;
  CHECK(drain(calendar) == expected);
}

TEST_CASE("random histories agree with a sorted tree") {
  const std::vector<Mix> mixes{
      {.schedule = 50, .cancel = 10, .reschedule = 10, .most_pending = 8, .horizon = 3},         // ties everywhere
      {.schedule = 40, .cancel = 15, .reschedule = 25, .most_pending = 400, .horizon = 50},      // compaction by both
      {.schedule = 90, .cancel = 2, .reschedule = 3, .most_pending = 3'000, .horizon = 10'000},  // deep heap, few stale
      {.schedule = 50, .cancel = 44, .reschedule = 2, .most_pending = 300, .horizon = 1'000},    // nearly all cancelled
      {.schedule = 20, .cancel = 0, .reschedule = 75, .most_pending = 300, .horizon = 100},      // nearly all moved
      {.schedule = 70,
       .cancel = 5,
       .reschedule = 5,
       .most_pending = 1'500,
       .horizon = 1'000'000'000'000,
       .bursts = true},
      {.schedule = 52, .cancel = 2, .reschedule = 4, .most_pending = 900, .horizon = 2'000'000},  // all ways to and fro
  };
  for (std::size_t m = 0; m < mixes.size(); ++m) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      CAPTURE(m);
      CAPTURE(seed);
      History history{seed, mixes[m]};
      for (int i = 0; i < 3'000; ++i) history.step();
      history.drain();
    }
  }
}

TEST_CASE("in a large calendar nearly every event is foreseen before it comes, in a small one none") {
  std::map<std::string, int> large = foreseen(10'000, 300);
  CHECK(large["popped"] == 9'700);
  CHECK(large["in time"] > 9'500);
  CHECK(large["at another time"] < 100);  // where keys in the heap come between
  std::map<std::string, int> small = foreseen(200, 0);
  CHECK(small["popped"] == 200);
  CHECK(small["in time"] + small["at another time"] == 0);
}

TEST_CASE("times may be as far apart as they can be") {
  Calendar<int> calendar;
  std::vector<int> expected;
  constexpr std::int64_t kEarliest = INT64_MIN / 2, kLatest = INT64_MAX - 1;
  for (int i = 0; i < 1'000; ++i) calendar.schedule(at(kLatest - i / 2), Phase::completions, i);
  for (int i = 0; i < 1'000; ++i) calendar.schedule(at(kEarliest + i / 2), Phase::completions, 1'000 + i);
  for (int i = 0; i < 1'000; ++i) expected.push_back(1'000 + i);
  for (int i = 998; i >= 0; i -= 2) expected.insert(expected.end(), {i, i + 1});
  CHECK(drain(calendar) == expected);
}

TEST_CASE("many events of one instant come in order while others are scheduled before and among them") {
  Calendar<int> calendar;
  for (int i = 0; i < 2'000; ++i) calendar.schedule(at(1'000'000), Phase::arrivals, i);
  std::vector<int> expected;
  // Each of these instants schedules an event of its own, a later one, and one that comes first among the many.
  for (int i = 0; i < 2'000; ++i) {
    calendar.schedule(at(i), Phase::completions, 10'000 + i);
    calendar.schedule(at(2'000'000 - i), Phase::completions, 20'000 + i);
    calendar.schedule(at(1'000'000), Phase::completions, 30'000 + i);
    CHECK(calendar.pop().payload == 10'000 + i);
  }
  for (int i = 0; i < 2'000; ++i) expected.push_back(30'000 + i);
  for (int i = 0; i < 2'000; ++i) expected.push_back(i);
  for (int i = 1'999; i >= 0; --i) expected.push_back(20'000 + i);
  CHECK(drain(calendar) == expected);
}
