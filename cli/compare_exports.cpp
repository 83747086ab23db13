// Formats a comparison for other programs: Markdown and JUnit XML.
#include "cli/compare_report.hpp"
#include "cli/group_report.hpp"
#include "cli/text_table.hpp"
#include "text/xml.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace contend {
namespace {

/// How many of some checks there are, and how many of them fail.
struct CheckCount {
  std::size_t all = 0, failed = 0;
};

CheckCount count_of(const std::vector<Check>& checks, bool are_rules) {
  CheckCount count;
  for (const Check& each : checks) {
    if (each.is_rule != are_rules) continue;
    ++count.all;
    count.failed += each.fails ? 1U : 0U;
  }
  return count;
}

std::string headline(const JudgedSides& report, std::string_view otherwise) {
  const std::vector<Check> checks = report.checks();
  if (checks.empty()) return std::string{otherwise};
  const CheckCount rules = count_of(checks, true), expectations = count_of(checks, false);
  std::vector<std::string> failed, passed;
  if (rules.failed > 0) failed.push_back(fmt::format("{} of {} rules failed", rules.failed, rules.all));
  if (expectations.failed > 0)
    failed.push_back(fmt::format("{} of {} expectations not met", expectations.failed, expectations.all));
  if (!failed.empty()) return fmt::format("**{}**", fmt::join(failed, ", "));
  if (rules.all > 0) passed.push_back(fmt::format("all {} rules passed", rules.all));
  if (expectations.all > 0) passed.push_back(fmt::format("all {} expectations met", expectations.all));
  return fmt::format("{}", fmt::join(passed, ", "));
}

std::string changes_table(const char* title, const std::vector<JobChange>& changes) {
  if (changes.empty()) return {};
  std::string out = fmt::format("\n| {} | seed | GPUs | BASE JCT [s] | NEW JCT [s] | change |", title);
  std::string line = "|---|---:|---:|---:|---:|---:|";
  const bool parts = have_parts(changes);
  for (std::size_t part = 0; parts && part < std::size(kPartsOfIteration); ++part) {
    out += fmt::format(" {} [ms] |", kPartsOfIteration[part].title);
    line += "---:|";
  }
  out += fmt::format("\n{}\n", line);
  std::vector<double> seconds;
  for (const JobChange& each : changes)
    for (const Time time : {each.base, each.other}) seconds.push_back(time.to_seconds());
  const std::vector<std::string> cells = format_column(seconds);
  const Metric& metric = *find_metric("avg_jct");
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const JobChange& each = changes[i];
    out += fmt::format("| {} | {} | {} | {} | {} | {} |", escaped_markdown(each.job), each.seed, each.gpus,
                       cells[2 * i], cells[2 * i + 1], change_text(metric, true, each.relative()));
    for (std::size_t part = 0; parts && part < std::size(kPartsOfIteration); ++part)
      out += fmt::format(" {} |", part_change_text(each, kPartsOfIteration[part]));
    out += '\n';
  }
  return out;
}

std::string odd_line(const char* title, const std::vector<OddJob>& jobs) {
  constexpr std::size_t kShown = 5;
  if (jobs.empty()) return {};
  std::string out = fmt::format("- {}: {} jobs (", title, jobs.size());
  for (std::size_t i = 0; i < std::min(jobs.size(), kShown); ++i)
    out += fmt::format("{}{}", i > 0 ? ", " : "", escaped_markdown(jobs[i].job));
  return out + (jobs.size() > kShown ? ", ...)\n" : ")\n");
}

std::string groups_markdown(const GroupChanges& changes) {
  const std::vector<std::vector<std::string>> rows = group_change_rows(changes);
  std::string out = "\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::string& cell : rows[i]) out += fmt::format("| {} ", i == 0 ? cell : escaped_markdown(cell));
    out += "|\n";
    if (i > 0) continue;
    for (std::size_t c = 0; c < rows[i].size(); ++c) out += c == 0 ? "|---" : "|---:";
    out += "|\n";
  }
  out += left_out_groups(changes.groups.size());
  if (const std::string mark = marks_text(changes); !mark.empty()) out += fmt::format("\n{}\n", escaped_markdown(mark));
  return out;
}

std::string figures_markdown(const Regression& regression) {
  const std::vector<std::string> titles = figure_titles(regression);
  std::string out = fmt::format("| {} |\n|---", fmt::join(titles, " | "));
  for (std::size_t i = 1; i < titles.size(); ++i) out += "|---:";
  out += "|\n";
  for (const FigureRow& row : figure_rows(regression))
    out += fmt::format("| {} |\n", fmt::join(figure_cells(regression, row), " | "));
  return out;
}

}  // namespace

std::string escaped_markdown(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view{"\\`*_{}[]()#+!|~"}.find(c) != std::string_view::npos) out += '\\';
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c == '\n' || c == '\r' ? ' ' : c;
    }
  }
  return out;
}

std::string markdown_head(const JudgedSides& report, std::string_view otherwise) {
  return fmt::format("### contend compare: {}\n\nBASE {}, NEW {}.", headline(report, otherwise),
                     escaped_markdown(report.base), escaped_markdown(report.other));
}

std::string differences_markdown(const JudgedSides& report) {
  if (const std::string line = no_differences(report); !line.empty())
    return fmt::format("- {}\n", escaped_markdown(line));
  std::string out = "| what differs | BASE | NEW |\n|---|---|---|\n";
  for (const KeyDifference& each : *report.differences) {
    out += fmt::format("| {} ", escaped_markdown(each.key));
    for (const std::string& value : each.values)
      out += fmt::format("| {} ", value.empty() ? "-" : escaped_markdown(value));
    out += "|\n";
  }
  return out;
}

std::string checks_markdown(const JudgedSides& report) {
  std::string out;
  for (const Check& each : report.checks())
    out += fmt::format("- {} `{}`: {}\n", each.fails ? "**FAIL**" : "ok", each.name, each.reason);
  return out;
}

std::string comparison_markdown(const ComparisonReport& report) {
  const Regression& regression = report.regression;
  std::string out =
      fmt::format("{} {}.\n\n", markdown_head(report, regression.identical ? "identical results" : "no rules given"),
                  pairing_text(regression));
  if (const std::string answer = answer_text(regression); !answer.empty()) out += answer + "\n\n";
  if (!report.resampling.empty()) out += fmt::format("- {}\n", escaped_markdown(report.resampling));
  if (!report.resampling.empty()) out += '\n';  // a table begins after an empty line
  out += differences_markdown(report) + '\n';
  if (!regression.is_of_studies) out += figures_markdown(regression);
  if (const std::string tests = tests_text(regression.tests); !tests.empty()) out += fmt::format("\n{}\n", tests);
  for (const GroupChanges& changes : report.groups) out += groups_markdown(changes);
  out += '\n';
  out += checks_markdown(report);
  for (const std::string& note : regression.notes) out += fmt::format("- note: {}\n", escaped_markdown(note));
  out += odd_line("finished in BASE only", regression.lost);
  out += odd_line("finished in NEW only", regression.gained);
  out += odd_line("only in BASE", regression.only_in_base);
  out += odd_line("only in NEW", regression.only_in_new);
  const std::string tables =
      changes_table("slower jobs", regression.slowest) + changes_table("faster jobs", regression.fastest);
  out += tables.empty()
             ? fmt::format("\n{}\n", jobs_text(regression))
             : fmt::format("\n<details><summary>{}</summary>\n{}\n</details>\n", jobs_text(regression), tables);
  return out;
}

std::string comparison_junit(const JudgedSides& report) {
  const std::vector<Check> checks = report.checks();
  const auto failures = std::ranges::count_if(checks, &Check::fails);
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{0}\" failures=\"{1}\" errors=\"0\">\n"
      "  <testsuite name=\"contend compare\" tests=\"{0}\" failures=\"{1}\" errors=\"0\" skipped=\"0\">\n",
      checks.size(), failures);
  const std::string sides = xml_text(fmt::format("{} -> {}", report.base, report.other));
  for (const Check& each : checks) {
    out += fmt::format("    <testcase classname=\"{}\" name=\"{}\"", sides, xml_text(each.claim()));
    const std::string reason = xml_text(each.reason);
    if (each.fails)
      out += fmt::format(">\n      <failure type=\"{1}\" message=\"{0}\">{0}</failure>\n    </testcase>\n", reason,
                         each.is_rule ? "regression" : "expectation");
    else
      out += fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n", reason);
  }
  return out + "  </testsuite>\n</testsuites>\n";
}

}  // namespace contend
