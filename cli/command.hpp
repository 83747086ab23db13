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
  /// `options` are those that the verb has; they must outlive the arguments.
  Arguments(std::vector<std::string> positionals, std::vector<Given> given, std::vector<std::string> command_line,
            std::span<const Option> options = {})
      : positionals_{std::move(positionals)},
        given_{std::move(given)},
        command_line_{std::move(command_line)},
        options_{options} {}

  [[nodiscard]] std::span<const Option> options() const { return options_; }

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
  std::span<const Option> options_;
};

/// The result of `read` for the value of an option. Where `read` complains, the usage is wrong: a UsageError with the
/// option's name.
template <class Read>
[[nodiscard]] auto of_option(std::string_view option, const Read& read) {
  try {
    return read();
  } catch (const InputError& error) {
    Complaint complaint = error.complaints().front();
    complaint.file = "--" + std::string{option};
    complaint.line = 0;
    throw UsageError{complaint.format()};
  }
}

/// A verb of the program, as cli/verbs.txt describes it.
struct Command {
  std::string_view name;
  std::string_view arguments;  ///< placeholder such as `SCENARIO...`
  std::string_view summary;    ///< one line
  std::vector<std::string_view> examples;
  std::vector<Option> options;
  std::size_t min_arguments = 0;
  std::size_t max_arguments = 0;
  int (*run)(const Arguments&) = nullptr;  ///< returns an ExitCode
  /// What the verb prints of wrong input, beside the message that all verbs have; may be null.
  void (*print_wrong_input)(const Arguments&, const InputError&) = nullptr;
};

// What the verbs do, each in the file named after it: they return an ExitCode.
int run_verb(const Arguments& arguments);
int compare_verb(const Arguments& arguments);
int explain_verb(const Arguments& arguments);
int report_verb(const Arguments& arguments);
int sweep_verb(const Arguments& arguments);
int tune_verb(const Arguments& arguments);
int evaluate_verb(const Arguments& arguments);
int results_verb(const Arguments& arguments);
int runs_verb(const Arguments& arguments);
int merge_verb(const Arguments& arguments);
int new_verb(const Arguments& arguments);
int check_verb(const Arguments& arguments);
int show_verb(const Arguments& arguments);
int list_verb(const Arguments& arguments);
int import_verb(const Arguments& arguments);
int import_training_verb(const Arguments& arguments);
int cluster_import_verb(const Arguments& arguments);
int twin_verb(const Arguments& arguments);
int whatif_verb(const Arguments& arguments);
int schema_verb(const Arguments& arguments);
int completion_verb(const Arguments& arguments);
int man_verb(const Arguments& arguments);
int validate_verb(const Arguments& arguments);
int calibrate_verb(const Arguments& arguments);
int calibrate_model_verb(const Arguments& arguments);
int calibrate_import_verb(const Arguments& arguments);
int calibrate_merge_verb(const Arguments& arguments);
int calibrate_compare_verb(const Arguments& arguments);
int calibrate_network_verb(const Arguments& arguments);
int fits_verb(const Arguments& arguments);
int fit_verb(const Arguments& arguments);
int collective_verb(const Arguments& arguments);
int flows_verb(const Arguments& arguments);
int stragglers_verb(const Arguments& arguments);
int ask_verb(const Arguments& arguments);
int recording_verb(const Arguments& arguments);
int doctor_verb(const Arguments& arguments);
int export_verb(const Arguments& arguments);
int capture_verb(const Arguments& arguments);
/// What `compare` prints of wrong input, beside the message that all verbs have.
void annotate_wrong_comparison(const Arguments& arguments, const InputError& error);

/// The help of a verb: summary, examples, usage, options.
[[nodiscard]] std::string help_text(const Command& command);

/// `; did you mean "x"?`, or nothing if no candidate is near.
[[nodiscard]] std::string suggestion(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace contend
