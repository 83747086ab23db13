#pragma once
// The event calendar holds the pending events and returns the next one in simulated time. Events leave it ordered by
// (time, phase, sequence), where the sequence numbers the calls that scheduled them. The order is total, so it depends
// on nothing but the calls.
//
// The calendar is an implicit 4-ary heap of 24-byte keys, half as deep as a binary heap. Cancelling is lazy: a table of
// slots says which key of an event is valid. Cancelling and rescheduling leave stale keys behind, which are dropped
// when they reach the top or, all together, once they outnumber the live ones. Payloads lie in the slots, so that a
// sift does not move them and a pop touches one slot.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/check.hpp"
#include "sim/phase.hpp"
#include "sim/units.hpp"

namespace contend {

/// Identifies one event of one calendar. A handle is pending until its event is popped, cancelled, or rescheduled
/// through a copy of the handle. It never identifies another event afterwards.
class EventHandle {
 public:
  EventHandle() = default;

 private:
  template <class Payload>
  friend class Calendar;
  EventHandle(std::uint64_t order, std::uint32_t slot) : order_{order}, slot_{slot} {}
  std::uint64_t order_ = UINT64_MAX;
  std::uint32_t slot_ = UINT32_MAX;
};

/// A priority queue of events with a trivially copyable payload. It holds at most 2^32 - 1 events at once and takes
/// 2^56 in its life. Every operation is O(log n), amortized over the stale keys.
template <class Payload>
class Calendar {
  static_assert(std::is_trivially_copyable_v<Payload>, "events are moved as plain bytes");

 public:
  struct Event {
    Time time;
    Phase phase;
    Payload payload;
  };

  /// Adds an event. `time` must not lie before the last popped event and must be before Time::never().
  EventHandle schedule(Time time, Phase phase, Payload payload) {
    const std::uint32_t slot = take_slot();
    slots_[slot].payload = payload;
    return insert(time, phase, slot);
  }

  /// Removes a pending event and resets the handle. A handle that is not pending is a broken invariant.
  void cancel(EventHandle& handle) {
    CONTEND_CHECK(pending(handle), "cancelled an event that is not pending");
    free_slot(std::exchange(handle, EventHandle{}).slot_);
    forget_stale_keys();
  }

  /// Moves a pending event to another time, where it comes last among the events of its phase. Its payload stays.
  void reschedule(EventHandle& handle, Time time) {
    CONTEND_CHECK(pending(handle), "rescheduled an event that is not pending");
    handle = insert(time, phase_of(handle.order_), handle.slot_);
    forget_stale_keys();
  }

  [[nodiscard]] bool pending(EventHandle handle) const {
    return handle.slot_ < slots_.size() && slots_[handle.slot_].order == handle.order_;
  }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return live_; }  ///< events still to come
  /// Time of the event that pop() would return; never() if the calendar is empty.
  [[nodiscard]] Time next_time() const { return heap_.empty() ? Time::never() : Time::nanoseconds(heap_.front().time); }

  /// Payload of that event. The calendar must not be empty.
  [[nodiscard]] const Payload& next_payload() const { return slots_[heap_.front().slot].payload; }

  /// Removes and returns the first event; its handle is no longer pending. The calendar must not be empty.
  Event pop() {
    CONTEND_CHECK(!heap_.empty(), "popped an empty calendar");
    const Key key = heap_.front();
    last_popped_ = Time::nanoseconds(key.time);
    const Event event{last_popped_, phase_of(key.order), slots_[key.slot].payload};
    free_slot(key.slot);
    remove_top();
    forget_stale_keys();
    return event;
  }

  /// After a pop(): calls `soon(payload)` for an event that this pop has brought to the third level of the heap, and
  /// `next(payload)` for one that it has brought to the second, so that the owner can have the processor fetch what
  /// they will need. Nearly all events come through both levels. A payload may be that of an event that was cancelled
  /// since. Does nothing while so few events are pending that all of it is in the caches.
  template <class Next, class Soon>
  void foresee(const Next& next, const Soon& soon) const {
    if (heap_.size() <= kForeseeAbove) return;
    next(slots_[heap_[risen_[0]].slot].payload);
    soon(slots_[heap_[risen_[1]].slot].payload);
  }

 private:
  struct Key {
    std::int64_t time;    // nanoseconds
    std::uint64_t order;  // phase above, sequence in the lower 56 bits
    std::uint32_t slot;

    // As one number of 128 bits, without a branch: no predictor guesses which of two random keys is the smaller.
    friend bool operator<(const Key& a, const Key& b) { return a.wide() < b.wide(); }
    __extension__ using Wide = __int128;
    Wide wide() const { return (Wide{time} << 64) | Wide{order}; }
  };

  struct Slot {
    std::uint64_t order;  // of the one valid key of the event; in a free slot kFree | the next free slot
    Payload payload;
  };

  static constexpr int kPhaseShift = 56;
  static constexpr std::uint64_t kFree = std::uint64_t{1} << 63;  // no phase reaches this bit, so no key equals it
  static constexpr std::uint32_t kNoSlot = UINT32_MAX;
  static constexpr std::size_t kArity = 4;
  static constexpr std::size_t kFetchAbove = 2048;   // keys: 48 KiB, the size of a first-level cache
  static constexpr std::size_t kForeseeAbove = 256;  // keys
  static constexpr std::size_t kCompactAbove = 64;   // fewer keys than that cost nothing worth saving

  static Phase phase_of(std::uint64_t order) { return static_cast<Phase>(order >> kPhaseShift); }
  bool stale(const Key& key) const { return slots_[key.slot].order != key.order; }

  std::uint32_t take_slot() {
    ++live_;
    if (first_free_ == kNoSlot) {
      slots_.emplace_back();
      return static_cast<std::uint32_t>(slots_.size() - 1);
    }
    return std::exchange(first_free_, static_cast<std::uint32_t>(slots_[first_free_].order));  // the cast drops kFree
  }

  void free_slot(std::uint32_t slot) {
    --live_;
    slots_[slot].order = kFree | first_free_;
    first_free_ = slot;
  }

  EventHandle insert(Time time, Phase phase, std::uint32_t slot) {
    CONTEND_CHECK(time >= last_popped_ && time < Time::never(), "scheduled an event in the past or at never()");
    const std::uint64_t order = (std::uint64_t{static_cast<std::uint8_t>(phase)} << kPhaseShift) | next_sequence_++;
    slots_[slot].order = order;
    heap_.push_back({time.ns(), order, slot});
    sift_up(heap_.size() - 1, Key{heap_.back()});
    return {order, slot};
  }

  void sift_up(std::size_t hole, const Key& key, std::size_t top = 0) {
    Key* const heap = heap_.data();
    for (std::size_t parent = 0; hole > top; hole = parent) {
      parent = (hole - 1) / kArity;
      if (!(key < heap[parent])) break;
      heap[hole] = heap[parent];
    }
    heap[hole] = key;
  }

  // The hole sinks to a leaf without a comparison with `key`, which comes from the bottom and nearly always belongs
  // there (Wegener 1993, bottom-up heapsort). Grandchildren are prefetched, because the next level needs some of them.
  void sift_down(const std::size_t top, const Key& key) {
    Key* const heap = heap_.data();
    const std::size_t count = heap_.size();
    std::size_t hole = top;
    for (std::size_t child = kArity * hole + 1; child < count; child = kArity * hole + 1) {
      if (const std::size_t last = kArity * (child + kArity); count > kFetchAbove && last < count) {
        for (std::size_t i = kArity * child + 1; i <= last; i += 3) __builtin_prefetch(heap + i);
      }
      if (child + kArity <= count) {
        const std::size_t left = child + static_cast<std::size_t>(heap[child + 1] < heap[child]);
        const std::size_t right = child + 2 + static_cast<std::size_t>(heap[child + 3] < heap[child + 2]);
        child = left + (right - left) * static_cast<std::size_t>(heap[right] < heap[left]);
      } else {
        child = static_cast<std::size_t>(std::min_element(heap + child, heap + count) - heap);
      }
      if (hole <= kArity) risen_[hole > 0 ? 1 : 0] = child;
      heap[hole] = heap[child];
      hole = child;
    }
    sift_up(hole, key, top);
  }

  void remove_top() {
    const Key last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return;
    // One of these is the next top, whose slot is read right after the sift.
    for (std::size_t i = 1; i <= kArity && heap_.size() > kFetchAbove; ++i) __builtin_prefetch(&slots_[heap_[i].slot]);
    sift_down(0, last);
  }

  // Leaves a live key on top, as every public call does, so that empty() and next_time() are plain reads.
  void forget_stale_keys() {
    if (heap_.size() > kCompactAbove && heap_.size() - live_ > heap_.size() / 2) {
      std::erase_if(heap_, [this](const Key& key) { return stale(key); });
      for (std::size_t i = heap_.size(); i-- > 0;) sift_down(i, Key{heap_[i]});
    }
    while (!heap_.empty() && stale(heap_.front())) remove_top();
  }

  std::vector<Key> heap_;
  std::vector<Slot> slots_;
  std::uint64_t next_sequence_ = 0;
  std::size_t live_ = 0;
  std::size_t risen_[2] = {0, 0};  // where the keys lie that have come to the second and the third level last
  std::uint32_t first_free_ = kNoSlot;
  Time last_popped_ = Time::nanoseconds(INT64_MIN);
};

}  // namespace contend
