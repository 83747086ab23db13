#pragma once
// The store of a sweep: one SQLite file with a row for each point, each run and, on request, each job of a run.
// docs/reference/sweep-store.md documents the tables; only this code writes them.
//
// All tables except `executions` and `manifests` are a function of the scenario and the program: their rows do not
// depend on the number of threads, shards and interruptions. Everything that may differ (wall time, who ran it) is in
// those two. A run is recorded whole or not at all, and survives if the process is killed right after. One object
// belongs to one thread at a time; several processes may read while one writes.

#include "scenarios/sweep/sqlite.hpp"
#include "sim/result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// A scenario key, or a part of one such as `policies.placement.kappa`, that differs between points. It has one or two
/// columns in `points` and `results`.
struct StoreParameter {
  /// The type; a quantity is text as people write it (`10Gbps`) with its number in a second column.
  enum class Type : std::uint8_t { integer, number, text, quantity };
  std::string key;            ///< `network.nic`
  std::string column;         ///< `network_nic`
  Type type = Type::text;     ///< of `column`
  std::string number_column;  ///< of a quantity: `network_nic_Bps`; otherwise empty
  std::string unit;           ///< of that number: `s`, `B`, `Bps` (bytes per second) or `s_per_B`

  friend bool operator==(const StoreParameter&, const StoreParameter&) = default;
};

/// A figure of every run, which is a column of `runs` and `results`.
struct StoreMetric {
  std::string name;   ///< of the column: `avg_jct_s`
  std::string title;  ///< for people, without the unit
  std::string unit;   ///< `s`, `share` (0..1), `jobs`, ...
  std::string text;   ///< its meaning, one line

  friend bool operator==(const StoreMetric&, const StoreMetric&) = default;
};

/// Facts about the whole sweep; no time and no machine name.
struct StoreInfo {
  std::string name;         ///< of the scenario
  std::string kind;         ///< `jobs`, `overlap` (an iteration study), or the name of another kind of search
  std::string scenario;     ///< YAML of the scenario that the points vary
  std::string plan;         ///< hash of all points, parameters and seeds, equal for all shards of one sweep; may be
                            ///< empty
  std::int64_t repeat = 1;  ///< runs of a point
  std::int64_t runs = 0;    ///< expected number of runs; 0 if not known beforehand
  bool per_job = false;     ///< the store has a table `jobs` with a row for each job
  /// Names of groupings (results/job_groups.hpp); with any, the store has a table `job_groups` with a row for each
  /// group of jobs.
  std::vector<std::string> groupings{};
  /// The runs of every point are resamples of its job list (Draws::resamples). Nothing in a store of an earlier
  /// version, which does not say.
  std::optional<bool> resampled{};
  std::vector<StoreParameter> parameters;
  std::vector<StoreMetric> metrics;
};

/// One point of the sweep.
struct StorePoint {
  std::int64_t point = 0;                ///< from 0, in the order of the sweep
  std::string hash;                      ///< 16 digits that cover everything that decides the results of its runs
                                         ///< except the seed
  std::vector<std::string> settings;     ///< `key=value` as for --set, in order, which lead from the scenario to the
                                         ///< point
  std::optional<std::int64_t> baseline;  ///< the point with which its runs are compared, which may be itself
  std::vector<SqlValue> values;          ///< effective value of each parameter; null if the point has no such key
  std::vector<double> numbers;           ///< number of each parameter, in base units for a quantity; NaN if it is no
                                         ///< number
};

enum class RunStatus : std::uint8_t {
  done,
  failed,   ///< it threw an exception, which `error` describes
  refused,  ///< the studied policy cannot work here, such as one that needs parameter servers; `error` gives the reason
};
[[nodiscard]] const char* to_string(RunStatus status);

/// One run of a point.
struct StoreRun {
  std::int64_t run = 0;  ///< unique; in a sweep, point x repeat + number of the seed
  std::int64_t point = 0;
  std::uint64_t seed = 0;
  RunStatus status = RunStatus::done;
  std::string error;
  std::uint64_t fingerprint = 0;  ///< RunResult::fingerprint, digest and events; 0 if there are none
  std::uint64_t digest = 0;
  std::uint64_t events = 0;
  std::vector<double> metrics;  ///< in the order of StoreInfo::metrics; NaN if there is no value
  double wall_s = 0;            ///< wall-clock time of the run; not part of the canonical tables
  std::int64_t manifest = 0;    ///< of the invocation that ran it; not part of the canonical tables
};

/// One invocation that wrote to the store.
struct StoreManifest {
  std::int64_t manifest = 0;
  std::string version;
  std::string git_hash;
  std::string json;  ///< command line, threads, shard, inputs, begin, host

  /// The build of the program; runs of equal builds are interchangeable.
  [[nodiscard]] std::string build() const { return git_hash.empty() ? version : version + " (" + git_hash + ")"; }
};

class SweepStore {
 public:
  enum class Access : std::uint8_t { read, write };

  /// Creates a store. Throws InputError, also if the file exists already.
  [[nodiscard]] static SweepStore create(const std::string& path, const StoreInfo& info,
                                         std::span<const StorePoint> points);
  /// Opens a store. Throws InputError if the file is damaged or is no store of this schema version. One of an earlier
  /// version can be read.
  [[nodiscard]] static SweepStore open(const std::string& path, Access access = Access::read);

  [[nodiscard]] const std::string& path() const { return database_.path(); }
  [[nodiscard]] const StoreInfo& info() const { return info_; }
  /// False if an earlier version has written the store, so that nobody can see whether it is damaged.
  [[nodiscard]] bool has_checksums() const { return has_checksums_; }

  /// Throws InputError if a table lacks a column that it has today, because an older version has written it. Opening a
  /// store for writing does this.
  void check_columns();

  // Reading, in order of the ids.
  [[nodiscard]] std::vector<StorePoint> points();
  [[nodiscard]] std::vector<StoreRun> runs();
  [[nodiscard]] std::vector<StoreManifest> manifests();
  /// The rows of one run in the order of job_columns(); empty without `per_job`.
  [[nodiscard]] std::vector<std::vector<SqlValue>> jobs(std::int64_t run);
  /// The groups of one run as `grouping`, `place`, `value` and the figures of group_metrics(); empty without
  /// `groupings`.
  [[nodiscard]] std::vector<std::vector<SqlValue>> groups(std::int64_t run);
  /// The database, for other queries. The view `results` has a row for each run and a column for each parameter and
  /// metric.
  [[nodiscard]] SqlDatabase& database() { return database_; }

  // Writing. Each is a transaction of its own.
  /// Adds points, for a search that finds its points as it goes.
  void add_points(std::span<const StorePoint> points);
  /// Adds a manifest and returns its number.
  std::int64_t add_manifest(const StoreManifest& manifest);
  /// Records a run, replacing an earlier record of it. `jobs` are stored if the store is `per_job`, and
  /// their groups if it has groupings.
  void record(const StoreRun& run, std::span<const JobResult> jobs = {});
  /// Removes these runs, their jobs and groups.
  void remove(std::span<const std::int64_t> runs);
  /// Stores a named fact, such as the state of a search, which fact() returns.
  void set_fact(const std::string& name, const std::string& value);
  [[nodiscard]] std::optional<std::string> fact(const std::string& name);
  /// Call it at the end: it moves everything written into the one file, without companion files.
  void finish();

 private:
  SweepStore(SqlDatabase database, StoreInfo info);
  void insert_run(const StoreRun& run);
  void insert_jobs(std::int64_t run, std::span<const JobResult> jobs);
  void insert_groups(std::int64_t run, std::span<const JobResult> jobs);

  SqlDatabase database_;
  StoreInfo info_;
  bool has_checksums_ = true;
  std::optional<SqlStatement> run_, execution_, job_;  ///< prepared on first use
  friend class StoreCopier;
};

/// What merge_stores() found.
struct MergeReport {
  std::int64_t runs = 0;              ///< runs in the merged store
  std::vector<std::int64_t> missing;  ///< runs of the sweep that no store has
  std::int64_t failed = 0;
};

/// Merges stores of one sweep and one build of the program into a new store at `out`. Runs that several stores have
/// must have equal results. Throws InputError.
MergeReport merge_stores(std::span<const std::string> paths, const std::string& out);

}  // namespace contend
