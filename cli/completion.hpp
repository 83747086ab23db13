#pragma once
// Completions for shells, made from the tables of verbs and options.

#include <string>
#include <string_view>

namespace contend {

[[nodiscard]] std::string bash_completion();
[[nodiscard]] std::string zsh_completion();
[[nodiscard]] std::string fish_completion();

/// The texts of completion.bash.in and completion.zsh.in.
[[nodiscard]] std::string_view bash_template();
[[nodiscard]] std::string_view zsh_template();

}  // namespace contend
