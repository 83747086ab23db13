#include "validate/ada_srsf/stepped_sets.hpp"

#include "scenarios/run/run_scenario.hpp"
#include "sim/statistics.hpp"
#include "validate/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace contend {

namespace {

constexpr Time kStep = Time::milliseconds(1);
constexpr UnwrittenRules kRules[] = {
    {}, {.late_release = true}, {.skipped_job = true}, {.late_release = true, .skipped_job = true}};
constexpr std::size_t kWithout = 0, kLateRelease = 1, kBoth = 3;  // indices of kRules
constexpr std::string_view kRuleNames[] = {"without", "late", "skipped", "both"};

/// Where two sums of the same milliseconds differ, they differ by far more.
constexpr double kEqualMs = 1e-6;

/// A job set in the time stepper, under each of kRules, and in the engine.
struct SteppedSet {
  std::vector<std::int64_t> finish_ms[std::size(kRules)];
  std::vector<double> jct_ms[std::size(kRules)];
  std::size_t jobs = 0;
  std::size_t equal = 0;  ///< jobs that end in the engine as in the time stepper without the rules
  std::size_t moved = 0;  ///< jobs that end at another millisecond with both rules

  [[nodiscard]] double average_ms(std::size_t rules) const { return mean(jct_ms[rules]); }
};

SteppedSet run_set(const TimeSteppedRow& row, const Scenario& scenario, std::uint64_t seed) {
  const Workload workload = scenario_workload(scenario, seed);
  const std::vector<SteppedJob> jobs = stepped_jobs(workload);
  const RunResult engine = run_workload(scenario, workload, seed);
  SteppedSet set;
  set.jobs = jobs.size();
  for (std::size_t rules = 0; rules < std::size(kRules); ++rules) {
    set.finish_ms[rules] = step_through(stepped_study(row), jobs, kRules[rules]);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      set.jct_ms[rules].push_back(static_cast<double>(set.finish_ms[rules][i] - jobs[i].submit_ms));
    }
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const bool ended = engine.jobs[i].state == JobState::finished;
    if (ended && engine.jobs[i].finish == Time::milliseconds(set.finish_ms[kWithout][i])) ++set.equal;
    if (set.finish_ms[kWithout][i] != set.finish_ms[kBoth][i]) ++set.moved;
  }
  return set;
}

/// Whether the time stepper with both rules gives the figures of the row.
bool gives(const SteppedSet& set, const TimeSteppedRow& row) {
  const auto equal = [](double ours, double reference) { return std::abs(ours - reference) <= kEqualMs; };
  const std::vector<double>& jct = set.jct_ms[kBoth];
  // The reference counts the step that begins at the last finish.
  const std::int64_t makespan = *std::ranges::max_element(set.finish_ms[kBoth]) + 1;
  return equal(set.average_ms(kBoth), row.avg_jct_ms) && equal(percentile(jct, 0.5), row.median_jct_ms) &&
         equal(percentile(jct, 0.95), row.p95_jct_ms) && equal(static_cast<double>(makespan), row.makespan_ms);
}

/// The columns of kRules begin with `first`.
void print_header(std::FILE* out, std::string_view base, std::size_t first) {
  fmt::print(out, "  {:<4}{:<26}{:>9}{:>13}", "set", "policies", "equal", base);
  for (std::size_t rules = first; rules < std::size(kRules); ++rules) fmt::print(out, "{:>11}", kRuleNames[rules]);
  fmt::print(out, "{:>7}  verdict\n", "moved");
}

/// Prints the averages under each of kRules from `first`, minus `base_ms`.
void print_row(std::FILE* out, const TimeSteppedRow& row, const SteppedSet& set, double base_ms, std::size_t first,
               bool holds) {
  fmt::print(out, "  {:<4}{:<26}{:>9}{:>13.3f}", row.job_set, row.policy(), fmt::format("{}/{}", set.equal, set.jobs),
             base_ms);
  for (std::size_t rules = first; rules < std::size(kRules); ++rules) {
    fmt::print(out, "{:>11}", signed_text(set.average_ms(rules) - base_ms, 3));
  }
  fmt::print(out, "{:>7}  {}\n", set.moved, word(holds));
}

}  // namespace

bool hold_drawn_sets(std::FILE* out, int sets) {
  fmt::print(
      out,
      "\nJob sets drawn with seeds 1 to {}, transfers end at whole milliseconds (network.tick 1ms). Average JCT "
      "[ms] of a plain loop\nover milliseconds (validate/ada_srsf/time_stepper.hpp), and what two unwritten rules "
      "of the released simulator add to it:\nlate release, skipped job, both. Equal: jobs that the engine ends at "
      "the nanosecond at which the plain loop ends them\nwithout these rules. Moved: jobs that both rules end at "
      "another millisecond. Held: every job is equal\n",
      sets);
  print_header(out, "avg [ms]", kLateRelease);
  bool all_hold = true;
  std::size_t averages = 0, changed = 0, jobs = 0, equal = 0;
  double largest_ms = 0;
  for (int seed = 1; seed <= sets; ++seed) {
    for (TimeSteppedRow row : time_stepped_policies()) {
      row.job_set = seed;
      const SteppedSet set = run_set(row, drawn_scenario(row, kStep), static_cast<std::uint64_t>(seed));
      const bool holds = set.equal == set.jobs;
      print_row(out, row, set, set.average_ms(kWithout), kLateRelease, holds);
      const double difference_ms = std::abs(set.average_ms(kBoth) - set.average_ms(kWithout));
      ++averages;
      if (difference_ms > kEqualMs) ++changed;
      largest_ms = std::max(largest_ms, difference_ms);
      jobs += set.jobs;
      equal += set.equal;
      all_hold = all_hold && holds;
    }
  }
  fmt::print(out,
             "  {} of {} jobs end at the same nanosecond; both rules change {} of {} averages, by up to {:.3f} ms\n",
             equal, jobs, changed, averages, largest_ms);
  return all_hold;
}

bool hold_reference_sets(std::FILE* out, std::span<const TimeSteppedRow> rows, const std::string& folder) {
  fmt::print(
      out,
      "\nThe plain loop on the job sets of the reference: its average JCT minus that of the reference [ms]. Held: "
      "every job is equal,\nand with both rules the plain loop gives average, median, 95th percentile and makespan "
      "of the reference\n");
  print_header(out, "ref. [ms]", kWithout);
  bool all_hold = true;
  std::size_t given[std::size(kRules)] = {};
  for (const TimeSteppedRow& row : rows) {
    const Scenario scenario = time_stepped_scenario(row, folder, kStep);
    const SteppedSet set = run_set(row, scenario, scenario.seed);
    const bool holds = set.equal == set.jobs && gives(set, row);
    print_row(out, row, set, row.avg_jct_ms, kWithout, holds);
    for (std::size_t rules = 0; rules < std::size(kRules); ++rules) {
      if (std::abs(set.average_ms(rules) - row.avg_jct_ms) <= kEqualMs) ++given[rules];
    }
    all_hold = all_hold && holds;
  }
  fmt::print(out, "  averages equal to the reference: {} of {} without the rules, {} and {} with one, {} with both\n",
             given[0], rows.size(), given[1], given[2], given[3]);
  return all_hold;
}

}  // namespace contend
