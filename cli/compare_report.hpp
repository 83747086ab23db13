#pragma once
// Formats the result of `contend compare` as text, JSON, a Markdown comment for a pull request, and JUnit XML, which
// build servers show as test results.

#include "results/expectations.hpp"
#include "results/job_groups.hpp"
#include "results/regression.hpp"
#include "results/regression_rules.hpp"
#include "scenarios/keys/differences.hpp"
#include "text/json_writer.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// What a side that was run expects of itself (`expect` of its scenario), and whether it is so.
struct SideExpectations {
  std::string_view side;  ///< BASE or NEW
  std::string path;       ///< of its scenario
  std::vector<ExpectationOutcome> outcomes;
};

/// A verdict of a comparison: about a rule, or about an expectation of a side.
struct Check {
  std::string name;  ///< `avg_jct > 1%`, `NEW expects finished = 11`
  std::string file;  ///< the scenario that it is about; empty for a folder of results
  bool is_rule = true;
  bool fails = false;
  std::string reason;

  /// What is so if the check doesn't fail: `not avg_jct > 1%`, `NEW expects finished = 11`.
  [[nodiscard]] std::string claim() const { return is_rule ? "not " + name : name; }
};

/// The two sides of a comparison, what differs between their scenarios, and the outcomes of its rules and of the
/// expectations of its sides. Every output and the exit code take their verdicts from checks().
struct JudgedSides {
  std::string base, other;                                ///< paths as the user gave them
  std::optional<std::vector<KeyDifference>> differences;  ///< not known if a scenario can't be read
  std::string unknown_because;                            ///< why the differences are not known
  std::vector<RuleOutcome> outcomes;
  std::vector<SideExpectations> expectations;  ///< of the sides that were run and expect something
  std::vector<Check> certificates;             ///< whether logs agree with the results of BASE and of NEW, if asked

  /// The rules, then the expectations and the certificates of BASE and of NEW.
  [[nodiscard]] std::vector<Check> checks() const;
  [[nodiscard]] bool passes() const;
};

struct ComparisonReport : JudgedSides {
  Regression regression;
  std::string resampling;            ///< how the job list is resampled and why, in one line; empty if it isn't
  std::vector<GroupChanges> groups;  ///< for each grouping that the user chose
};

/// The comparison in one sentence, or two where chance may have done it: `jobs take 51 min instead of 27 min`. Empty
/// for studies, for results without finished jobs, and where nothing changed.
[[nodiscard]] std::string answer_text(const Regression& regression);

[[nodiscard]] std::string comparison_text(const ComparisonReport& report);
[[nodiscard]] std::string comparison_json(const ComparisonReport& report);
[[nodiscard]] std::string comparison_markdown(const ComparisonReport& report);
/// JUnit XML with one test case for each rule and each expectation.
[[nodiscard]] std::string comparison_junit(const JudgedSides& report);

// The parts that all comparisons share.
/// A line that takes the place of a table of differences: nothing differs, or what differs is not known; else empty.
[[nodiscard]] std::string no_differences(const JudgedSides& report);
/// A table of the keys that differ, or a line that says that none does.
[[nodiscard]] std::string differences_text(const JudgedSides& report);
/// Appends the member `differences` to an open JSON object.
void write_differences(JsonWriter& json, const JudgedSides& report);
[[nodiscard]] std::string differences_markdown(const JudgedSides& report);
/// One line for each rule, then the expectations of each side.
[[nodiscard]] std::string checks_text(const JudgedSides& report);
/// Appends the members `rules`, `expectations`, `certificates` and `failed` to an open JSON object.
void write_checks(JsonWriter& json, const JudgedSides& report);
/// The headline and the two sides; the headline is `otherwise` if there are no checks.
[[nodiscard]] std::string markdown_head(const JudgedSides& report, std::string_view otherwise);
[[nodiscard]] std::string checks_markdown(const JudgedSides& report);
/// Text for a table cell: escaped, on one line.
[[nodiscard]] std::string escaped_markdown(std::string_view text);

/// A row of the table of figures, in text and Markdown.
struct FigureRow {
  std::string title;  ///< ends with * if the figure is over different jobs on the two sides
  std::string base, other, change, interval;
  std::string p_value;     ///< of no change, corrected for all rows
  std::string of_means;    ///< the change of the mean and its interval, of figures whose change is geometric
  std::string detectable;  ///< if the interval contains no change: the smallest that these seeds would show
};
/// The titles of the columns of these rows.
[[nodiscard]] std::vector<std::string> figure_titles(const Regression& regression);
/// The cells of a row, in the order of the titles.
[[nodiscard]] std::vector<std::string> figure_cells(const Regression& regression, const FigureRow& row);
[[nodiscard]] std::vector<FigureRow> figure_rows(const Regression& regression);
/// A part of an iteration whose change the tables of jobs show, if the jobs have iterations.
struct PartOfIteration {
  std::string_view column;  ///< of iteration_metrics(), in seconds
  std::string_view title;
};
inline constexpr PartOfIteration kPartsOfIteration[] = {
    {"compute_s", "computing"}, {"compression_s", "compression"}, {"exposed_communication_s", "exposed"}};
[[nodiscard]] bool have_parts(const std::vector<JobChange>& changes);
/// By how many milliseconds it changed: `+1.250`; `-` if that is not known.
[[nodiscard]] std::string part_change_text(const JobChange& change, const PartOfIteration& part);
/// Describes the pairing and what the columns say: `20 seeds, the first 1; changes are geometric means over seeds ...`.
[[nodiscard]] std::string pairing_text(const Regression& regression);
/// What the p-values of so many tests mean; empty without tests.
[[nodiscard]] std::string tests_text(std::size_t tests);
/// Counts the jobs, and says how their changes spread: `1600 jobs finished on both sides: 320 slower, 280 faster, 1000
/// the same; from -12% to +5% (5th to 95th percentile over jobs)`.
[[nodiscard]] std::string jobs_text(const Regression& regression);

}  // namespace contend
