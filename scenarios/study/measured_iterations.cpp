#include "scenarios/study/measured_iterations.hpp"

#include "scenarios/keys/keys.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/keys/training_codec.hpp"
#include "scenarios/run/cost_formulas.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "scenarios/study/study_model.hpp"
#include "scenarios/study/study_places.hpp"
#include "scenarios/study/study_run.hpp"
#include "text/csv.hpp"
#include "text/decimal.hpp"
#include "text/file_complaints.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace contend {

namespace {

constexpr std::string_view kSeconds = "seconds";
constexpr std::string_view kStudy = "overlap.";
/// Keys whose value is a list, of which a row has one item.
constexpr std::string_view kLists[] = {"overlap.workers", "overlap.fusion", "overlap.compression"};

struct Column {
  std::string name;
  std::string key;  ///< empty: the measured seconds
};

/// The constants that the scenario has; where a constant of the network is 0, a first guess.
IterationConstants constants_of(const Scenario& scenario) {
  constexpr double kSomeAlpha = 1e-4, kSomeInterference = 0.2;
  const AlphaBeta cost = network_cost(scenario.network);
  return {cost.alpha > Time{} ? cost.alpha.to_seconds() : kSomeAlpha, cost.beta.ns_per_byte(), kSomeInterference,
          scenario.overlap.entry.update_per_tensor.to_seconds()};
}

/// Keys that the fit gives a value of its own, so that a row can't have one.
constexpr std::string_view kFitted[] = {"network.alpha", "network.beta", "network.interference"};

class MeasurementReader {
 public:
  MeasurementReader(std::string_view text, const std::string& file, const MeasurementSource& source)
      : source_{source}, complaints_{file} {
    check_base();
    const CsvTable table = parse_csv(text, file);
    find_columns(table);
    complaints_.throw_if_any();
    for (const CsvRow& row : table.rows) read(row);
    if (rows_.empty() && complaints_.empty()) complaints_.add({}, "", "no measured iteration");
    check_formulas();
    complaints_.throw_if_any();
  }
  [[nodiscard]] std::vector<MeasuredIteration> take() { return std::move(rows_); }

 private:
  /// A fault of the scenario itself is one complaint, at its place, and not one for each row.
  void check_base() {
    const IterationStudy study = load_scenario(source_.scenario, {source_.overrides}).overlap;
    if (!study.given())
      throw InputError{
          {{.file = source_.scenario,
            .reason = "no iteration study",
            .hint = "give what the rows have in common: overlap.training and its entry, overlap.workers"}}};
    entry_ = fmt::format("training.{}.", study.entry.name);
  }

  void find_columns(const CsvTable& table) {
    std::vector<std::string> known{std::string{kSeconds}};
    std::vector<std::string> keys;
    for (const ScenarioKey& key : scenario_keys()) keys.emplace_back(key.path);
    for (const MemberText& member : training_members()) keys.push_back(entry_ + member.name);
    for (const std::string& key : keys) {
      known.push_back(key);
      for (const std::string_view prefix : {kStudy, std::string_view{entry_}})
        if (key.starts_with(prefix)) known.push_back(key.substr(prefix.size()));
    }
    for (const std::string& name : table.header) {
      Column column{name, {}};
      if (name != kSeconds) {
        for (const std::string_view prefix : {kStudy, std::string_view{entry_}, std::string_view{}}) {
          const std::string key = std::string{prefix} + name;
          if (column.key.empty() && std::ranges::find(keys, key) != keys.end()) column.key = key;
        }
        if (std::ranges::any_of(kFitted, [&](std::string_view each) { return column.key.starts_with(each); }))
          complaints_.add({1, 0}, "", fmt::format("{} is fitted: rows have no values of it", column.key),
                          "leave the column out");
        if (column.key.empty() && name != source_.group)
          complaints_.add({1, 0}, "", fmt::format("unknown column \"{}\"", name), did_you_mean(name, known));
      }
      const bool twice = std::any_of(columns_.begin(), columns_.end(), [&](const Column& other) {
        return other.name == name || (!column.key.empty() && other.key == column.key);
      });
      if (twice) complaints_.add({1, 0}, "", fmt::format("the column \"{}\" is there twice", name));
      columns_.push_back(std::move(column));
    }
    for (const std::string_view needed : {kSeconds, std::string_view{source_.group}}) {
      const bool is_there =
          std::any_of(columns_.begin(), columns_.end(), [&](const Column& column) { return column.name == needed; });
      if (!is_there) complaints_.add({1, 0}, "", fmt::format("there is no column \"{}\"", needed));
    }
  }

  /// Alpha and beta mean something else in each formula.
  void check_formulas() {
    for (const MeasuredIteration& row : rows_) {
      const std::string_view first = cost_formula(rows_.front().scenario.network).name,
                             own = cost_formula(row.scenario.network).name;
      if (own == first) continue;
      complaints_.add(
          {row.line, 0}, "",
          fmt::format("network.formula is {}, and {} in line {}: alpha and beta mean something else in each", own,
                      first, rows_.front().line),
          "fit the rows of one formula at a time");
      return;
    }
  }

  static std::string override_of(const Column& column, const std::string& text) {
    const bool is_list = std::find(std::begin(kLists), std::end(kLists), column.key) != std::end(kLists);
    return is_list && !text.starts_with("[") ? fmt::format("{}=[{}]", column.key, text)
                                             : fmt::format("{}={}", column.key, text);
  }

  void read(const CsvRow& row) {
    MeasuredIteration measured;
    measured.line = row.line;
    LoadOptions options{source_.overrides};
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Column& column = columns_[i];
      const std::string& text = row.fields[i];
      if (column.name == source_.group) measured.group = text;
      if (column.name == kSeconds) {
        constexpr int kNanoseconds = 9;
        const ScaledDecimal time = parse_scaled(text, kNanoseconds);
        if (time.error != DecimalError::none || time.value <= 0) {
          complaints_.add({row.line, 0}, column.name, fmt::format("expected a number above 0, got \"{}\"", text));
          return;
        }
        measured.seconds = Time::nanoseconds(time.value).to_seconds();
      } else if (!text.empty() && !column.key.empty()) {
        options.overrides.push_back(override_of(column, text));
        measured.title += (measured.title.empty() ? "" : ", ") + text;
      }
    }
    try {
      measured.scenario = load_scenario(source_.scenario, options);
      check(measured);
      measured.model = study_model(measured.scenario.overlap);
      (void)predicted_seconds(measured, constants_of(measured.scenario));
      rows_.push_back(std::move(measured));
    } catch (const InputError& error) {
      for (const Complaint& complaint : error.complaints()) {
        const std::string key = complaint.key.empty() ? std::string{} : complaint.key + ": ";
        complaints_.add({row.line, 0}, "", key + complaint.reason, complaint.hint);
      }
    }
  }

  static void check(const MeasuredIteration& row) {
    const IterationStudy& study = row.scenario.overlap;
    if (study.workers.size() != 1 || study.fusion.size() != 1 || study.compression.size() != 1) {
      throw InputError{fmt::format(
          "a measured iteration has one number of workers, one fusion policy and one compression, not {}, {} and {}",
          study.workers.size(), study.fusion.size(), study.compression.size())};
    }
    if (study.workers.front() < 2) throw InputError{"one worker exchanges nothing"};
    const std::optional<Time> alone = study.entry.single_worker;
    if (alone && row.seconds < alone->to_seconds()) {
      throw InputError{fmt::format("{} s are less than {}, the iteration without communication",
                                   format_seconds(Time::ceil_nanoseconds(row.seconds * 1e9)),
                                   entry_key(study, "single_worker"))};
    }
    if (row.scenario.network.traits().has_topology)
      throw InputError{{{.key = "network.fidelity",
                         .reason = "flow: the network shares itself out, by no alpha and beta that could be fitted",
                         .hint = "analytic or contention"}}};
    if (row.scenario.network.sites) throw InputError{"links that differ (network.sites) have no single alpha and beta"};
  }

 private:
  const MeasurementSource& source_;
  FileComplaints complaints_;
  std::string entry_;  ///< `training.NAME.`
  std::vector<Column> columns_;
  std::vector<MeasuredIteration> rows_;
};

}  // namespace

std::vector<MeasuredIteration> read_measured_iterations(std::string_view text, const std::string& file,
                                                        const MeasurementSource& source) {
  return MeasurementReader{text, file, source}.take();
}

namespace {

bool has_update(const MeasuredIteration& row) {
  return row.scenario.overlap.entry.update_per_tensor > Time{};
}

}  // namespace

double predicted_seconds(const MeasuredIteration& row, const IterationConstants& constants) {
  TrainingSystem system = row.scenario;
  system.network.formula = cost_formula(row.scenario.network).name;  // which beta alone would change
  system.network.alpha = Time::ceil_nanoseconds(constants.alpha_s * 1e9);
  system.network.beta = TimePerByte{constants.beta_ns_per_byte};
  system.network.interference.both.reset();
  system.network.interference.compute = constants.interference;
  system.network.interference.network = constants.interference;
  TrainingEntry& entry = system.overlap.entry;
  if (has_update(row)) entry.update_per_tensor = Time::ceil_nanoseconds(constants.update_s * 1e9);
  const RunResult predicted = run_study(system, {.model = has_update(row) ? nullptr : &row.model});
  const JobResult& job = predicted.jobs.front();
  if (job.state == JobState::failed) throw InputError{job.reason};
  return job.held.to_seconds();
}

namespace {

/// The constants that can be half as large again without any prediction changing by a thousandth.
std::vector<std::string> undetermined_constants(const IterationFit& fit, const IterationPredictor& predict) {
  constexpr double kMore = 1.5, kSomeInterference = 0.1, kSomeUpdate = 1e-5, kChange = 1e-3;
  const auto is_free = [&](const IterationConstants& other) {
    for (std::size_t row = 0; row < fit.predicted.size(); ++row) {
      if (std::abs(predict(row, other) / fit.predicted[row] - 1) > kChange) return false;
    }
    return true;
  };
  std::vector<std::string> names;
  IterationConstants other = fit.constants;
  other.alpha_s *= kMore;
  if (is_free(other)) names.emplace_back("alpha");
  other = fit.constants;
  other.beta_ns_per_byte *= kMore;
  if (is_free(other)) names.emplace_back("beta");
  other = fit.constants;
  other.interference = other.interference * kMore + kSomeInterference;
  if (!fit.knows_interference || is_free(other)) names.emplace_back("interference");
  other = fit.constants;
  other.update_s = other.update_s * kMore + kSomeUpdate;
  if (fit.knows_update && is_free(other)) names.emplace_back(kUpdateMember);
  return names;
}

}  // namespace

MeasuredFit fit_measured(const std::vector<MeasuredIteration>& rows) {
  std::vector<FittedRow> figures;
  figures.reserve(rows.size());
  for (const MeasuredIteration& row : rows) figures.push_back({row.group, row.seconds, has_update(row)});
  const IterationPredictor predict = [&](std::size_t row, const IterationConstants& constants) {
    return predicted_seconds(rows[row], constants);
  };
  IterationConstants start = constants_of(rows.front().scenario);
  for (const MeasuredIteration& row : rows)
    if (start.update_s == 0) start.update_s = constants_of(row.scenario).update_s;
  IterationFit all = fit_iterations(figures, predict, start);
  std::vector<std::string> undetermined = undetermined_constants(all, predict);
  return {std::move(all), std::move(undetermined), leave_one_out(figures, predict, start)};
}

std::string constants_fragment(const IterationConstants& constants, std::string_view formula,
                               const std::vector<std::string>& comments) {
  std::string yaml;
  for (const std::string& line : comments) yaml += fmt::format("# {}\n", line);
  yaml += fmt::format(
      "schema_version: {}\nnetwork:\n  alpha: {:.3f}us\n  beta: {:.6f}ns/B\n  formula: {}\n  interference: "
      "{{compute: {:.4f}, network: {:.4f}}}\n",
      kSchemaVersion, constants.alpha_s * 1e6, constants.beta_ns_per_byte, formula, constants.interference,
      constants.interference);
  if (constants.update_s > 0)
    yaml += fmt::format("# An entry of training adds: update_per_tensor: {:.3f}us\n", constants.update_s * 1e6);
  return yaml;
}

}  // namespace contend
