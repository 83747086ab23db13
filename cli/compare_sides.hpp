#pragma once
// The two sides of `contend compare`: folders that were read, or scenarios to run.

#include "cli/command.hpp"
#include "cli/compare_report.hpp"
#include "results/expectations.hpp"
#include "results/replica.hpp"
#include "results/result_reader.hpp"
#include "scenarios/run/job_lists.hpp"
#include "scenarios/scenario.hpp"

#include <optional>
#include <string>
#include <vector>

namespace contend {

/// One side: a folder that was read, or a scenario to run.
struct ComparedSide {
  std::string path;
  std::optional<StoredResults> stored;
  std::optional<Scenario> scenario;
  std::vector<Replica> replicas;             ///< of a scenario that was run
  std::optional<Scenario> kept;              ///< the scenario in a folder
  std::string unreadable;                    ///< why `kept` can't be read
  std::vector<ExpectationOutcome> outcomes;  ///< of a scenario that was run and has expectations
};

/// Loads both sides; throws the complaints about both together.
[[nodiscard]] std::vector<ComparedSide> load_sides(const Arguments& arguments);

/// Says whose sides these are and what differs between their scenarios and the contents of their job lists.
void describe_sides(const std::vector<ComparedSide>& sides, JobLists& lists, JudgedSides& report);

}  // namespace contend
