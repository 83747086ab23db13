#pragma once
// The results of an independent time-stepped simulator (1 ms steps) of the study, and our runs of the same job sets.
// The data stay outside the project: $CONTEND_DATA/ada_srsf, where CONTEND_DATA defaults to ../shared/data. README.txt
// there gives the semantics of the reference.

#include "scenarios/scenario.hpp"
#include "sim/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace contend {

/// A row of expected.csv.
struct TimeSteppedRow {
  int job_set = 0;
  std::string placement;      ///< as there: `lwf-1`
  std::string communication;  ///< as there: `srsf(1)`
  double avg_jct_ms = 0, median_jct_ms = 0, p95_jct_ms = 0, makespan_ms = 0;
  double gpu_utilisation = 0;  ///< 0..1

  [[nodiscard]] std::string policy() const { return placement + " " + communication; }
};

/// Where the data are looked for.
[[nodiscard]] std::string time_stepped_folder();

/// Reads expected.csv of the folder, in order of its rows. Throws InputError.
[[nodiscard]] std::vector<TimeSteppedRow> read_time_stepped_rows(const std::string& folder);

/// The scenario of a row. `tick` is that of the network: 0 as users get it, 1 ms as the reference ends its transfers.
[[nodiscard]] Scenario time_stepped_scenario(const TimeSteppedRow& row, const std::string& folder, Time tick);

/// Average JCT in ms of the scenario's job list with every submit time moved by its own random shift, uniform in
/// [0, 1 ms): a replica of a chaotic process. Needs a scenario with a job list. Equal seeds give equal shifts.
[[nodiscard]] double shifted_avg_jct_ms(const Scenario& scenario, std::uint64_t seed);

}  // namespace contend
