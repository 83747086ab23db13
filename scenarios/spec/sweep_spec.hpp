#pragma once
// The `sweep.*` of a scenario as it is written: which keys vary, and how. scenarios/sweep/sweep_points.hpp expands it
// to points. A point is a set of settings, each equivalent to one `--set key=value`.

#include "text/magnitude.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace contend {

/// The place of a value, for complaints about points that contain it.
struct SweepPlace {
  std::string file;
  int line = 0, column = 0;
  std::string source_line;
};

/// A value of a key as YAML on one line.
struct SweepValue {
  SweepValue() = default;
  SweepValue(std::string written, SweepPlace where)
      : text{std::move(written)}, place{std::move(where)}, magnitude{parse_magnitude(text)} {}

  std::string text;
  SweepPlace place;
  std::optional<Magnitude> magnitude;  ///< of the text, if it is a number or a quantity
};

/// True if two values, each a text with its magnitude, mean one magnitude: `10Gbps` and `10000Mbps`.
template <class A, class B>
[[nodiscard]] bool same_value(const A& a, const B& b) {
  return a.text == b.text || (a.magnitude && b.magnitude && is_same(*a.magnitude, *b.magnitude));
}

/// The values between two ends, both included. The ends are numbers or quantities of one kind.
struct SweepRange {
  SweepValue from, to;
  std::optional<int> points;       ///< number of values, evenly spaced on the scale
  std::optional<SweepValue> step;  ///< or the distance between values; on a linear scale only
  bool logarithmic = false;
};

/// A key and its values: a list or a range.
struct SweepDimension {
  std::string key;
  std::vector<SweepValue> values;
  std::optional<SweepRange> range;
};

/// Points drawn at random: each key takes one of its values, or any value of its range.
struct SweepSample {
  int points = 1;
  std::uint64_t seed = 1;
  std::vector<SweepDimension> keys;
};

struct SweepSetting {
  std::string key;
  SweepValue value;
};

/// A rule that matches points in which every one of these keys has one of these values.
struct SweepRule {
  std::vector<SweepDimension> keys;
};

/// A sweep: the points of all parts are combined, each with each; later parts vary faster.
struct SweepSpec {
  std::vector<std::vector<SweepSetting>> list;  ///< point by point
  std::vector<SweepDimension> zip;              ///< first values together, second values together, ...
  std::optional<SweepSample> random;            ///< independent draws
  std::optional<SweepSample> latin_hypercube;   ///< each key has as many strata as there are points; each stratum is
                                                ///< used once
  std::optional<SweepSample> sobol;             ///< scrambled Sobol points (scenarios/sweep/sobol.hpp)
  std::vector<SweepDimension> grid;             ///< every combination; the last key varies fastest
  std::vector<SweepRule> exclude;               ///< points to leave out
  std::optional<int> repeat;                    ///< number of seeds for every point; default: the scenario's number
  std::vector<SweepSetting> baseline;           ///< each point is compared with the same point under these settings

  [[nodiscard]] bool varies() const {
    return !list.empty() || !zip.empty() || random || latin_hypercube || sobol || !grid.empty();
  }
  /// True if the scenario has any such key.
  [[nodiscard]] bool given() const { return varies() || !exclude.empty() || repeat || !baseline.empty(); }
};

}  // namespace contend
