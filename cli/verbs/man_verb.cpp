#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/man_page.hpp"
#include "cli/output.hpp"
#include "text/own_files.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
int man_verb(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.positionals();
  if (const auto folder = arguments.value("output")) {
    if (!words.empty()) throw UsageError{"contend man: --output writes the pages of all verbs; expected no verb"};
    std::vector<WrittenFile> pages;
    const auto add = [&](const std::string& name, std::string page) {
      pages.push_back({(std::filesystem::path{*folder} / (name + ".1")).string(), std::move(page)});
    };
    add("contend", program_man_page());
    for (const Command& command : commands()) add(man_page_name(command), man_page(command));
    write_own_files(pages);
    return kExitOk;
  }
  if (words.empty()) {
    print_output("{}", program_man_page());
    return kExitOk;
  }
  const Command* const command = named_command(words);
  if (command == nullptr || words_of(*command) != words.size()) {
    std::vector<std::string> names;
    for (const Command& each : commands()) names.emplace_back(each.name);
    const std::string name = fmt::format("{}", fmt::join(words, " "));
    throw UsageError{fmt::format("contend man: there is no verb \"{}\"{}", name, suggestion(name, names))};
  }
  print_output("{}", man_page(*command));
  return kExitOk;
}

}  // namespace contend
