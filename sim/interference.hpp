#pragma once
// Interference is what computing and communicating cost each other on a GPU that does both at once. They share its
// multiprocessors, its memory bandwidth, and the host that drives them.
//
// While a GPU takes part in a transfer, its task runs at 1 / (1 + compute) of its rate; while one of the GPUs of a
// transfer runs a task, the bytes of the transfer move at 1 / (1 + network) of their rate. How many transfers or tasks
// there are does not matter. So a task of length C and a transfer of length M that start together take
//
//   C (1 + c) <= M (1 + x):  M + C (1 + c) x / (1 + x)      otherwise  C + M (1 + x) c / (1 + c)
//
// with c = compute and x = network. With c = x = phi that is max(C, M) + phi min(C, M). Overlapping saves time exactly
// if c x < 1.

#include "sim/units.hpp"

#include <cstdint>

namespace contend {

/// The two factors, in millionths; both are 0 or more. 250000 means that a task takes 1.25 times as long.
struct Interference {
  std::int64_t compute = 0;
  std::int64_t network = 0;

  [[nodiscard]] constexpr bool none() const { return compute == 0 && network == 0; }
  /// The time per byte of a transfer beside computing, in units of that alone.
  [[nodiscard]] double network_slowdown() const { return 1 + static_cast<double>(network) * 1e-6; }
  bool operator==(const Interference&) const = default;
};

/// A task in progress whose rate changes between full and reduced. Its progress is an integer, so the time at which it
/// ends does not depend on how often somebody looked at it.
class PacedTask {
 public:
  PacedTask() = default;
  /// A task of this length that starts now at full rate.
  PacedTask(Time duration, Time now, const Interference& interference)
      : full_rate_{kMillion + interference.compute}, left_{Int128{duration.ns()} * full_rate_}, since_{now} {}

  [[nodiscard]] bool is_slowed() const { return slowed_; }
  /// The rest of its work at `now`, which is not before the last change, in full_rate-ths of a nanosecond.
  [[nodiscard]] Int128 left(Time now) const { return left_ - Int128{(now - since_).ns()} * rate(); }
  /// When it ends at the present rate.
  [[nodiscard]] Time end() const;
  void set_slowed(bool slowed, Time now) {
    left_ = left(now);
    since_ = now;
    slowed_ = slowed;
  }
  /// Moves it into the future without changing its progress.
  void shift(Time by) { since_ += by; }

 private:
  static constexpr std::int64_t kMillion = 1'000'000;
  [[nodiscard]] std::int64_t rate() const { return slowed_ ? kMillion : full_rate_; }

  std::int64_t full_rate_ = kMillion;  // per nanosecond; the reduced rate is kMillion
  Int128 left_ = 0;
  Time since_;
  bool slowed_ = false;
};

}  // namespace contend
