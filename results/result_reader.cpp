#include "results/result_reader.hpp"

#include "results/iteration_figures.hpp"
#include "results/result_columns.hpp"
#include "sim/error.hpp"
#include "sim/statistics.hpp"
#include "text/atomic_file.hpp"
#include "text/csv.hpp"
#include "text/decimal.hpp"
#include "text/file_complaints.hpp"
#include "text/json_reader.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <charconv>
#include <climits>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/core.h>

namespace contend {
namespace {

/// The members of a JSON file that this program wrote; a missing one is a complaint.
class JsonFile {
 public:
  explicit JsonFile(const std::string& path) : complaints_{path} {
    root_ = read_json(*open_file(path), path);
    if (!root_.is(JsonValue::Kind::object)) complaints_.fail(root_.place, "", "expected an object");
  }
  ~JsonFile() = default;
  JsonFile(const JsonFile&) = delete;
  JsonFile& operator=(const JsonFile&) = delete;

  [[nodiscard]] const JsonValue& root() const { return root_; }

  const JsonValue& member(const JsonValue& object, const char* name, JsonValue::Kind kind) {
    const JsonValue* found = object.find(name);
    if (found == nullptr) complaints_.fail(object.place, name, "missing");
    if (!found->is(kind)) {
      complaints_.fail(found->place, name, fmt::format("expected {}, got {}", kind_name(kind), kind_name(found->kind)));
    }
    return *found;
  }
  const std::string& text(const JsonValue& object, const char* name) {
    return member(object, name, JsonValue::Kind::string).text;
  }
  std::uint64_t seed(const JsonValue& object) {
    const JsonValue& value = member(object, "seed", JsonValue::Kind::number);
    const std::optional<std::uint64_t> seed = value.whole();
    if (!seed) complaints_.fail(value.place, "seed", "expected a whole number >= 0");
    return *seed;
  }
  /// A number; NaN for null and for a missing member.
  double figure(const JsonValue& object, std::string_view name) {
    const JsonValue* value = object.find(name);
    if (value == nullptr || value->is(JsonValue::Kind::null)) return kNaN;
    double number = 0;
    const char* const end = value->text.data() + value->text.size();
    const auto [stop, error] = std::from_chars(value->text.data(), end, number);
    if (!value->is(JsonValue::Kind::number) || error != std::errc{} || stop != end)
      complaints_.fail(value->place, std::string{name}, "expected a number or null");
    return number;
  }
  [[noreturn]] void fail(const JsonValue& at, const char* key, std::string reason) {
    complaints_.fail(at.place, key, std::move(reason));
  }

 private:
  FileComplaints complaints_;
  JsonValue root_;
};

void read_manifest(const std::string& path, StoredResults& results) {
  JsonFile json{path};
  const JsonValue& root = json.root();
  if (json.text(root, "program") != "contend") json.fail(root, "program", "expected \"contend\"");
  results.name = json.text(root, "scenario");
  results.version = json.text(root, "version");
  results.git_hash = json.text(root, "git_hash");
  results.exit_state = json.text(root, "exit_state");
  const JsonValue* const resampled = root.find("resampled");  // folders of earlier versions don't have it
  if (resampled != nullptr && resampled->boolean) results.draws = Draws::resamples;
  for (const JsonValue& input : json.member(root, "inputs", JsonValue::Kind::array).items)
    results.inputs.push_back({.path = json.text(input, "path"), .sha256 = json.text(input, "sha256")});
  const JsonValue& replicas = json.member(root, "replicas", JsonValue::Kind::array);
  for (const JsonValue& each : replicas.items) {
    StoredReplica replica;
    replica.seed = json.seed(each);
    replica.digest = json.text(each, "digest");
    results.replicas.push_back(std::move(replica));
  }
  if (results.replicas.empty()) json.fail(replicas, "replicas", "there are no completed runs");
}

void read_summary(const std::string& path, StoredResults& results) {
  JsonFile json{path};
  const JsonValue& replicas = json.member(json.root(), "replicas", JsonValue::Kind::array);
  if (replicas.items.size() != results.replicas.size())
    json.fail(replicas, "replicas",
              fmt::format("expected {} as in manifest.json, got {}", results.replicas.size(), replicas.items.size()));
  for (std::size_t i = 0; i < replicas.items.size(); ++i) {
    if (json.seed(replicas.items[i]) != results.replicas[i].seed)
      json.fail(replicas.items[i], "seed", fmt::format("expected {} as in manifest.json", results.replicas[i].seed));
    for (const Metric& metric : metrics())
      results.replicas[i].figures.push_back(json.figure(replicas.items[i], metric.name));
  }
}

/// Reads the rows of jobs.csv and assigns each to the replica of its seed.
class JobRows {
 public:
  JobRows(const CsvTable& table, std::string path, StoredResults& results)
      : table_{table}, complaints_{std::move(path)}, results_{results} {}

  void read() {
    for (std::size_t i = 0; i < table_.header.size(); ++i) column_.emplace(table_.header[i], i);
    for (const char* name : {"job_id", "state", "gpus", "submit_s", "start_s", "finish_s"})
      if (!column_.contains(name)) complaints_.add({1, 0}, "", fmt::format("no column \"{}\"", name));
    if (results_.replicas.size() > 1 && !column_.contains("replica"))
      complaints_.add({1, 0}, "", "no column \"replica\", but manifest.json has several");
    complaints_.throw_if_any();
    for (const CsvRow& row : table_.rows) read_row(row);
    complaints_.throw_if_any();
  }

 private:
  void read_row(const CsvRow& row) {
    StoredReplica* const replica = replica_of(row);
    StoredJob job;
    job.name = field(row, "job_id");
    if (!names_.emplace(replica, job.name).second)
      complaints_.add({row.line, 0}, "job_id", fmt::format("\"{}\" appears twice", job.name));
    job.model = field(row, "model");
    job.state = state(row);
    job.gpus = static_cast<int>(whole(row, "gpus", INT_MAX));
    if (!field(row, "iterations").empty()) job.iterations = whole(row, "iterations", INT64_MAX);
    job.submit = time(row, "submit_s").value_or(Time{});
    job.start = time(row, "start_s");
    job.finish = time(row, "finish_s");
    job.waited = time(row, "waited_s");
    job.held = time(row, "held_s").value_or(Time{});
    if (const double mean = number(row, "mean_gpus"); mean > 0)
      job.mean_gpus = mean;
    else if (!std::isnan(mean))
      complaints_.add({row.line, 0}, "mean_gpus", fmt::format("expected a number above 0, got {:g}", mean));
    if (!field(row, "interruptions").empty())
      job.interruptions = static_cast<int>(whole(row, "interruptions", INT_MAX));
    job.overhead = time(row, "overhead_s").value_or(Time{});
    job.redone = time(row, "redone_s").value_or(Time{});
    job.away = time(row, "away_s").value_or(Time{});
    job.vc = field(row, "vc");
    job.user = field(row, "user");
    job.outcome = field(row, "outcome");
    job.fusion = field(row, "fusion");
    job.compression = field(row, "compression");
    job.measured_wait = time(row, "measured_wait_s");
    job.measured = field(row, "measured") != "0";
    job.follows = field(row, "follows") == "1";
    job.is_variant = !field(row, "settled").empty();
    if (!field(row, "iteration_s").empty())
      for (const Metric& each : iteration_metrics()) job.iteration.push_back(number(row, each.name));
    if (job.state == JobState::finished && (!job.start || !job.finish))
      complaints_.add({row.line, 0}, "state", "finished, but without start_s and finish_s");
    if (replica != nullptr) replica->jobs.push_back(std::move(job));
  }

  StoredReplica* replica_of(const CsvRow& row) {
    if (!column_.contains("replica")) return &results_.replicas.front();
    for (StoredReplica& replica : results_.replicas)
      if (field(row, "replica") == fmt::format("{}", replica.seed)) return &replica;
    complaints_.add({row.line, 0}, "replica",
                    fmt::format("no replica of manifest.json has the seed \"{}\"", field(row, "replica")));
    return nullptr;
  }

  /// The field; empty if there is no such column.
  const std::string& field(const CsvRow& row, std::string_view name) const {
    static const std::string none;
    const auto found = column_.find(name);
    return found == column_.end() ? none : row.fields[found->second];
  }

  JobState state(const CsvRow& row) {
    for (const JobState state : {JobState::submitted, JobState::queued, JobState::running, JobState::preempted,
                                 JobState::finished, JobState::failed})
      if (field(row, "state") == to_string(state)) return state;
    complaints_.add({row.line, 0}, "state", fmt::format("unknown state \"{}\"", field(row, "state")));
    return JobState::submitted;
  }

  std::int64_t whole(const CsvRow& row, const char* name, std::int64_t maximum) {
    return read_whole(field(row, name), 0, maximum, {row.line, 0}, name, complaints_);
  }

  std::optional<Time> time(const CsvRow& row, const char* name) {
    const std::string& text = field(row, name);
    if (text.empty()) return std::nullopt;
    constexpr int kNanosecondDigits = 9;
    const ScaledDecimal seconds = parse_scaled(text, kNanosecondDigits);
    if (seconds.error != DecimalError::none || seconds.value < 0) {
      complaints_.add({row.line, 0}, name, fmt::format("expected seconds >= 0, got \"{}\"", text));
      return std::nullopt;
    }
    return Time::nanoseconds(seconds.value);
  }

  /// NaN if the field is empty, or there is no such column.
  double number(const CsvRow& row, std::string_view name) {
    const std::string& text = field(row, name);
    if (text.empty()) return kNaN;
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{} && end == text.data() + text.size()) return number;
    complaints_.add({row.line, 0}, std::string{name}, fmt::format("expected a number, got \"{}\"", text));
    return kNaN;
  }

  const CsvTable& table_;
  FileComplaints complaints_;
  StoredResults& results_;
  std::map<std::string, std::size_t, std::less<>> column_;
  std::set<std::pair<const StoredReplica*, std::string>> names_;
};

}  // namespace

StoredJob as_stored(const JobResult& job) {
  StoredJob row;
  row.name = job.name;
  row.model = job.model;
  row.state = job.state;
  row.gpus = job.gpus;
  row.iterations = job.iterations;
  row.submit = job.submit < Time::never() ? job.submit : Time{};
  row.follows = job.follows;
  if (job.start != Time::never()) row.start = job.start;
  if (job.finish != Time::never()) row.finish = job.finish;
  row.waited = job.waited;
  row.held = job.held;
  row.mean_gpus = job.mean_gpus();
  row.interruptions = job.interruptions;
  row.overhead = job.overhead;
  row.redone = job.redone;
  row.away = job.away;
  row.vc = job.vc;
  row.user = job.user;
  if (job.finish != Time::never()) row.outcome = to_string(job.outcome);
  if (job.notes.plan) {
    row.fusion = job.notes.plan->fusion;
    row.compression = job.notes.plan->compression;
  }
  row.measured_wait = job.measured_wait;
  row.measured = job.measured;
  row.is_variant = job.notes.plan && job.notes.plan->settled.has_value();
  if (job.traffic && job.iterations_done > 0) row.iteration = iteration_values(job);
  return row;
}

StoredReplica as_stored(const Replica& replica) {
  StoredReplica stored;
  stored.seed = replica.seed;
  stored.digest = fmt::format("{:016x}", replica.result.digest);
  stored.figures = figures_of_run(replica.result, replica.summary);
  for (const JobResult& job : replica.result.jobs) stored.jobs.push_back(as_stored(job));
  return stored;
}

std::string result_file(const std::string& folder, std::string_view name) {
  std::string path = (std::filesystem::path{folder} / name).string();
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw_file_error(path,
                     "this file of the results is missing; copy it back, or write the results again with `contend run "
                     "-o`",
                     0);
  return path;
}

StoredResults read_result_manifest(const std::string& folder) {
  const std::string path = (std::filesystem::path{folder} / "manifest.json").string();
  if (!std::filesystem::exists(path)) {
    // A run of several scenarios writes a folder for each.
    std::vector<std::string> inside;
    std::error_code ignored;
    for (const auto& each : std::filesystem::directory_iterator{folder, ignored})
      if (std::filesystem::exists(each.path() / "manifest.json", ignored)) inside.push_back(each.path().string());
    std::ranges::sort(inside);
    if (!inside.empty())
      throw InputError{
          fmt::format("{}: there are results of several scenarios in it; name one of {}", folder, join(inside))};
    throw InputError{fmt::format(
        "{}: there is no manifest.json: this is not an output folder of `contend run -o`, or its run did not end",
        folder)};
  }
  StoredResults results;
  read_manifest(path, results);
  return results;
}

StoredResults read_results(const std::string& folder) {
  StoredResults results = read_result_manifest(folder);
  read_summary(result_file(folder, "summary.json"), results);
  const std::string jobs = result_file(folder, "jobs.csv");
  const CsvTable table = parse_csv(read_file(jobs), jobs);
  JobRows{table, jobs, results}.read();
  return results;
}

}  // namespace contend
