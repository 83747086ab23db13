#pragma once
// Texts of settings as numbers: which are equal, what lies between two of them, what a plot may use as an axis.

#include "scenarios/sweep/sweep_spec.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace contend {

/// A number or a quantity as people write it.
struct Magnitude {
  enum class Kind : std::uint8_t { integer, number, time, bytes, rate, time_per_byte };
  Kind kind = Kind::number;
  double value = 0;  ///< in seconds, bytes, bytes a second, seconds a byte
  std::string unit;  ///< as written: `Gbps`; empty for a plain number

  [[nodiscard]] bool is_quantity() const { return kind != Kind::integer && kind != Kind::number; }
};

/// Nothing if the text is neither.
[[nodiscard]] std::optional<Magnitude> magnitude_of(std::string_view text);
/// `s`, `B`, `Bps` or `s_per_B`: how columns call the unit of Magnitude::value; empty for plain numbers.
[[nodiscard]] std::string_view column_unit(Magnitude::Kind kind);
/// Whether two settings of a key mean the same: `10Gbps` and `10000Mbps`.
[[nodiscard]] bool same_value(const std::string& a, const std::string& b);

/// A value between two ends of one kind, in the unit of the first. What isn't a whole number is rounded to `digits`
/// significant decimal digits, so that the last bits of a C library's logarithm can't change a sweep.
class Interpolation {
 public:
  /// Throws InputError, at the place of the end that is wrong.
  Interpolation(const std::string& key, const SweepRange& range);
  /// `at` in 0..1; 0 and 1 are the ends as they are written.
  [[nodiscard]] std::string at(double at) const;
  /// For a draw: `at` in [0, 1), and of whole numbers each with equal share of it (on a linear scale).
  [[nodiscard]] std::string draw(double at) const;
  /// The values of the range, equal ones once.
  [[nodiscard]] std::vector<std::string> values() const;

 private:
  [[nodiscard]] std::string text(double value) const;
  [[nodiscard]] std::vector<std::string> stepped() const;

  std::string key_;
  SweepRange range_;
  Magnitude from_, to_;
  double unit_ = 1;  ///< Magnitude::value of 1 in the unit of `from`
  bool whole_ = false;
};

}  // namespace contend
