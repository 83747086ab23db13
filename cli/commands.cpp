#include "cli/commands.hpp"

#include "sim/check.hpp"
#include "sim/fields.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace contend {
namespace {

/// What a verb does.
struct VerbCode {
  std::string_view name;
  int (*run)(const Arguments&);
  void (*print_wrong_input)(const Arguments&, const InputError&) = nullptr;
};
constexpr VerbCode kVerbs[] = {
    {"run", run_verb},
    {"compare", compare_verb, annotate_wrong_comparison},
    {"explain", explain_verb},
    {"report", report_verb},
    {"sweep", sweep_verb},
    {"tune", tune_verb},
    {"evaluate", evaluate_verb},
    {"results", results_verb},
    {"runs", runs_verb},
    {"merge", merge_verb},
    {"new", new_verb},
    {"check", check_verb},
    {"show", show_verb},
    {"list", list_verb},
    {"import", import_verb},
    {"import training", import_training_verb},
    {"cluster import", cluster_import_verb},
    {"twin", twin_verb},
    {"whatif", whatif_verb},
    {"schema", schema_verb},
    {"completion", completion_verb},
    {"man", man_verb},
    {"validate", validate_verb},
    {"calibrate", calibrate_verb},
    {"calibrate model", calibrate_model_verb},
    {"calibrate import", calibrate_import_verb},
    {"calibrate merge", calibrate_merge_verb},
    {"calibrate compare", calibrate_compare_verb},
    {"calibrate network", calibrate_network_verb},
    {"fits", fits_verb},
    {"fit", fit_verb},
    {"collective", collective_verb},
    {"flows", flows_verb},
    {"stragglers", stragglers_verb},
    {"ask", ask_verb},
    {"recording", recording_verb},
    {"doctor", doctor_verb},
    {"export", export_verb},
    {"capture", capture_verb},
};

/// `--output` and `-o =FILE writes | the purpose of the option`.
Option option_of(std::string_view name, std::string_view rest) {
  std::string_view words = trimmed(take_field(rest, '|'));
  Option option{.name = name.substr(2), .letter = '\0', .value = {}, .text = trimmed(rest)};
  while (!words.empty()) {
    const std::string_view word = take_field(words, ' ');
    if (word.starts_with('='))
      option.value = word.substr(1);
    else if (word.starts_with('-'))
      option.letter = word.at(1);
    else if (word == "writes")
      option.writes = true;
    else if (word == "repeatable")
      option.repeatable = true;
    else
      check_failed(__FILE__, __LINE__, "a word of an option is known", word);
  }
  return option;
}

void add_options(const TextEntry& entry, std::span<const TextEntry> all, Command& command) {
  for (const auto& [word, value] : entry.lines) {
    if (word.starts_with("--")) command.options.push_back(option_of(word, value));
    if (word != "with") continue;
    const auto shared = std::ranges::find_if(
        all, [&, name = value](const TextEntry& each) { return each.kind == "shared" && each.name == name; });
    CONTEND_CHECK(shared != all.end(), "options that verbs share are in the table");
    add_options(*shared, all, command);
  }
}

/// `1 * SCENARIO...`
void set_arguments(std::string_view text, Command& command) {
  const auto count = [&] {
    const std::string_view word = take_field(text, ' ');
    return word == "*" ? SIZE_MAX : static_cast<std::size_t>(numbers_in(word).at(0));
  };
  command.min_arguments = count();
  command.max_arguments = count();
  command.arguments = text;
}

std::vector<Command> read_verbs() {
  const std::vector<TextEntry> entries = read_entries(verbs_text());
  std::vector<Command> all;
  for (const TextEntry& entry : entries) {
    if (entry.kind != "verb") continue;
    const auto* const code = std::ranges::find(kVerbs, entry.name, &VerbCode::name);
    CONTEND_CHECK(code != std::end(kVerbs), "a verb of the table does something");
    Command& command = all.emplace_back();
    command.name = entry.name;
    command.summary = entry.text("summary");
    command.run = code->run;
    command.print_wrong_input = code->print_wrong_input;
    set_arguments(entry.text("arguments"), command);
    for (const auto& [word, value] : entry.lines)
      if (word == "example") command.examples.push_back(value);
    add_options(entry, entries, command);
  }
  CONTEND_CHECK(all.size() == std::size(kVerbs), "each verb is in the table");
  return all;
}

}  // namespace

std::span<const Command> commands() {
  static const std::vector<Command> kCommands = read_verbs();
  return kCommands;
}

const Command* named_command(std::span<const std::string> words) {
  const auto named = [](const std::string& name) -> const Command* {
    const auto found = std::ranges::find(commands(), name, &Command::name);
    return found == commands().end() ? nullptr : &*found;
  };
  if (words.size() >= 2)
    if (const Command* const command = named(words[0] + ' ' + words[1])) return command;
  return words.empty() || words[0].find(' ') != std::string::npos ? nullptr : named(words[0]);
}

std::size_t words_of(const Command& command) {
  return command.name.find(' ') == std::string_view::npos ? 1 : 2;
}

}  // namespace contend
