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
  /// Copies in one transaction: calls `each` for every run of `from`, which may renumber the run and returns whether to
  /// copy it.
  template <class Each>
  void copy_all(const Each& each) {
    from_.check_columns();
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
  /// Copies run `number` of `from` as `run`, with its jobs and groups.
  void copy(std::int64_t number, StoreRun& run);

  SweepStore& from_;
  SweepStore& to_;
  std::map<std::int64_t, std::int64_t> manifests_;  ///< manifest numbers in `to`, by those in `from`
  std::optional<SqlStatement> job_, group_;
};

}  // namespace contend
