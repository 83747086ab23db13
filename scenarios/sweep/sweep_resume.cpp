#include "scenarios/sweep/sweep_resume.hpp"

#include "scenarios/sweep/store_copier.hpp"
#include "text/atomic_file.hpp"

#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

/// Writes the store again, with its runs where the plan has them.
void rewrite(const std::string& path, const SweepPlan& plan, const StoreInfo& info) {
  AtomicFile file{path};
  {
    SweepStore old = SweepStore::open(path, SweepStore::Access::write);
    std::map<std::int64_t, std::string> hashes;
    for (const StorePoint& each : old.points()) hashes[each.point] = each.hash;
    // Equal points have equal results, so that any of them will do for any other.
    std::multimap<std::pair<std::string, std::uint64_t>, std::int64_t> places;
    for (std::int64_t run = 0; run < info.runs; ++run)
      places.emplace(std::pair{plan.points()[static_cast<std::size_t>(plan.point_of(run))].hash, plan.seed_of(run)},
                     run);
    SweepStore fresh = SweepStore::create(file.path(), info, plan.points());
    std::int64_t lost = 0;
    StoreCopier{old, fresh}.copy_all([&](StoreRun& run) {
      const auto place = places.find({hashes[run.point], run.seed});
      if (place == places.end()) {
        if (run.status != RunStatus::failed) ++lost;
        return false;
      }
      run.run = place->second;
      run.point = plan.point_of(run.run);
      places.erase(place);
      return true;
    });
    if (lost > 0)
      throw_file_error(path,
                       fmt::format("has {} runs that the sweep doesn't have any more: it or its inputs have changed; "
                                   "write into another store (-o), or remove this one",
                                   lost),
                       0);
    fresh.finish();
    old.finish();
  }
  // The log of the old file, if a reader keeps it alive, would be taken for the log of the new file.
  if (std::filesystem::exists(path + "-wal")) throw_file_error(path, "is being read; try again when nobody does", 0);
  file.commit();
}

}  // namespace

ResumedSweep resume_sweep(const std::string& path, const SweepPlan& plan, const StoreInfo& info,
                          const std::string& build) {
  std::int64_t added = 0;
  bool same = false;
  {
    const SweepStore old = SweepStore::open(path);
    if (old.info().kind != info.kind || old.info().metrics != info.metrics)
      throw_file_error(path, "has other metrics than this sweep; write into another store (-o)", 0);
    if (old.info().per_job != info.per_job)
      throw_file_error(path, fmt::format("was written with{} --per-job", old.info().per_job ? "" : "out"), 0);
    if (old.info().groupings != info.groupings) {
      const auto options = [](const StoreInfo& each) {
        return each.groupings.empty() ? "without --by"
                                      : fmt::format("with --by {}", fmt::join(each.groupings, " --by "));
      };
      throw_file_error(path, fmt::format("was written {}, not {}", options(old.info()), options(info)), 0);
    }
    same = old.info().plan == info.plan && old.info().runs == info.runs;
    added = same ? 0 : info.runs - old.info().runs;
  }
  if (!same) rewrite(path, plan, info);
  ResumedSweep resumed{SweepStore::open(path, SweepStore::Access::write),
                       std::vector<bool>(static_cast<std::size_t>(info.runs)), 0, 0, added};
  std::map<std::int64_t, std::string> builds;
  for (const StoreManifest& each : resumed.store.manifests()) builds[each.manifest] = each.build();
  std::vector<std::int64_t> outdated;
  for (const StoreRun& run : resumed.store.runs()) {
    if (builds[run.manifest] != build)
      outdated.push_back(run.run);
    else if (run.status == RunStatus::failed)
      ++resumed.failed;
    else
      resumed.done[static_cast<std::size_t>(run.run)] = true;
  }
  resumed.store.remove(outdated);
  resumed.outdated = static_cast<std::int64_t>(outdated.size());
  return resumed;
}

}  // namespace contend
