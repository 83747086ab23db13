#include "scenarios/sweep/store_copier.hpp"
#include "scenarios/sweep/store_schema.hpp"
#include "scenarios/sweep/sweep_store.hpp"
#include "text/atomic_file.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

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
         a.groupings == b.groupings && a.parameters == b.parameters && a.metrics == b.metrics;
}

/// The build behind all runs of the store; nothing if it has none.
std::optional<std::string> build_of(SweepStore& store) {
  std::map<std::int64_t, std::string> builds;
  for (const StoreManifest& each : store.manifests()) builds[each.manifest] = each.build();
  std::optional<std::string> build;
  for (const StoreRun& run : store.runs()) {
    const std::string& its = builds[run.manifest];
    if (build && *build != its)
      throw_file_error(store.path(), fmt::format("has runs of contend {} and of {}", *build, its), 0);
    build = its;
  }
  return build;
}

/// Stores that may be merged: of one sweep, by one build.
void check_stores(std::vector<SweepStore>& stores) {
  const std::string* first_path = nullptr;
  std::string first_build;
  for (SweepStore& store : stores) {
    if (!same_sweep(stores.front().info(), store.info()))
      throw_file_error(store.path(), fmt::format("is of another sweep than {}", stores.front().path()), 0);
    const std::optional<std::string> build = build_of(store);
    if (!build) continue;
    if (first_path == nullptr) {
      first_path = &store.path();
      first_build = *build;
    }
    if (*build != first_build)
      throw_file_error(store.path(), fmt::format("was made by contend {}, {} by {}", *build, *first_path, first_build),
                       0);
  }
}

MergeReport report_of(const StoreInfo& info, const std::map<std::int64_t, StoreRun>& runs) {
  MergeReport report;
  report.runs = static_cast<std::int64_t>(runs.size());
  for (std::int64_t run = 0; run < info.runs; ++run)
    if (runs.find(run) == runs.end()) report.missing.push_back(run);
  report.failed =
      std::count_if(runs.begin(), runs.end(), [](const auto& each) { return each.second.status == RunStatus::failed; });
  return report;
}

}  // namespace

void StoreCopier::copy(std::int64_t number, StoreRun& run) {
  run.manifest = manifests_[run.manifest];
  to_.insert_run(run);
  if (to_.info().per_job) {
    if (!job_) job_.emplace(to_.database(), job_insert());
    std::int64_t row = 0;
    for (const std::vector<SqlValue>& cells : from_.jobs(number)) {
      job_->bind(1, run.run).bind(2, row++);
      int index = 3;
      for (const SqlValue& cell : cells) job_->bind(index++, cell);
      job_->run();
    }
  }
  if (to_.info().groupings.empty()) return;
  if (!group_) group_.emplace(to_.database(), group_insert());
  for (const std::vector<SqlValue>& cells : from_.groups(number)) {
    group_->bind(1, run.run);
    int index = 2;
    for (const SqlValue& cell : cells) group_->bind(index++, cell);
    group_->run();
  }
}

MergeReport merge_stores(std::span<const std::string> paths, const std::string& out) {
  std::error_code ignored;
  if (std::filesystem::exists(out, ignored)) throw_file_error(out, "there is a file already", 0);
  std::vector<SweepStore> stores;
  for (const std::string& path : paths) stores.push_back(SweepStore::open(path));
  check_stores(stores);
  AtomicFile file{out};
  std::map<std::int64_t, StoreRun> runs;
  {
    SweepStore result = SweepStore::create(file.path(), stores.front().info(), stores.front().points());
    for (SweepStore& store : stores) {
      StoreCopier{store, result}.copy_all([&](const StoreRun& run) {
        const auto [there, is_new] = runs.emplace(run.run, run);
        if (!is_new && !same_results(there->second, run))
          throw_file_error(store.path(), fmt::format("run {} has other results than in a store before it", run.run), 0);
        return is_new;
      });
    }
    result.finish();
  }
  file.commit();
  return report_of(stores.front().info(), runs);
}

}  // namespace contend
