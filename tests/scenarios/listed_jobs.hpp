#pragma once
// A scenario whose job list and tables are files in a folder of its own.

#include "scenarios/run/check_scenario.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "tests/complaint_lines.hpp"
#include "tests/scenarios/scenario_text.hpp"
#include "tests/temporary_folder.hpp"
#include "text/atomic_file.hpp"

#include <cstddef>
#include <string>

namespace contend {

struct ListedJobs {
  TemporaryFolder folder;
  Scenario scenario;

  /// Writes a file into the folder and returns its path.
  [[nodiscard]] std::string file(const std::string& name, const std::string& text) const {
    write_file(folder.path(name), text);
    return folder.path(name);
  }
  [[nodiscard]] RunResult run() const { return run_scenario(scenario, 1); }
  /// What the scenario is refused for, a line for each complaint, with file names alone; empty if it is accepted.
  [[nodiscard]] std::string refusals() const {
    std::string all = complaint_lines([&] { static_cast<void>(check_scenario(scenario)); });
    const std::string prefix = folder.path("");
    for (std::size_t at; (at = all.find(prefix)) != std::string::npos;) all.erase(at, prefix.size());
    return all;
  }
};

}  // namespace contend
