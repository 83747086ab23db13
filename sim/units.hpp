#pragma once
// Physical quantities are types that do not mix. Time is an integer, so that two runs agree to the last bit and leaping
// is exact. Rates are real numbers; every conversion from a rate to a time rounds up.

#include <cmath>
#include <compare>
#include <cstdint>

namespace contend {

/// A point in simulated time or a duration, in whole nanoseconds: signed 64 bits (292 years).
class Time {
 public:
  constexpr Time() = default;
  static constexpr Time nanoseconds(std::int64_t ns) { return Time{ns}; }
  static constexpr Time microseconds(std::int64_t us) { return Time{us * 1'000}; }
  static constexpr Time milliseconds(std::int64_t ms) { return Time{ms * 1'000'000}; }
  static constexpr Time seconds(std::int64_t s) { return Time{s * 1'000'000'000}; }
  /// `ns` rounded up to whole nanoseconds; it must lie within the range of the type.
  static Time ceil_nanoseconds(double ns) { return Time{static_cast<std::int64_t>(std::ceil(ns))}; }
  /// Later than any event of a simulation.
  static constexpr Time never() { return Time{INT64_MAX}; }

  [[nodiscard]] constexpr std::int64_t ns() const { return ns_; }
  [[nodiscard]] constexpr double to_seconds() const { return static_cast<double>(ns_) * 1e-9; }

  constexpr auto operator<=>(const Time&) const = default;
  constexpr Time& operator+=(Time other) {
    ns_ += other.ns_;
    return *this;
  }
  constexpr Time& operator-=(Time other) {
    ns_ -= other.ns_;
    return *this;
  }
  friend constexpr Time operator+(Time a, Time b) { return Time{a.ns_ + b.ns_}; }
  friend constexpr Time operator-(Time a, Time b) { return Time{a.ns_ - b.ns_}; }
  friend constexpr Time operator*(Time a, std::int64_t n) { return Time{a.ns_ * n}; }
  friend constexpr Time operator*(std::int64_t n, Time a) { return Time{a.ns_ * n}; }

 private:
  constexpr explicit Time(std::int64_t ns) : ns_{ns} {}
  std::int64_t ns_ = 0;
};

/// An amount of data in whole bytes.
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::int64_t count) : count_{count} {}
  static constexpr Bytes mebibytes(std::int64_t n) { return Bytes{n * 1'048'576}; }

  [[nodiscard]] constexpr std::int64_t count() const { return count_; }
  [[nodiscard]] constexpr double to_double() const { return static_cast<double>(count_); }

  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes& operator+=(Bytes other) {
    count_ += other.count_;
    return *this;
  }
  constexpr Bytes& operator-=(Bytes other) {
    count_ -= other.count_;
    return *this;
  }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes{a.count_ + b.count_}; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes{a.count_ - b.count_}; }
  friend constexpr Bytes operator*(Bytes a, std::int64_t n) { return Bytes{a.count_ * n}; }

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
