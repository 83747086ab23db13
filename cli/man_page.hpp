#pragma once
// Man pages, made from the tables of verbs and options.

#include "cli/command.hpp"

#include <string>

namespace contend {

/// The name of the page of a verb, such as `contend-calibrate-model`; the page of the program is named `contend`.
[[nodiscard]] std::string man_page_name(const Command& command);
/// contend(1): what the program is, its verbs, exit codes and environment.
[[nodiscard]] std::string program_man_page();
/// The page of a verb.
[[nodiscard]] std::string man_page(const Command& command);

}  // namespace contend
