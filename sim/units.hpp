#pragma once
// Physical quantities are types that do not mix. Time is an integer, so that two runs agree to the last bit and leaping
// is exact. Rates are real numbers; every conversion from a rate to a time rounds up. No quantity wraps around: the
// arithmetic of Time and Bytes throws InputError where 64 bits do not hold the result, and GpuTime has 128 bits.

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>

namespace contend {

__extension__ using Int128 = __int128;

/// Throws InputError: a time is beyond 292 years, or an amount of data beyond 9.2 EB.
[[noreturn]] void throw_time_overflow();
[[noreturn]] void throw_bytes_overflow();

/// A point in simulated time or a duration, in whole nanoseconds: signed 64 bits (292 years).
class Time {
 public:
  constexpr Time() = default;
  static constexpr Time nanoseconds(std::int64_t ns) { return Time{ns}; }
  static constexpr Time microseconds(std::int64_t us) { return Time{us} * 1'000; }
  static constexpr Time milliseconds(std::int64_t ms) { return Time{ms} * 1'000'000; }
  static constexpr Time seconds(std::int64_t s) { return Time{s} * 1'000'000'000; }
  /// `ns` rounded up to whole nanoseconds. A number that was computed in floating point may miss a whole number by a
  /// few roundings, so what is above one by no more than 2^-48 of `ns` is that one: an exact result stays exact. `of`
  /// is the largest of the numbers that `ns` is a difference of, whose roundings it has, if it is one. The tolerance is
  /// at least 2^-24 ns and at most a quarter. What is above 0, and is no rounding of `of`, takes a nanosecond at least.
  /// Throws InputError if `ns` is no number or beyond the range of the type.
  static Time ceil_nanoseconds(double ns, double of = 0) {
    constexpr double kLimit = 9223372036854775808.0;  // 2^63
    constexpr double kRoundings = 0x1p-48, kLeast = 0x1p-24, kMost = 0.25;
    if (!(ns < kLimit && ns >= -kLimit)) throw_time_overflow();
    const double tolerance = std::clamp(kRoundings * std::max(std::abs(ns), of), kLeast, kMost);
    const auto whole = static_cast<std::int64_t>(std::ceil(ns - tolerance));
    return Time{whole < 1 && ns > kRoundings * of ? 1 : whole};
  }
  /// Later than any event of a simulation.
  static constexpr Time never() { return Time{INT64_MAX}; }

  [[nodiscard]] constexpr std::int64_t ns() const { return ns_; }
  [[nodiscard]] constexpr double to_seconds() const { return static_cast<double>(ns_) * 1e-9; }

  constexpr auto operator<=>(const Time&) const = default;
  constexpr Time& operator+=(Time other) {
    if (__builtin_add_overflow(ns_, other.ns_, &ns_)) throw_time_overflow();
    return *this;
  }
  constexpr Time& operator-=(Time other) {
    if (__builtin_sub_overflow(ns_, other.ns_, &ns_)) throw_time_overflow();
    return *this;
  }
  friend constexpr Time operator+(Time a, Time b) { return a += b; }
  friend constexpr Time operator-(Time a, Time b) { return a -= b; }
  friend constexpr Time operator*(Time a, std::int64_t n) {
    if (__builtin_mul_overflow(a.ns_, n, &a.ns_)) throw_time_overflow();
    return a;
  }
  friend constexpr Time operator*(std::int64_t n, Time a) { return a * n; }

 private:
  constexpr explicit Time(std::int64_t ns) : ns_{ns} {}
  std::int64_t ns_ = 0;
};

/// The last instant at which an event can happen; one that would come later is scheduled here, where the run stops.
inline constexpr Time kEndOfClock = Time::never() - Time::nanoseconds(1);

/// Time summed over GPUs, in whole nanoseconds: signed 128 bits, so that any number of GPUs and jobs can be summed.
class GpuTime {
 public:
  constexpr GpuTime() = default;
  /// The GPU time of `gpus` GPUs that are each held or busy for `time`.
  constexpr GpuTime(Time time, std::int64_t gpus) : ns_{Int128{time.ns()} * gpus} {}
  static constexpr GpuTime nanoseconds(Int128 ns) { return GpuTime{ns}; }
  /// More than any job attains: 2^120 ns.
  static constexpr GpuTime unlimited() { return GpuTime{Int128{1} << 120}; }

  [[nodiscard]] constexpr Int128 ns() const { return ns_; }
  [[nodiscard]] constexpr double to_seconds() const { return static_cast<double>(ns_) * 1e-9; }
  /// The time of each of `gpus` GPUs, rounded towards 0. Throws InputError if 64 bits do not hold it.
  [[nodiscard]] constexpr Time on_each_of(int gpus) const {
    const Int128 each = ns_ / gpus;
    const auto ns = static_cast<std::int64_t>(each);
    if (Int128{ns} != each) throw_time_overflow();
    return Time::nanoseconds(ns);
  }

  constexpr auto operator<=>(const GpuTime&) const = default;
  constexpr GpuTime& operator+=(GpuTime other) {
    ns_ += other.ns_;
    return *this;
  }
  constexpr GpuTime& operator-=(GpuTime other) {
    ns_ -= other.ns_;
    return *this;
  }
  friend constexpr GpuTime operator+(GpuTime a, GpuTime b) { return a += b; }
  friend constexpr GpuTime operator-(GpuTime a, GpuTime b) { return a -= b; }
  friend constexpr GpuTime operator*(GpuTime a, std::int64_t n) { return GpuTime{a.ns_ * n}; }

 private:
  constexpr explicit GpuTime(Int128 ns) : ns_{ns} {}
  Int128 ns_ = 0;
};

/// An amount of data in whole bytes.
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::int64_t count) : count_{count} {}
  static constexpr Bytes mebibytes(std::int64_t n) { return Bytes{n} * 1'048'576; }

  [[nodiscard]] constexpr std::int64_t count() const { return count_; }
  [[nodiscard]] constexpr double to_double() const { return static_cast<double>(count_); }
  [[nodiscard]] constexpr double to_gibibytes() const { return static_cast<double>(count_) / (1 << 30); }

  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes& operator+=(Bytes other) {
    if (__builtin_add_overflow(count_, other.count_, &count_)) throw_bytes_overflow();
    return *this;
  }
  constexpr Bytes& operator-=(Bytes other) {
    if (__builtin_sub_overflow(count_, other.count_, &count_)) throw_bytes_overflow();
    return *this;
  }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return a += b; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return a -= b; }
  friend constexpr Bytes operator*(Bytes a, std::int64_t n) {
    if (__builtin_mul_overflow(a.count_, n, &a.count_)) throw_bytes_overflow();
    return a;
  }

 private:
  std::int64_t count_ = 0;
};

/// A data rate in bytes per second (not bits: `10Gbps` in a scenario is 1.25e9 here).
class ByteRate {
 public:
  constexpr ByteRate() = default;
  constexpr explicit ByteRate(double bytes_per_second) : bytes_per_second_{bytes_per_second} {}
  [[nodiscard]] constexpr double bytes_per_second() const { return bytes_per_second_; }
  constexpr auto operator<=>(const ByteRate&) const = default;

 private:
  double bytes_per_second_ = 0;
};

/// The slope of an alpha-beta cost in nanoseconds per byte, >= 0.
class TimePerByte {
 public:
  constexpr TimePerByte() = default;
  constexpr explicit TimePerByte(double ns_per_byte) : ns_per_byte_{ns_per_byte} {}
  [[nodiscard]] constexpr double ns_per_byte() const { return ns_per_byte_; }
  constexpr auto operator<=>(const TimePerByte&) const = default;

 private:
  double ns_per_byte_ = 0;
};

}  // namespace contend
