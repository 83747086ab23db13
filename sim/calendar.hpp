#pragma once
// The event calendar holds the pending events and returns the next one in simulated time. Events leave it ordered by
// (time, phase, sequence), where the sequence numbers the calls that scheduled them. The order is total, so it depends
// on nothing but the calls.
//
// A few hundred events lie in an implicit 4-ary heap of 24-byte keys, half as deep as a binary heap. With more, only
// the nearest are in order, and the others lie in the steps of a ladder (Tang, Goh and Thng 2005): a rung divides a
// part of time into steps, and a step that is reached is put in order, or divided by a rung of its own if it has many
// keys. So an event costs the same however many are pending, it touches only memory that it reads or writes in
// sequence, and the next events are known some time before they come. Keys that are scheduled before the end of what is
// in order wait in the heap.
//
// Cancelling is lazy: a table of slots says which key of an event is valid. Cancelling and rescheduling leave stale
// keys behind, which are dropped when they come first or, all together, once they outnumber the live ones. Payloads lie
// in the slots, so that keys move without them and a pop touches one slot.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
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
/// 2^56 in its life. Every operation is O(log n), amortized; O(1) where the times of the events are spread.
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
    sweep_if_most_are_stale();
    find_next();
  }

  /// Moves a pending event to another time, where it comes last among the events of its phase. Its payload stays.
  void reschedule(EventHandle& handle, Time time) {
    CONTEND_CHECK(pending(handle), "rescheduled an event that is not pending");
    handle = insert(time, phase_of(handle.order_), handle.slot_);
    sweep_if_most_are_stale();
    find_next();
  }

  [[nodiscard]] bool pending(EventHandle handle) const {
    return handle.slot_ < slots_.size() && slots_[handle.slot_].order == handle.order_;
  }
  [[nodiscard]] bool empty() const { return live_ == 0; }
  [[nodiscard]] std::size_t size() const { return live_; }  ///< events still to come
  /// Time of the event that pop() would return; never() if the calendar is empty.
  [[nodiscard]] Time next_time() const { return next_time_; }

  /// Payload of that event. The calendar must not be empty.
  [[nodiscard]] const Payload& next_payload() const { return slots_[next_key().slot].payload; }

  /// Removes and returns the first event; its handle is no longer pending. The calendar must not be empty.
  Event pop() {
    CONTEND_CHECK(live_ > 0, "popped an empty calendar");
    const Key key = next_key();
    last_popped_ = Time::nanoseconds(key.time);
    const Event event{last_popped_, phase_of(key.order), slots_[key.slot].payload};
    free_slot(key.slot);
    remove_next();
    sweep_if_most_are_stale();
    find_next();
    return event;
  }

  /// Calls `visit(payload)` for the event that comes after the next `ahead` ones, so that the owner can have the
  /// processor fetch the data that it will need; nothing if that event is not known. It is known of nearly all if many
  /// events are pending and `ahead` is at most kForeseen, and of none if few are, because then all of it is in the
  /// caches. It may be wrong: the event may be cancelled since, and others may come before it.
  template <class Visit>
  void foresee(std::size_t ahead, const Visit& visit) const {
    if (ahead < front_.size() - front_at_) visit(slots_[front_[front_at_ + ahead].slot].payload);
  }
  static constexpr std::size_t kForeseen = 24;

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
  static constexpr std::uint32_t kNoBlock = UINT32_MAX;
  static constexpr std::size_t kArity = 4;
  static constexpr std::size_t kCompactAbove = 64;  // fewer keys than that cost nothing worth saving
  static constexpr std::size_t kMostLate = 256;     // keys in the heap: 6 KiB
  static constexpr std::size_t kSorted = 32;        // keys of a step that is put in order and not divided
  static constexpr std::size_t kInStep = 8;         // keys that a step has on average when a rung is made
  static constexpr std::size_t kLeastSteps = 8, kMostSteps = 1024;
  static constexpr std::size_t kKeptKeys = 4096;  // for which an empty list keeps its memory
  static constexpr std::int64_t kEndOfTime = std::numeric_limits<std::int64_t>::max();

  /// Some keys of a step, in two lines of memory. All steps take their blocks from one pool and give them back, so that
  /// what is written to has mostly been read not long ago.
  struct alignas(128) Block {
    std::uint32_t older;  // the next block of the step; kNoBlock if this is the last one
    std::uint32_t count;
    Key keys[5];
  };
  using Step = std::uint32_t;  // the newest block, the only one that may have room; kNoBlock if the step is empty

  /// Keys of [begin, end) by steps of 2^shift nanoseconds. The keys of the steps before `next` have gone on.
  struct Rung {
    std::int64_t begin = 0, end = 0;
    int shift = 0;
    std::size_t next = 0;
    std::vector<Step> steps;

    [[nodiscard]] std::size_t step_of(std::int64_t time) const { return offset(begin, time) >> shift; }
    [[nodiscard]] std::int64_t end_of(std::size_t step) const {
      return offset(begin, end - 1) >> shift <= step ? end : after(begin, (std::uint64_t{step} + 1) << shift);
    }
  };

  // Without signs, because the difference of two times may be larger than a time.
  static std::uint64_t offset(std::int64_t from, std::int64_t to) {
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  }
  static std::int64_t after(std::int64_t from, std::uint64_t by) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(from) + by);
  }
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
    ++keys_;
    const Key key{time.ns(), order, slot};
    if (key.time >= front_end_) {
      put_behind_front(key);
      return {order, slot};
    }
    if (keys_ == 1 || key < next_key()) {
      next_time_ = time;
      next_is_late_ = true;
    }
    late_.push_back(key);
    sift_up(late_.size() - 1, key);
    if (late_.size() > std::max(kMostLate, front_.size() - front_at_)) divide_late();
    return {order, slot};
  }

  [[nodiscard]] const Key& next_key() const { return next_is_late_ ? late_.front() : front_[front_at_]; }

  void remove_next() {
    --keys_;
    if (next_is_late_) {
      const Key last = late_.back();
      late_.pop_back();
      if (!late_.empty()) sift_down(0, last);
    } else {
      ++front_at_;
    }
  }

  // Leaves a live key first, as every public call does, so that empty() and next_time() are plain reads.
  void find_next() {
    for (;; remove_next()) {
      while (front_.size() - front_at_ < kForeseen && front_end_ < kEndOfTime) extend_front();
      const bool has_front = front_at_ < front_.size();
      if (!has_front && late_.empty()) {
        next_time_ = Time::never();
        return;
      }
      next_is_late_ = !has_front || (!late_.empty() && late_.front() < front_[front_at_]);
      if (stale(next_key())) continue;
      next_time_ = Time::nanoseconds(next_key().time);
      return;
    }
  }

  /// Puts a key where it belongs that is not before the end of what is in order.
  void put_behind_front(const Key& key) {
    for (std::size_t r = depth_; r-- > 0;) {
      if (key.time < rungs_[r].end) return put(rungs_[r].steps[rungs_[r].step_of(key.time)], key);
    }
    beyond_.push_back(key);
  }

  void put(Step& step, const Key& key) {
    if (step == kNoBlock || blocks_[step].count == std::size(blocks_[step].keys)) {
      if (first_free_block_ == kNoBlock) {
        first_free_block_ = static_cast<std::uint32_t>(blocks_.size());
        blocks_.emplace_back().older = kNoBlock;
      }
      Block& block = blocks_[first_free_block_];
      const std::uint32_t next_free = std::exchange(block.older, step);
      block.count = 0;
      step = std::exchange(first_free_block_, next_free);
    }
    Block& block = blocks_[step];
    block.keys[block.count++] = key;
  }

  /// Moves the keys of a step to the end of `keys`.
  void take(Step& step, std::vector<Key>& keys) {
    while (step != kNoBlock) {
      Block& block = blocks_[step];
      keys.insert(keys.end(), block.keys, block.keys + block.count);
      const std::uint32_t older = std::exchange(block.older, first_free_block_);
      first_free_block_ = std::exchange(step, older);
    }
  }

  /// Puts the keys of the next step in order, or divides them. Without any, nothing is left behind the front.
  void extend_front() {
    while (depth_ > 0) {
      Rung& rung = rungs_[depth_ - 1];
      while (rung.next < rung.steps.size() && rung.steps[rung.next] == kNoBlock) ++rung.next;
      if (rung.next == rung.steps.size()) {
        --depth_;
        continue;
      }
      take(rung.steps[rung.next], opened_);
      return open(rung.end_of(rung.next));
    }
    opened_.swap(beyond_);
    open(kEndOfTime);
  }

  /// Takes the keys of `opened_`, all that are before `end` and behind the front.
  void open(std::int64_t end) {
    std::int64_t first = kEndOfTime, last = std::numeric_limits<std::int64_t>::min();
    for (const Key& key : opened_) {
      first = std::min(first, key.time);
      last = std::max(last, key.time);
    }
    if (opened_.size() > kSorted && first < last) {
      divide(first, last, end);
    } else {
      append_to_front();
      front_end_ = end;
    }
    if (opened_.capacity() > kKeptKeys) std::vector<Key>{}.swap(opened_);
    opened_.clear();
  }

  void append_to_front() {
    front_.erase(front_.begin(), front_.begin() + static_cast<std::ptrdiff_t>(std::exchange(front_at_, 0)));
    const std::size_t begin = front_.size();
    for (const Key& key : opened_) {
      __builtin_prefetch(&slots_[key.slot]);
      front_.push_back(key);
      if (opened_.size() > kSorted) continue;
      std::size_t hole = front_.size() - 1;
      for (; hole > begin && key < front_[hole - 1]; --hole) front_[hole] = front_[hole - 1];
      front_[hole] = key;
    }
    if (opened_.size() > kSorted) std::sort(front_.begin() + static_cast<std::ptrdiff_t>(begin), front_.end());
  }

  /// Makes a rung of the keys of `opened_`, whose times are first to last.
  void divide(std::int64_t first, std::int64_t last, std::int64_t end) {
    if (rungs_.size() == depth_) rungs_.emplace_back();
    Rung& rung = rungs_[depth_++];
    const std::size_t steps = std::clamp(std::bit_ceil(opened_.size() / kInStep), kLeastSteps, kMostSteps);
    rung.steps.assign(steps, kNoBlock);
    rung.next = 0;
    rung.begin = first;
    rung.shift = std::max(0, static_cast<int>(std::bit_width(offset(first, last))) - std::countr_zero(steps));
    // What lies behind its last step stays where these keys came from.
    const bool has_all = offset(first, end - 1) >> rung.shift < steps;
    rung.end = has_all ? end : after(first, std::uint64_t{steps} << rung.shift);
    front_end_ = first;
    for (const Key& key : opened_) put(rung.steps[rung.step_of(key.time)], key);
  }

  /// Divides the keys of front and heap, because the heap has become large.
  void divide_late() {
    opened_.assign(front_.begin() + static_cast<std::ptrdiff_t>(front_at_), front_.end());
    opened_.insert(opened_.end(), late_.begin(), late_.end());
    front_.clear();
    front_at_ = 0;
    late_.clear();
    open(front_end_);
    find_next();
  }

  void sift_up(std::size_t hole, const Key& key, std::size_t top = 0) {
    Key* const heap = late_.data();
    for (std::size_t parent = 0; hole > top; hole = parent) {
      parent = (hole - 1) / kArity;
      if (!(key < heap[parent])) break;
      heap[hole] = heap[parent];
    }
    heap[hole] = key;
  }

  // The hole sinks to a leaf without a comparison with `key`, which comes from the bottom and nearly always belongs
  // there (Wegener 1993, bottom-up heapsort).
  void sift_down(const std::size_t top, const Key& key) {
    Key* const heap = late_.data();
    const std::size_t count = late_.size();
    std::size_t hole = top;
    for (std::size_t child = kArity * hole + 1; child < count; child = kArity * hole + 1) {
      if (child + kArity <= count) {
        const std::size_t left = child + static_cast<std::size_t>(heap[child + 1] < heap[child]);
        const std::size_t right = child + 2 + static_cast<std::size_t>(heap[child + 3] < heap[child + 2]);
        child = left + (right - left) * static_cast<std::size_t>(heap[right] < heap[left]);
      } else {
        child = static_cast<std::size_t>(std::min_element(heap + child, heap + count) - heap);
      }
      heap[hole] = heap[child];
      hole = child;
    }
    sift_up(hole, key, top);
  }

  void sweep_if_most_are_stale() {
    if (keys_ <= kCompactAbove || keys_ - live_ <= keys_ / 2) return;
    front_.erase(front_.begin(), front_.begin() + static_cast<std::ptrdiff_t>(std::exchange(front_at_, 0)));
    const auto sweep = [this](std::vector<Key>& keys) {
      std::erase_if(keys, [this](const Key& key) { return stale(key); });
      return keys.size();
    };
    keys_ = sweep(front_) + sweep(late_) + sweep(beyond_);
    for (std::size_t r = 0; r < depth_; ++r) {
      for (Step& step : rungs_[r].steps) {
        take(step, opened_);
        keys_ += sweep(opened_);
        for (const Key& key : opened_) put(step, key);
        opened_.clear();
      }
    }
    for (std::size_t i = late_.size(); i-- > 0;) sift_down(i, Key{late_[i]});
  }

  std::vector<Key> front_;  // in order, from front_at_ on
  std::size_t front_at_ = 0;
  std::vector<Key> late_;                // a heap
  std::int64_t front_end_ = kEndOfTime;  // keys from this time on are in `rungs_` or `beyond_`, the others are not
  std::vector<Rung> rungs_;              // the first `depth_` of them; each divides a part of the one before
  std::size_t depth_ = 0;
  std::vector<Block> blocks_;  // of the steps, and free ones
  std::uint32_t first_free_block_ = kNoBlock;
  std::vector<Key> beyond_;         // what no rung holds
  std::vector<Key> opened_;         // scratch
  Time next_time_ = Time::never();  // of next_key()
  bool next_is_late_ = false;
  std::size_t keys_ = 0;  // in all lists, with stale ones
  std::vector<Slot> slots_;
  std::uint64_t next_sequence_ = 0;
  std::size_t live_ = 0;
  std::uint32_t first_free_ = kNoSlot;
  Time last_popped_ = Time::nanoseconds(INT64_MIN);
};

}  // namespace contend
