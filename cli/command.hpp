#pragma once
// Describes the verbs of the program: their options are data, from which parsing, --help and shell completion follow.

#include "sim/error.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// An invalid command line; the program prints a pointer to --help and exits with code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An option of a verb.
struct Option {
  std::string_view name;   ///< without dashes
  char letter = '\0';      ///< short form, or none
  std::string_view value;  ///< placeholder of its value; empty for a switch
  std::string_view text;   ///< one line of help
  bool repeatable = false;
  bool writes = false;  ///< its value is a file that the verb writes (text/own_files.hpp)
};

/// What every verb has beside its own options.
inline constexpr Option kHelpOption = {
    .name = "help", .letter = 'h', .value = "", .text = "print this help", .repeatable = false};

/// The parsed words of a command line.
class Arguments {
 public:
  struct Given {
    std::string name;  ///< of the option
    std::string value;
  };
  Arguments(std::vector<std::string> positionals, std::vector<Given> given, std::vector<std::string> command_line)
      : positionals_{std::move(positionals)}, given_{std::move(given)}, command_line_{std::move(command_line)} {}

  [[nodiscard]] const std::vector<std::string>& positionals() const { return positionals_; }
  [[nodiscard]] const std::vector<std::string>& command_line() const { return command_line_; }  ///< all words
  [[nodiscard]] bool has(std::string_view option) const;
  [[nodiscard]] std::optional<std::string> value(std::string_view option) const;
  [[nodiscard]] std::vector<std::string> values(std::string_view option) const;
  /// The option's value as a whole number within the bounds. Throws UsageError for any other value.
  [[nodiscard]] std::optional<std::uint64_t> whole_number(std::string_view option, std::uint64_t minimum,
                                                          std::uint64_t maximum) const;
  /// Throws UsageError if the option is given: it has no effect `why`, such as `with --list`.
  void refuse(std::string_view option, std::string_view why) const;

 private:
  std::vector<std::string> positionals_;
  std::vector<Given> given_;
  std::vector<std::string> command_line_;
};

/// A verb of the program.
struct Command {
  std::string_view name;
  std::string_view arguments;  ///< placeholder such as `SCENARIO...`
  std::string_view summary;    ///< one line
  std::span<const std::string_view> examples;
  std::span<const Option> options;
  std::size_t min_arguments = 0;
  std::size_t max_arguments = 0;
  int (*run)(const Arguments&);  ///< returns an ExitCode
  /// What the verb prints of wrong input, beside the message that all verbs have; may be null.
  void (*print_wrong_input)(const Arguments&, const InputError&) = nullptr;
};

// One function for each verb, in the file named after it.
[[nodiscard]] const Command& run_command();
[[nodiscard]] const Command& sweep_command();
[[nodiscard]] const Command& tune_command();
[[nodiscard]] const Command& merge_command();
[[nodiscard]] const Command& results_command();
[[nodiscard]] const Command& compare_command();
[[nodiscard]] const Command& explain_command();
[[nodiscard]] const Command& check_command();
[[nodiscard]] const Command& show_command();
[[nodiscard]] const Command& list_command();
[[nodiscard]] const Command& import_command();
[[nodiscard]] const Command& schema_command();
[[nodiscard]] const Command& completion_command();
[[nodiscard]] const Command& man_command();
[[nodiscard]] const Command& validate_command();
[[nodiscard]] const Command& report_command();
[[nodiscard]] const Command& calibrate_command();
[[nodiscard]] const Command& calibrate_model_command();
[[nodiscard]] const Command& calibrate_import_command();
[[nodiscard]] const Command& calibrate_merge_command();
[[nodiscard]] const Command& calibrate_compare_command();
[[nodiscard]] const Command& calibrate_network_command();
[[nodiscard]] const Command& fit_command();
[[nodiscard]] const Command& collective_command();
[[nodiscard]] const Command& flows_command();
[[nodiscard]] const Command& stragglers_command();

/// The help of a verb: summary, examples, usage, options.
[[nodiscard]] std::string help_text(const Command& command);

/// `; did you mean "x"?`, or nothing if no candidate is near.
[[nodiscard]] std::string suggestion(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace contend
