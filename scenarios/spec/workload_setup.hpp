#pragma once
// The jobs of a scenario: a list, a fitted workload, or a generated mix, and what times them.

#include "models/workload.hpp"
#include "models/workloads/synthetic.hpp"
#include "sim/units.hpp"

#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The jobs (`workload.*`).
struct WorkloadSetup {
  std::optional<std::string> jobs;  ///< path of a job list; without it and `like`, the mix is generated
  std::optional<std::string> like;  ///< a name of fitted_workloads()
  SyntheticWorkload synthetic;      ///< without `like`; its scaling also scales a job list
  ListSampling sampling;            ///< of a job list
  std::optional<Time> think_time;   ///< of a job list: the longest, close_loop()
  GeneratedWorkload generate;
  LevelWish level;                            ///< of the jobs whose list names no level
  std::vector<double> scatter_penalty;        ///< factors; SchedulingRules::scatter_penalty
  std::optional<std::string> throughputs;     ///< path of a table of throughputs by model, type and GPUs
  std::optional<std::string> goodput;         ///< path of a table of goodput models by model and type
  std::optional<std::string> regimes;         ///< path of a table of rules by which batches change
  std::optional<std::string> reference_type;  ///< type on which the durations of its models hold; none: the first
  bool demands_types = true;                  ///< jobs run only on the type that their gpu_type names
};

}  // namespace contend
