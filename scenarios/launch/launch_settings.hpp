#pragma once
// The settings of a launch file, whatever its syntax.

#include <string>
#include <vector>

namespace contend {

/// A setting as it stands in a file.
struct LaunchSetting {
  int line = 0;       ///< from 1
  std::string name;   ///< `--num-layers` of shell text; of a tree the keys with points between them: `training.seq_len`
  std::string value;  ///< empty: none, null, or an empty list; members of a list are joined by blanks
};

enum class LaunchSyntax { shell, tree };

struct LaunchSettings {
  LaunchSyntax syntax = LaunchSyntax::shell;
  std::vector<LaunchSetting> all{};
};

/// Reads shell text (`--NAME VALUE`, `--NAME=VALUE`), JSON, YAML or TOML: by the ending of the file's name where it is
/// .json, .yaml, .yml or .toml, else JSON where the text begins with a brace, TOML where a line is a [table], and shell
/// text. In shell text a value `$NAME` or `${NAME}` is replaced by the VALUE of a line `NAME=VALUE`, and
/// `${NAME:-usual}` by `usual` where there is no such line; without a value it stays. A VALUE that has arguments
/// itself, also one that is added to a variable (`NAME+=" --a 1"`, `NAME="$NAME --a 1"`), is read as arguments. Throws
/// InputError for text that is no JSON, YAML or TOML.
[[nodiscard]] LaunchSettings launch_settings(const std::string& text, const std::string& file);

}  // namespace contend
