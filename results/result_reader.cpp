#include "results/result_reader.hpp"

#include "results/iteration_figures.hpp"
#include "results/result_columns.hpp"
#include "results/result_digests.hpp"
#include "sim/error.hpp"
#include "sim/statistics.hpp"
#include "text/atomic_file.hpp"
#include "text/byte_source.hpp"
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
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

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

/// Reads the rows of jobs.csv and assigns each to the replica of its seed. Results of many seeds have rows by the
/// million, so it looks for the columns once and keeps no row.
class JobRows {
 public:
  JobRows(ByteSource& source, std::string path, StoredResults& results)
      : complaints_{std::move(path)}, rows_{source, complaints_}, results_{results} {}

  void read() {
    for (const Metric& each : iteration_metrics()) figures_.push_back(column(each.name));
    for (const Column* each : {&job_id_, &state_, &gpus_, &submit_, &start_, &finish_})
      if (!each->index) complaints_.add({1, 0}, "", fmt::format("no column \"{}\"", each->name));
    if (results_.replicas.size() > 1 && !replica_.index)
      complaints_.add({1, 0}, "", "no column \"replica\", but manifest.json has several");
    complaints_.throw_if_any();
    for (const StoredReplica& each : results_.replicas) seeds_.push_back(fmt::format("{}", each.seed));
    names_.resize(results_.replicas.size());
    while (rows_.next()) read_row();
    complaints_.throw_if_any();
  }

 private:
  struct Column {
    std::string_view name;
    std::optional<std::size_t> index = std::nullopt;  ///< of the field; nothing if the file has no such column
  };

  [[nodiscard]] Column column(std::string_view name) const {
    const auto found = std::ranges::find(rows_.header(), name);
    if (found == rows_.header().end()) return {name};
    return {name, static_cast<std::size_t>(found - rows_.header().begin())};
  }

  void read_row() {
    const std::optional<std::size_t> replica = replica_of_row();
    StoredJob job;
    job.name = field(job_id_);
    if (replica && !names_[*replica].insert(job.name).second)
      complain(job_id_, fmt::format("\"{}\" appears twice", job.name));
    job.model = field(model_);
    job.state = state();
    job.gpus = static_cast<int>(whole(gpus_, INT_MAX));
    if (!field(iterations_).empty()) job.iterations = whole(iterations_, INT64_MAX);
    job.submit = time(submit_).value_or(Time{});
    job.start = time(start_);
    job.finish = time(finish_);
    job.waited = time(waited_);
    job.held = time(held_).value_or(Time{});
    if (const double mean = number(mean_gpus_); mean > 0)
      job.mean_gpus = mean;
    else if (!std::isnan(mean))
      complain(mean_gpus_, fmt::format("expected a number above 0, got {:g}", mean));
    if (!field(interruptions_).empty()) job.interruptions = static_cast<int>(whole(interruptions_, INT_MAX));
    job.overhead = time(overhead_).value_or(Time{});
    job.redone = time(redone_).value_or(Time{});
    job.away = time(away_).value_or(Time{});
    job.vc = field(vc_);
    job.user = field(user_);
    job.outcome = field(outcome_);
    job.fusion = field(fusion_);
    job.compression = field(compression_);
    job.measured_wait = time(measured_wait_);
    job.measured = field(measured_) != "0";
    job.follows = field(follows_) == "1";
    job.is_variant = !field(settled_).empty();
    job.cost = known(cost_);
    if (const std::optional<double> joule = known(energy_))
      job.drawn = Consumption{*joule, known(carbon_), known(water_), known(energy_cost_)};
    if (!field(iteration_).empty())
      for (const Column& each : figures_) job.iteration.push_back(number(each));
    if (job.state == JobState::finished && (!job.start || !job.finish))
      complain(state_, "finished, but without start_s and finish_s");
    if (replica) results_.replicas[*replica].jobs.push_back(std::move(job));
  }

  std::optional<std::size_t> replica_of_row() {
    if (!replica_.index) return 0;
    const auto found = std::ranges::find(seeds_, field(replica_));
    if (found != seeds_.end()) return static_cast<std::size_t>(found - seeds_.begin());
    complain(replica_, fmt::format("no replica of manifest.json has the seed \"{}\"", field(replica_)));
    return std::nullopt;
  }

  void complain(const Column& column, std::string reason) {
    complaints_.add({rows_.line(), 0}, std::string{column.name}, std::move(reason));
  }

  /// The field of the current row; empty if there is no such column.
  [[nodiscard]] std::string_view field(const Column& column) const {
    return column.index ? rows_.fields()[*column.index] : std::string_view{};
  }

  JobState state() {
    for (const JobState state : {JobState::submitted, JobState::queued, JobState::running, JobState::preempted,
                                 JobState::finished, JobState::failed, JobState::given_up})
      if (field(state_) == to_string(state)) return state;
    complain(state_, fmt::format("unknown state \"{}\"", field(state_)));
    return JobState::submitted;
  }

  std::int64_t whole(const Column& column, std::int64_t maximum) {
    return read_whole(field(column), 0, maximum, {rows_.line(), 0}, std::string{column.name}, complaints_);
  }

  std::optional<Time> time(const Column& column) {
    const std::string_view text = field(column);
    if (text.empty()) return std::nullopt;
    constexpr int kNanosecondDigits = 9;
    const ScaledDecimal seconds = parse_scaled(text, kNanosecondDigits);
    if (seconds.error != DecimalError::none || seconds.value < 0) {
      complain(column, fmt::format("expected seconds >= 0, got \"{}\"", text));
      return std::nullopt;
    }
    return Time::nanoseconds(seconds.value);
  }

  /// NaN if the field is empty, or there is no such column.
  double number(const Column& column) {
    const std::string_view text = field(column);
    if (text.empty()) return kNaN;
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{} && end == text.data() + text.size()) return number;
    complain(column, fmt::format("expected a number, got \"{}\"", text));
    return kNaN;
  }

  std::optional<double> known(const Column& column) {
    const double value = number(column);
    return std::isnan(value) ? std::nullopt : std::optional{value};
  }

  FileComplaints complaints_;
  CsvRows rows_;
  StoredResults& results_;
  Column replica_ = column("replica"), job_id_ = column("job_id"), model_ = column("model"), state_ = column("state"),
         gpus_ = column("gpus");
  Column iterations_ = column("iterations"), submit_ = column("submit_s"), start_ = column("start_s"),
         finish_ = column("finish_s"), waited_ = column("waited_s");
  Column held_ = column("held_s"), mean_gpus_ = column("mean_gpus"), interruptions_ = column("interruptions"),
         overhead_ = column("overhead_s");
  Column redone_ = column("redone_s"), away_ = column("away_s"), vc_ = column("vc"), user_ = column("user"),
         outcome_ = column("outcome"), fusion_ = column("fusion");
  Column compression_ = column("compression"), measured_wait_ = column("measured_wait_s"),
         measured_ = column("measured"), follows_ = column("follows");
  Column settled_ = column("settled"), iteration_ = column("iteration_s");
  Column cost_ = column("cost"), energy_ = column("energy_j"), carbon_ = column("carbon_g"), water_ = column("water_l"),
         energy_cost_ = column("energy_cost");
  std::vector<Column> figures_;                         ///< of iterations, in the order of iteration_metrics()
  std::vector<std::string> seeds_;                      ///< by replica, as the file writes them
  std::vector<std::unordered_set<std::string>> names_;  ///< of the jobs that came, by replica
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
  row.cost = job.cost;
  row.drawn = job.drawn;
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
  results.has_digests = check_result_files(folder);
  read_manifest(path, results);
  return results;
}

StoredResults read_results(const std::string& folder) {
  StoredResults results = read_result_manifest(folder);
  read_summary(result_file(folder, "summary.json"), results);
  const std::string jobs = result_file(folder, "jobs.csv");
  JobRows{*open_file(jobs), jobs, results}.read();
  return results;
}

}  // namespace contend
