// The part of `contend run` for iteration studies.
#include "cli/run_studies.hpp"
#include "cli/exit_code.hpp"
#include "cli/layers_report.hpp"
#include "cli/load.hpp"
#include "cli/output.hpp"
#include "cli/running.hpp"
#include "cli/study_explain.hpp"
#include "cli/study_report.hpp"
#include "cli/sweep_progress.hpp"
#include "results/result_writer.hpp"
#include "scenarios/keys/print.hpp"
#include "scenarios/study/fitted_bytes.hpp"
#include "scenarios/study/study_model.hpp"
#include "scenarios/study/study_notes.hpp"
#include "scenarios/study/study_places.hpp"
#include "scenarios/study/study_timeline.hpp"
#include "sim/error.hpp"
#include "text/atomic_file.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace contend {

bool is_iteration_study(std::span<const Scenario> scenarios) {
  const auto given = [](const Scenario& scenario) { return scenario.overlap.given(); };
  const bool any = std::any_of(scenarios.begin(), scenarios.end(), given);
  if (any && !std::all_of(scenarios.begin(), scenarios.end(), given))
    throw InputError{"iteration studies (overlap.*) and studies of jobs cannot share a table: run them separately"};
  return any;
}

namespace {

/// Prints each warning once, with the names of all scenarios that it concerns.
class StudyWarnings {
 public:
  /// Adds a warning unless it is empty.
  void add(const Scenario& about, const std::string& warning) {
    if (warning.empty()) return;
    auto there = std::ranges::find(warnings_, warning, &Warning::first);
    if (there == warnings_.end()) there = warnings_.insert(there, {warning, {}});
    there->second.push_back(about.name);
  }
  void print() const {
    for (const auto& [warning, names] : warnings_)
      print_message("contend: warning: {}: {}\n", fmt::join(names, ", "), warning);
  }

 private:
  using Warning = std::pair<std::string, std::vector<std::string>>;
  std::vector<Warning> warnings_;
};

/// Prints the warnings that are known before anything runs.
void print_warnings(std::span<const Scenario> scenarios, std::span<const TimedModel> models) {
  StudyWarnings warnings;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    for (const std::string& warning : calibration_warnings(scenarios[i], models[i]))
      warnings.add(scenarios[i], warning);
    for (const std::string& note : study_notes(scenarios[i])) warnings.add(scenarios[i], note);
  }
  warnings.print();
}

/// Prints the warnings about message sizes, which are known only after the policies have planned.
void print_size_warnings(std::span<const Scenario> scenarios, std::span<const std::vector<StudyRow>> rows) {
  StudyWarnings warnings;
  for (std::size_t i = 0; i < scenarios.size(); ++i)
    warnings.add(scenarios[i], unfitted_bytes(scenarios[i].overlap, rows[i]).note());
  warnings.print();
}

}  // namespace

int run_studies(const Arguments& arguments, std::span<const Scenario> scenarios) {
  const unsigned threads = thread_count(arguments);
  if (arguments.has("timeline")) {
    const IterationStudy& study = scenarios.front().overlap;
    if (scenarios.size() != 1 || study.fusion.size() != 1 || study.workers.size() != 1)
      throw UsageError{
          "--timeline draws one iteration: give one scenario, --set 'overlap.fusion=[NAME]' and --set "
          "'overlap.workers=[N]'"};
    write_study_timeline(*arguments.value("timeline"), study_timeline(scenarios.front()));
  }
  const bool explains = arguments.has("explain");
  const bool warns = !arguments.has("quiet");
  std::vector<TimedModel> models;
  std::vector<std::vector<StudyRow>> rows;
  std::size_t count = 0;
  for (const Scenario& scenario : scenarios) {
    models.push_back(study_model(scenario.overlap));
    count += study_row_count(scenario.overlap);
  }
  if (warns) print_warnings(scenarios, models);
  {
    SweepProgress line{progress_mode(arguments), static_cast<std::int64_t>(count)};
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
      const bool detailed = explains || (warns && scenarios[i].overlap.fitted_bytes);
      const StudyDetail detail = detailed ? StudyDetail::messages : StudyDetail::figures;
      const auto ended = [&] {
        line.recorded(false);
        return true;
      };
      rows.push_back(run_study(scenarios[i], models[i], detail, {.threads = threads, .ended = ended}));
    }
  }
  if (warns) print_size_warnings(scenarios, rows);
  for (std::vector<StudyRow>& study : rows)
    for (StudyRow& row : study)
      if (!explains) row.phases.clear();
  for (std::size_t i = 0; arguments.has("output") && i < scenarios.size(); ++i) {
    const std::filesystem::path top{*arguments.value("output")};
    const std::string folder = scenarios.size() == 1 ? top.string() : (top / file_name_of(scenarios[i].name)).string();
    make_folder(folder);
    write_file((std::filesystem::path{folder} / "overlap.csv").string(), study_csv(rows[i]));
    if (explains) write_file((std::filesystem::path{folder} / "overlap-messages.csv").string(), messages_csv(rows[i]));
    write_file((std::filesystem::path{folder} / "scenario.yaml").string(), to_yaml(scenarios[i], folder));
  }
  if (arguments.has("json")) {
    print_output("{}", study_json(scenarios, rows));
  } else if (!arguments.has("quiet")) {
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
      print_output("{}{}", i == 0 ? "" : "\n", study_text(scenarios[i], models[i], rows[i]));
      if (explains) print_output("\n{}\n{}", assumptions_text(scenarios[i]), messages_text(rows[i]));
    }
  }
  std::vector<Complaint> impossible;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (std::all_of(rows[i].begin(), rows[i].end(), [](const StudyRow& row) { return !row.refused.empty(); }))
      impossible.push_back(study_complaint(
          scenarios[i].overlap, refusing_key(scenarios[i].overlap),
          fmt::format("nothing of this study can be done here: {}{}: {}",
                      rows[i].front().compression == "none" ? "" : rows[i].front().compression + " with ",
                      rows[i].front().policy, rows[i].front().refused)));
  }
  if (!impossible.empty()) throw InputError{std::move(impossible)};
  return kExitOk;
}

}  // namespace contend
