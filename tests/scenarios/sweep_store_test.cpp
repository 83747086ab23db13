#include "scenarios/sweep/sweep_store.hpp"

#include "scenarios/sweep/sqlite.hpp"
#include "sim/error.hpp"
#include "sim/statistics.hpp"
#include "tests/effort.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"

#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace contend;

namespace {

StoreInfo small_info() {
  StoreInfo info;
  info.name = "small";
  info.kind = "jobs";
  info.scenario = "schema_version: 1\n";
  info.plan = "0123456789abcdef";
  info.repeat = 2;
  info.runs = 4;
  info.parameters = {{.key = "network.nic",
                      .column = "network_nic",
                      .type = StoreParameter::Type::quantity,
                      .number_column = "network_nic_Bps",
                      .unit = "Bps"},
                     {.key = "policies.placement.kappa",
                      .column = "policies_placement_kappa",
                      .type = StoreParameter::Type::integer,
                      .number_column = {},
                      .unit = {}}};
  info.metrics = {{"finished", "finished", "jobs", "jobs that finished"}, {"avg_jct_s", "average JCT", "s", "mean"}};
  return info;
}

std::vector<StorePoint> small_points() {
  std::vector<StorePoint> points(2);
  points[0] = {.point = 0,
               .hash = "00000000000000aa",
               .settings = {"network.nic=10Gbps", "policies.placement.kappa=2"},
               .baseline = 0,
               .values = {"10Gbps", std::int64_t{2}},
               .numbers = {1.25e9, 2}};
  points[1] = {.point = 1,
               .hash = "00000000000000bb",
               .settings = {"network.nic=auto"},
               .baseline = std::nullopt,
               .values = {"auto", std::monostate{}},
               .numbers = {kNaN, kNaN}};
  return points;
}

StoreRun done_run(std::int64_t run, double jct_s) {
  StoreRun row;
  row.run = run;
  row.point = run / 2;
  row.seed = 1 + static_cast<std::uint64_t>(run % 2);
  row.fingerprint = 0xfedcba9876543210;  // more than a signed integer of SQLite holds
  row.digest = 7;
  row.events = 12;
  row.metrics = {3, jct_s};
  row.wall_s = 0.25;
  row.manifest = 1;
  return row;
}

std::string text_of(const InputError& error) {
  return error.complaints().front().format();
}

}  // namespace

TEST_CASE("a store gives back what was written into it") {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.sqlite");
  {
    SweepStore store = SweepStore::create(path, small_info(), small_points());
    CHECK(store.add_manifest({.manifest = 0, .version = "0.1.0", .git_hash = "abc", .json = "{}"}) == 1);
    store.record(done_run(1, 12.5));
    StoreRun failed = done_run(0, kNaN);
    failed.status = RunStatus::failed;
    failed.error = "jobs.csv: can't be read";
    store.record(failed);
    store.record(done_run(2, 0.1));
    store.set_fact("rung", "3");
  }
  SweepStore store = SweepStore::open(path);
  CHECK(store.info().plan == "0123456789abcdef");
  CHECK(store.info().parameters == small_info().parameters);
  CHECK(store.info().metrics == small_info().metrics);
  CHECK(store.fact("rung") == "3");
  CHECK_FALSE(store.fact("rungs"));

  const std::vector<StorePoint> points = store.points();
  REQUIRE(points.size() == 2);
  CHECK(points[0].settings == small_points()[0].settings);
  CHECK(points[0].baseline == 0);
  CHECK(points[0].values == small_points()[0].values);
  CHECK(points[0].numbers == small_points()[0].numbers);
  CHECK_FALSE(points[1].baseline);
  CHECK(points[1].values == small_points()[1].values);
  CHECK(std::isnan(points[1].numbers[0]));

  const std::vector<StoreRun> runs = store.runs();
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].status == RunStatus::failed);
  CHECK(runs[0].error == "jobs.csv: can't be read");
  CHECK(std::isnan(runs[0].metrics[1]));
  CHECK(runs[1].fingerprint == 0xfedcba9876543210);
  CHECK(runs[1].metrics == std::vector<double>{3, 12.5});
  CHECK(runs[1].wall_s == 0.25);
  CHECK(runs[2].metrics[1] == 0.1);
  CHECK(store.manifests().at(0).build() == "0.1.0 (abc)");

  SqlStatement row{store.database(), "SELECT network_nic, network_nic_Bps, avg_jct_s FROM results WHERE run = 2"};
  REQUIRE(row.step());
  CHECK(row.text(0) == "auto");
  CHECK(row.is_null(1));
  CHECK(row.number(2) == 0.1);
}

TEST_CASE("older stores of iteration studies call their kind overlap") {
  const TemporaryFolder folder;
  StoreInfo info = small_info();
  info.kind = "overlap";
  static_cast<void>(SweepStore::create(folder.path("old"), info, small_points()));
  CHECK(SweepStore::open(folder.path("old")).info().kind == "study");
}

TEST_CASE("a run that is recorded again replaces the first, with its jobs") {
  const TemporaryFolder folder;
  StoreInfo info = small_info();
  info.per_job = true;
  SweepStore store = SweepStore::create(folder.path("a.sqlite"), info, small_points());
  JobResult job;
  job.name = "first";
  job.submit = Time::milliseconds(1500);
  const std::vector<JobResult> two{job, job};
  store.record(done_run(0, 1), two);
  store.record(done_run(0, 2), std::span{two}.first(1));
  CHECK(store.runs().size() == 1);
  CHECK(store.runs()[0].metrics[1] == 2);
  const auto rows = store.jobs(0);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0][0] == SqlValue{"first"});
  CHECK(rows[0][9] == SqlValue{1.5});  // submit_s
  CHECK(rows[0][11] == SqlValue{});    // finish_s: it did not
}

TEST_CASE("a table that somebody has deleted is named when the store is opened") {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.sqlite");
  StoreInfo info = small_info();
  info.per_job = true;
  const auto complaint_without = [&](const std::string& what) {
    std::filesystem::remove(path);
    SweepStore::create(path, info, small_points()).finish();
    SqlDatabase{path, SqlDatabase::Mode::write}.execute(what);
    std::string complaints;
    for (const SweepStore::Access access : {SweepStore::Access::read, SweepStore::Access::write}) {
      try {
        static_cast<void>(SweepStore::open(path, access));
      } catch (const InputError& error) {
        complaints += text_of(error) + "\n";
      }
    }
    return complaints;
  };
  const auto twice = [&](const std::string& tables) {
    const std::string line = path + ": of the tables of a store, " + tables +
                             " missing; use a copy that has all of them, or remove this file and run the sweep again\n";
    return line + line;
  };
  CHECK(complaint_without("") == "");
  for (const char* table : {"sweep", "parameters", "metrics", "points", "runs", "executions", "manifests", "jobs"})
    CHECK(complaint_without(std::string{"DROP TABLE "} + table) == twice(std::string{table} + " is"));
  CHECK(complaint_without("DROP VIEW results") == twice("results is"));
  CHECK(complaint_without("DROP TABLE runs; DROP TABLE points") == twice("points, runs are"));
}

TEST_CASE(
    "a store that an older version has written can be read, and says which column it lacks when it can't be used") {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.sqlite");
  StoreInfo info = small_info();
  info.per_job = true;
  {
    SweepStore store = SweepStore::create(path, info, small_points());
    store.record(done_run(0, 1), std::vector<JobResult>(1));
    store.finish();
  }
  SqlDatabase{path, SqlDatabase::Mode::write}.execute("ALTER TABLE jobs RENAME COLUMN lost_gpu_s TO lost_s");
  const std::string complaint = path +
                                ": was written by another version of contend and has no column jobs.lost_gpu_s; use "
                                "that version, or run the sweep again into another store (-o)";
  CHECK(SweepStore::open(path).runs().size() == 1);
  CHECK_THROWS_WITH_AS(static_cast<void>(SweepStore::open(path, SweepStore::Access::write)), complaint.c_str(),
                       InputError);
  const std::vector<std::string> paths{path};
  CHECK_THROWS_WITH_AS(static_cast<void>(merge_stores(paths, folder.path("b.sqlite"))), complaint.c_str(), InputError);
}

TEST_CASE("a column that somebody has deleted is an error and not read as its own name") {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.sqlite");
  SweepStore::create(path, small_info(), small_points()).finish();
  SqlDatabase{path, SqlDatabase::Mode::write}.execute(
      "DROP VIEW results; ALTER TABLE points RENAME COLUMN network_nic TO nic; CREATE VIEW results AS SELECT 1");
  SweepStore store = SweepStore::open(path);
  CHECK_THROWS_WITH_AS(static_cast<void>(store.points()),
                       (path + ": can't be used: no such column: network_nic").c_str(), InputError);
}

TEST_CASE("values that somebody has changed are errors of the store") {
  const TemporaryFolder folder;
  const auto complaint_after = [&](const std::string& what) {
    const std::string path = folder.path("a.sqlite");
    std::filesystem::remove(path);
    {
      SweepStore store = SweepStore::create(path, small_info(), small_points());
      store.record(done_run(1, 2));
      store.finish();
    }
    SqlDatabase{path, SqlDatabase::Mode::write}.execute(what);
    try {
      static_cast<void>(SweepStore::open(path).runs());
    } catch (const InputError& error) {
      CHECK(text_of(error).starts_with(path + ": "));
      CHECK(
          text_of(error).ends_with("; use a copy from before this change, or run the sweep again into another store"));
      return text_of(error).substr(path.size() + 2, text_of(error).rfind("; use") - path.size() - 2);
    }
    return std::string{};
  };
  CHECK(complaint_after("") == "");
  CHECK(complaint_after("UPDATE runs SET status = 'ended'") == "expected one of done, failed, refused, got \"ended\"");
  CHECK(complaint_after("UPDATE parameters SET type = 'kind'") ==
        "expected one of integer, number, text, quantity, got \"kind\"");
  CHECK(complaint_after("UPDATE runs SET run = 4") == "there is a run 4 in a sweep of 4 runs");
  CHECK(complaint_after("UPDATE runs SET run = -1") == "there is a run -1 in a sweep of 4 runs");
  CHECK(complaint_after("UPDATE sweep SET value = 0 WHERE name = 'repeat'") == "a sweep of 4 runs, 0 of each point");
}

TEST_CASE("what is no store, or there already, is refused") {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.sqlite");
  CHECK_THROWS_AS(static_cast<void>(SweepStore::open(path)), InputError);
  write_file(path, "name,value\n");
  CHECK_THROWS_AS(static_cast<void>(SweepStore::open(path)), InputError);
  try {
    static_cast<void>(SweepStore::create(path, small_info(), small_points()));
    FAIL("a file was overwritten");
  } catch (const InputError& error) {
    CHECK(text_of(error) == path + ": there is a file already");
  }
  const std::string other = folder.path("other.sqlite");
  {
    SqlDatabase database{other, SqlDatabase::Mode::create};
    database.execute("CREATE TABLE t(x)");
  }
  try {
    static_cast<void>(SweepStore::open(other));
    FAIL("a database of somebody else was opened");
  } catch (const InputError& error) {
    CHECK(text_of(error) == other + ": is no store of `contend sweep`");
  }
}

TEST_CASE("property: any flipped bit of a store is noticed, and so is a missing end") {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.sqlite");
  StoreInfo info = small_info();
  info.per_job = true;
  {
    SweepStore store = SweepStore::create(path, info, small_points());
    for (std::int64_t run = 0; run < 4; ++run) store.record(done_run(run, 0.5), std::vector<JobResult>(200));
    store.remove(std::vector<std::int64_t>{2, 3});  // leaves pages that nothing uses
    store.finish();
  }
  CHECK(SweepStore::open(path).has_checksums());
  const std::string sound = read_file(path);
  const auto complaint_of = [&](const std::string& bytes) {
    write_file(path, bytes);
    try {
      static_cast<void>(SweepStore::open(path));
    } catch (const InputError& error) {
      return text_of(error);
    }
    return std::string{"none"};
  };
  // All of the header, and each place in steps that meet every bit of a byte.
  const std::size_t bits = 8 * sound.size();
  for (std::size_t bit = 0, n = 0; bit < bits; bit += bit < 800 ? 1 : 227, ++n) {
    if (!is_played(n, 10)) continue;
    CAPTURE(bit);
    std::string damaged = sound;
    damaged[bit / 8] = static_cast<char>(static_cast<unsigned char>(damaged[bit / 8]) ^ 1U << bit % 8);
    CHECK(complaint_of(damaged).starts_with(path + ": is damaged: "));
  }
  CHECK(complaint_of(sound.substr(0, sound.size() - 1)) ==
        fmt::format("{}: is damaged: it has {} bytes, expected {}; use an undamaged copy, or remove this file and run "
                    "the sweep again",
                    path, sound.size() - 1, sound.size()));
  CHECK(complaint_of(sound + "x").starts_with(path + ": is damaged: it has "));
  CHECK(complaint_of(sound) == "none");
}

TEST_CASE("files of others that have the names of SQLite's logs are refused and kept") {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.sqlite");
  const auto refusal = [&](const std::string& file, const auto& act) {
    try {
      act();
      return std::string{"none"};
    } catch (const InputError& error) {
      CHECK(text_of(error).starts_with(file + ": this file would be taken for a log of the store " + path));
      return text_of(error);
    }
  };
  const auto create = [&] { SweepStore::create(path, small_info(), small_points()).finish(); };
  const auto read = [&] { static_cast<void>(SweepStore::open(path).runs()); };
  const auto write = [&] { SweepStore::open(path, SweepStore::Access::write).finish(); };
  const std::vector<std::string> endings{"-wal", "-shm", "-journal"};
  for (const std::string& ending : endings) {
    for (const char* text : {"my notes\n", ""}) {
      write_file(path + ending, text);
      CHECK(refusal(path + ending, create).ends_with("and there is no such store; move it away, or use another store"));
      CHECK_FALSE(std::filesystem::exists(path));
      CHECK(read_file(path + ending) == text);
      std::filesystem::remove(path + ending);
    }
  }
  create();
  for (const std::string& ending : endings) {
    write_file(path + ending, "my notes\n");
    for (const auto& act : {std::function<void()>{read}, std::function<void()>{write}}) {
      CHECK(
          refusal(path + ending, act).ends_with("and contend has not written it; move it away, or use another store"));
      CHECK(read_file(path + ending) == "my notes\n");
    }
    std::filesystem::remove(path + ending);
    std::filesystem::create_symlink(folder.path("nowhere"), path + ending);
    CHECK(refusal(path + ending, write) != "none");
    std::filesystem::remove(path + ending);
  }
  // SQLite's own: a log and its index, and journals of both kinds.
  SweepStore store = SweepStore::open(path, SweepStore::Access::write);
  store.record(done_run(0, 0.5), std::vector<JobResult>(1));
  REQUIRE(std::filesystem::file_size(path + "-wal") > 0);
  REQUIRE(std::filesystem::file_size(path + "-shm") > 0);
  CHECK(refusal("", read) == "none");
  for (const char* mode : {"DELETE", "PERSIST"}) {
    const std::string other = folder.path(std::string{mode} + ".sqlite");
    SqlDatabase first{other, SqlDatabase::Mode::create};
    first.execute(std::string{"PRAGMA journal_mode = "} + mode);
    first.execute("CREATE TABLE t (x); BEGIN IMMEDIATE; INSERT INTO t VALUES (1)");
    REQUIRE(std::filesystem::exists(other + "-journal"));
    CHECK_NOTHROW(refuse_foreign_logs(other));
    first.execute("COMMIT");
    CHECK_NOTHROW(refuse_foreign_logs(other));
  }
}

TEST_CASE("damage is noticed where it is read, too, and while a sweep has a log") {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.sqlite"), copy = folder.path("b.sqlite");
  StoreInfo info = small_info();
  info.per_job = true;
  SweepStore store = SweepStore::create(path, info, small_points());
  store.record(done_run(0, 0.5), std::vector<JobResult>(200));
  // A reader beside the sweep, which finds most of the store in the log.
  CHECK(SweepStore::open(path).runs().size() == 1);
  REQUIRE(std::filesystem::file_size(path + "-wal") > 0);
  std::filesystem::copy_file(path + "-wal", copy + "-wal");
  std::string bytes = read_file(path);
  write_file(copy, bytes);
  CHECK(SweepStore::open(copy).runs().size() == 1);  // as after a crash
  // In a page that the log doesn't replace.
  const std::size_t at = bytes.find("network.nic=10Gbps");
  REQUIRE(at != std::string::npos);
  bytes[at + 12] = '9';
  write_file(copy, bytes);
  std::filesystem::copy_file(path + "-wal", copy + "-wal", std::filesystem::copy_options::overwrite_existing);
  try {
    static_cast<void>(SweepStore::open(copy).points());
    FAIL("a damaged store was read");
  } catch (const InputError& error) {
    CHECK(text_of(error).starts_with(copy + ": is damaged: "));
  }
}

TEST_CASE("merged stores hold the rows of all, in whatever order they come") {
  const TemporaryFolder folder;
  const std::vector<std::string> parts{folder.path("0"), folder.path("1")};
  for (int part = 0; part < 2; ++part) {
    SweepStore store = SweepStore::create(parts[static_cast<std::size_t>(part)], small_info(), small_points());
    store.add_manifest({.manifest = 0, .version = "0.1.0", .git_hash = {}, .json = part == 0 ? "{0}" : "{1}"});
    store.record(done_run(2 - part, 10 + part));
    store.record(done_run(3, 30));  // both have this one
  }
  const MergeReport report = merge_stores(parts, folder.path("all"));
  CHECK(report.runs == 3);
  CHECK(report.missing == std::vector<std::int64_t>{0});
  SweepStore all = SweepStore::open(folder.path("all"));
  const std::vector<StoreRun> runs = all.runs();
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].metrics[1] == 11);
  CHECK(runs[0].manifest == 2);
  CHECK(runs[1].metrics[1] == 10);
  CHECK(runs[1].manifest == 1);
  CHECK(runs[2].run == 3);
  CHECK(all.points()[0].settings == small_points()[0].settings);
}

TEST_CASE("a store that another process writes to is named as such") {
  const TemporaryFolder folder;
  SqlDatabase first{folder.path("s.sqlite"), SqlDatabase::Mode::create};
  first.execute("CREATE TABLE t (x)");
  const SqlTransaction writing{first};
  SqlDatabase second{folder.path("s.sqlite"), SqlDatabase::Mode::write, std::chrono::milliseconds{1}};
  try {
    const SqlTransaction refused{second};
    FAIL("two processes write at once");
  } catch (const InputError& error) {
    CHECK(std::string{error.what()} ==
          folder.path("s.sqlite") +
              ": can't be used: another process, such as a sweep, writes to it: wait until that "
              "has ended, or write to another store (-o)");
  }
}

TEST_CASE("a store whose disk is full is named as such") {
  const TemporaryFolder folder;
  SqlDatabase database{folder.path("s.sqlite"), SqlDatabase::Mode::create};
  database.execute("CREATE TABLE t (x); PRAGMA max_page_count = 2");  // SQLite treats it as the end of the disk
  CHECK_THROWS_WITH_AS(database.execute("INSERT INTO t VALUES (zeroblob(1000000))"),
                       (folder.path("s.sqlite") + ": can't be used: the disk is full").c_str(), InputError);
}

TEST_CASE("stores that contradict each other are not merged, and leave no file behind") {
  const TemporaryFolder folder;
  const std::vector<std::string> parts{folder.path("0"), folder.path("1")};
  StoreInfo info = small_info();
  std::string version = "0.1.0", reason = "run 3 has other results than in a store before it";
  double jct_s = 30;
  SUBCASE("other results") {
    jct_s = 31;
  }
  SUBCASE("another sweep") {
    info.plan = "another";
    reason = "is of another sweep than " + parts[0];
  }
  SUBCASE("another program") {
    version = "0.2.0";
    reason = "was made by contend 0.2.0, " + parts[0] + " by 0.1.0";
  }
  {
    SweepStore first = SweepStore::create(parts[0], small_info(), small_points());
    first.add_manifest({.manifest = 0, .version = "0.1.0", .git_hash = {}, .json = {}});
    first.record(done_run(3, 30));
    SweepStore second = SweepStore::create(parts[1], info, small_points());
    second.add_manifest({.manifest = 0, .version = version, .git_hash = {}, .json = {}});
    second.record(done_run(3, jct_s));
  }
  try {
    static_cast<void>(merge_stores(parts, folder.path("all")));
    FAIL("merged");
  } catch (const InputError& error) {
    CHECK(text_of(error) == parts[1] + ": " + reason);
  }
  CHECK_FALSE(std::filesystem::exists(folder.path("all")));
}
