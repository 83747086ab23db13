#pragma once
// The files that are installed with the program: the shipped scenarios, which are found without the source tree.

#include <string>

namespace contend {

/// The folder of installed files: $CONTEND_SHARE, else share/contend beside the folder of this program. It may not
/// exist.
[[nodiscard]] std::string shared_folder();

/// The path itself, but if there is no such file and it begins with `scenarios/`, that of the installed file of that
/// name if there is one. So commands of the documentation work in any folder.
[[nodiscard]] std::string shipped_path(const std::string& path);

}  // namespace contend
