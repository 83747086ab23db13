// What the calendar costs beside the heap it is made of: the hold model (pop the earliest event, schedule one at a
// random increment later; Vaucher and Duval 1975) with a constant number of pending events, against a bare 4-ary heap
// of keys of the same 24 bytes that cannot cancel. The two take turns within one run, so that whatever else the
// machine does falls on both; the medians are printed.

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/core.h>

#include "sim/calendar.hpp"
#include "sim/random_stream.hpp"

namespace {

using contend::Phase;
using contend::Time;

constexpr std::size_t kIncrements = 1024;  // 8 KiB: stays in the first-level cache and out of the way
using Increments = std::array<std::int64_t, kIncrements>;

/// Exponential with a mean of a million nanoseconds: the stationary hold model of a Poisson superposition.
Increments exponential_increments() {
  contend::RandomStream random{1, "increments"};
  Increments increments{};
  for (std::int64_t& increment : increments) increment = static_cast<std::int64_t>(random.exponential(1e6));
  return increments;
}

class BareHeap {
 public:
  struct Key {
    std::int64_t time;
    std::uint64_t order;
    std::uint32_t payload;

    friend bool operator<(const Key& a, const Key& b) {
      return ((a.time < b.time) | ((a.time == b.time) & (a.order < b.order))) != 0;
    }
  };
  static_assert(sizeof(Key) == 24);

  void push(std::int64_t time, std::uint32_t payload) {
    const Key key{time, next_order_++, payload};
    heap_.push_back(key);
    climb(heap_.size() - 1, key);
  }

  Key pop() {
    const Key top = heap_.front();
    const Key last = heap_.back();
    heap_.pop_back();
    const std::size_t count = heap_.size();
    std::size_t hole = 0;
    std::size_t child = 1;
    for (; child + 4 <= count; child = 4 * hole + 1) {
      const std::size_t left = child + static_cast<std::size_t>(heap_[child + 1] < heap_[child]);
      const std::size_t right = child + 2 + static_cast<std::size_t>(heap_[child + 3] < heap_[child + 2]);
      const std::size_t best = heap_[right] < heap_[left] ? right : left;
      heap_[hole] = heap_[best];
      hole = best;
    }
    if (child < count) {
      std::size_t best = child;
      for (std::size_t i = child + 1; i < count; ++i) {
        if (heap_[i] < heap_[best]) best = i;
      }
      heap_[hole] = heap_[best];
      hole = best;
    }
    if (count > 0) climb(hole, last);
    return top;
  }

 private:
  void climb(std::size_t hole, const Key& key) {
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / 4;
      if (!(key < heap_[parent])) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = key;
  }

  std::vector<Key> heap_;
  std::uint64_t next_order_ = 0;
};

/// Both structures behind one face; each step returns a word that depends on the event, so that nothing is optimized
/// away and the two can be compared.
class HoldBare {
 public:
  void fill(std::int64_t time, std::uint32_t payload) { heap_.push(time, payload); }
  std::uint64_t hold(const Increments& increments, std::size_t step) {
    const BareHeap::Key event = heap_.pop();
    heap_.push(event.time + increments[step % kIncrements], event.payload);
    return static_cast<std::uint64_t>(event.time) + event.payload;
  }

 private:
  BareHeap heap_;
};

class HoldCalendar {
 public:
  void fill(std::int64_t time, std::uint32_t payload) {
    calendar_.schedule(Time::nanoseconds(time), Phase::completions, payload);
  }
  std::uint64_t hold(const Increments& increments, std::size_t step) {
    const auto event = calendar_.pop();
    calendar_.schedule(event.time + Time::nanoseconds(increments[step % kIncrements]), event.phase, event.payload);
    return static_cast<std::uint64_t>(event.time.ns()) + event.payload;
  }

 private:
  contend::Calendar<std::uint32_t> calendar_;
};

template <class Structure>
void fill(Structure& structure, std::size_t pending) {
  contend::RandomStream random{1, "fill"};
  for (std::size_t i = 0; i < pending; ++i) {
    structure.fill(static_cast<std::int64_t>(random.exponential(1e6)), static_cast<std::uint32_t>(i));
  }
}

/// Nanoseconds of one pop with one schedule; `sum` collects the words of the events.
template <class Structure>
double time_holds(Structure& structure, const Increments& increments, std::size_t steps, std::uint64_t& sum) {
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t step = 0; step < steps; ++step) sum += structure.hold(increments, step);
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
  return elapsed.count() / static_cast<double>(steps);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void measure(std::size_t pending, const Increments& increments) {
  constexpr std::size_t kSteps = 200'000;
  constexpr int kRepetitions = 25;
  HoldBare bare;
  HoldCalendar calendar;
  fill(bare, pending);
  fill(calendar, pending);
  std::uint64_t bare_sum = 0;
  std::uint64_t calendar_sum = 0;
  // A heap filled in one go is better ordered than one in use: let both reach their steady state first.
  time_holds(bare, increments, kSteps + pending, bare_sum);
  time_holds(calendar, increments, kSteps + pending, calendar_sum);
  std::vector<double> bare_ns;
  std::vector<double> calendar_ns;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    bare_ns.push_back(time_holds(bare, increments, kSteps, bare_sum));
    calendar_ns.push_back(time_holds(calendar, increments, kSteps, calendar_sum));
  }
  const double bare_median = median(bare_ns);
  const double calendar_median = median(calendar_ns);
  fmt::print("{:>10} {:>14.1f} {:>14.1f} {:>12.2f} {:>8}\n", pending, bare_median, calendar_median,
             bare_median / calendar_median, bare_sum == calendar_sum ? "equal" : "DIFFER");
}

}  // namespace

int main() {
  fmt::print("hold model: one pop and one schedule, median of interleaved repetitions\n");
  fmt::print("{:>10} {:>14} {:>14} {:>12} {:>8}\n", "pending", "bare heap ns", "calendar ns", "throughput", "events");
  const Increments increments = exponential_increments();
  for (const std::size_t pending : {100U, 1'000U, 10'000U, 100'000U, 1'000'000U}) measure(pending, increments);
  return 0;
}
