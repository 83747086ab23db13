#include "validate/systems.hpp"

#include "sim/fields.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::array<std::string_view, 6> kWords = {"exact", "within", "order", "worked", "volumes", "not"};

PublishedSystem system_of(const TextEntry& entry) {
  PublishedSystem system;
  system.name = entry.name;
  system.paper = entry.text("paper");
  system.scenario = entry.text("run");
  system.page = entry.text("page");
  system.validated = entry.text("validated");
  system.how = system.validated.substr(0, system.validated.find_first_of(" :"));
  system.validated.remove_prefix(system.how.size());
  while (system.validated.starts_with(' ') || system.validated.starts_with(':')) system.validated.remove_prefix(1);
  for (auto [word, value] : entry.lines) {
    if (word == "key") system.keys.push_back(value);
    if (word == "set") system.settings.push_back(value);
    if (word != "policy") continue;
    const std::string_view kind = take_field(value, ' ');
    system.policies.emplace_back(kind, value);
  }
  return system;
}

/// How many systems are validated in each way, as a sentence.
std::string counts_text() {
  std::string text;
  for (const std::string_view word : kWords) {
    const auto systems = std::ranges::count(published_systems(), word, &PublishedSystem::how);
    text += fmt::format("{}{} `{}`", text.empty() ? "" : ", ", systems, word);
  }
  return text;
}

}  // namespace

const std::vector<PublishedSystem>& published_systems() {
  static const std::vector<PublishedSystem> kAll = [] {
    std::vector<PublishedSystem> all;
    for (const TextEntry& entry : read_entries(systems_text()))
      if (entry.kind == "system") all.push_back(system_of(entry));
    return all;
  }();
  return kAll;
}

const std::vector<std::pair<std::string_view, std::string_view>>& absent_systems() {
  static const std::vector<std::pair<std::string_view, std::string_view>> kAll = [] {
    std::vector<std::pair<std::string_view, std::string_view>> all;
    for (const TextEntry& entry : read_entries(systems_text()))
      if (entry.kind == "absent") all.emplace_back(entry.name, entry.text("reason"));
    return all;
  }();
  return kAll;
}

std::span<const std::string_view> validation_words() {
  return kWords;
}

std::string names_of(const PublishedSystem& system) {
  std::string names;
  const auto add = [&names](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
  for (const auto& [kind, policy] : system.policies) add(fmt::format("{} {}", kind, policy));
  for (const std::string_view key : system.keys) add(std::string{key});
  return names;
}

std::string command_of(const PublishedSystem& system) {
  std::string command{system.scenario};
  for (const std::string_view setting : system.settings) {
    const bool is_plain = setting.find_first_of(" {}[]") == std::string_view::npos;
    command += is_plain ? fmt::format(" --set {}", setting) : fmt::format(" --set '{}'", setting);
  }
  return command;
}

std::string validated_by(std::string_view kind, std::string_view policy) {
  std::string text;
  for (const PublishedSystem& system : published_systems()) {
    if (std::ranges::find(system.policies, std::pair{kind, policy}) == system.policies.end()) continue;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", system.name, system.how);
  }
  return text;
}

std::string systems_markdown() {
  std::string page = fmt::format(
      "# Published systems\n\n"
      "Generated from `validate/systems.txt` by `contend schema --systems`; `contend list systems` prints it, too.\n\n"
      "{} systems: {}.\n"
      "A test runs the scenario of each. `exact`: figures of the released code or of the paper come out to their last\n"
      "digit; `within`: so far off; `order`: which of several is faster; `worked`: by hand, by closed forms, or "
      "against a\n"
      "search of all possibilities; `volumes`: only bytes; `not`: not validated.\n\n"
      "| system | paper | policies and keys | `contend run` | validated |\n|---|---|---|---|---|\n",
      published_systems().size(), counts_text());
  for (const PublishedSystem& system : published_systems()) {
    const std::string more = system.validated.empty() ? "" : fmt::format(": {}", system.validated);
    const std::string link = system.page.empty() ? "" : fmt::format(" ([page]({}))", system.page);
    page += fmt::format("| {} | {} | {} | `{}` | {}{}{} |\n", system.name, system.paper, names_of(system),
                        command_of(system), system.how, more, link);
  }
  page += "\n## Not there\n\n| system | why |\n|---|---|\n";
  for (const auto& [name, reason] : absent_systems()) page += fmt::format("| {} | {} |\n", name, reason);
  return page;
}

}  // namespace contend
