#include "cli/commands.hpp"

#include <algorithm>

namespace contend {

std::span<const Command* const> commands() {
  static const Command* const kCommands[] = {&run_command(),
                                             &compare_command(),
                                             &explain_command(),
                                             &report_command(),
                                             &sweep_command(),
                                             &tune_command(),
                                             &results_command(),
                                             &merge_command(),
                                             &check_command(),
                                             &show_command(),
                                             &list_command(),
                                             &import_command(),
                                             &schema_command(),
                                             &completion_command(),
                                             &man_command(),
                                             &validate_command(),
                                             &calibrate_command(),
                                             &calibrate_model_command(),
                                             &calibrate_import_command(),
                                             &calibrate_merge_command(),
                                             &calibrate_compare_command(),
                                             &calibrate_network_command(),
                                             &fit_command(),
                                             &collective_command(),
                                             &flows_command(),
                                             &stragglers_command()};
  return kCommands;
}

const Command* named_command(std::span<const std::string> words) {
  const auto named = [](const std::string& name) -> const Command* {
    const auto found = std::ranges::find(commands(), name, &Command::name);
    return found == commands().end() ? nullptr : *found;
  };
  if (words.size() >= 2)
    if (const Command* const command = named(words[0] + ' ' + words[1])) return command;
  return words.empty() || words[0].find(' ') != std::string::npos ? nullptr : named(words[0]);
}

std::size_t words_of(const Command& command) {
  return command.name.find(' ') == std::string_view::npos ? 1 : 2;
}

}  // namespace contend
