#pragma once
// The verb `run` as a function that keeps the simulated runs, for the Python module.

#include "cli/command.hpp"
#include "results/manifest.hpp"
#include "results/replica.hpp"

#include <string>
#include <vector>

namespace contend {

/// The runs of one scenario, with what an output folder says of them.
struct KeptRuns {
  Manifest manifest;
  std::string scenario_yaml;
  std::vector<Replica> replicas;
};

/// Does what `contend run` does and returns its exit code. With `kept`, appends the runs of each scenario, also if they
/// were interrupted or a policy failed; none of an iteration study. Throws UsageError and InputError.
int run_scenarios(const Arguments& arguments, std::vector<KeptRuns>* kept);

}  // namespace contend
