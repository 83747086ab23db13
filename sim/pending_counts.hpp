#pragma once
// PendingCounts is a small table of numbers that lies inside its owner, because one event in a large cluster reads the
// tables of several jobs and cells, and each place in memory that it has to fetch costs as much as many instructions.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace contend {

/// Of a job two iterations may be in flight, or as many as its graph says (IterationGraph::in_flight), at most
/// kMostInFlight. Each uses one of as many slots of the job's counts, in turn.
using Slot = std::uint8_t;

/// The ends that each operation of the iterations in flight still waits for. The tables of graphs with at most three
/// operations and two iterations in flight lie inside the object.
class PendingCounts {
 public:
  PendingCounts() = default;
  explicit PendingCounts(std::size_t size) : size_{static_cast<std::uint32_t>(size)} {
    if (is_outside()) more_ = new std::int32_t[size]{};
  }
  PendingCounts(const PendingCounts& other) : PendingCounts(other.size_) { std::copy_n(other.data(), size_, data()); }
  PendingCounts(PendingCounts&& other) noexcept : PendingCounts() { swap(other); }
  PendingCounts& operator=(PendingCounts other) noexcept {
    swap(other);
    return *this;
  }
  ~PendingCounts() {
    if (is_outside()) delete[] more_;
  }

  std::int32_t& operator[](std::size_t i) { return data()[i]; }
  std::int32_t operator[](std::size_t i) const { return data()[i]; }
  bool operator==(const PendingCounts& other) const {
    return std::equal(data(), data() + size_, other.data(), other.data() + other.size_);
  }

 private:
  static constexpr std::size_t kInside = 6;
  [[nodiscard]] bool is_outside() const { return size_ > kInside; }
  [[nodiscard]] std::int32_t* data() { return is_outside() ? more_ : inside_.data(); }
  [[nodiscard]] const std::int32_t* data() const { return is_outside() ? more_ : inside_.data(); }
  void swap(PendingCounts& other) noexcept {
    std::swap(size_, other.size_);
    std::swap(inside_, other.inside_);  // the pointer, too
  }

  union {
    std::array<std::int32_t, kInside> inside_{};
    std::int32_t* more_;
  };
  std::uint32_t size_ = 0;
};

}  // namespace contend
