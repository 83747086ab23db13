#pragma once
// Identifies the program, for `contend --version` and the manifest of a run.

namespace contend {

/// The version of the project, such as "0.1.0".
[[nodiscard]] const char* version();

/// The commit from which the build folder was configured, 12 hexadecimal digits; empty if the sources are not a git
/// clone. Uncommitted changes do not show.
[[nodiscard]] const char* git_hash();

/// The compiler with its version, and the type of build, such as "GNU 12.2.0, Release".
[[nodiscard]] const char* compiler();

/// The version of the CUDA toolkit with which calibration was built; empty without CUDA.
[[nodiscard]] const char* cuda_version();

}  // namespace contend
