#pragma once
// From what a scenario says about a sweep to its points: products, pairs, draws. Nothing is read as a scenario here, so
// a point may still turn out to be invalid.

#include "scenarios/sweep/sweep_spec.hpp"
#include "sim/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace contend {

inline constexpr std::size_t kMaxSweepPoints = 1'000'000;

/// The settings that occur, each once, and the points as indices into them, in the order in which they are applied.
struct SweepPoints {
  std::vector<SweepSetting> settings;
  std::vector<std::vector<std::uint32_t>> points;
  std::vector<std::string> keys;      ///< that vary, in the order of the settings of a point
  std::vector<std::size_t> excluded;  ///< points that each rule of SweepSpec::exclude has left out so far
};

[[nodiscard]] Complaint sweep_complaint(const SweepPlace& place, const std::string& key, std::string reason,
                                        std::string hint = {});

/// Throws InputError with all complaints: a key that two parts vary, lists of zip that differ in length, ends of ranges
/// that don't fit, more points than kMaxSweepPoints. A spec that varies nothing has one point, without settings.
[[nodiscard]] SweepPoints sweep_points(const SweepSpec& spec);

/// Whether a point has, for each key of the rule, one of its values.
[[nodiscard]] bool matches(const SweepRule& rule, const SweepPoints& points, const std::vector<std::uint32_t>& point);

/// Adds to the grid what a command line says, or replaces what the grid says about that key.
void set_dimension(SweepSpec& spec, SweepDimension dimension);
/// Whether the grid, or another part, varies the key.
[[nodiscard]] bool varies(const SweepSpec& spec, const std::string& key);

}  // namespace contend
