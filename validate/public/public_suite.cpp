#include "validate/public/public_suite.hpp"

#include "scenarios/keys/reader.hpp"
#include "scenarios/run/lone_job.hpp"
#include "scenarios/training/parallel_job.hpp"
#include "scenarios/training/parallel_memory.hpp"
#include "scenarios/training/prediction_interval.hpp"
#include "scenarios/training/training_graphs.hpp"
#include "scenarios/yaml/device_sheet.hpp"
#include "scenarios/yaml/error_table.hpp"
#include "scenarios/yaml/source_layers.hpp"
#include "sim/error.hpp"
#include "sim/parallel.hpp"
#include "text/own_files.hpp"
#include "validate/checked_table.hpp"
#include "validate/public/left_out.hpp"
#include "validate/public/public_set.hpp"
#include "validate/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
#include <thread>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

constexpr double kPercent = 100, kMilli = 1e-3;

std::filesystem::path data_path(const PublicSet& set) {
  const char* const data = std::getenv("CONTEND_DATA");
  return std::filesystem::path{data != nullptr ? data : "../shared/data"} / set.rows;
}

/// The seconds of an iteration that the row's column says; tokens a second need the tokens of the iteration.
double measured_seconds(const PublicSet& set, const PublicRow& row, double tokens) {
  const double value = row.number(set.measured);
  switch (set.unit()) {
    case MeasuredUnit::milliseconds:
      return value * kMilli;
    case MeasuredUnit::seconds:
      return value;
    case MeasuredUnit::tokens_per_s:
      return tokens / (value * row.number("gpus"));
  }
  return 0;
}

void predict(const PublicSet& set, const PublicRow& row, PublicPrediction& prediction) {
  try {
    const Scenario scenario = parse_scenario(row.filled(set.scenario), set.name, {}, read_text_file);
    const int gpus = static_cast<int>(row.number("gpus"));
    const TrainingEntry& entry = *find_entry(scenario.training, "m");
    const ParallelJob job = plan_parallel(scenario, entry, gpus);
    prediction.measured_s = measured_seconds(set, row, job.work.tokens);
    const Time iteration = lone_iteration(scenario, "m", gpus);
    prediction.parts = part_errors(scenario, entry, gpus);
    prediction.ours_s = iteration.to_seconds();
    prediction.fits = job.memory[fullest(job.memory)].total() <= sheet_of(entry.device).memory;
  } catch (const InputError& error) {
    const Complaint& first = error.complaints().front();
    prediction.refusal = fmt::format("{}: {}", first.key, first.reason);
  }
}

std::vector<PublicPrediction> predictions_of(const PublicSet& set) {
  const FileText file = read_text_file(data_path(set).string());
  if (!file.text) throw InputError{fmt::format("can't read {}: {}", data_path(set).string(), file.reason)};
  const CsvTable table = parse_csv(*file.text, set.rows);
  std::vector<PublicRow> rows;
  std::vector<PublicPrediction> predictions;
  for (const CsvRow& each : table.rows) {
    const std::optional<PublicRow> row = PublicRow::of(set, table, each);
    if (!row || row->text(set.measured).empty()) continue;
    rows.push_back(*row);
    PublicPrediction& prediction = predictions.emplace_back();
    prediction.row = row->filled(set.label);
    prediction.workload = row->filled(set.workload);
    if (!set.peer_column.empty() && !row->text(set.peer_column).empty())
      prediction.peer_s = row->number(set.peer_column) * kMilli;
  }
  const auto one_of = [&](std::size_t i) { predict(set, rows[i], predictions[i]); };
  parallel_for(
      std::max(1U, std::thread::hardware_concurrency()), rows.size(), [&] { return one_of; }, [] { return false; });
  return predictions;
}

/// What other simulators predict: by set and row, seconds by simulator.
using OtherPredictions = std::map<std::pair<std::string, std::string>, std::map<std::string, double>>;

OtherPredictions read_others(const std::string& path) {
  const FileText file = read_text_file(path);
  if (!file.text) throw InputError{fmt::format("can't read {}: {}", path, file.reason)};
  const CsvTable table = parse_csv(*file.text, path);
  const auto column = [&](std::string_view name) {
    const auto found = std::ranges::find(table.header, name);
    if (found == table.header.end())
      throw InputError{fmt::format("{}: has no column `{}`; expected simulator,set,row,seconds", path, name)};
    return static_cast<std::size_t>(found - table.header.begin());
  };
  const std::size_t simulator = column("simulator"), set = column("set"), row = column("row"),
                    seconds = column("seconds");
  OtherPredictions others;
  for (const CsvRow& each : table.rows) {
    const double value = std::strtod(each.fields[seconds].c_str(), nullptr);
    if (!(value > 0) || !std::isfinite(value))
      throw InputError{fmt::format("{}: set {}, row {}: seconds: expected a number above 0, got \"{}\"", path,
                                   each.fields[set], each.fields[row], each.fields[seconds])};
    others[{each.fields[set], each.fields[row]}][each.fields[simulator]] = value;
  }
  return others;
}

void print_errors(std::FILE* out, std::string_view set, std::string_view simulator, std::size_t refused,
                  const PredictionErrors& errors, const std::string& rest) {
  fmt::print(out, "| {} | {} | {} | {} | {:.1f}% | {:.1f}% | {:.1f}% | {:.1f}% | {}% | {} |\n", set, simulator,
             errors.rows, refused, kPercent * errors.mean, kPercent * errors.median, kPercent * errors.p90,
             kPercent * errors.worst, signed_text(kPercent * errors.signed_median, 1), rest);
}

/// A line of the table for each other simulator that has rows of the set.
void print_others(std::FILE* out, const PublicSet& set, const std::vector<PublicPrediction>& rows,
                  const OtherPredictions& others) {
  std::map<std::string, std::vector<double>> deviations;
  for (const PublicPrediction& each : rows) {
    if (each.measured_s <= 0) continue;
    if (each.peer_s) deviations[set.peer].push_back(*each.peer_s / each.measured_s - 1);
    if (const auto found = others.find({set.name, each.row}); found != others.end())
      for (const auto& [simulator, seconds] : found->second)
        deviations[simulator].push_back(seconds / each.measured_s - 1);
  }
  for (auto& [simulator, each] : deviations) {
    const std::size_t missing = rows.size() - each.size();
    print_errors(out, set.name, simulator, missing, prediction_errors(std::move(each)), " |  | ");
  }
  if (!set.peer_claim.empty())
    fmt::print(out, "| {} | {} | all | | {} | | | | | | | |\n", set.name, set.peer, set.peer_claim);
}

/// Why the set isn't as stated; empty if it is.
std::string broken_statement(const PublicSet& set, const PredictionErrors& errors, std::size_t refused) {
  std::string why;
  if (set.mean && std::abs(errors.mean - *set.mean / kPercent) > kStatedWithin)
    why = fmt::format("mean {:.1f}%, stated {:.1f}%", kPercent * errors.mean, *set.mean);
  if (set.refused && refused != static_cast<std::size_t>(*set.refused))
    why += fmt::format("{}{} refused, stated {}", why.empty() ? "" : "; ", refused, *set.refused);
  return why;
}

/// A set with its predictions, and how its intervals are judged.
struct PublicResult {
  const PublicSet* set = nullptr;
  std::vector<PublicPrediction> rows;
  Unmodelled by_others;  ///< of its intervals
  double inside = 0;     ///< share of its rows in their intervals
};

JudgedSet judged(const std::vector<PublicPrediction>& rows) {
  JudgedSet made;
  for (const PublicPrediction& each : rows)
    if (each.ours_s) made.push_back({std::log(each.measured_s / *each.ours_s), sigma_of(each.parts)});
  return made;
}

void append_rows(const PublicResult& result, std::string& csv) {
  const auto seconds = [](std::optional<double> value) { return value ? fmt::format("{:.6g}", *value) : ""; };
  for (const PublicPrediction& each : result.rows) {
    append_csv_field(csv, result.set->name);
    csv += ',';
    append_csv_field(csv, each.row);
    csv += fmt::format(",{:.6g},{},{},{},", each.measured_s, seconds(each.ours_s), seconds(each.peer_s),
                       each.ours_s ? each.fits ? "yes" : "no" : "");
    if (each.ours_s) {
      const PredictionInterval interval = interval_of(sigma_of(each.parts), result.by_others);
      csv += fmt::format("{:.6g},{:.6g}", *each.ours_s * interval.low, *each.ours_s * interval.high);
    } else {
      csv += ',';
    }
    csv += ',';
    append_csv_field(csv, each.refusal);
    csv += '\n';
  }
}

/// Prints a set's lines of the table. Returns what is broken about it, or an empty text.
std::string report_set(std::FILE* out, const PublicResult& result, const OtherPredictions& others) {
  const PublicSet& set = *result.set;
  const std::vector<PublicPrediction>& rows = result.rows;
  std::vector<double> deviations;
  std::size_t fitting = 0;
  for (const PublicPrediction& each : rows) {
    if (!each.ours_s) continue;
    deviations.push_back(*each.ours_s / each.measured_s - 1);
    if (each.fits) ++fitting;
  }
  const std::size_t refused = rows.size() - deviations.size();
  const std::size_t predicted = deviations.size();
  const PredictionErrors errors = prediction_errors(std::move(deviations));
  const std::optional<double> regret = choice_regret(rows);
  print_errors(out, set.name, "Contend", refused, errors,
               fmt::format("{} of {} | {} | {:.0f}%", fitting, predicted,
                           regret ? fmt::format("{:.1f}%", kPercent * *regret) : "", kPercent * result.inside));
  print_others(out, set, rows, others);
  return broken_statement(set, errors, refused);
}

}  // namespace

PredictionErrors prediction_errors(std::vector<double> deviations) {
  PredictionErrors errors;
  errors.rows = deviations.size();
  if (deviations.empty()) return errors;
  std::ranges::sort(deviations);
  errors.signed_median = deviations[deviations.size() / 2];
  for (double& each : deviations) each = std::abs(each);
  std::ranges::sort(deviations);
  errors.mean = std::accumulate(deviations.begin(), deviations.end(), 0.0) / static_cast<double>(deviations.size());
  errors.median = deviations[deviations.size() / 2];
  errors.p90 = deviations[deviations.size() * 9 / 10];
  errors.worst = deviations.back();
  return errors;
}

std::optional<double> choice_regret(const std::vector<PublicPrediction>& rows) {
  std::map<std::string, std::vector<const PublicPrediction*>> ways;
  for (const PublicPrediction& each : rows)
    if (each.ours_s && !each.workload.empty()) ways[each.workload].push_back(&each);
  double sum = 0;
  int workloads = 0;
  for (const auto& [workload, those] : ways) {
    if (those.size() < 2) continue;
    const PublicPrediction* const chosen =
        *std::ranges::min_element(those, {}, [](const PublicPrediction* each) { return *each->ours_s; });
    const PublicPrediction* const best =
        *std::ranges::min_element(those, {}, [](const PublicPrediction* each) { return each->measured_s; });
    sum += chosen->measured_s / best->measured_s - 1;
    ++workloads;
  }
  if (workloads == 0) return std::nullopt;
  return sum / workloads;
}

namespace {

/// The predictions of all sets whose data are there; a line in `missing` for each other one.
std::vector<PublicResult> predict_sets(std::vector<std::string>& missing) {
  std::vector<PublicResult> results;
  for (const PublicSet& set : public_sets()) {
    if (std::filesystem::is_regular_file(data_path(set)))
      results.push_back({.set = &set, .rows = predictions_of(set), .by_others = {}});
    else
      missing.push_back(
          fmt::format("{}: skipped, there is no {} (set CONTEND_DATA)", set.name, data_path(set).string()));
  }
  return results;
}

std::string members_of(const Unmodelled& unmodelled) {
  return fmt::format("{{centre: {:.3f}, spread: {:.3f}, low: {:.2f}, high: {:.2f}}}", unmodelled.centre,
                     unmodelled.spread, unmodelled.low, unmodelled.high);
}

/// Judges the intervals of all sets. Returns what to say of all of them; if what the parts don't explain isn't as the
/// program has it, with a line in `broken`, unless sets are missing. Without sets there is nothing to say.
std::string judge_intervals(std::vector<PublicResult>& results, bool are_all, std::vector<std::string>& broken) {
  if (results.empty()) return {};
  std::vector<JudgedSet> sets;
  for (const PublicResult& each : results)
    if (!each.set->apart) sets.push_back(judged(each.rows));
  const std::vector<Unmodelled> by_others = unmodelled_by_others(sets);
  const Unmodelled all = unmodelled_by_all(sets), stated = error_table().unmodelled;
  auto others = by_others.begin();
  for (PublicResult& each : results) {
    each.by_others = each.set->apart ? all : *others++;
    each.inside = coverage(judged(each.rows), each.by_others);
  }
  const TotalCoverage total = total_coverage(sets, by_others);
  const auto ends_differ = [](double end, double other) {
    return std::abs(std::log(end) - std::log(other)) > kStatedWithin;
  };
  const PredictionInterval shown = interval_of(0, all), held = interval_of(0, stated);
  if (are_all && (ends_differ(shown.low, held.low) || ends_differ(shown.high, held.high)))
    broken.push_back(
        fmt::format("intervals: unmodelled is {}, and models/errors.yaml has {}", members_of(all), members_of(stated)));
  return fmt::format(
      "90%: rows whose measured time lies in the interval of 90% around what Contend says, if what errors of "
      "parts don't\nexplain is taken from the other sets. In the mean of the sets {:.0f}%, of all rows {:.0f}%. "
      "What errors of parts don't\nexplain of all sets: log(measured / predicted) is {:.2f} in the mean, "
      "with a standard deviation of {:.2f}.\n",
      kPercent * total.of_sets, kPercent * total.of_rows, all.centre, all.spread);
}

}  // namespace

int validate_public(std::FILE* out, const SuiteFiles& files) {
  fmt::print(out, "public: measured training steps of public sources, one blind setting for each\n\n");
  const OtherPredictions others = files.others ? read_others(*files.others) : OtherPredictions{};
  std::vector<std::string> missing, broken, refusals;
  std::string csv = "set,row,measured_s,contend_s,peer_s,fits,low_90_s,high_90_s,refusal\n";
  std::size_t compared = 0;
  std::vector<PublicResult> results = predict_sets(missing);
  const std::string intervals = judge_intervals(results, missing.empty(), broken);
  fmt::print(
      out,
      "| set | simulator | rows | refused | mean | median | p90 | worst | signed median | fits | regret | 90% |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const PublicResult& each : results) {
    const std::string why = report_set(out, each, others);
    if (!why.empty()) broken.push_back(fmt::format("{}: {}", each.set->name, why));
    std::map<std::string, int> reasons;
    for (const PublicPrediction& row : each.rows) {
      if (row.ours_s) ++compared;
      if (!row.ours_s) ++reasons[row.refusal];
    }
    for (const auto& [reason, count] : reasons)
      refusals.push_back(fmt::format("{}: {} refused: {}", each.set->name, count, reason));
    append_rows(each, csv);
  }
  fmt::print(out,
             "\nDeviations of the time of an iteration. fits: rows that Contend says fit their GPUs, which all did. "
             "regret: by how much\nlonger than the fastest way to train a model the way takes that Contend says is the "
             "fastest.\n{}\n",
             intervals);
  for (const auto* const lines : {&refusals, &missing, &broken})
    for (const std::string& each : *lines) fmt::print(out, "{}\n", each);
  if (files.rows) write_own_file(*files.rows, csv);
  const SuiteVerdict verdict = suite_verdict(broken.empty(), compared > 0);
  fmt::print(out, "public: {} ({} rows compared)\n\n", suite_word(verdict), compared);
  return verdict;
}

}  // namespace contend
