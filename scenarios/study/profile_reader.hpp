#pragma once
// Reads the profiles that `contend calibrate` writes (calibration/profile.hpp), as strictly as scenarios: unknown keys,
// operators and number formats, and shapes that do not fit their operator are errors, all thrown at once with their
// places.

#include "calibration/profile.hpp"

#include <string>
#include <string_view>

namespace contend {

inline constexpr int kProfileSchemaVersion = 1;

/// Reads a profile. Throws InputError.
[[nodiscard]] CalibrationProfile read_profile(const std::string& path);
/// The same for text in memory; messages call it `name`.
[[nodiscard]] CalibrationProfile parse_profile(std::string_view text, const std::string& name);

}  // namespace contend
