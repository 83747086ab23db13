#pragma once
// Copies runs from one store into another.

#include "scenarios/sweep/sweep_store.hpp"

#include <cstdint>
#include <map>
#include <optional>

namespace contend {

class StoreCopier {
 public:
  StoreCopier(SweepStore& from, SweepStore& to) : from_{from}, to_{to} {}
  /// All in one transaction: `copy(run)` for each run of `from` that is to be copied, renumbered as it likes.
  template <class Each>
  void copy_all(const Each& each) {
    manifests_.clear();
    for (const StoreManifest& manifest : from_.manifests()) manifests_[manifest.manifest] = to_.add_manifest(manifest);
    SqlTransaction transaction{to_.database()};
    for (StoreRun& run : from_.runs()) {
      const std::int64_t number = run.run;
      if (each(run)) copy(number, run);
    }
    transaction.commit();
  }

 private:
  /// The run `number` of `from` as `run`, with its jobs.
  void copy(std::int64_t number, StoreRun& run);

  SweepStore& from_;
  SweepStore& to_;
  std::map<std::int64_t, std::int64_t> manifests_;  ///< their numbers in `from` and in `to`
  std::optional<SqlStatement> job_;
};

}  // namespace contend
