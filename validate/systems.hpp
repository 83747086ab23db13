#pragma once
// The published systems that the program covers (systems.txt): paper, policies and keys, a shipped scenario, and how
// each is validated. `contend list systems`, the column `validated by` of `contend list policies` and
// docs/validation/systems.md are made of this table.

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

struct PublishedSystem {
  std::string_view name, paper;
  std::vector<std::pair<std::string_view, std::string_view>> policies;  ///< kind, as `scheduling`, and name
  std::vector<std::string_view> keys;                                   ///< of scenarios
  std::string_view scenario;                                            ///< path of a shipped one
  std::vector<std::string_view> settings;                               ///< KEY=VALUE on top of it
  std::string_view how;        ///< it is validated: a word of validation_words()
  std::string_view validated;  ///< further words, may be empty
  std::string_view page;       ///< in docs/validation/; empty: only tests say more
};

/// In order of their table.
[[nodiscard]] const std::vector<PublishedSystem>& published_systems();
/// Systems that the program doesn't cover, and why, in order of the table.
[[nodiscard]] const std::vector<std::pair<std::string_view, std::string_view>>& absent_systems();
/// The text of systems.txt.
[[nodiscard]] std::string_view systems_text();
/// What PublishedSystem::how may be, the strongest first.
[[nodiscard]] std::span<const std::string_view> validation_words();

/// Its policies and keys in one line, and the command that runs it.
[[nodiscard]] std::string names_of(const PublishedSystem& system);
[[nodiscard]] std::string command_of(const PublishedSystem& system);
/// How the systems of a policy are validated: `Tiresias (exact)`; empty if no system names it.
[[nodiscard]] std::string validated_by(std::string_view kind, std::string_view policy);
/// The page of all systems.
[[nodiscard]] std::string systems_markdown();

}  // namespace contend
