#pragma once
// What a scenario says about a sweep (`sweep.*`), as it stands there: which keys vary, and how. Points are made of it
// by scenarios/sweep/sweep_points.hpp. A point is a set of settings, each as if it were one `--set key=value`.

#include "text/magnitude.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// Where a value was written, for complaints about the point that it is part of.
struct SweepPlace {
  std::string file;
  int line = 0, column = 0;
  std::string source_line;
};

/// A value of a key as it is written, in YAML on one line.
struct SweepValue {
  SweepValue() = default;
  SweepValue(std::string written, SweepPlace where)
      : text{std::move(written)}, place{std::move(where)}, magnitude{parse_magnitude(text)} {}

  std::string text;
  SweepPlace place;
  std::optional<Magnitude> magnitude;  ///< of the text, if it is a number or a quantity
};

/// Whether two values, each a text with its magnitude, mean the same: `10Gbps` and `10000Mbps`.
template <class A, class B>
[[nodiscard]] bool same_value(const A& a, const B& b) {
  return a.text == b.text || (a.magnitude && b.magnitude && is_same(*a.magnitude, *b.magnitude));
}

/// Values from one end to the other, both included. The ends are numbers or quantities of one kind.
struct SweepRange {
  SweepValue from, to;
  std::optional<int> points;       ///< how many, evenly spaced on the scale
  std::optional<SweepValue> step;  ///< or this far apart; on a linear scale only
  bool logarithmic = false;
};

/// A key and the values that it takes: listed, or a range.
struct SweepDimension {
  std::string key;
  std::vector<SweepValue> values;
  std::optional<SweepRange> range;
};

/// Points drawn at random: each key takes one of its values, or a value of its range.
struct SweepSample {
  int points = 1;
  std::uint64_t seed = 1;
  std::vector<SweepDimension> keys;
};

struct SweepSetting {
  std::string key;
  SweepValue value;
};

/// Points in which every one of these keys has one of these values.
struct SweepRule {
  std::vector<SweepDimension> keys;
};

/// The points of all parts are combined, each with each; those of the later part vary faster.
struct SweepSpec {
  std::vector<std::vector<SweepSetting>> list;  ///< point by point
  std::vector<SweepDimension> zip;              ///< first values together, second values together, ...
  std::optional<SweepSample> random;            ///< independent draws
  std::optional<SweepSample> latin_hypercube;   ///< each key in as many strata as points, each stratum once
  std::vector<SweepDimension> grid;             ///< every combination; the last key varies fastest
  std::vector<SweepRule> exclude;               ///< points that are left out
  std::optional<int> repeat;                    ///< seeds of every point; else as the scenario says
  std::vector<SweepSetting> baseline;           ///< what points are compared with: the same point but for these

  [[nodiscard]] bool varies() const {
    return !list.empty() || !zip.empty() || random || latin_hypercube || !grid.empty();
  }
  /// Whether the scenario has any such key.
  [[nodiscard]] bool given() const { return varies() || !exclude.empty() || repeat || !baseline.empty(); }
};

}  // namespace contend
