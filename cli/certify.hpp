#pragma once
// Has `contend-check` check folders of results: docs/reference/certificate.md.

#include <span>
#include <string>
#include <vector>

namespace contend {

/// By folder: whether contend-check finds that the results agree with the log of their run. Its output goes to
/// stderr. Runs the contend-check beside this program, or the one on the path. Throws InputError if there is none, or
/// if a folder can't be checked, for example because it has no log.
[[nodiscard]] std::vector<bool> certify(std::span<const std::string> folders);

}  // namespace contend
