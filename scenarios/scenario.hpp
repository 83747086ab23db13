#pragma once
// A scenario as plain, validated data with every default filled in. Its parts stand in scenarios/spec/, so that a
// function can take the parts that it needs.

#include "results/expectations.hpp"
#include "scenarios/spec/failure_setup.hpp"
#include "scenarios/spec/loan_setup.hpp"
#include "scenarios/spec/meter_setup.hpp"
#include "scenarios/spec/policy_choice.hpp"
#include "scenarios/spec/sharing_setup.hpp"
#include "scenarios/spec/sweep_spec.hpp"
#include "scenarios/spec/training_system.hpp"
#include "scenarios/spec/workload_setup.hpp"
#include "sim/scheduling_rules.hpp"
#include "sim/units.hpp"

#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The jobs that the figures are about, by time of submission: MeasuredWindow (`measure.*`).
struct MeasureSetup {
  Time from;
  std::optional<Time> until;
};

/// The latest version of the scenario format.
inline constexpr int kSchemaVersion = 2;

/// A complete scenario.
struct Scenario : TrainingSystem {
  int schema_version = 1;  ///< from 2 on, what isn't given is as a framework has it (`as_framework` of parts)
  /// What the scenario leaves out and has as an ideal, but not in the latest version, in its own words: `host: none`.
  std::vector<std::string> ideals;
  std::string name;
  std::string description;
  int repeat = 1;  ///< replicas, with seeds seed, seed + 1, ...

  PolicyChoice scheduling, placement;
  SharingSetup sharing;
  SchedulingRules rules;  ///< besides the policy; without the penalty for scattering and the costs of preemption
  FailureSetup failures;
  LoanSetup loans;
  CheckpointSetup checkpoints;
  MeterSetup meter;
  WorkloadSetup workload;

  SweepSpec sweep;  ///< for `contend sweep`; empty for a single run

  struct Engine {
    bool leap = true;
    std::optional<Time> until;
  } engine;

  MeasureSetup measure;

  std::vector<Expectation> expect;  ///< bounds that its figures must meet
};

}  // namespace contend
