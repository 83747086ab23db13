#pragma once
// Joins profiles of one device, so that operators which other software executes have the times of that software.

#include "calibration/profile.hpp"

namespace contend {

/// `base` with each table of `other` that has samples in place of its own table of that operator and number format; the
/// cross-validation of these tables is computed again, and `libraries`, if it differs, says whose they are. What `base`
/// skipped of them is no longer skipped. Throws InputError if the profiles are of different devices or back ends, or if
/// `other` has no samples.
[[nodiscard]] CalibrationProfile with_tables_of(CalibrationProfile base, const CalibrationProfile& other);

}  // namespace contend
