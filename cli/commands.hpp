#pragma once
// The list of all verbs. Help, man pages and completions are made from it.

#include "cli/command.hpp"

#include <span>
#include <string>
#include <string_view>

namespace contend {

/// In the order in which the help of the program shows them.
[[nodiscard]] std::span<const Command> commands();
/// The texts of verbs.txt and questions.txt.
[[nodiscard]] std::string_view verbs_text();
[[nodiscard]] std::string_view questions_text();

/// The command that the words begin with, or nullptr. A verb may have two words, such as `calibrate network`, beside
/// the verb of the first word alone.
[[nodiscard]] const Command* named_command(std::span<const std::string> words);

/// The number of words of a verb: 1 or 2.
[[nodiscard]] std::size_t words_of(const Command& command);

}  // namespace contend
