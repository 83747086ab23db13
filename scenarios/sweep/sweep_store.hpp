#pragma once
// The store of a sweep: one SQLite file with a row a point, a run, and, if asked for, a job of a run. The tables are
// documented in docs/reference/sweep-store.md; this is the only code that writes them.
//
// All tables but `executions` and `manifests` are a function of the scenario and the program: they hold the same rows
// whatever the number of threads, shards and interruptions. What may differ (wall time, who ran it) is in those two.
// A run is recorded whole or not at all, and stays if the process is killed right after. One object belongs to one
// thread at a time; several processes may read while one writes.

#include "scenarios/sweep/sqlite.hpp"
#include "sim/result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// A scenario key, or a part of one such as `policies.placement.kappa`, that differs between points: one or two columns
/// of `points` and `results`.
struct StoreParameter {
  /// A quantity is text as people write it (`10Gbps`), and has its number in a second column.
  enum class Type : std::uint8_t { integer, number, text, quantity };
  std::string key;            ///< `network.nic`
  std::string column;         ///< `network_nic`
  Type type = Type::text;     ///< of `column`; a quantity's is text
  std::string number_column;  ///< of a quantity: `network_nic_Bps`; else empty
  std::string unit;           ///< of that number: `s`, `B`, `Bps` (bytes a second) or `s_per_B`

  friend bool operator==(const StoreParameter&, const StoreParameter&) = default;
};

/// A figure of every run: a column of `runs` and `results`.
struct StoreMetric {
  std::string name;   ///< of the column: `avg_jct_s`
  std::string title;  ///< for people, without the unit
  std::string unit;   ///< `s`, `share` (0..1), `jobs`, ...
  std::string text;   ///< what it means, one line

  friend bool operator==(const StoreMetric&, const StoreMetric&) = default;
};

/// Facts about all runs. Never a time or a name of a machine.
struct StoreInfo {
  std::string name;         ///< of the scenario
  std::string kind;         ///< `jobs`, `study` (of one iteration), or what another search calls itself
  std::string scenario;     ///< YAML of the scenario that the points differ from
  std::string plan;         ///< hash of all points, parameters and seeds: shards of one sweep agree in it; may be empty
  std::int64_t repeat = 1;  ///< runs of a point
  std::int64_t runs = 0;    ///< that there are to be; 0: not known beforehand
  bool per_job = false;     ///< a table `jobs` with a row a job
  std::vector<StoreParameter> parameters;
  std::vector<StoreMetric> metrics;
};

struct StorePoint {
  std::int64_t point = 0;                ///< from 0 on, in the order of the sweep
  std::string hash;                      ///< 16 digits over all that decides the results of its runs but the seed
  std::vector<std::string> settings;     ///< `key=value` as for --set, in order: the point from the scenario
  std::optional<std::int64_t> baseline;  ///< the point that its runs are compared to, which may be itself
  std::vector<SqlValue> values;          ///< of each parameter in effect; null where the point has no such key
  std::vector<double> numbers;           ///< of each parameter, base units for a quantity; NaN where it is no number
};

enum class RunStatus : std::uint8_t {
  done,
  failed,   ///< it threw; `error` says what
  refused,  ///< what is studied can't work here, say a policy for parameter servers without any; `error` says why
};
[[nodiscard]] const char* to_string(RunStatus status);

struct StoreRun {
  std::int64_t run = 0;  ///< unique; in a sweep point x repeat + number of the seed
  std::int64_t point = 0;
  std::uint64_t seed = 0;
  RunStatus status = RunStatus::done;
  std::string error;
  std::uint64_t fingerprint = 0;  ///< RunResult::fingerprint, digest and events; 0 where there are none
  std::uint64_t digest = 0;
  std::uint64_t events = 0;
  std::vector<double> metrics;  ///< in the order of StoreInfo::metrics; NaN where there is no value
  double wall_s = 0;            ///< real time that it took; not part of the canonical tables
  std::int64_t manifest = 0;    ///< of the invocation that ran it; not part of the canonical tables
};

/// One invocation that wrote into the store.
struct StoreManifest {
  std::int64_t manifest = 0;
  std::string version;
  std::string git_hash;
  std::string json;  ///< command line, threads, shard, inputs, begin, host

  /// Runs of equal builds are interchangeable.
  [[nodiscard]] std::string build() const { return git_hash.empty() ? version : version + " (" + git_hash + ")"; }
};

class SweepStore {
 public:
  enum class Access : std::uint8_t { read, write };

  /// A new store. Throws InputError, also if there is a file already.
  [[nodiscard]] static SweepStore create(const std::string& path, const StoreInfo& info,
                                         std::span<const StorePoint> points);
  /// Throws InputError if the file is no store of this version of the schema.
  [[nodiscard]] static SweepStore open(const std::string& path, Access access = Access::read);

  [[nodiscard]] const std::string& path() const { return database_.path(); }
  [[nodiscard]] const StoreInfo& info() const { return info_; }

  // Reading, in order of the ids.
  [[nodiscard]] std::vector<StorePoint> points();
  [[nodiscard]] std::vector<StoreRun> runs();
  [[nodiscard]] std::vector<StoreManifest> manifests();
  /// Rows of one run as job_columns() has them; empty without `per_job`.
  [[nodiscard]] std::vector<std::vector<SqlValue>> jobs(std::int64_t run);
  /// For other queries. The view `results` has a row a run with a column for each parameter and metric.
  [[nodiscard]] SqlDatabase& database() { return database_; }

  // Writing. Each is a transaction of its own.
  /// For a search that finds its points as it goes.
  void add_points(std::span<const StorePoint> points);
  /// The number of the new manifest.
  std::int64_t add_manifest(const StoreManifest& manifest);
  /// Replaces what there is of that run. `jobs` are stored if the store is `per_job`.
  void record(const StoreRun& run, std::span<const JobResult> jobs = {});
  /// Forgets these runs, with their jobs.
  void remove(std::span<const std::int64_t> runs);
  /// A fact of one's own, such as the state of a search; read by fact().
  void set_fact(const std::string& name, const std::string& value);
  [[nodiscard]] std::optional<std::string> fact(const std::string& name);
  /// To call at the end: all that was written goes into the one file, with no companions.
  void finish();

 private:
  SweepStore(SqlDatabase database, StoreInfo info);
  void insert_points(std::span<const StorePoint> points);
  void insert_run(const StoreRun& run);
  void insert_jobs(std::int64_t run, std::span<const JobResult> jobs);

  SqlDatabase database_;
  StoreInfo info_;
  std::optional<SqlStatement> run_, execution_, job_;  ///< prepared when first used
  friend class StoreCopier;
};

/// What merge_stores() found.
struct MergeReport {
  std::int64_t runs = 0;              ///< in the result
  std::vector<std::int64_t> missing;  ///< runs of the sweep that no store has
  std::int64_t failed = 0;
};

/// Writes the runs of all stores, which must be of one sweep and one build of the program, into a new store at `out`.
/// Where several have the same run their results must be the same. Throws InputError.
MergeReport merge_stores(std::span<const std::string> paths, const std::string& out);

}  // namespace contend
