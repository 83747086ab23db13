// Arbitrary bytes as the store of a sweep: either an InputError, or runs and metrics as the store promises them.

#include "scenarios/sweep/store_query.hpp"
#include "sim/check.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"
#include "text/decimal.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using contend::fuzz::take;

/// The bytes of a sound store with two points and three runs.
const std::string& sound_store() {
  static const std::string bytes = [] {
    const contend::TemporaryFolder folder;
    contend::StoreInfo info;
    info.name = "small";
    info.kind = "jobs";
    info.scenario = "schema_version: 1\n";
    info.plan = "0123456789abcdef";
    info.repeat = 2;
    info.runs = 4;
    info.per_job = true;
    info.parameters = {{.key = "network.nic",
                        .column = "network_nic",
                        .type = contend::StoreParameter::Type::quantity,
                        .number_column = "network_nic_Bps",
                        .unit = "Bps"}};
    info.metrics = {{"finished", "finished", "jobs", "jobs that finished"}, {"avg_jct_s", "average JCT", "s", "mean"}};
    const std::vector<contend::StorePoint> points{{.point = 0,
                                                   .hash = "aa",
                                                   .settings = {"network.nic=10Gbps"},
                                                   .baseline = 0,
                                                   .values = {"10Gbps"},
                                                   .numbers = {1.25e9}},
                                                  {.point = 1,
                                                   .hash = "bb",
                                                   .settings = {"network.nic=25Gbps"},
                                                   .baseline = 0,
                                                   .values = {"25Gbps"},
                                                   .numbers = {3.125e9}}};
    const std::string path = folder.path("store.sqlite");
    contend::SweepStore store = contend::SweepStore::create(path, info, points);
    const std::int64_t manifest = store.add_manifest({.manifest = 0, .version = "1", .git_hash = "a", .json = "{}"});
    for (std::int64_t run = 0; run < 3; ++run) {
      contend::StoreRun row;
      row.run = run;
      row.point = run / 2;
      row.seed = 1 + static_cast<std::uint64_t>(run % 2);
      row.events = 7;
      row.metrics = {2, 1.5};
      row.manifest = manifest;
      contend::JobResult job;
      job.name = "j";
      store.record(row, std::vector{job});
    }
    store.finish();
    return contend::read_file(path);
  }();
  return bytes;
}

/// Changes a store: a line `TABLE COLUMN ID VALUE` sets a value where the first column is ID, `drop TABLE` deletes a
/// table, `delete TABLE ID` a row.
void change(contend::SqlDatabase& database, std::string_view text) {
  const auto first_column = [](std::string_view table) {
    return table == "sweep"                           ? "name"
           : table == "jobs" || table == "executions" ? "run"
                                                      : std::string{table.substr(0, table.size() - 1)};
  };
  const auto bind = [](contend::SqlStatement& statement, int index, std::string_view value) {
    if (const contend::ScaledDecimal number = contend::parse_integer(value);
        number.error == contend::DecimalError::none)
      statement.bind(index, number.value);
    else
      statement.bind(index, value);
  };
  while (!text.empty()) {
    std::string_view line = take(text, '\n');
    const std::string_view word = take(line, ' ');
    if (word == "drop") {
      database.execute("DROP TABLE " + contend::sql_name(line));
    } else if (word == "delete") {
      const std::string_view table = take(line, ' ');
      contend::SqlStatement row{database, "DELETE FROM " + contend::sql_name(table) + " WHERE " +
                                              contend::sql_name(first_column(table)) + " = ?"};
      bind(row, 1, line);
      row.run();
    } else if (!word.empty()) {
      const std::string_view column = take(line, ' '), id = take(line, ' ');
      contend::SqlStatement row{database, "UPDATE " + contend::sql_name(word) + " SET " + contend::sql_name(column) +
                                              " = ? WHERE " + contend::sql_name(first_column(word)) + " = ?"};
      bind(row, 1, line);
      bind(row, 2, id);
      row.run();
    }
  }
}

/// Either the bytes of a database, or changes of a sound store.
void run_store(std::string_view text) {
  static const contend::TemporaryFolder folder;
  const std::string path = folder.path("store.sqlite");
  const bool raw = text.starts_with("SQLite format 3");
  contend::write_file(path, raw ? text : std::string_view{sound_store()});
  if (!raw) {
    contend::SqlDatabase database{path, contend::SqlDatabase::Mode::write};
    database.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF");
    change(database, text);
  }
  contend::SweepStore store = contend::SweepStore::open(path);
  static_cast<void>(store.points());
  for (const contend::StoreRun& run : store.runs()) {
    CONTEND_CHECK(run.run >= 0 && run.metrics.size() == store.info().metrics.size(), "a run has its metrics");
    static_cast<void>(store.jobs(run.run));
  }
  static_cast<void>(store.manifests());
  static_cast<void>(contend::runs_csv(store, {}));
  static_cast<void>(contend::results_csv(
      contend::query_results(store, {.group_by = {}, .metrics = {"all"}, .where = {}, .baseline = {}})));
}

const contend::fuzz::Target kStore{"store", run_store};

}  // namespace
