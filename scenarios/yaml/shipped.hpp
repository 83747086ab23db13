#pragma once
// The files that are installed with the program: the shipped scenarios and the profiles of measured devices, which are
// found without the source tree.

#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// The folder of installed files: $CONTEND_SHARE, else the one that was set, else share/contend beside the folder of
/// this program. It may not exist.
[[nodiscard]] std::string shared_folder();
/// For code that isn't in the program of its installation, as the Python module. To be called before scenarios are
/// read.
void set_shared_folder(const std::string& folder);

/// The folders of the profiles of measured devices, and of the sheets of devices.
inline constexpr std::string_view kProfileFolder = "models/devices/";
inline constexpr std::string_view kSheetFolder = "models/sheets/";

/// The path itself, but if there is no such file and it begins with `scenarios/`, `models/devices/` or
/// `models/sheets/`, the path of the installed file of that name if there is one. So commands of the documentation
/// work in any folder.
[[nodiscard]] std::string shipped_path(const std::string& path);
/// For a path `text` that a file in `folder` names: the file relative to that folder, or if there is none, the shipped
/// one of this name, in this folder or installed.
[[nodiscard]] std::string shipped_path_beside(const std::string& folder, const std::string& text);
/// The shipped profiles, by name: those in this folder if it has any (a source tree), else the installed ones.
[[nodiscard]] std::vector<std::string> shipped_profiles();

/// What to add to a complaint that this file isn't there: if its path names a shipped scenario and none are
/// installed, where they would be; else nothing.
[[nodiscard]] std::string missing_scenarios(const std::string& path);

}  // namespace contend
