// `contend evaluate`: the score of a scheduling policy on weeks of jobs, and on weeks that are held out from whoever
// made the policy.

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/running.hpp"
#include "cli/text_table.hpp"
#include "results/metric_bound.hpp"
#include "results/result_columns.hpp"
#include "results/result_reader.hpp"
#include "results/tested_changes.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/batch.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "sim/complaints.hpp"
#include "sim/counted.hpp"
#include "text/json_writer.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {
namespace {

/// Without --on: as many jobs as are submitted in a week, so that nine tenths of the GPUs work.
constexpr std::string_view kUsualWeek =
    "schema_version: 2\nname: week\ncluster: {servers: 8, gpus_per_server: 8}\n"
    "workload: {like: philly, jobs: 1700, scaling: {load: 0.9, largest: 64}}\n"
    "policies: {scheduling: fifo, placement: consolidated}\n";
/// The seeds of weeks that are held out lie so far behind the others.
constexpr std::uint64_t kHeldOutSeeds = 1'000'000;

/// A week under the two policies.
struct Week {
  std::string name;  ///< of the scenario, or its file
  Scenario base, own;
  bool held_out = false;
};

/// What the two policies made of the weeks of a kind: a value for each week.
struct Scores {
  std::vector<double> own, base;
  double own_longest_wait = 0, base_longest_wait = 0;  ///< s
  Draws draws = Draws::independent;
};

struct Evaluation {
  const Metric* metric = nullptr;
  std::string policy, baseline;
  Scores seen, held_out;
  std::size_t planned = 0;           ///< weeks
  std::vector<std::string> reasons;  ///< why the policy is not valid
  double seconds = 0;

  [[nodiscard]] std::size_t weeks() const { return seen.own.size() + held_out.own.size(); }
};

/// The value of `policies.scheduling` that the user means: a file of Python is run as a process.
std::string choice_of(const std::string& policy) {
  if (!policy.ends_with(".py")) return policy;
  std::string quoted = "python3 '";
  for (const char c : policy) quoted += c == '\'' ? std::string{"'\\''"} : std::string{c};
  std::string json;
  append_json_string(json, quoted + "'");
  return fmt::format("{{policy: external, command: {}}}", json);
}

/// The scenario in this file, or the usual week for an empty path, with a policy.
Scenario load_week(const Arguments& arguments, const std::string& path, const std::string& policy,
                   const std::string& option) {
  LoadOptions options{.overrides = arguments.values("set")};
  options.overrides.push_back("policies.scheduling=" + choice_of(policy));
  try {
    return path.empty() ? parse_scenario(kUsualWeek, "week.yaml", options) : load_scenario(path, options);
  } catch (const InputError& error) {
    throw amended(error, [&](Complaint& each) {
      if (each.file == "--set" && each.key.starts_with("policies.scheduling")) each.file = option;
    });
  }
}

/// The weeks of these files: a drawn workload gives `count`, a job list one.
std::vector<Week> weeks_of(const Arguments& arguments, const std::vector<std::string>& files, std::uint64_t count,
                           bool held_out, bool other_seeds) {
  std::vector<Week> weeks;
  for (const std::string& file : files) {
    Week week{file, load_week(arguments, file, arguments.value("baseline").value_or("srtf"), "--baseline"),
              load_week(arguments, file, arguments.positionals().front(), "POLICY"), held_out};
    if (!week.own.name.empty()) week.name = week.own.name;
    const bool draws = draws_jobs(week.base.workload, week.base.overlap);
    if (other_seeds && !draws)
      throw UsageError{
          fmt::format("contend evaluate: {} draws no jobs, so no other week is like it; name those that are "
                      "held out by --held-out",
                      file)};
    for (std::uint64_t i = 0; i < (draws ? count : 1); ++i) {
      Week& each = weeks.emplace_back(week);
      for (Scenario* const scenario : {&each.base, &each.own}) {
        scenario->seed += i + (other_seeds ? kHeldOutSeeds : 0);
        scenario->repeat = 1;
      }
    }
  }
  return weeks;
}

/// Weeks of both kinds in turn, so that a budget is spent on both.
std::vector<Week> all_weeks(const Arguments& arguments) {
  constexpr std::uint64_t kUsualWeeks = 10, kMostWeeks = 10'000;
  const std::uint64_t count = arguments.whole_number("weeks", 1, kMostWeeks).value_or(kUsualWeeks);
  std::vector<std::string> files = arguments.values("on"), others = arguments.values("held-out");
  if (files.empty()) files.emplace_back();
  const bool other_seeds = others.empty();
  const std::vector<Week> seen = weeks_of(arguments, files, count, false, false);
  const std::vector<Week> held_out = weeks_of(arguments, other_seeds ? files : others, count, true, other_seeds);
  std::vector<Week> all;
  for (std::size_t i = 0; i < std::max(seen.size(), held_out.size()); ++i) {
    if (i < seen.size()) all.push_back(seen[i]);
    if (i < held_out.size()) all.push_back(held_out[i]);
  }
  return all;
}

double longest_wait(const StoredReplica& run) {
  Time longest;
  for (const StoredJob& job : run.jobs) longest = std::max(longest, job.waited.value_or(Time{}));
  return longest.to_seconds();
}

/// Adds a week that both policies have gone through, and what the policy did wrong in it.
void add_week(const Week& week, const Replica& base, const Replica& own, Evaluation& evaluation) {
  const auto wrong = [&](std::string_view reason) {
    evaluation.reasons.push_back(fmt::format("{}, seed {}: {}", week.name, own.seed, reason));
  };
  if (!base.failure.empty()) throw InputError{{.file = "--baseline", .reason = base.failure}};
  if (!own.failure.empty()) return wrong(own.failure);
  if (own.summary.finished < base.summary.finished)
    return wrong(fmt::format("{} that end under {} don't end",
                             counted(base.summary.finished - own.summary.finished, "job"), evaluation.baseline));
  const StoredReplica stored_base = as_stored(base), stored_own = as_stored(own);
  Scores& scores = week.held_out ? evaluation.held_out : evaluation.seen;
  const std::size_t at = metric_index(*evaluation.metric);
  scores.base.push_back(stored_base.figures[at]);
  scores.own.push_back(stored_own.figures[at]);
  scores.base_longest_wait = std::max(scores.base_longest_wait, longest_wait(stored_base));
  scores.own_longest_wait = std::max(scores.own_longest_wait, longest_wait(stored_own));
  scores.draws = own.draws;
}

/// Runs weeks until all have been run, the policy is found not to be valid, the time is over or the user interrupts.
void run_weeks(const Arguments& arguments, const std::vector<Week>& weeks, double budget, Evaluation& evaluation) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  const auto over = [&] { return interrupted() || (budget > 0 && seconds() > budget); };
  const unsigned threads = thread_count(arguments);
  const std::size_t at_once = std::max(1U, threads / 2);  // each is two runs
  JobLists lists;
  for (std::size_t first = 0; first < weeks.size() && evaluation.reasons.empty() && !over(); first += at_once) {
    const std::size_t last = std::min(weeks.size(), first + at_once);
    std::vector<Scenario> scenarios;
    for (std::size_t i = first; i < last; ++i) {
      scenarios.push_back(weeks[i].base);
      scenarios.push_back(weeks[i].own);
    }
    if (first == 0) scenarios.push_back(weeks[0].own);  // again: a policy answers alike when it is asked alike
    const auto results =
        run_batch(scenarios, {.threads = threads, .lists = &lists, .keep_failed = true, .interrupted = over});
    if (over()) break;  // some of these runs have been stopped
    for (std::size_t i = first; i < last; ++i)
      add_week(weeks[i], results[2 * (i - first)].at(0), results[2 * (i - first) + 1].at(0), evaluation);
    if (first == 0 && evaluation.reasons.empty() &&
        results[1].at(0).result.digest != results.back().at(0).result.digest)
      evaluation.reasons.push_back(
          fmt::format("{}, seed {}: two runs differ, so the policy doesn't answer alike when it is "
                      "asked alike",
                      weeks[0].name, weeks[0].own.seed));
  }
  evaluation.seconds = seconds();
}

void write_scores(JsonWriter& json, const Scores& scores) {
  const TestedRatio ratio = tested_ratio(scores.own, scores.base, scores.draws);
  json.begin_object().member("weeks", std::uint64_t{scores.own.size()}).member("ratio", ratio.geometric.ratio);
  json.member("low", ratio.geometric.low).member("high", ratio.geometric.high).member("p_value", ratio.p_value);
  json.key("values").numbers(scores.own).key("baseline_values").numbers(scores.base);
  json.member("longest_wait_s", scores.own_longest_wait).member("baseline_longest_wait_s", scores.base_longest_wait);
  json.end_object();
}

std::string evaluation_json(const Evaluation& evaluation) {
  JsonWriter json;
  json.begin_object().member("policy", evaluation.policy).member("baseline", evaluation.baseline);
  json.member("metric", evaluation.metric->name)
      .member("valid", evaluation.reasons.empty())
      .key("reasons")
      .begin_array();
  for (const std::string& each : evaluation.reasons) json.value(each);
  json.end_array().key("seen");
  write_scores(json, evaluation.seen);
  json.key("held_out");
  write_scores(json, evaluation.held_out);
  json.member("planned_weeks", std::uint64_t{evaluation.planned}).member("seconds", evaluation.seconds).end_object();
  return json.take();
}

std::string evaluation_text(const Evaluation& evaluation) {
  Table table{{"weeks", "number", fmt::format("{} / {}", evaluation.metric->title, evaluation.baseline), "p",
               "longest wait", "under " + evaluation.baseline}};
  for (const auto& [name, scores] :
       {std::pair{"seen", &evaluation.seen}, std::pair{"held out", &evaluation.held_out}}) {
    const TestedRatio ratio = tested_ratio(scores->own, scores->base, scores->draws);
    table.add({name, fmt::format("{}", scores->own.size()), ratio_text(ratio.geometric), p_value_cell(ratio),
               spoken_time(scores->own_longest_wait), spoken_time(scores->base_longest_wait)});
  }
  std::string text = table.text(output_width());
  if (evaluation.weeks() < evaluation.planned && evaluation.reasons.empty())
    text += fmt::format("{} of {} weeks: the time was over\n", evaluation.weeks(), evaluation.planned);
  for (const std::string& each : evaluation.reasons) text += "not valid: " + each + "\n";
  return text;
}

const Metric& chosen_metric(const Arguments& arguments) {
  const std::string name = arguments.value("metric").value_or("avg_jct_s");
  const Metric* const found = find_metric(name);
  if (found == nullptr) throw UsageError{fmt::format("--metric: unknown metric \"{}\"; {}", name, metric_hint(name))};
  return *found;
}

}  // namespace

int evaluate_verb(const Arguments& arguments) {
  constexpr std::uint64_t kMostOfBudget = 1'000'000;
  Evaluation evaluation;
  evaluation.metric = &chosen_metric(arguments);
  evaluation.policy = arguments.positionals().front();
  evaluation.baseline = arguments.value("baseline").value_or("srtf");
  const auto budget = static_cast<double>(arguments.whole_number("budget", 1, kMostOfBudget).value_or(0));
  const std::vector<Week> weeks = all_weeks(arguments);
  evaluation.planned = weeks.size();
  catch_interrupts();
  run_weeks(arguments, weeks, budget, evaluation);
  if (interrupted()) {
    print_message("contend: interrupted; nothing was evaluated\n");
    return kExitInterrupted;
  }
  if (evaluation.weeks() == 0 && evaluation.reasons.empty())
    evaluation.reasons.push_back(fmt::format("no week ended within {} s", budget));
  print_output("{}", arguments.has("json") ? evaluation_json(evaluation) : evaluation_text(evaluation));
  return evaluation.reasons.empty() ? kExitOk : kExitPolicy;
}

}  // namespace contend
