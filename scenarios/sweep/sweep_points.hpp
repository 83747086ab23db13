#pragma once
// Expands the `sweep.*` of a scenario to its points: products, pairs, random draws. Points are not read as scenarios
// here, so a point may still be invalid.

#include "scenarios/spec/sweep_spec.hpp"
#include "sim/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace contend {

inline constexpr std::size_t kMaxSweepPoints = 1'000'000;

/// The distinct settings, and each point as indices into them, in the order in which they apply.
struct SweepPoints {
  std::vector<SweepSetting> settings;
  std::vector<std::vector<std::uint32_t>> points;
  std::vector<std::string> keys;      ///< the varied keys, in the order of a point's settings
  std::vector<std::size_t> excluded;  ///< the number of points that each rule of SweepSpec::exclude left out
};

[[nodiscard]] Complaint sweep_complaint(const SweepPlace& place, const std::string& key, std::string reason,
                                        std::string hint = {});

/// Expands a spec. Throws InputError with all complaints: a key that two parts vary, lists of zip with different
/// lengths, ends of ranges that do not match, more than kMaxSweepPoints points. A spec that varies nothing has one
/// point without settings.
[[nodiscard]] SweepPoints sweep_points(const SweepSpec& spec);

/// True if the point has, for each key of the rule, one of its values.
[[nodiscard]] bool matches(const SweepRule& rule, const SweepPoints& points, const std::vector<std::uint32_t>& point);

/// Adds a dimension from the command line to the grid, replacing the grid's own dimension of that key.
void set_dimension(SweepSpec& spec, SweepDimension dimension);
/// True if the grid or another part varies the key.
[[nodiscard]] bool varies(const SweepSpec& spec, const std::string& key);

}  // namespace contend
