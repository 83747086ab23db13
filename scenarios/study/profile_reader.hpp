#pragma once
// Reads what `contend calibrate` wrote (calibration/profile.hpp), as strictly as a scenario: an unknown key, an
// operator or number format that there isn't, a shape that doesn't fit its operator are errors, and all of them are
// thrown at once with their places.

#include "calibration/profile.hpp"

#include <string>
#include <string_view>

namespace contend {

inline constexpr int kProfileSchemaVersion = 1;

/// Throws InputError.
[[nodiscard]] CalibrationProfile read_profile(const std::string& path);
/// The same for text in memory; `name` stands for the file in messages.
[[nodiscard]] CalibrationProfile parse_profile(std::string_view text, const std::string& name);

}  // namespace contend
