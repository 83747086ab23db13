#pragma once
// Interprets texts of settings as numbers: which are equal, what lies between two of them, which can label a plot axis.

#include "scenarios/sweep/sweep_spec.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace contend {

/// A number, or a quantity with its unit.
struct Magnitude {
  enum class Kind : std::uint8_t { integer, number, time, bytes, rate, time_per_byte };
  Kind kind = Kind::number;
  double value = 0;  ///< in seconds, bytes, bytes per second or seconds per byte
  std::string unit;  ///< as written: `Gbps`; empty for a plain number

  [[nodiscard]] bool is_quantity() const { return kind != Kind::integer && kind != Kind::number; }
};

/// The magnitude of a text; nothing if it is neither number nor quantity.
[[nodiscard]] std::optional<Magnitude> magnitude_of(std::string_view text);
/// The unit of Magnitude::value in column names: `s`, `B`, `Bps` or `s_per_B`; empty for plain numbers.
[[nodiscard]] std::string_view column_unit(Magnitude::Kind kind);
/// True if two settings of a key mean the same, such as `10Gbps` and `10000Mbps`.
[[nodiscard]] bool same_value(const std::string& a, const std::string& b);

/// Interpolates between two ends of one kind, in the unit of the first. Values that are not whole numbers are rounded
/// to `digits` significant decimal digits, so that the last bits of a C library's logarithm cannot change a sweep.
class Interpolation {
 public:
  /// Throws InputError at the place of the faulty end.
  Interpolation(const std::string& key, const SweepRange& range);
  /// The value at `at` in 0..1; 0 and 1 are the ends as written.
  [[nodiscard]] std::string at(double at) const;
  /// The value for a random `at` in [0, 1); on a linear scale every whole number gets an equal share.
  [[nodiscard]] std::string draw(double at) const;
  /// The values of the range without duplicates.
  [[nodiscard]] std::vector<std::string> values() const;

 private:
  [[nodiscard]] std::string text(double value) const;
  [[nodiscard]] std::vector<std::string> stepped() const;

  std::string key_;
  SweepRange range_;
  Magnitude from_, to_;
  double unit_ = 1;  ///< Magnitude::value of the number 1 in the unit of `from`
  bool whole_ = false;
};

}  // namespace contend
