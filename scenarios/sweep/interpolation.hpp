#pragma once
// The values of a range (`{from: 1Gbps, to: 100Gbps, points: 5, scale: log}`), as people would write them.

#include "scenarios/spec/sweep_spec.hpp"

#include <string>
#include <vector>

namespace contend {

/// A value between two ends of one kind, in the unit of the first. What isn't a whole number is rounded to some
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
  double from_ = 0, to_ = 0;  ///< base_number() of the ends
  bool whole_ = false;        ///< both ends are whole numbers, so are all values
  std::string unit_;          ///< of `from` as it is written, such as `Gbps`; empty for a plain number
  double one_ = 1;            ///< base_number() of 1 in this unit
};

}  // namespace contend
