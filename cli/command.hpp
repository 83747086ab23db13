#pragma once
// What a verb of the program is: its options as data, from which parsing, --help and shell completion follow.

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contend {

/// A wrong command line: exit code 2, with a pointer to --help.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Option {
  std::string_view name;   ///< without the dashes
  char letter = '\0';      ///< short form, or none
  std::string_view value;  ///< placeholder of its value; empty for a switch
  std::string_view text;   ///< one line of help
  bool repeatable = false;
};

/// The words of a command line, sorted by what they belong to.
class Arguments {
 public:
  struct Given {
    std::string name;  ///< of the option
    std::string value;
  };
  Arguments(std::vector<std::string> positionals, std::vector<Given> given, std::vector<std::string> command_line)
      : positionals_{std::move(positionals)}, given_{std::move(given)}, command_line_{std::move(command_line)} {}

  [[nodiscard]] const std::vector<std::string>& positionals() const { return positionals_; }
  [[nodiscard]] const std::vector<std::string>& command_line() const { return command_line_; }  ///< all of it
  [[nodiscard]] bool has(std::string_view option) const;
  [[nodiscard]] std::optional<std::string> value(std::string_view option) const;
  [[nodiscard]] std::vector<std::string> values(std::string_view option) const;
  /// A whole number within the bounds. Throws UsageError, also for a negative number.
  [[nodiscard]] std::optional<std::uint64_t> whole_number(std::string_view option, std::uint64_t minimum,
                                                          std::uint64_t maximum) const;

 private:
  std::vector<std::string> positionals_;
  std::vector<Given> given_;
  std::vector<std::string> command_line_;
};

struct Command {
  std::string_view name;
  std::string_view arguments;  ///< placeholder such as `SCENARIO...`
  std::string_view summary;    ///< one line
  std::span<const std::string_view> examples;
  std::span<const Option> options;
  std::size_t min_arguments = 0;
  std::size_t max_arguments = 0;
  int (*run)(const Arguments&);  ///< returns an ExitCode
};

// One function a verb, each in the file of its name.
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
[[nodiscard]] const Command& validate_command();
[[nodiscard]] const Command& report_command();
[[nodiscard]] const Command& calibrate_command();
[[nodiscard]] const Command& calibrate_model_command();
[[nodiscard]] const Command& calibrate_network_command();

/// Examples first, then options.
[[nodiscard]] std::string help_text(const Command& command);

/// `; did you mean "x"?` or nothing.
[[nodiscard]] std::string suggestion(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace contend
