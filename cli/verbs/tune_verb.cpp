#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/load.hpp"
#include "cli/output.hpp"
#include "cli/running.hpp"
#include "cli/sweep_load.hpp"
#include "cli/sweep_progress.hpp"
#include "cli/sweep_store.hpp"
#include "cli/text_table.hpp"
#include "scenarios/sweep/baseline.hpp"
#include "scenarios/sweep/sweep_runner.hpp"
#include "scenarios/sweep/tuner.hpp"
#include "text/json_writer.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr std::string_view kTuneExamples[] = {
    "contend tune scenario.yaml --minimise avg_jct_s --set 'policies.placement.kappa={from: 1, to: 32, step: 1}'",
    "contend tune scenario.yaml --minimise makespan_s --method halving --repeat 9",
};

constexpr Option kTuneOptions[] = {
    {.name = "minimise", .letter = '\0', .value = "METRIC", .text = "metric to minimise"},
    {.name = "maximise", .letter = '\0', .value = "METRIC", .text = "metric to maximise"},
    {.name = "method", .letter = '\0', .value = "NAME", .text = "search method: bayes (default) or halving"},
    {.name = "trials",
     .letter = '\0',
     .value = "N",
     .text = "number of points to run (default 30); with halving: in the first round (default all)"},
    {.name = "batch", .letter = '\0', .value = "N", .text = "with bayes: number of points chosen at once (default 1)"},
    {.name = "eta",
     .letter = '\0',
     .value = "X",
     .text = "with halving: factor by which each round reduces the points (default 3)"},
    kSweepStoreOption,
    kSweepSetOption,
    kSweepRepeatOption,
    kSweepResumeOption,
    kSweepPerJobOption,
    kSweepByOption,
    {.name = "json", .letter = '\0', .value = "", .text = "print JSON instead of a table"},
    kQuietOption,
    kProgressOption,
    kThreadsOption,
};

constexpr std::size_t kBestShown = 10;
constexpr std::uint64_t kMost = 1'000'000;

double eta_of(const Arguments& arguments) {
  const std::string text = arguments.value("eta").value_or("3");
  double eta = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), eta);
  if (error != std::errc{} || end != text.data() + text.size() || !(eta > 1) || eta > 1e6)
    throw UsageError{fmt::format("--eta: expected a number above 1, got \"{}\"", text)};
  return eta;
}

TuneOptions tune_options(const Arguments& arguments, const SweepPlan& plan) {
  TuneOptions options;
  if (arguments.has("minimise") == arguments.has("maximise"))
    throw UsageError{"contend tune: expected --minimise METRIC or --maximise METRIC"};
  options.maximise = arguments.has("maximise");
  const std::string goal = options.maximise ? "maximise" : "minimise";
  options.metric = metric_named(plan.info(), goal, *arguments.value(goal));
  const std::string method = arguments.value("method").value_or("bayes");
  if (method != "bayes" && method != "halving")
    throw UsageError{fmt::format("--method: expected bayes or halving, got \"{}\"", method)};
  options.method = method == "bayes" ? TuneMethod::bayes : TuneMethod::halving;
  for (const char* other : {"batch", "eta"}) {
    if (arguments.has(other) && (std::string_view{other} == "batch") != (method == "bayes"))
      throw UsageError{fmt::format("--{} has no effect with --method {}", other, method)};
  }
  const std::uint64_t usual = options.method == TuneMethod::bayes ? 30 : plan.points().size();
  options.trials = static_cast<std::int64_t>(arguments.whole_number("trials", 1, kMost).value_or(usual));
  options.batch = static_cast<std::int64_t>(arguments.whole_number("batch", 1, kMost).value_or(1));
  options.eta = eta_of(arguments);
  if (options.method == TuneMethod::halving && plan.info().repeat < 2)
    throw UsageError{"--method halving gives the better points more seeds: it needs --repeat 2 or more"};
  return options;
}

/// Runs what the store lacks and records every run.
class Runs {
 public:
  Runs(const SweepPlan& plan, ResumedSweep& opened, std::int64_t manifest, unsigned threads)
      : plan_{plan}, opened_{opened}, manifest_{manifest}, threads_{threads} {
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
               .interrupted = interrupted});
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
  std::map<std::int64_t, StoreRun> known_;
};

std::string metric_title(const StoreMetric& metric) {
  return metric.unit.empty() ? metric.name : fmt::format("{} [{}]", metric.title, metric.unit);
}

void print_table(const SweepPlan& plan, const TuneOptions& options, const TuneResult& result) {
  const StoreInfo& info = plan.info();
  std::vector<std::string> titles{"point"};
  for (const StoreParameter& each : info.parameters) titles.push_back(each.key);
  titles.push_back(metric_title(info.metrics[options.metric]));
  titles.emplace_back("95 %");
  titles.emplace_back("seeds");
  const std::size_t shown = std::min(kBestShown, result.points.size());
  std::vector<double> means, widths;
  for (std::size_t i = 0; i < shown; ++i) means.push_back(result.points[i].figure.mean);
  for (std::size_t i = 0; i < shown; ++i) widths.push_back(result.points[i].figure.half_width);
  const auto mean_cells = format_column(means), width_cells = format_column(widths);
  Table table{titles};
  for (std::size_t i = 0; i < shown; ++i) {
    const TunedPoint& each = result.points[i];
    const StorePoint& point = plan.points()[static_cast<std::size_t>(each.point)];
    std::vector<std::string> cells{fmt::format("{}", each.point)};
    for (std::size_t p = 0; p < info.parameters.size(); ++p) cells.push_back(value_text(point, p).value_or("-"));
    cells.push_back(mean_cells[i]);
    cells.push_back(std::isnan(each.figure.half_width) ? "-" : "± " + width_cells[i]);
    cells.push_back(fmt::format("{}", each.figure.count));
    table.add(std::move(cells));
  }
  fmt::print("{}tried {} of {} points in {} runs", table.text(), result.tried, plan.points().size(), result.runs);
  if (result.useless > 0)
    fmt::print("; {} of them have no value: a run failed, or not all of its jobs finished", result.useless);
  fmt::print("\n");
}

void print_json(const SweepPlan& plan, const TuneOptions& options, const TuneResult& result) {
  JsonWriter json;
  json.begin_object().member("metric", plan.info().metrics[options.metric].name);
  json.member("points", static_cast<std::int64_t>(plan.points().size()));
  json.member("tried", result.tried).member("runs", result.runs).key("best").begin_array();
  for (std::size_t i = 0; i < std::min(kBestShown, result.points.size()); ++i) {
    const TunedPoint& each = result.points[i];
    const StorePoint& point = plan.points()[static_cast<std::size_t>(each.point)];
    json.begin_object().member("point", each.point).member("mean", each.figure.mean);
    json.member("ci95", each.figure.half_width).member("seeds", static_cast<std::int64_t>(each.figure.count));
    json.key("settings").begin_array();
    for (const std::string& setting : point.settings) json.value(setting);
    json.end_array().end_object();
  }
  json.end_array().end_object();
  fmt::print("{}", json.take());
}

int run_tune(const Arguments& arguments) {
  const ProgressMode mode = progress_mode(arguments);
  const unsigned threads = thread_count(arguments);
  const LoadedSweep sweep = load_sweep(arguments, threads);
  const SweepPlan& plan = sweep.plan;
  const TuneOptions options = tune_options(arguments, plan);
  if (!arguments.has("quiet"))
    for (const std::string& note : plan.notes()) print_message("contend: note: {}\n", note);
  ResumedSweep opened =
      open_store(arguments, plan, arguments.value("output").value_or(file_name_of(plan.info().name) + ".sqlite"));
  const std::int64_t manifest = opened.store.add_manifest(manifest_of(arguments, sweep, threads));
  catch_interrupts();
  TuneResult result;
  {
    Runs runs{plan, opened, manifest, threads};
    SweepProgress line{mode, std::min(options.trials, static_cast<std::int64_t>(plan.points().size())) *
                                 (options.method == TuneMethod::bayes ? plan.info().repeat : 1)};
    result = tune(plan, options, [&](std::span<const std::int64_t> wanted) { return runs(wanted, line); });
  }
  opened.store.finish();
  if (arguments.has("json"))
    print_json(plan, options, result);
  else if (!arguments.has("quiet"))
    print_table(plan, options, result);
  if (interrupted()) {
    print_message("contend: interrupted; completed runs are stored. To continue:\n  {}\n", resume_command(arguments));
    return kExitInterrupted;
  }
  return result.points.empty() ? kExitUnfinished : kExitOk;
}

}  // namespace

const Command& tune_command() {
  static constexpr Command kCommand = {.name = "tune",
                                       .arguments = "SCENARIO",
                                       .summary = "Find the best point of a sweep without running all of them.",
                                       .examples = kTuneExamples,
                                       .options = kTuneOptions,
                                       .min_arguments = 1,
                                       .max_arguments = 1,
                                       .run = run_tune};
  return kCommand;
}

}  // namespace contend
