#include "scenarios/sweep/store.hpp"
#include "scenarios/sweep/store_schema.hpp"
#include "traces/atomic_file.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

bool same_number(double a, double b) {
  return a == b || (a != a && b != b);
}

bool same_results(const StoreRun& a, const StoreRun& b) {
  return a.point == b.point && a.seed == b.seed && a.status == b.status && a.error == b.error &&
         a.fingerprint == b.fingerprint && a.digest == b.digest && a.events == b.events &&
         std::equal(a.metrics.begin(), a.metrics.end(), b.metrics.begin(), b.metrics.end(), same_number);
}

bool same_sweep(const StoreInfo& a, const StoreInfo& b) {
  return a.plan == b.plan && a.kind == b.kind && a.repeat == b.repeat && a.runs == b.runs && a.per_job == b.per_job &&
         a.parameters == b.parameters && a.metrics == b.metrics;
}

}  // namespace

/// Copies runs with their jobs from one store after the other.
class StoreMerger {
 public:
  StoreMerger(SweepStore& out, std::string first) : out_{out}, first_{std::move(first)} {}

  void add(SweepStore& from) {
    if (!same_sweep(out_.info(), from.info()))
      throw_file_error(from.path(), fmt::format("is of another sweep than {}", first_), 0);
    std::map<std::int64_t, std::int64_t> manifests;
    for (const StoreManifest& each : from.manifests()) {
      if (!build_) build_ = each.build();
      if (each.build() != *build_)
        throw_file_error(from.path(), fmt::format("was made by contend {}, {} by {}", each.build(), first_, *build_),
                         0);
      manifests[each.manifest] = out_.add_manifest(each);
    }
    SqlTransaction transaction{out_.database_};
    for (StoreRun& run : from.runs()) {
      const auto [there, is_new] = runs_.emplace(run.run, run);
      if (!is_new) {
        if (!same_results(there->second, run))
          throw_file_error(from.path(), fmt::format("run {} has other results than in a store before it", run.run), 0);
        continue;
      }
      run.manifest = manifests[run.manifest];
      out_.insert_run(run);
      copy_jobs(from, run.run);
    }
    transaction.commit();
  }

  [[nodiscard]] MergeReport report() const {
    MergeReport report;
    report.runs = static_cast<std::int64_t>(runs_.size());
    for (std::int64_t run = 0; run < out_.info().runs; ++run)
      if (runs_.find(run) == runs_.end()) report.missing.push_back(run);
    report.failed = std::count_if(runs_.begin(), runs_.end(),
                                  [](const auto& each) { return each.second.status == RunStatus::failed; });
    return report;
  }

 private:
  void copy_jobs(SweepStore& from, std::int64_t run) {
    if (!out_.info().per_job) return;
    if (!job_) job_.emplace(out_.database_, job_insert());
    std::int64_t number = 0;
    for (const std::vector<SqlValue>& cells : from.jobs(run)) {
      job_->bind(1, run).bind(2, number++);
      int index = 3;
      for (const SqlValue& cell : cells) job_->bind(index++, cell);
      job_->run();
    }
  }

  SweepStore& out_;
  std::string first_;
  std::optional<std::string> build_;
  std::map<std::int64_t, StoreRun> runs_;
  std::optional<SqlStatement> job_;
};

MergeReport merge_stores(std::span<const std::string> paths, const std::string& out) {
  std::vector<SweepStore> stores;
  for (const std::string& path : paths) stores.push_back(SweepStore::open(path));
  std::error_code ignored;
  if (std::filesystem::exists(out, ignored)) throw_file_error(out, "there is a file already", 0);
  AtomicFile file{out};
  MergeReport report;
  {
    SweepStore result = SweepStore::create(file.path(), stores.front().info(), stores.front().points());
    StoreMerger merger{result, paths.front()};
    for (SweepStore& store : stores) merger.add(store);
    result.finish();
    report = merger.report();
  }
  file.commit();
  return report;
}

}  // namespace contend
