#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/load.hpp"
#include "cli/output.hpp"
#include "cli/quantity_option.hpp"
#include "report/facts.hpp"
#include "report/iteration_bars.hpp"
#include "report/page.hpp"
#include "report/run_figures.hpp"
#include "report/sweep_data.hpp"
#include "sim/error.hpp"
#include "text/new_folder.hpp"
#include "text/own_files.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>

#include <fmt/core.h>

namespace contend {
namespace {

namespace fs = std::filesystem;

enum class Kind { run, comparison, sweep };

/// Distinguishes reports: a folder holds runs, a file is the store of a sweep.
Kind kind_of(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (!fs::exists(path)) throw InputError{path + ": no such file or folder"};
    if (!fs::is_directory(path) && paths.size() > 1)
      throw InputError{fmt::format("{}: expected a single store of a sweep; `contend merge` joins several", path)};
  }
  if (paths.size() > 1) return Kind::comparison;
  if (!fs::is_directory(paths.front())) return Kind::sweep;
  return Kind::run;
}

/// Rejects options of another kind of report.
void check_options(const Arguments& arguments, Kind kind) {
  const auto only = [&](std::initializer_list<const char*> options, Kind wanted, std::string_view what) {
    for (const char* option : options)
      if (arguments.has(option) && kind != wanted)
        throw UsageError{fmt::format("contend report: --{} applies to the report of {}", option, what)};
  };
  only({"seed", "spans", "from", "to", "no-timeline"}, Kind::run, "one run");
  only({"x", "by", "metric", "hold", "average", "minimise", "maximise", "relative-to"}, Kind::sweep, "a sweep");
  if (arguments.has("relative-to") && !arguments.has("svg"))
    throw UsageError{"contend report: --relative-to needs --svg DIR, to which its maps are written"};
  for (const char* option : {"spans", "from", "to"})
    if (arguments.has(option) && arguments.has("no-timeline"))
      throw UsageError{fmt::format("contend report: --{} and --no-timeline exclude each other", option)};
}

SpanLimits span_limits(const Arguments& arguments) {
  SpanLimits limits;
  limits.exact = arguments.whole_number("spans", 1, 20'000'000).value_or(limits.exact);
  limits.summaries = std::min(limits.summaries, limits.exact);
  limits.from = quantity_of<Time>(arguments, "from").value_or(limits.from);
  limits.to = quantity_of<Time>(arguments, "to").value_or(limits.to);
  if (limits.from >= limits.to) throw UsageError{"contend report: --from must be before --to"};
  return limits;
}

/// The pages and figures that one command writes, all at its end: none of them if one must not be written.
class Output {
 public:
  Output(const Arguments& arguments, std::string otherwise) : svg_{arguments.value("svg")} {
    if (arguments.has("output") || !svg_) page_ = arguments.value("output").value_or(std::move(otherwise));
    if (page_) refuse_foreign_file(*page_);
    if (svg_) folders_.make(*svg_);
  }
  [[nodiscard]] bool wants_page() const { return page_.has_value(); }
  void page(std::string html) { add(*page_, std::move(html), true); }
  void figures(std::span<const Figure> figures) {
    if (!svg_) return;
    for (const Figure& figure : figures) {
      drawing(figure.id, figure_svg(figure));
      add(file(figure.id + ".csv"), figure_csv(figure), false);
    }
  }
  void drawing(const std::string& name, std::string svg) {
    if (svg_ && !svg.empty()) add(file(name + ".svg"), std::move(svg), true);
  }
  void write() const {
    write_own_files(files_);
    for (const std::string& each : shown_) print_output("{}\n", each);
  }

 private:
  [[nodiscard]] std::string file(const std::string& name) const { return (fs::path{*svg_} / name).string(); }
  void add(const std::string& path, std::string text, bool is_shown) {
    files_.push_back({path, std::move(text)});
    if (is_shown) shown_.push_back(path);
  }
  std::optional<std::string> page_, svg_;
  NewFolders folders_;
  std::vector<WrittenFile> files_;
  std::vector<std::string> shown_;  ///< paths that are printed
};

const RunFolder::Run& chosen_run(const RunFolder& folder, const Arguments& arguments) {
  const auto seed = arguments.whole_number("seed", 0, std::numeric_limits<std::int64_t>::max());
  if (!seed) return folder.runs.front();
  for (const RunFolder::Run& run : folder.runs)
    if (run.seed == *seed) return run;
  throw InputError{fmt::format("{}: no replica with seed {}; seeds are {} to {}", folder.path, *seed,
                               folder.runs.front().seed, folder.runs.back().seed)};
}

/// A run of more jobs is repeated for its timeline only where an option asks for the timeline: to repeat it would take
/// longer than all other parts of the page.
constexpr std::size_t kMostJobsRepeated = 200'000;

/// Why this run is not repeated for its timeline; empty if it is.
std::string why_not_repeated(const Arguments& arguments, const RunFolder& folder, const RunFolder::Run& run) {
  if (arguments.has("no-timeline")) return "It was left out by --no-timeline.";
  const bool asked = arguments.has("spans") || arguments.has("from") || arguments.has("to");
  const std::size_t jobs = folder.rows_of(folder.jobs, run).size();
  if (asked || jobs <= kMostJobsRepeated) return {};
  return fmt::format(
      "To repeat a run of {} jobs for its timeline takes about as long as the run; --spans 2000000, --from or --to "
      "asks "
      "for the timeline.",
      jobs);
}

int report_run(const Arguments& arguments) {
  const SpanLimits limits = span_limits(arguments);
  const RunFolder folder = read_run_folder(arguments.positionals().front());
  note_unchecked(arguments, folder.path, folder.has_digests);
  const RunFolder::Run& run = chosen_run(folder, arguments);
  if (arguments.has("from") && limits.from.to_seconds() >= run.end_s)
    throw UsageError{
        fmt::format("contend report: --from: expected a time before {1} s, at which the run of seed {0} ended",
                    run.seed, run.end_s)};
  Output output{arguments, (fs::path{folder.path} / "report.html").string()};
  ReplayOutcome outcome{.replay = std::nullopt, .reason = why_not_repeated(arguments, folder, run)};
  if (outcome.reason.empty()) {
    catch_interrupts();
    outcome = replay_run(folder, run, limits, interrupted);
    if (interrupted()) return kExitInterrupted;
  }
  if (!outcome.replay && !arguments.has("no-timeline") && !folder.scenario.overlap.given())
    print_message("contend: {}: no timeline. {}\n", folder.path, outcome.reason);
  const std::vector<Figure> figures = run_figures(folder, run, outcome.replay ? &*outcome.replay : nullptr);
  const std::vector<IterationBars> drawings = iteration_bars(folder, run);
  output.figures(figures);
  for (const IterationBars& each : drawings) output.drawing(each.name, each.svg);
  output.drawing("topology",
                 draw_topology(folder.scenario.cluster, folder.scenario.network, folder.scenario.overlap).svg);
  if (output.wants_page())
    output.page(run_page({.folder = folder, .run = run, .replay = outcome, .figures = figures, .drawings = drawings}));
  output.write();
  return kExitOk;
}

int report_comparison(const Arguments& arguments) {
  std::vector<RunFolder> folders;
  for (const std::string& path : arguments.positionals()) {
    folders.push_back(read_run_folder(path));
    note_unchecked(arguments, path, folders.back().has_digests);
  }
  name_apart(folders);
  Output output{arguments, "report.html"};
  const std::vector<Figure> figures = comparison_figures(folders);
  output.figures(figures);
  if (output.wants_page()) output.page(comparison_page(folders, figures));
  output.write();
  return kExitOk;
}

SweepReference key_and_value(std::string_view option, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw UsageError{fmt::format("contend report: --{}: expected KEY=VALUE, got \"{}\"", option, text)};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// The two goals of a front; empty if none is asked for.
std::vector<SweepGoal> front_goals(const Arguments& arguments) {
  std::vector<SweepGoal> goals;
  for (const char* option : {"minimise", "maximise"})
    for (const std::string& metric : arguments.values(option))
      goals.push_back({metric, option == std::string_view{"maximise"}});
  if (!goals.empty() && goals.size() != 2)
    throw UsageError{
        fmt::format("contend report: a front has two goals, and there {} {}: expected --minimise METRIC or "
                    "--maximise METRIC twice",
                    goals.size() == 1 ? "is" : "are", goals.size())};
  if (!goals.empty() && goals[0].metric == goals[1].metric)
    throw UsageError{fmt::format("contend report: {} is a goal twice; expected different metrics", goals[0].metric)};
  return goals;
}

int report_sweep(const Arguments& arguments) {
  const std::vector<SweepGoal> goals = front_goals(arguments);
  const auto option = [&](std::string_view name) { return arguments.value(name).value_or(""); };
  const SweepData data = read_sweep(arguments.positionals().front());
  note_unchecked(arguments, arguments.positionals().front(), data.has_checksums);
  std::optional<SweepReference> relative;
  if (const auto text = arguments.value("relative-to")) relative = key_and_value("relative-to", *text);
  SweepAxes wanted{.x = option("x"), .by = option("by"), .metric = option("metric")};
  for (const std::string& each : arguments.values("hold")) wanted.held.push_back(key_and_value("hold", each));
  wanted.averaged = arguments.values("average");
  SweepAxes axes = choose_axes(data, wanted, relative ? relative->key : std::string{});
  Output output{arguments, "report.html"};
  if (relative) {
    output.figures(ratio_maps(data, axes, *relative));
    axes.held.push_back(*relative);  // the other figures show the reference itself
  }
  output.figures(sweep_figures(data, axes));
  std::vector<Figure> fronts;
  if (!goals.empty()) fronts.push_back(sweep_front(data, goals[0], goals[1]));
  output.figures(fronts);
  if (output.wants_page()) output.page(sweep_page(data, axes, fronts));
  output.write();
  return kExitOk;
}

}  // namespace

int report_verb(const Arguments& arguments) {
  const Kind kind = kind_of(arguments.positionals());
  check_options(arguments, kind);
  if (kind == Kind::run) return report_run(arguments);
  return kind == Kind::comparison ? report_comparison(arguments) : report_sweep(arguments);
}

}  // namespace contend
