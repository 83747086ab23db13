#pragma once
// The list of all verbs. Help, man pages and completions are made from it.

#include "cli/command.hpp"

#include <span>
#include <string>
#include <string_view>

namespace contend {

/// In the order in which the help of the program shows them.
[[nodiscard]] std::span<const Command> commands();
/// The texts of verbs.txt, questions.txt and facilities.txt.
[[nodiscard]] std::string_view verbs_text();
[[nodiscard]] std::string_view questions_text();
[[nodiscard]] std::string_view facilities_text();
/// The templates of `contend new`, in which a word between two @ stands for an answer.
[[nodiscard]] std::string_view queue_template();
[[nodiscard]] std::string_view training_template();
[[nodiscard]] std::string_view serving_template();

/// The command that the words begin with, or nullptr. A verb may have two words, such as `calibrate network`, beside
/// the verb of the first word alone.
[[nodiscard]] const Command* named_command(std::span<const std::string> words);

/// The number of words of a verb: 1 or 2.
[[nodiscard]] std::size_t words_of(const Command& command);

}  // namespace contend
