#pragma once
// Data sets of public measurements, and how a row of one becomes a scenario. All of that is data
// (validate/public/sets.yaml): one blind setting a set, written from the pages of the source before its rows are looked
// at, so that no figure of the table below can be set by the figures it is compared with.

#include "text/csv.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// What a column of a set gives; the last part of its name says which.
enum class MeasuredUnit { milliseconds, seconds, tokens_per_s };  // of an iteration; of a GPU

/// Measurements of one source, and the scenario of a row.
struct PublicSet {
  std::string name, title;
  std::string source;             ///< who measured what, and where the settings come from
  std::string rows;               ///< path of a CSV file below the folder of the data
  std::string measured;           ///< its column with the measurement: *_ms, tok*_s*, else seconds
  std::string gpus;               ///< a template, the number of GPUs
  std::string label;              ///< a template, the name of a row
  std::string workload;           ///< a template: rows with one text are ways to train one model on as many GPUs
  std::string per_server = "8";   ///< a template, GPUs of a server, or of an NVLink domain of several
  std::string peer, peer_column;  ///< a simulator that has published its own predictions, and their column in ms
  std::string peer_claim;         ///< or its claim about all its rows
  /// By column, words of the file (`none`: the column is empty) and words of scenarios. A row with another word
  /// belongs to another set.
  std::map<std::string, std::map<std::string, std::string>, std::less<>> words;
  std::string scenario;        ///< a template
  std::string scenario_of;     ///< or the set before, by name, whose template it takes
  std::optional<double> mean;  ///< per cent: the mean deviation that the project states, held within kStatedWithin
  std::optional<int> refused;  ///< rows for which there is no prediction, as stated
  bool apart = false;          ///< of another kind of training: intervals aren't made of it, but judged on it
  [[nodiscard]] MeasuredUnit unit() const;
};

/// The sets that ship. Throws InputError where their file is wrong.
[[nodiscard]] const std::vector<PublicSet>& public_sets();
/// Reads a list of sets. Throws InputError with the place of an unknown or missing member.
[[nodiscard]] std::vector<PublicSet> read_public_sets(std::string_view text);

/// The text of validate/public/sets.yaml.
[[nodiscard]] std::string_view public_sets_text();

/// A row of a set: its columns by name, with the set's words in place of the file's. What stands in brackets behind a
/// value (`1 (2)` of a table with two variants) is left out. Three columns are added: `gpus`, `servers`, and
/// `gpus_per_server`, the smaller of the set's and the row's GPUs.
class PublicRow {
 public:
  /// Nothing if a word of the row is none of the set's.
  [[nodiscard]] static std::optional<PublicRow> of(const PublicSet& set, const CsvTable& table, const CsvRow& row);
  [[nodiscard]] const std::string& text(std::string_view column) const;  ///< throws InputError for another name
  [[nodiscard]] double number(std::string_view column) const;            ///< throws InputError for a text
  /// The template with the row's values: `${column}` is a value, `${4*hidden}` a product of whole numbers and
  /// `${batch/degree}` a quotient, which must be whole. A line that begins with `[column]`, `[column = word]`, `[column
  /// has word]` or `[column > number]` stands only if the column has a value, this one, one that contains the word, or
  /// a greater number; `!` before the column turns that round, and several conditions are joined by ` and `. Throws
  /// InputError for a template of another form.
  [[nodiscard]] std::string filled(const std::string& pattern) const;

 private:
  [[nodiscard]] bool holds(std::string_view condition) const;
  [[nodiscard]] std::string value(std::string_view expression) const;
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace contend
