#pragma once
// Annotations of GitHub Actions: lines on standard output that GitHub shows beside the change, at a place of a file.
// The format follows GitHub's workflow commands (docs.github.com, "Workflow commands for GitHub Actions").

#include "cli/compare_report.hpp"
#include "sim/error.hpp"

#include <string>
#include <string_view>

namespace contend {

/// A place in a file of the repository.
struct GithubPlace {
  std::string file;  ///< as the user gave it; empty if the annotation belongs to no file
  int line = 0;      ///< 1-based; 0 if unknown
  int column = 0;    ///< 1-based; 0 if unknown
};

/// One annotation, whose `level` is `error` or `notice`. GitHub knows files by their paths from the root of the
/// repository, so the path of a file below $GITHUB_WORKSPACE (without it, the working directory) becomes such a path.
/// Other paths stay as they are.
[[nodiscard]] std::string github_annotation(std::string_view level, const GithubPlace& place, std::string_view title,
                                            std::string_view message);

/// A line for each rule and each expectation: an error if it failed, else a notice. They point at the scenario that
/// they are about, which is NEW for a rule, and at no file if that is a folder of results.
[[nodiscard]] std::string comparison_annotations(const JudgedSides& report);

/// An error for each complaint, at its place.
[[nodiscard]] std::string complaint_annotations(const InputError& error);

/// Appends Markdown to the summary of the workflow's run, if $GITHUB_STEP_SUMMARY names a file for it. Throws
/// InputError if it can't be written.
void add_to_github_summary(const std::string& markdown);

/// The path of a scenario; nothing for a folder of results.
[[nodiscard]] std::string scenario_file(const std::string& side);

}  // namespace contend
