#pragma once
// The published job lists to which workloads are fitted, as the suite `workloads` replays them. They are not part of
// the project: they are looked up in the folder of validate/schedulers/traces.hpp.

#include "models/workload.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// A list, and a cluster that it would keep about as busy as the middle of the suite's loads without any scaling, so
/// that `workload.scaling.load` changes its days and hours little.
struct RealList {
  std::string_view like;  ///< the workload fitted to it
  std::string_view title;
  int servers = 1;  ///< of 8 GPUs
  int days = 1;     ///< of the list
  std::vector<JobRequest> jobs;
};

/// What a workload is called, and where its list lies.
struct RealListSource {
  std::string_view like;
  std::string path;
};

/// philly, itp and helios-venus.
[[nodiscard]] std::vector<RealListSource> real_list_sources();

/// Reads the list of `like` from the first day that the fit uses on; time 0 is the midnight before that day. Nothing
/// where its file is absent. Throws InputError if the file cannot be read or holds other jobs than the published ones.
[[nodiscard]] std::optional<RealList> read_real_list(std::string_view like);

/// The jobs submitted on the days [from, until) of a list.
[[nodiscard]] std::vector<JobRequest> days_of(const std::vector<JobRequest>& jobs, int from, int until);

}  // namespace contend
