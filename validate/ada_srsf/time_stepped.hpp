#pragma once
// Reads the results of an independent time-stepped simulator (1 ms steps) of the study, and simulates the same job
// sets, in the engine or in a plain loop (validate/ada_srsf/time_stepper.hpp). The data are not part of the project:
// they are looked up in $CONTEND_DATA/ada_srsf; CONTEND_DATA defaults to ../shared/data. README.txt there describes the
// reference's semantics.

#include "scenarios/scenario.hpp"
#include "sim/job.hpp"
#include "sim/result.hpp"
#include "validate/ada_srsf/time_stepper.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// A row of expected.csv.
struct TimeSteppedRow {
  int job_set = 0;
  std::string placement;      ///< spelt as there: `lwf-1`
  std::string communication;  ///< spelt as there: `srsf(1)`
  double avg_jct_ms = 0, median_jct_ms = 0, p95_jct_ms = 0, makespan_ms = 0;
  double gpu_utilisation = 0;  ///< 0..1

  [[nodiscard]] std::string policy() const { return placement + " " + communication; }
};

/// The combinations of policies that the reference ran, as rows without a job set and figures.
[[nodiscard]] std::span<const TimeSteppedRow> time_stepped_policies();

/// The folder of the data.
[[nodiscard]] std::string time_stepped_folder();

/// Reads expected.csv of the folder, in row order. Throws InputError.
[[nodiscard]] std::vector<TimeSteppedRow> read_time_stepped_rows(const std::string& folder);

/// The scenario of a row. `tick` is the tick of the network: 0 as users get it, or 1 ms, at which the reference ends
/// its transfers.
[[nodiscard]] Scenario time_stepped_scenario(const TimeSteppedRow& row, const std::string& folder, Time tick);

/// The same policies on jobs that the seed of the run draws from the ranges of the reference's job sets.
[[nodiscard]] Scenario drawn_scenario(const TimeSteppedRow& row, Time tick);

/// The study with the policies of a row, for step_through().
[[nodiscard]] SteppedStudy stepped_study(const TimeSteppedRow& row);

/// The jobs of a workload, for step_through(): each has a training profile and is submitted at a whole millisecond.
[[nodiscard]] std::vector<SteppedJob> stepped_jobs(const Workload& workload);

/// Average JCT in ms of the scenario's job list with every submit time delayed by a random shift of its own, uniform in
/// [0, 1 ms): one replica of a chaotic process. Needs a scenario with a job list. Equal seeds give equal shifts.
[[nodiscard]] double shifted_avg_jct_ms(const Scenario& scenario, std::uint64_t seed);

}  // namespace contend
