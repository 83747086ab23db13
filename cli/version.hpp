#pragma once
// Which program this is, for `contend --version` and the manifest of a run.

namespace contend {

/// The version of the project, e.g. "0.1.0".
[[nodiscard]] const char* version();

/// The commit the build folder was configured from, 12 hex digits; empty if the program was not built from a clone.
/// Changes that were not committed do not show.
[[nodiscard]] const char* git_hash();

}  // namespace contend
