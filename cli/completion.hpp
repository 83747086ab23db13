#pragma once
// Completions for shells, made from the tables of verbs and options.

#include <string>

namespace contend {

[[nodiscard]] std::string bash_completion();
[[nodiscard]] std::string zsh_completion();
[[nodiscard]] std::string fish_completion();

}  // namespace contend
