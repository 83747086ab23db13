#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/load.hpp"
#include "cli/output.hpp"
#include "cli/precision.hpp"
#include "cli/running.hpp"
#include "cli/sweep_load.hpp"
#include "cli/sweep_progress.hpp"
#include "cli/sweep_slurm.hpp"
#include "cli/sweep_store.hpp"
#include "cli/text_table.hpp"
#include "scenarios/sweep/baseline.hpp"
#include "scenarios/sweep/expected.hpp"
#include "scenarios/sweep/store_query.hpp"
#include "scenarios/sweep/sweep_runner.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

int list_points(const SweepPlan& plan) {
  const StoreInfo& info = plan.info();
  std::vector<std::string> titles{"point", "hash"};
  for (const StoreParameter& each : info.parameters) titles.push_back(each.key);
  const bool compares = !plan.points().empty() && plan.points().front().baseline.has_value();
  if (compares) titles.emplace_back("baseline");
  Table table{titles};
  for (std::size_t i = 0; i < info.parameters.size(); ++i)
    if (info.parameters[i].type == StoreParameter::Type::text) table.align_left(i + 2);
  for (const StorePoint& point : plan.points()) {
    std::vector<std::string> cells{fmt::format("{}", point.point), point.hash};
    for (std::size_t i = 0; i < info.parameters.size(); ++i) cells.push_back(value_text(point, i).value_or("-"));
    if (compares) cells.push_back(fmt::format("{}", *point.baseline));
    table.add(std::move(cells));
  }
  print_output("{}{}\n", table.text(), extent_text(plan));
  return kExitOk;
}

/// The runs of the shard that the store lacks; with `tells`, prints which are skipped.
std::vector<std::int64_t> runs_to_do(const ResumedSweep& resumed, const Shard& shard, bool tells) {
  std::vector<std::int64_t> runs;
  std::int64_t skipped = 0;
  for (std::int64_t run = 0; run < static_cast<std::int64_t>(resumed.done.size()); ++run) {
    if (!shard.has(run)) continue;
    if (resumed.done[static_cast<std::size_t>(run)])
      ++skipped;
    else
      runs.push_back(run);
  }
  if (!tells) return runs;
  print_message("contend: {}: {} runs are done already, {} remain", resumed.store.path(), skipped, runs.size());
  if (resumed.failed > 0) print_message("; {} that failed are repeated", resumed.failed);
  if (resumed.outdated > 0) print_message("; {} of another version of the program are repeated", resumed.outdated);
  if (resumed.added != 0) print_message("; the sweep has {} runs more than before", resumed.added);
  print_message("\n");
  return runs;
}

/// Counts of this invocation's runs, for the messages at its end.
struct Tally {
  std::int64_t done = 0, refused = 0, unfinished = 0;
  std::vector<StoreRun> failed;

  void add(const StoreRun& run, std::size_t jobs, std::size_t finished) {
    if (run.status == RunStatus::failed) failed.push_back(run);
    if (run.status == RunStatus::refused) ++refused;
    if (run.status != RunStatus::done) return;
    ++done;
    if (jobs < run.metrics.size() && run.metrics[finished] < run.metrics[jobs]) ++unfinished;
  }
};

std::size_t metric_index(const StoreInfo& info, std::string_view name) {
  std::size_t index = 0;
  while (index < info.metrics.size() && info.metrics[index].name != name) ++index;
  return index;
}

/// A point in words: `point 3, network.nic=10Gbps`.
std::string point_text(const SweepPlan& plan, std::int64_t point) {
  const auto& settings = plan.points()[static_cast<std::size_t>(point)].settings;
  return fmt::format("point {}{}{}", point, settings.empty() ? "" : ", ", fmt::join(settings, " "));
}

void report_failures(const SweepPlan& plan, const Tally& tally) {
  if (tally.unfinished > 0)
    print_message(
        "contend: in {} runs not all jobs finished (columns `jobs`, `finished`, `failed`, `given_up`, `unfinished`)\n",
        tally.unfinished);
  if (tally.failed.empty()) return;
  print_message("contend: {} runs failed:\n", tally.failed.size());
  for (std::size_t i = 0; i < tally.failed.size() && i < kMaxShown; ++i) {
    const StoreRun& run = tally.failed[i];
    print_message("  run {}, {}, seed {}: {}\n", run.run, point_text(plan, run.point), run.seed, run.error);
  }
  if (tally.failed.size() > kMaxShown) print_message("  ... and {} more\n", tally.failed.size() - kMaxShown);
}

/// The outcomes with a bound that is not met.
std::vector<PointOutcome> unmet_points(const SweepPlan& plan, SweepStore& store) {
  if (!plan.expects()) return {};
  std::vector<PointOutcome> judged = judge_points(plan, store.runs());
  std::erase_if(judged, [](const PointOutcome& each) { return all_met(each.outcomes); });
  return judged;
}

void report_unmet(const SweepPlan& plan, std::span<const PointOutcome> unmet) {
  for (std::size_t i = 0; i < unmet.size() && i < kMaxShown; ++i)
    print_unmet(point_text(plan, unmet[i].point), unmet[i].outcomes);
  if (unmet.size() > kMaxShown)
    print_message("contend: ... and {} more points that miss an expectation\n", unmet.size() - kMaxShown);
}

/// The widest 95% interval of the points: of the ratio to the baseline, if there is one, and of the mean otherwise.
/// Points without an interval, such as those that can't be run, are left out; NaN if there is no other.
double widest_of(SweepStore& store, const Metric& metric) {
  const ResultsTable results =
      query_results(store, {.group_by = {}, .metrics = {std::string{metric.name}}, .where = {}, .baseline = {}});
  double widest = kNaN;
  for (const ResultsGroup& point : results.groups) {
    const double width = results.compares ? half_width_of(point.ratios[0].geometric) : half_width_of(point.figures[0]);
    if (!std::isnan(width)) widest = std::isnan(widest) ? width : std::max(widest, width);
  }
  return widest;
}

/// The sweep with its first seeds: the seeds of the store that the sweep continues, if the store has more.
LoadedSweep with_first_seeds(const Arguments& arguments, const Precision& wanted, LoadedSweep sweep,
                             const std::string& path, unsigned threads) {
  auto seeds = static_cast<std::int64_t>(first_seeds(arguments, static_cast<int>(sweep.plan.info().repeat)));
  if (arguments.has("resume") && std::filesystem::exists(path))
    seeds = std::max(seeds, SweepStore::open(path).info().repeat);
  for (const StorePoint& point : sweep.plan.points()) {
    const Scenario scenario = sweep.plan.scenario(point.point);
    check_precision(wanted, scenario.workload, scenario.overlap, static_cast<int>(seeds));
  }
  if (seeds == sweep.plan.info().repeat) return sweep;
  return load_sweep(arguments, threads, static_cast<std::uint64_t>(seeds));
}

int run_points(const Arguments& arguments, LoadedSweep sweep, ProgressMode mode, unsigned threads) {
  const Shard shard = shard_of(arguments);
  const std::string name = file_name_of(sweep.plan.info().name);
  const std::string usual = shard.count == 1 ? fmt::format("{}.sqlite", name)
                                             : fmt::format("{}-{}-of-{}.sqlite", name, shard.index, shard.count);
  const std::string path = arguments.value("output").value_or(usual);
  const WriterLock lock = lock_store(path);
  const std::optional<Time> timeout = timeout_of(arguments, sweep.plan);
  const std::optional<Precision> precision = precision_of(arguments);
  if (precision) sweep = with_first_seeds(arguments, *precision, std::move(sweep), path, threads);
  bool resume = arguments.has("resume");
  const bool tells = resume && std::filesystem::exists(path) && !arguments.has("quiet");
  const auto begin = std::chrono::steady_clock::now();
  // A single shard may have only some seeds of a point.
  const bool judges = sweep.plan.expects() && shard.count == 1;
  Tally tally;
  std::vector<PointOutcome> unmet;
  std::string reached;
  std::int64_t missing = 0, seeds_before = 0;
  for (;;) {
    const SweepPlan& plan = sweep.plan;
    ResumedSweep opened = open_store(arguments, plan, path, resume);
    SweepStore& store = opened.store;
    std::vector<std::int64_t> runs = runs_to_do(opened, shard, tells && seeds_before == 0);
    // A run that has failed before fails again.
    std::erase_if(runs, [&](std::int64_t run) { return run % plan.info().repeat < seeds_before; });
    missing += static_cast<std::int64_t>(runs.size());
    const std::int64_t manifest = store.add_manifest(manifest_of(arguments, sweep, threads));
    catch_interrupts();
    {
      SweepProgress line{mode, static_cast<std::int64_t>(runs.size())};
      const std::size_t jobs = metric_index(plan.info(), "jobs"), finished = metric_index(plan.info(), "finished");
      run_sweep(plan, runs, manifest, store,
                {.threads = threads,
                 .recorded =
                     [&](const StoreRun& run) {
                       tally.add(run, jobs, finished);
                       line.recorded(run.status == RunStatus::failed);
                     },
                 .interrupted = interrupted,
                 .timeout = timeout});
    }
    std::size_t more = 0;
    if (precision && !interrupted()) {
      const auto seeds = static_cast<std::size_t>(plan.info().repeat);
      const double widest = widest_of(store, *precision->metric);
      more = precision->seeds_to_add(widest, seeds);
      reached = precision->reached(widest, seeds, plan.points().size() > 1);
    }
    if (more == 0 && judges) unmet = unmet_points(plan, store);
    store.finish();
    if (more == 0) break;
    seeds_before = plan.info().repeat;
    resume = true;
    sweep = load_sweep(arguments, threads, static_cast<std::uint64_t>(seeds_before) + more);
    for (StoreRun& each : tally.failed)
      each.run += each.point * static_cast<std::int64_t>(more);  // runs are renumbered
  }
  const SweepPlan& plan = sweep.plan;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const std::int64_t ended = tally.done + tally.refused + static_cast<std::int64_t>(tally.failed.size());
  if (!arguments.has("quiet")) {
    print_output("{}: {}; {} runs in {}", path, extent_text(plan), ended, duration_text(seconds));
    if (tally.refused > 0) print_output(", {} refused (column `error`)", tally.refused);
    print_output("\n");
    if (!reached.empty()) print_output("{}\n", reached);
  }
  report_failures(plan, tally);
  report_unmet(plan, unmet);
  if (plan.expects() && !judges && !arguments.has("quiet"))
    print_message("contend: note: `expect` needs the runs of all shards: merge their stores and sweep with --resume\n");
  if (interrupted() && ended < missing) {
    print_message("contend: interrupted; completed runs are stored. To continue:\n  {}\n", resume_command(arguments));
    return kExitInterrupted;
  }
  if (tally.failed.empty() && !unmet.empty()) return kExitFailed;
  return tally.failed.empty() && tally.unfinished == 0 ? kExitOk : kExitUnfinished;
}

/// Rejects options that have no effect in combination.
void refuse_pointless(const Arguments& arguments) {
  if (arguments.has("list"))
    for (const char* option : {"output", "resume", "shard", "per-job", "by", "timeout", "progress", "quiet", "slurm",
                               "status", "resubmit", "until-precise", "most-seeds"})
      arguments.refuse(option, "with --list");
  if (arguments.has("slurm"))
    for (const char* option :
         {"resume", "shard", "progress", "quiet", "status", "resubmit", "until-precise", "most-seeds"})
      arguments.refuse(option, "with --slurm");
  if (arguments.has("shard") && arguments.has("until-precise"))
    throw UsageError{"--until-precise looks at all seeds of every point, and a shard has only some"};
  for (const char* look : {"status", "resubmit"}) {
    if (!arguments.has(look)) continue;
    for (const Option& option : arguments.options())
      if (option.name != look) arguments.refuse(option.name, fmt::format("with --{}", look));
  }
  for (const char* option : {"chunk", "partition", "time", "mem", "dry-run"})
    if (arguments.has(option) && !arguments.has("slurm")) throw UsageError{fmt::format("--{} needs --slurm", option)};
}

}  // namespace

int sweep_verb(const Arguments& arguments) {
  refuse_pointless(arguments);
  if (arguments.has("status") || arguments.has("resubmit")) return look_at_sweep(arguments);
  const ProgressMode mode = progress_mode(arguments);
  const unsigned threads = thread_count(arguments);
  static_cast<void>(shard_of(arguments));
  LoadedSweep sweep = load_sweep(arguments, threads);
  if (!arguments.has("quiet"))
    for (const std::string& note : sweep.plan.notes()) print_message("contend: note: {}\n", note);
  static_cast<void>(timeout_of(arguments, sweep.plan));
  if (arguments.has("list")) return list_points(sweep.plan);
  if (arguments.has("slurm")) return submit_sweep(arguments, sweep);
  return run_points(arguments, std::move(sweep), mode, threads);
}

}  // namespace contend
