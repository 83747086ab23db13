#pragma once
// Training steps measured on a GPU, beside those predicted from its calibration (docs/validation/calibration.md).

#include <cstdio>

namespace contend {

/// The suite `calibration`. Returns 0 if every step is as documented.
int validate_calibration(std::FILE* out);

}  // namespace contend
