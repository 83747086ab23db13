#include "scenarios/sweep/sweep_store.hpp"

#include "results/job_groups.hpp"
#include "results/result_columns.hpp"
#include "scenarios/sweep/store_schema.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "text/atomic_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

constexpr std::array kTypeNames{"integer", "number", "text", "quantity"};
constexpr std::array kStatusNames{"done", "failed", "refused"};

/// Somebody else has changed a value that only this program writes.
[[noreturn]] void refuse_change(const std::string& path, const std::string& what) {
  throw_file_error(path, what + "; use a copy from before this change, or run the sweep again into another store", 0);
}

template <class Names>
std::size_t index_of(const Names& names, const std::string& word, const std::string& path) {
  const auto at = std::find(names.begin(), names.end(), word);
  if (at == names.end())
    refuse_change(path, fmt::format("expected one of {}, got \"{}\"", fmt::join(names, ", "), word));
  return static_cast<std::size_t>(at - names.begin());
}

std::string hexadecimal(std::uint64_t value) {
  return fmt::format("{:016x}", value);
}

std::uint64_t from_hexadecimal(const std::string& text) {
  return text.empty() ? 0 : std::strtoull(text.c_str(), nullptr, 16);
}

std::string lines(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "\n") + word;
  return text;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    words.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return words;
}

void insert_info(SqlDatabase& database, const StoreInfo& info) {
  SqlStatement fact{database, insert_statement("sweep", {"name", "value"})};
  const auto add = [&](std::string_view name, const SqlValue& value) { fact.bind(1, name).bind(2, value).run(); };
  add("name", info.name);
  add("kind", info.kind);
  add("scenario", info.scenario);
  add("plan", info.plan);
  add("repeat", info.repeat);
  add("runs", info.runs);
  add("per_job", std::int64_t{info.per_job ? 1 : 0});
  if (!info.groupings.empty()) add("groupings", lines(info.groupings));
  if (info.resampled) add("resampled", std::int64_t{*info.resampled ? 1 : 0});
  SqlStatement parameter{
      database, insert_statement("parameters", {"parameter", "key", "column_name", "type", "number_column", "unit"})};
  std::int64_t number = 0;
  for (const StoreParameter& each : info.parameters) {
    parameter.bind(1, number++).bind(2, each.key).bind(3, each.column);
    parameter.bind(4, std::string_view{kTypeNames[static_cast<std::size_t>(each.type)]});
    const bool has_number = !each.number_column.empty();
    parameter.bind(5, has_number ? SqlValue{each.number_column} : SqlValue{});
    parameter.bind(6, has_number ? SqlValue{each.unit} : SqlValue{}).run();
  }
  SqlStatement metric{database, insert_statement("metrics", {"metric", "name", "title", "unit", "text"})};
  number = 0;
  for (const StoreMetric& each : info.metrics)
    metric.bind(1, number++).bind(2, each.name).bind(3, each.title).bind(4, each.unit).bind(5, each.text).run();
}

StoreInfo read_info(SqlDatabase& database) {
  StoreInfo info;
  SqlStatement fact{database, "SELECT name, value FROM sweep"};
  while (fact.step()) {
    const std::string name = fact.text(0);
    if (name == "name") info.name = fact.text(1);
    if (name == "kind") info.kind = fact.text(1) == "overlap" ? "study" : fact.text(1);  // its name in older stores
    if (name == "scenario") info.scenario = fact.text(1);
    if (name == "plan") info.plan = fact.text(1);
    if (name == "repeat") info.repeat = fact.integer(1);
    if (name == "runs") info.runs = fact.integer(1);
    if (name == "per_job") info.per_job = fact.integer(1) != 0;
    if (name == "groupings") info.groupings = words_of(fact.text(1));
    if (name == "resampled") info.resampled = fact.integer(1) != 0;
  }
  SqlStatement parameter{database,
                         "SELECT key, column_name, type, number_column, unit FROM parameters ORDER BY parameter"};
  while (parameter.step())
    info.parameters.push_back(
        {.key = parameter.text(0),
         .column = parameter.text(1),
         .type = static_cast<StoreParameter::Type>(index_of(kTypeNames, parameter.text(2), database.path())),
         .number_column = parameter.text(3),
         .unit = parameter.text(4)});
  SqlStatement metric{database, "SELECT name, title, unit, text FROM metrics ORDER BY metric"};
  while (metric.step()) info.metrics.push_back({metric.text(0), metric.text(1), metric.text(2), metric.text(3)});
  if (info.repeat < 1 || info.runs < 0)
    refuse_change(database.path(), fmt::format("a sweep of {} runs, {} of each point", info.runs, info.repeat));
  return info;
}

/// Notices a table that somebody has deleted before a query fails, or a resumed sweep fills the store only in part.
void check_tables(SqlDatabase& database, const StoreInfo& info) {
  const std::vector<std::string> missing = missing_tables(database, info);
  if (missing.empty()) return;
  throw_file_error(
      database.path(),
      fmt::format("of the tables of a store, {} {} missing; use a copy that has all of them, or remove this "
                  "file and run the sweep again",
                  fmt::join(missing, ", "), missing.size() == 1 ? "is" : "are"),
      0);
}

std::int64_t pragma(SqlDatabase& database, const std::string& name) {
  SqlStatement statement{database, "PRAGMA " + name};
  return statement.step() ? statement.integer(0) : 0;
}

/// Write-ahead log: readers aren't held up, and a process that is killed loses nothing that it had committed. Without a
/// sync at every commit a power failure may lose the last runs, never the store.
constexpr const char* kWriting = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL";

void bind_cell(SqlStatement& statement, int index, const Cell& cell) {
  if (const auto* time = std::get_if<Time>(&cell))
    statement.bind(index, time->to_seconds());
  else if (const auto* gpu_time = std::get_if<GpuTime>(&cell))
    statement.bind(index, gpu_time->to_seconds());
  else if (const auto* text = std::get_if<std::string>(&cell))
    statement.bind(index, std::string_view{*text});
  else if (const auto* whole = std::get_if<std::int64_t>(&cell))
    statement.bind(index, *whole);
  else if (const auto* number = std::get_if<double>(&cell))
    statement.bind(index, *number);
  else
    statement.bind(index, std::monostate{});
}

}  // namespace

const char* to_string(RunStatus status) {
  return kStatusNames[static_cast<std::size_t>(status)];
}

SweepStore::SweepStore(SqlDatabase database, StoreInfo info) : database_{std::move(database)}, info_{std::move(info)} {}

SweepStore SweepStore::create(const std::string& path, const StoreInfo& info, std::span<const StorePoint> points) {
  // Under another name until all is there, so that a store is never half made.
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) throw_file_error(path, "there is a file already", 0);
  refuse_foreign_logs(path);
  AtomicFile file{path};
  {
    SqlDatabase database{file.path(), SqlDatabase::Mode::create};
    SqlTransaction transaction{database};
    database.execute(store_schema(info));
    insert_info(database, info);
    transaction.commit();
    SweepStore store{std::move(database), info};
    store.add_points(points);
  }
  file.commit();
  return open(path, Access::write);
}

SweepStore SweepStore::open(const std::string& path, Access access) {
  SqlDatabase database{path, access == Access::read ? SqlDatabase::Mode::read : SqlDatabase::Mode::write};
  database.check(kStoreSchema);
  if (pragma(database, "application_id") != kStoreApplication)
    throw_file_error(path, "is no store of `contend sweep`", 0);
  const std::int64_t schema = pragma(database, "user_version");
  if (schema != kStoreSchema && schema != kUncheckedSchema)
    throw_file_error(path, fmt::format("has schema {}, this program knows {}", schema, kStoreSchema), 0);
  if (schema == kUncheckedSchema && access == Access::write)
    throw_file_error(path,
                     "was written by an earlier version of contend, without checksums; use that version, or run the "
                     "sweep again into another store (-o)",
                     0);
  if (access == Access::write) database.execute(kWriting);
  check_tables(database, {});  // those that every store has, with the facts among them
  StoreInfo info = read_info(database);
  if (info.per_job || !info.groupings.empty()) check_tables(database, info);
  SweepStore store{std::move(database), std::move(info)};
  store.has_checksums_ = schema == kStoreSchema;
  if (access == Access::write) store.check_columns();
  return store;
}

void SweepStore::check_columns() {
  const std::vector<std::string> missing = missing_columns(database_, info_);
  if (missing.empty()) return;
  throw_file_error(path(),
                   fmt::format("was written by another version of contend and has no {} {}; use that version, or run "
                               "the sweep again into another store (-o)",
                               missing.size() == 1 ? "column" : "columns", fmt::join(missing, ", ")),
                   0);
}

std::vector<StorePoint> SweepStore::points() {
  std::string sql = "SELECT point, hash, settings, baseline";
  for (const std::string& column : parameter_columns(info_)) sql += ", " + sql_name(column);
  SqlStatement row{database_, sql + " FROM points ORDER BY point"};
  std::vector<StorePoint> points;
  while (row.step()) {
    StorePoint point;
    point.point = row.integer(0);
    point.hash = row.text(1);
    point.settings = words_of(row.text(2));
    if (!row.is_null(3)) point.baseline = row.integer(3);
    int column = 4;
    for (const StoreParameter& each : info_.parameters) {
      point.values.push_back(row.value(column++));
      if (!each.number_column.empty())
        point.numbers.push_back(row.number(column++));
      else
        point.numbers.push_back(each.type == StoreParameter::Type::text ? std::numeric_limits<double>::quiet_NaN()
                                                                        : row.number(column - 1));
    }
    points.push_back(std::move(point));
  }
  return points;
}

std::vector<StoreRun> SweepStore::runs() {
  std::string sql = "SELECT run, point, seed, status, error, fingerprint, digest, events, manifest, wall_s";
  for (const StoreMetric& each : info_.metrics) sql += ", " + sql_name(each.name);
  SqlStatement row{database_, sql + " FROM runs LEFT JOIN executions USING(run) ORDER BY run"};
  std::vector<StoreRun> runs;
  while (row.step()) {
    StoreRun run;
    run.run = row.integer(0);
    run.point = row.integer(1);
    if (run.run < 0 || (info_.runs > 0 && run.run >= info_.runs))
      refuse_change(path(), fmt::format("there is a run {} in a sweep of {} runs", run.run, info_.runs));
    run.seed = static_cast<std::uint64_t>(row.integer(2));
    run.status = static_cast<RunStatus>(index_of(kStatusNames, row.text(3), path()));
    run.error = row.text(4);
    run.fingerprint = from_hexadecimal(row.text(5));
    run.digest = from_hexadecimal(row.text(6));
    run.events = static_cast<std::uint64_t>(row.integer(7));
    run.manifest = row.integer(8);
    run.wall_s = row.number(9);
    for (int column = 10; column < row.columns(); ++column) run.metrics.push_back(row.number(column));
    runs.push_back(std::move(run));
  }
  return runs;
}

std::vector<StoreManifest> SweepStore::manifests() {
  SqlStatement row{database_, "SELECT manifest, version, git_hash, json FROM manifests ORDER BY manifest"};
  std::vector<StoreManifest> manifests;
  while (row.step()) manifests.push_back({row.integer(0), row.text(1), row.text(2), row.text(3)});
  return manifests;
}

std::vector<std::vector<SqlValue>> SweepStore::jobs(std::int64_t run) {
  std::vector<std::vector<SqlValue>> rows;
  if (!info_.per_job) return rows;
  std::string columns;
  for (const auto& column : job_columns()) columns += (columns.empty() ? "" : ", ") + sql_name(column.name);
  SqlStatement row{database_, fmt::format("SELECT {} FROM jobs WHERE run = ? ORDER BY job", columns)};
  row.bind(1, run);
  while (row.step()) {
    std::vector<SqlValue>& cells = rows.emplace_back();
    for (int i = 0; i < row.columns(); ++i) cells.push_back(row.value(i));
  }
  return rows;
}

std::vector<std::vector<SqlValue>> SweepStore::groups(std::int64_t run) {
  std::vector<std::vector<SqlValue>> rows;
  if (info_.groupings.empty()) return rows;
  std::string columns;
  for (const std::string& column : group_columns()) columns += (columns.empty() ? "" : ", ") + sql_name(column);
  SqlStatement row{database_, fmt::format("SELECT {} FROM job_groups WHERE run = ? ORDER BY grouping, place", columns)};
  row.bind(1, run);
  while (row.step()) {
    std::vector<SqlValue>& cells = rows.emplace_back();
    for (int i = 0; i < row.columns(); ++i) cells.push_back(row.value(i));
  }
  return rows;
}

void SweepStore::add_points(std::span<const StorePoint> points) {
  SqlTransaction transaction{database_};
  SqlStatement row{database_, point_insert(info_)};
  for (const StorePoint& point : points) {
    CONTEND_CHECK(point.values.size() == info_.parameters.size() && point.numbers.size() == point.values.size(),
                  "a point has a value for each parameter");
    row.bind(1, point.point).bind(2, point.hash).bind(3, lines(point.settings));
    if (point.baseline)
      row.bind(4, *point.baseline);
    else
      row.bind(4, std::monostate{});
    int column = 5;
    for (std::size_t i = 0; i < point.values.size(); ++i) {
      row.bind(column++, point.values[i]);
      if (!info_.parameters[i].number_column.empty()) row.bind(column++, point.numbers[i]);
    }
    row.run();
  }
  transaction.commit();
}

std::int64_t SweepStore::add_manifest(const StoreManifest& manifest) {
  SqlTransaction transaction{database_};
  std::int64_t number = 1;
  {
    SqlStatement last{database_, "SELECT coalesce(max(manifest), 0) + 1 FROM manifests"};
    if (last.step()) number = last.integer(0);
  }
  SqlStatement row{database_, insert_statement("manifests", {"manifest", "version", "git_hash", "json"})};
  row.bind(1, number).bind(2, manifest.version).bind(3, manifest.git_hash).bind(4, manifest.json).run();
  transaction.commit();
  return number;
}

void SweepStore::record(const StoreRun& run, std::span<const JobResult> jobs) {
  SqlTransaction transaction{database_};
  insert_run(run);
  if (info_.per_job) insert_jobs(run.run, jobs);
  if (!info_.groupings.empty()) insert_groups(run.run, jobs);
  transaction.commit();
}

void SweepStore::insert_run(const StoreRun& run) {
  CONTEND_CHECK(run.metrics.size() == info_.metrics.size(), "a run has a value for each metric");
  if (!run_) {
    run_.emplace(database_, run_insert(info_));
    execution_.emplace(database_, insert_statement("executions", {"run", "manifest", "wall_s"}));
  }
  const bool done = run.status == RunStatus::done;
  run_->bind(1, run.run).bind(2, run.point).bind(3, static_cast<std::int64_t>(run.seed));
  run_->bind(4, std::string_view{to_string(run.status)});
  run_->bind(5, run.error.empty() ? SqlValue{} : SqlValue{run.error});
  run_->bind(6, done && run.events > 0 ? SqlValue{hexadecimal(run.fingerprint)} : SqlValue{});
  run_->bind(7, done && run.events > 0 ? SqlValue{hexadecimal(run.digest)} : SqlValue{});
  run_->bind(8, done && run.events > 0 ? SqlValue{static_cast<std::int64_t>(run.events)} : SqlValue{});
  int column = 9;
  for (const double value : run.metrics) run_->bind(column++, value);
  run_->run();
  execution_->bind(1, run.run).bind(2, run.manifest).bind(3, run.wall_s).run();
}

void SweepStore::insert_jobs(std::int64_t run, std::span<const JobResult> jobs) {
  SqlStatement old{database_, "DELETE FROM jobs WHERE run = ?"};
  old.bind(1, run).run();
  if (!job_) job_.emplace(database_, job_insert());
  std::int64_t number = 0;
  for (const JobResult& job : jobs) {
    job_->bind(1, run).bind(2, number++);
    int index = 3;
    for (const auto& column : job_columns()) bind_cell(*job_, index++, column.value(job));
    job_->run();
  }
}

void SweepStore::insert_groups(std::int64_t run, std::span<const JobResult> jobs) {
  SqlStatement{database_, "DELETE FROM job_groups WHERE run = ?"}.bind(1, run).run();
  StoredReplica stored;
  for (const JobResult& job : jobs) stored.jobs.push_back(as_stored(job));
  SqlStatement row{database_, group_insert()};
  for (const std::string& name : info_.groupings) {
    std::int64_t place = 0;
    for (const GroupFigures& group : group_figures({&stored, 1}, find_grouping(name))) {
      row.bind(1, run).bind(2, name).bind(3, place++).bind(4, group.value);
      int column = 5;
      for (const double figure : group.figures) row.bind(column++, figure);
      row.run();
    }
  }
}

void SweepStore::remove(std::span<const std::int64_t> runs) {
  SqlTransaction transaction{database_};
  std::vector<std::string> tables{"runs", "executions"};
  if (info_.per_job) tables.emplace_back("jobs");
  if (!info_.groupings.empty()) tables.emplace_back("job_groups");
  for (const std::string& table : tables) {
    SqlStatement row{database_, fmt::format("DELETE FROM {} WHERE run = ?", table)};
    for (const std::int64_t run : runs) row.bind(1, run).run();
  }
  transaction.commit();
}

void SweepStore::set_fact(const std::string& name, const std::string& value) {
  SqlStatement{database_, insert_statement("sweep", {"name", "value"})}.bind(1, name).bind(2, value).run();
}

std::optional<std::string> SweepStore::fact(const std::string& name) {
  SqlStatement row{database_, "SELECT value FROM sweep WHERE name = ?"};
  row.bind(1, name);
  return row.step() ? std::optional{row.text(0)} : std::nullopt;
}

void SweepStore::finish() {
  // Fails while somebody reads; then the log stays beside the file until the last one closes it.
  SqlStatement row{database_, "PRAGMA journal_mode = DELETE"};
  row.run();
}

}  // namespace contend
