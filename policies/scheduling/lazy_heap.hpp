#pragma once
// LazyHeap is a priority queue whose owner can tell which entries are still valid. An entry that becomes invalid stays
// until it reaches the front, or until most entries are invalid and all of them are dropped together. So it takes
// neither a search nor a node of its own to remove an entry from a long queue.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

namespace contend {

/// `is_valid(entry)` must hold for the entries that have been inserted and neither lost nor popped. An entry that was
/// lost and inserted again may be there twice; if it is valid, both stand for one.
template <class Entry>
class LazyHeap {
 public:
  [[nodiscard]] bool empty() const { return valid_ == 0; }

  template <class IsValid>
  void insert(const Entry& entry, const IsValid& is_valid) {
    if (heap_.size() > kCompactAbove && heap_.size() / 2 > valid_) {
      std::erase_if(heap_, [&](const Entry& old) { return !is_valid(old); });
      std::sort(heap_.begin(), heap_.end());  // which makes a heap of it
      heap_.erase(std::unique(heap_.begin(), heap_.end()), heap_.end());
    }
    ++valid_;
    if (!heap_.empty() && heap_.front() == entry) return;  // it was lost and is back before anything dropped it
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
  }
  /// Notes that one of the entries is valid no more.
  void lose() { --valid_; }
  /// Returns the smallest valid entry; nullptr if there is none.
  template <class IsValid>
  [[nodiscard]] const Entry* first(const IsValid& is_valid) {
    if (empty()) heap_.clear();
    while (!heap_.empty() && !is_valid(heap_.front())) drop();
    return heap_.empty() ? nullptr : &heap_.front();
  }
  /// Removes the entry that first() has just returned.
  void pop() {
    drop();
    --valid_;
  }

 private:
  static constexpr std::size_t kCompactAbove = 64;  // fewer entries than that cost nothing worth saving

  void drop() {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
    heap_.pop_back();
  }

  std::vector<Entry> heap_;
  std::size_t valid_ = 0;
};

}  // namespace contend
