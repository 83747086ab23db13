#include "scenarios/sweep/store_schema.hpp"

#include "results/result_columns.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace contend {
namespace {

const char* declared(StoreParameter::Type type) {
  switch (type) {
    case StoreParameter::Type::integer:
      return "INTEGER";
    case StoreParameter::Type::number:
      return "REAL";
    default:
      return "TEXT";
  }
}

const char* declared(std::string_view column_type) {
  return column_type == "text" ? "TEXT" : column_type == "integer" ? "INTEGER" : "REAL";
}

std::string points_table(const StoreInfo& info) {
  std::string sql =
      "CREATE TABLE points(point INTEGER PRIMARY KEY, hash TEXT NOT NULL, settings TEXT NOT NULL, baseline INTEGER";
  for (const StoreParameter& each : info.parameters) {
    sql += fmt::format(", {} {}", sql_name(each.column), declared(each.type));
    if (!each.number_column.empty()) sql += fmt::format(", {} REAL", sql_name(each.number_column));
  }
  return sql + ");\n";
}

std::string runs_table(const StoreInfo& info) {
  std::string sql =
      "CREATE TABLE runs(run INTEGER PRIMARY KEY, point INTEGER NOT NULL REFERENCES points, seed INTEGER NOT NULL, "
      "status TEXT NOT NULL, error TEXT, fingerprint TEXT, digest TEXT, events INTEGER";
  for (const StoreMetric& each : info.metrics)
    sql += fmt::format(", {} {}", sql_name(each.name), is_count(each.unit) ? "INTEGER" : "REAL");
  return sql + ");\nCREATE INDEX runs_of_point ON runs(point, seed);\n";
}

std::string jobs_table() {
  std::string sql = "CREATE TABLE jobs(run INTEGER NOT NULL REFERENCES runs, job INTEGER NOT NULL";
  for (const auto& column : job_columns()) sql += fmt::format(", {} {}", sql_name(column.name), declared(column.type));
  return sql + ", PRIMARY KEY(run, job)) WITHOUT ROWID;\n";
}

std::string groups_table() {
  std::string sql =
      "CREATE TABLE job_groups(run INTEGER NOT NULL REFERENCES runs, grouping TEXT NOT NULL, place INTEGER NOT NULL, "
      "value TEXT NOT NULL";
  for (const Metric& each : group_metrics())
    sql += fmt::format(", {} {}", sql_name(each.name), is_count(each.unit) ? "INTEGER" : "REAL");
  return sql + ", PRIMARY KEY(run, grouping, place)) WITHOUT ROWID;\n";
}

/// What the query lists, in order, of a store of this kind, and not of the database.
std::vector<std::string> missing_names(SqlDatabase& database, const StoreInfo& info, const std::string& query) {
  const auto names_of = [&query](SqlDatabase& each) {
    SqlStatement row{each, query};
    std::vector<std::string> names;
    while (row.step()) names.push_back(row.text(0));
    return names;
  };
  SqlDatabase sound{":memory:", SqlDatabase::Mode::create};
  sound.execute(store_schema(info));
  const std::vector<std::string> there = names_of(database), needed = names_of(sound);
  std::vector<std::string> missing;
  std::ranges::set_difference(needed, there, std::back_inserter(missing));
  return missing;
}

std::string results_view(const StoreInfo& info) {
  std::string sql = "CREATE VIEW results AS SELECT run, point, seed, status, error";
  for (const std::string& column : parameter_columns(info)) sql += ", " + sql_name(column);
  for (const StoreMetric& each : info.metrics) sql += ", " + sql_name(each.name);
  return sql + ", events, fingerprint, digest, baseline FROM runs JOIN points USING(point);\n";
}

}  // namespace

std::string store_schema(const StoreInfo& info) {
  std::string sql =
      fmt::format("PRAGMA application_id = {};\nPRAGMA user_version = {};\n", kStoreApplication, kStoreSchema);
  sql +=
      "CREATE TABLE sweep(name TEXT PRIMARY KEY, value) WITHOUT ROWID;\n"
      "CREATE TABLE parameters(parameter INTEGER PRIMARY KEY, key TEXT NOT NULL, column_name TEXT NOT NULL, "
      "type TEXT NOT NULL, number_column TEXT, unit TEXT);\n"
      "CREATE TABLE metrics(metric INTEGER PRIMARY KEY, name TEXT NOT NULL, title TEXT NOT NULL, unit TEXT NOT NULL, "
      "text TEXT NOT NULL);\n";
  sql += points_table(info) + runs_table(info);
  sql +=
      "CREATE TABLE executions(run INTEGER PRIMARY KEY REFERENCES runs, manifest INTEGER NOT NULL REFERENCES "
      "manifests, wall_s REAL NOT NULL);\n"
      "CREATE TABLE manifests(manifest INTEGER PRIMARY KEY, version TEXT NOT NULL, git_hash TEXT NOT NULL, json TEXT "
      "NOT NULL);\n";
  if (info.per_job) sql += jobs_table();
  if (!info.groupings.empty()) sql += groups_table();
  return sql + results_view(info);
}

std::vector<std::string> missing_tables(SqlDatabase& database, const StoreInfo& info) {
  return missing_names(database, info, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name");
}

std::vector<std::string> missing_columns(SqlDatabase& database, const StoreInfo& info) {
  return missing_names(database, info,
                       "SELECT t.name || '.' || c.name AS both FROM sqlite_master t, pragma_table_info(t.name) c "
                       "WHERE t.type = 'table' ORDER BY both");
}

const std::vector<std::string>& point_columns() {
  static const std::vector<std::string> columns{"point", "hash", "settings", "baseline"};
  return columns;
}

const std::vector<std::string>& run_columns() {
  static const std::vector<std::string> columns{"run",   "point",       "seed",   "status",
                                                "error", "fingerprint", "digest", "events"};
  return columns;
}

std::vector<std::string> parameter_columns(const StoreInfo& info) {
  std::vector<std::string> columns;
  for (const StoreParameter& each : info.parameters) {
    columns.push_back(each.column);
    if (!each.number_column.empty()) columns.push_back(each.number_column);
  }
  return columns;
}

std::string insert_statement(std::string_view table, const std::vector<std::string>& columns) {
  std::string names, marks;
  for (const std::string& column : columns) {
    names += (names.empty() ? "" : ", ") + sql_name(column);
    marks += marks.empty() ? "?" : ", ?";
  }
  return fmt::format("INSERT OR REPLACE INTO {}({}) VALUES({})", table, names, marks);
}

std::string point_insert(const StoreInfo& info) {
  std::vector<std::string> columns = point_columns();
  for (std::string& column : parameter_columns(info)) columns.push_back(std::move(column));
  return insert_statement("points", columns);
}

std::string run_insert(const StoreInfo& info) {
  std::vector<std::string> columns = run_columns();
  for (const StoreMetric& each : info.metrics) columns.push_back(each.name);
  return insert_statement("runs", columns);
}

std::vector<std::string> group_columns() {
  std::vector<std::string> columns{"grouping", "place", "value"};
  for (const Metric& each : group_metrics()) columns.emplace_back(each.name);
  return columns;
}

std::string group_insert() {
  std::vector<std::string> columns = group_columns();
  columns.insert(columns.begin(), "run");
  return insert_statement("job_groups", columns);
}

std::string job_insert() {
  std::vector<std::string> columns{"run", "job"};
  for (const auto& column : job_columns()) columns.emplace_back(column.name);
  return insert_statement("jobs", columns);
}

}  // namespace contend
