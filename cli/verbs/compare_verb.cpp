#include "cli/certify.hpp"
#include "cli/command.hpp"
#include "cli/compare_report.hpp"
#include "cli/compare_sides.hpp"
#include "cli/exit_code.hpp"
#include "cli/github.hpp"
#include "cli/group_report.hpp"
#include "cli/interrupt.hpp"
#include "cli/load.hpp"
#include "cli/output.hpp"
#include "cli/precision.hpp"
#include "cli/running.hpp"
#include "cli/text_table.hpp"
#include "cli/version.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "sim/error.hpp"
#include "text/own_files.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

void write_reports(const Arguments& arguments, const JudgedSides& report,
                   const std::function<std::string()>& markdown) {
  if (arguments.has("github")) {
    print_output("{}", comparison_annotations(report));
    add_to_github_summary(markdown());
  }
  if (const auto file = arguments.value("markdown")) write_own_file(*file, markdown());
  if (const auto file = arguments.value("junit")) write_own_file(*file, comparison_junit(report));
}

void print_failures(const JudgedSides& report) {
  for (const RuleOutcome& outcome : report.outcomes)
    if (outcome.fails) print_message("contend: failed: {}: {}\n", outcome.rule.text, outcome.reason);
  for (const Check& each : report.certificates)
    if (each.fails) print_message("contend: failed: {}: {}\n", each.name, each.reason);
  for (const SideExpectations& each : report.expectations) print_unmet(each.side, each.outcomes);
}

/// How the job list of two scenarios is resampled.
struct ListResampling {
  std::string text;                 ///< how and why; empty if it is not resampled
  std::vector<Scenario> resampled;  ///< the two scenarios, with several resamples each
  BlockScatter blocks{};            ///< of BASE
};

/// A list of fewer whole days isn't resampled unless the scenario says in which blocks.
constexpr std::size_t kFewestDays = 2;

/// Two scenarios that read a job list run it once as it is, and several resamples of it, which show how far another
/// such list may differ. There are none if the list can't be resampled, or if the user wants it alone.
ListResampling resample_lists(const Arguments& arguments, Scenario& base, Scenario& other, JobLists& lists) {
  const bool are_lists = base.workload.jobs && other.workload.jobs && !draws_jobs(base.workload, base.overlap) &&
                         !draws_jobs(other.workload, other.overlap);
  if (!are_lists || arguments.has("as-is") || base.repeat == 1) return {};
  ChosenBlock chosen;
  try {
    chosen = choose_block(base, base.workload, lists);
  } catch (const InputError&) {
    base.repeat = other.repeat = 1;
    return {};  // all jobs come at once, or a fault that the run itself explains
  }
  ListResampling result;
  if (chosen.days.blocks < kFewestDays) {
    base.repeat = other.repeat = 1;
    result.text =
        "the job list covers less than two whole days, too little to draw others like it: the list alone is compared, "
        "without intervals; `workload.resample` draws blocks of a length of your choice";
    return result;
  }
  result.blocks = {chosen.blocks, chosen.lost_correlation};
  result.resampled = {base, other};
  for (Scenario& each : result.resampled) each.workload.sampling.block = chosen.length;
  const std::string few =
      chosen.days.blocks < kFewestBlocks
          ? fmt::format("; a list of {} whole days says little about others, and these intervals are too narrow",
                        chosen.days.blocks)
          : "";
  result.text = fmt::format(
      "blocks of {} are drawn with replacement: the GPU time of {} days has the rank correlation {:+.2f} from day to "
      "day, which is {}significant; this takes {} runs instead of 2, and --as-is compares the list alone{}",
      print_quantity(chosen.length), chosen.days.blocks, chosen.days.lag_1, chosen.days.is_significant() ? "" : "not ",
      2 * base.repeat + 2, few);
  base.repeat = other.repeat = 1;
  return result;
}

/// A scenario beside a folder runs under the seeds of the folder. Two scenarios run under the same seeds.
ListResampling choose_seeds(const Arguments& arguments, std::vector<ComparedSide>& sides, JobLists& lists) {
  constexpr auto kUsualSeeds = static_cast<int>(kUsualPairs);
  if (sides[0].scenario && sides[1].scenario) {
    Scenario &base = *sides[0].scenario, &other = *sides[1].scenario;
    if (!arguments.has("repeat")) {
      const int most = std::max(base.repeat, other.repeat);
      const bool are_lists = base.workload.jobs || other.workload.jobs;
      const bool random = draws_jobs(base.workload, base.overlap) || draws_jobs(other.workload, other.overlap) ||
                          (are_lists && !arguments.has("as-is"));
      base.repeat = other.repeat = most > 1 || !random ? most : kUsualSeeds;
    }
    return resample_lists(arguments, base, other, lists);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    if (!sides[i].scenario) continue;
    const std::vector<StoredReplica>& replicas = sides[1 - i].stored->replicas;
    if (!arguments.has("seed")) sides[i].scenario->seed = replicas.front().seed;
    if (!arguments.has("repeat")) sides[i].scenario->repeat = static_cast<int>(replicas.size());
  }
  return {};
}

StoredResults results_of(const Scenario& scenario, std::span<const Replica> replicas) {
  StoredResults results;
  results.name = scenario.name;
  results.version = version();
  results.git_hash = git_hash();
  results.exit_state = exit_state({}, replicas);
  results.draws = draws_of(replicas);
  for (const Replica& replica : replicas) results.replicas.push_back(as_stored(replica));
  return results;
}

/// Runs the sides that are scenarios, and these of `more`, whose results are appended to `others`. Returns false if the
/// user interrupted.
bool run_sides(const Arguments& arguments, std::vector<ComparedSide>& sides, std::span<const Scenario> more,
               std::vector<StoredResults>& others, JobLists& lists) {
  std::vector<Scenario> scenarios;
  for (const ComparedSide& side : sides)
    if (side.scenario) scenarios.push_back(*side.scenario);
  if (scenarios.empty()) return true;
  scenarios.insert(scenarios.end(), more.begin(), more.end());
  const ProgressMode mode = progress_mode(arguments);
  const unsigned threads = thread_count(arguments);
  catch_interrupts();
  warn_of_workloads(scenarios, lists);
  note_workloads(arguments, scenarios, lists);
  std::vector<std::vector<Replica>> results = simulate(scenarios, mode, threads, nullptr, lists);
  if (interrupted()) return false;
  std::size_t next = 0;
  for (ComparedSide& side : sides)
    if (side.scenario) side.replicas = std::move(results[next++]);
  for (const Scenario& each : more) others.push_back(results_of(each, results[next++]));
  return true;
}

/// The precision that the user asks for, or nothing. Throws UsageError where more seeds can't bring it.
std::optional<Precision> precision_of_sides(const Arguments& arguments, const std::vector<ComparedSide>& sides) {
  std::optional<Precision> wanted = precision_of(arguments);
  for (const ComparedSide& side : sides) {
    if (!wanted) break;
    if (!side.scenario) throw UsageError{"--until-precise adds seeds to two scenarios, but a side is a folder"};
    check_precision(*wanted, side.scenario->workload, side.scenario->overlap, side.scenario->repeat);
  }
  return wanted;
}

/// Adds seeds to both sides until the interval is narrow enough, and returns a note about it; nothing if the user
/// interrupted.
std::optional<std::string> add_seeds(const Arguments& arguments, const Precision& wanted,
                                     std::vector<ComparedSide>& sides, JobLists& lists) {
  std::vector<Scenario> scenarios;
  std::vector<std::vector<Replica>> results;
  for (ComparedSide& side : sides) {
    scenarios.push_back(*side.scenario);
    results.push_back(std::move(side.replicas));
  }
  const auto run = [&](std::span<const Scenario> more) {
    return simulate(more, progress_mode(arguments), thread_count(arguments), nullptr, lists);
  };
  const std::optional<std::string> note = run_until_precise(wanted, scenarios, results, run);
  for (std::size_t i = 0; i < sides.size(); ++i) {
    sides[i].scenario = std::move(scenarios[i]);
    sides[i].replicas = std::move(results[i]);
  }
  return note;
}

/// What the sides that were run give, to be compared, and whether it is as they expect.
void keep_results(std::vector<ComparedSide>& sides) {
  for (ComparedSide& side : sides) {
    if (!side.scenario) continue;
    side.outcomes = judge_expectations(side.scenario->expect, side.replicas);
    side.stored = results_of(*side.scenario, side.replicas);
    side.replicas.clear();
  }
}

/// Says of which sides the jobs were preempted at no cost.
void note_free_sides(const std::vector<ComparedSide>& sides, std::vector<std::string>& notes) {
  const std::size_t metric = metric_index(*find_metric("preemptions"));
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const std::optional<Scenario>& scenario = sides[i].scenario ? sides[i].scenario : sides[i].kept;
    if (!scenario) continue;
    double preemptions = 0;
    for (const StoredReplica& run : sides[i].stored->replicas) preemptions += run.figures[metric];
    if (const std::string note = free_preemptions_note(scenario->checkpoints, preemptions); !note.empty())
      notes.push_back(fmt::format("{}: {}", i == 0 ? "BASE" : "NEW", note));
  }
}

/// What no rule may be about, and the table would have shown: jobs that count and did not finish.
void print_lost_jobs(const ComparedSide& side, const char* name) {
  std::size_t jobs = 0, failed = 0, given_up = 0, others = 0;
  for (const StoredReplica& run : side.stored->replicas) {
    for (const StoredJob& job : run.jobs) {
      if (!job.measured) continue;
      ++jobs;
      failed += job.state == JobState::failed ? 1U : 0U;
      given_up += job.state == JobState::given_up ? 1U : 0U;
      others += has_ended(job.state) ? 0U : 1U;
    }
  }
  if (failed > 0) print_message("contend: {}: {} of {} jobs failed\n", name, failed, jobs);
  if (given_up > 0) print_message("contend: {}: {} of {} jobs were given up after failures\n", name, given_up, jobs);
  if (others > 0) print_message("contend: {}: {} of {} jobs did not finish\n", name, others, jobs);
}

/// Folders were checked against their expectations when they were written.
void add_expectations(const std::vector<ComparedSide>& sides, JudgedSides& report) {
  for (std::size_t i = 0; i < sides.size(); ++i)
    if (!sides[i].outcomes.empty())
      report.expectations.push_back({i == 0 ? "BASE" : "NEW", sides[i].path, sides[i].outcomes});
}

/// Has contend-check check both folders.
void add_certificates(const std::vector<ComparedSide>& sides, JudgedSides& report) {
  const std::vector<std::string> folders{sides[0].path, sides[1].path};
  const std::vector<bool> agree = certify(folders);
  for (std::size_t i = 0; i < agree.size(); ++i)
    report.certificates.push_back({.name = fmt::format("{} is certified", i == 0 ? "BASE" : "NEW"),
                                   .file = {},
                                   .is_rule = false,
                                   .fails = !agree[i],
                                   .reason = agree[i] ? "" : "contend-check finds disagreements in " + folders[i]});
}

void print_report(const Arguments& arguments, const ComparisonReport& report) {
  write_reports(arguments, report, [&] { return comparison_markdown(report); });
  if (arguments.has("json"))
    print_output("{}", comparison_json(report));
  else if (!arguments.has("quiet"))
    print_output("{}", comparison_text(report));
  else
    print_failures(report);
}

}  // namespace

int compare_verb(const Arguments& arguments) {
  constexpr std::uint64_t kUsualWorst = 5, kMaxWorst = 1'000'000;
  if (arguments.has("github") && arguments.has("json"))
    throw UsageError{"contend compare: --github and --json both print on standard output; run it twice"};
  if (arguments.has("measured") && !arguments.has("fail-if"))
    throw UsageError{"contend compare: --measured needs a --fail-if"};
  const auto worst = arguments.whole_number("worst", 0, kMaxWorst);
  std::vector<ComparedSide> sides = load_sides(arguments);
  const std::vector<RegressionRule> rules =
      of_option("fail-if", [&] { return parse_rules(arguments.values("fail-if")); });
  if (arguments.has("junit") && rules.empty() && std::ranges::none_of(sides, [](const ComparedSide& side) {
        return side.scenario && !side.scenario->expect.empty();
      }))
    throw UsageError{"contend compare: --junit needs a --fail-if, or a scenario with `expect`"};
  const std::vector<const Grouping*> chosen = chosen_groupings(arguments);
  JobLists lists;
  if (arguments.has("as-is") && std::ranges::none_of(sides, [](const ComparedSide& side) {
        return side.scenario && side.scenario->workload.jobs;
      }))
    throw UsageError{"contend compare: --as-is is about scenarios with a job list, and none is here"};
  const ListResampling resampling = choose_seeds(arguments, sides, lists);
  const std::optional<Precision> precision = precision_of_sides(arguments, sides);
  std::vector<StoredResults> drawn;
  bool goes_on = run_sides(arguments, sides, resampling.resampled, drawn, lists);
  std::optional<std::string> note;
  if (goes_on && precision) {
    note = add_seeds(arguments, *precision, sides, lists);
    goes_on = note.has_value();
  }
  if (!goes_on) {
    print_message("contend: interrupted; nothing was compared\n");
    return kExitInterrupted;
  }
  keep_results(sides);
  ComparisonReport report;
  describe_sides(sides, lists, report);
  report.resampling = resampling.text;
  std::optional<ResampledSides> resampled;
  if (!drawn.empty()) resampled = ResampledSides{&drawn[0], &drawn[1], resampling.blocks};
  const std::vector<StoredJob>& jobs = sides[0].stored->replicas.front().jobs;
  const bool is_study = !jobs.empty() && jobs.front().is_variant;  // of which people want to see every job
  report.regression =
      find_regression(*sides[0].stored, *sides[1].stored,
                      static_cast<std::size_t>(worst.value_or(is_study ? kMaxWorst : kUsualWorst)), resampled);
  if (note) report.regression.notes.push_back(*note);
  note_free_sides(sides, report.regression.notes);
  for (const Grouping* grouping : chosen)
    report.groups.push_back(compare_groups(*sides[0].stored, *sides[1].stored, *grouping, resampled));
  report.outcomes = judge(rules, report.regression, {&*sides[0].stored, &*sides[1].stored, resampled},
                          arguments.has("measured") ? Judgement::measured : Judgement::significant);
  add_expectations(sides, report);
  if (arguments.has("certify")) add_certificates(sides, report);
  print_report(arguments, report);
  if (arguments.has("quiet")) {
    print_lost_jobs(sides[0], "BASE");
    print_lost_jobs(sides[1], "NEW");
  }
  return report.passes() ? kExitOk : kExitFailed;
}

void annotate_wrong_comparison(const Arguments& arguments, const InputError& error) {
  if (arguments.has("github")) print_output("{}", complaint_annotations(error));
}

}  // namespace contend
