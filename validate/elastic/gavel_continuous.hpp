#pragma once
// The trace of 5,600 jobs that Gavel's simulator generates with seed 42 and 4,500 s between jobs on average, with the
// throughputs that its authors measured (Narayanan et al., OSDI 2020; stanford-futuredata/gavel at c4fa400, MIT), on 36
// GPUs of each of three types. The data are not part of the project.

#include "validate/elastic/timed_run.hpp"

#include <array>
#include <optional>
#include <vector>

namespace contend {

inline constexpr int kGavelGpusPerType = 36;

struct GavelRow {
  double arrival_s = 0, iterations = 0;
  int gpus = 1;
  std::array<double, 3> rates{};  ///< iterations a second on k80, p100 and v100; 0: it can't run there
};

/// Its jobs, in order of arrival. Nothing if the data are not there. Throws InputError if there is no throughput of a
/// job.
[[nodiscard]] std::optional<std::vector<GavelRow>> read_gavel_continuous();

}  // namespace contend
