#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/load.hpp"
#include "cli/output.hpp"
#include "cli/running.hpp"
#include "cli/sweep_load.hpp"
#include "cli/sweep_progress.hpp"
#include "cli/sweep_store.hpp"
#include "cli/tune_report.hpp"
#include "results/metric_bound.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/sweep/sweep_runner.hpp"
#include "scenarios/sweep/tuner.hpp"
#include "sim/error.hpp"
#include "sim/fields.hpp"
#include "text/own_files.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::pair<std::string_view, TuneMethod> kMethods[] = {
    {"bayes", TuneMethod::bayes}, {"halving", TuneMethod::halving}, {"random", TuneMethod::random}};
constexpr std::uint64_t kMost = 1'000'000;

double eta_of(const Arguments& arguments) {
  const std::string text = arguments.value("eta").value_or("3");
  double eta = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), eta);
  if (error != std::errc{} || end != text.data() + text.size() || !(eta > 1) || eta > 1e6)
    throw UsageError{fmt::format("--eta: expected a number above 1, got \"{}\"", text)};
  return eta;
}

/// A bound such as `p95_jct < 3h`. Throws UsageError.
TuneBound bound_of(const StoreInfo& info, const std::string& text) {
  const auto refuse = [&](const std::string& reason, const std::string& hint = {}) -> UsageError {
    return UsageError{fmt::format("--subject-to \"{}\": {}{}{}", text, reason, hint.empty() ? "" : "; ", hint)};
  };
  const std::size_t sign = text.find_first_of("<>");
  if (sign == std::string::npos) throw refuse("expected a metric, one of < <= > >= and a level, such as p95_jct < 3h");
  const std::string name{trimmed(std::string_view{text}.substr(0, sign))};
  const Metric* const metric = find_metric(name);
  if (metric == nullptr) throw refuse(fmt::format("\"{}\" is no metric", name), metric_hint(name));
  const auto [relation, length] = *leading_relation(std::string_view{text}.substr(sign));
  const Parsed<MetricLevel> level = parse_level(*metric, trimmed(std::string_view{text}.substr(sign + length)));
  if (!level.value) throw refuse("expected " + level.expected, level.hint);
  return {metric_named(info, "subject-to", std::string{metric->name}),
          {std::string{metric->name}, relation, *level.value, std::nullopt}};
}

TuneOptions tune_options(const Arguments& arguments, const SweepPlan& plan) {
  TuneOptions options;
  for (const std::string goal : {"minimise", "maximise"}) {
    for (const std::string& name : arguments.values(goal))
      options.goals.push_back({metric_named(plan.info(), goal, name), goal == "maximise"});
  }
  if (options.goals.empty()) throw UsageError{"contend tune: expected --minimise METRIC or --maximise METRIC"};
  for (std::size_t i = 0; i < options.goals.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      if (options.goals[i].metric == options.goals[j].metric)
        throw UsageError{fmt::format("contend tune: {} is a goal twice; expected different metrics",
                                     plan.info().metrics[options.goals[i].metric].name)};
  }
  for (const std::string& text : arguments.values("subject-to")) options.bounds.push_back(bound_of(plan.info(), text));
  const std::string method = arguments.value("method").value_or("bayes");
  const auto named =
      std::find_if(std::begin(kMethods), std::end(kMethods), [&](const auto& m) { return m.first == method; });
  if (named == std::end(kMethods))
    throw UsageError{fmt::format("--method: expected bayes, halving or random, got \"{}\"", method)};
  options.method = named->second;
  for (const auto& [other, only] : {std::pair{"batch", "bayes"}, std::pair{"eta", "halving"}}) {
    if (method != only) arguments.refuse(other, "with --method " + method);
  }
  const std::uint64_t usual = options.method == TuneMethod::halving ? plan.points().size() : 30;
  options.trials = static_cast<std::int64_t>(arguments.whole_number("trials", 1, kMost).value_or(usual));
  options.batch = static_cast<std::int64_t>(
      arguments.whole_number("batch", 1, kMost).value_or(static_cast<std::uint64_t>(plan.info().repeat)));
  options.eta = eta_of(arguments);
  options.start = arguments.whole_number("start", 0, kMost).value_or(0);
  if (options.method == TuneMethod::halving && options.goals.size() > 1)
    throw UsageError{"--method halving has one goal; several need --method bayes"};
  if (const auto path = arguments.value("svg")) {
    if (options.goals.size() != 2)
      throw UsageError{fmt::format("--svg draws two goals, one on each axis; there {} {}",
                                   options.goals.size() == 1 ? "is" : "are", options.goals.size())};
    need_svg("svg", *path);
  }
  if (options.method == TuneMethod::halving && plan.info().repeat < 2)
    throw UsageError{"--method halving gives the better points more seeds: it needs --repeat 2 or more"};
  return options;
}

/// Runs what the store lacks and records every run.
class Runs {
 public:
  Runs(const SweepPlan& plan, ResumedSweep& opened, std::int64_t manifest, unsigned threads,
       std::optional<Time> timeout)
      : plan_{plan}, opened_{opened}, manifest_{manifest}, threads_{threads}, timeout_{timeout} {
    for (StoreRun& run : opened.store.runs()) {
      if (opened.done[static_cast<std::size_t>(run.run)]) known_.emplace(run.run, std::move(run));
    }
  }

  std::vector<StoreRun> operator()(std::span<const std::int64_t> runs, SweepProgress& line) {
    std::vector<std::int64_t> missing;
    for (const std::int64_t run : runs)
      if (!known_.contains(run)) missing.push_back(run);
    run_sweep(plan_, missing, manifest_, opened_.store,
              {.threads = threads_,
               .recorded =
                   [&](const StoreRun& run) {
                     known_.emplace(run.run, run);
                     line.recorded(run.status == RunStatus::failed);
                   },
               .interrupted = interrupted,
               .timeout = timeout_});
    std::vector<StoreRun> found;
    for (const std::int64_t run : runs)
      if (const auto known = known_.find(run); known != known_.end()) found.push_back(known->second);
    return found;
  }

 private:
  const SweepPlan& plan_;
  ResumedSweep& opened_;
  std::int64_t manifest_;
  unsigned threads_;
  std::optional<Time> timeout_;
  std::map<std::int64_t, StoreRun> known_;
};

/// Why the jobs of a point can't be trained, such as a model that its GPUs can't hold; empty if they can.
std::string why_impossible(const Scenario& scenario) {
  if (scenario.training.empty() || scenario.workload.jobs || scenario.overlap.given()) return {};
  try {
    static_cast<void>(scenario_workload(scenario, scenario.seed));
  } catch (const InputError& error) {
    const Complaint& first = error.complaints().front();
    return first.key + ": " + first.reason;
  }
  return {};
}

}  // namespace

int tune_verb(const Arguments& arguments) {
  const ProgressMode mode = progress_mode(arguments);
  const unsigned threads = thread_count(arguments);
  const LoadedSweep sweep = load_sweep(arguments, threads);
  const SweepPlan& plan = sweep.plan;
  const TuneOptions options = tune_options(arguments, plan);
  if (plan.points().size() < 2)
    throw InputError{{.file = arguments.positionals().front(),
                      .reason = "nothing varies, so that there is nothing to choose",
                      .hint = "give the scenario a `sweep`, or keys by --set KEY=V,W"}};
  if (!arguments.has("quiet"))
    for (const std::string& note : plan.notes()) print_message("contend: note: {}\n", note);
  const std::optional<Time> timeout = timeout_of(arguments, plan);
  const std::string store = arguments.value("output").value_or(file_name_of(plan.info().name) + ".sqlite");
  const WriterLock lock = lock_store(store);
  ResumedSweep opened = open_store(arguments, plan, store, arguments.has("resume"));
  const std::int64_t manifest = opened.store.add_manifest(manifest_of(arguments, sweep, threads));
  catch_interrupts();
  TuneResult result;
  {
    Runs runs{plan, opened, manifest, threads, timeout};
    SweepProgress line{mode, std::min(options.trials, static_cast<std::int64_t>(plan.points().size())) *
                                 (options.method == TuneMethod::halving ? 1 : plan.info().repeat)};
    result = tune(
        plan, options, [&](std::span<const std::int64_t> wanted) { return runs(wanted, line); },
        [&](std::int64_t point) { return why_impossible(plan.scenario(point)); });
  }
  opened.store.finish();
  if (arguments.has("json"))
    print_output("{}", tune_json(plan, options, result));
  else if (!arguments.has("quiet"))
    print_output("{}", tune_table(plan, options, result));
  if (const auto path = arguments.value("svg")) write_own_file(*path, tune_svg(plan, options, result));
  if (const auto path = arguments.value("csv")) write_own_file(*path, tune_csv(plan, options, result));
  if (interrupted()) {
    print_message("contend: interrupted; completed runs are stored. To continue:\n  {}\n", resume_command(arguments));
    return kExitInterrupted;
  }
  if (result.points.empty()) {
    print_message(
        "contend: no point has a figure to compare: in each of them all runs failed, or no job that has {} ended\n",
        plan.info().metrics[options.goals.front().metric].name);
    return kExitUnfinished;
  }
  if (result.points.front().holds) return kExitOk;
  print_message(
      "contend: none of the {} points that ran holds the bounds of --subject-to; the table shows the best of those "
      "that break them. More trials or looser bounds may help\n",
      result.points.size());
  return kExitFailed;
}

}  // namespace contend
