#pragma once
// A study of one iteration of one job.

#include "scenarios/spec/training_entry.hpp"
#include "sim/error.hpp"

#include <optional>
#include <string>
#include <vector>

namespace contend {

/// The number of iterations that a compression method needs to reach a target, relative to training without
/// compression. It is an input, because convergence is not simulated.
struct IterationsToTarget {
  PolicyChoice compression;
  /// An entry of a map: it holds for the method with any parameters, whether it is studied or not.
  bool by_name = false;
  double factor = 1;
  std::string source;  ///< origin of the factor, such as a paper and its table

  [[nodiscard]] bool is_for(const PolicyChoice& choice) const {
    return by_name ? compression.name == choice.name : same_choice(compression, choice);
  }
};

/// An iteration study (`overlap.*`): one iteration of one job that trains an entry of `training`, under several fusion
/// policies and numbers of workers, in the network of the scenario and on servers of `cluster.gpus_per_server` workers.
struct IterationStudy {
  std::optional<std::string> training;  ///< name of the entry; a scenario without it is no study
  TrainingEntry entry;                  ///< that entry, once the scenario has been read
  std::vector<int> workers{8};
  bool engine = false;                    ///< also execute on the engine, which must agree to the nanosecond
  std::vector<PolicyChoice> fusion;       ///< once the scenario has been read never empty, as the next
  std::vector<PolicyChoice> compression;  ///< each is studied with each fusion policy
  std::vector<IterationsToTarget> iterations_to_target;
  /// The place at which each given key, or member of the entry, was last set, without reasons, for errors that show
  /// only when the study runs.
  std::vector<Complaint> places;

  [[nodiscard]] bool given() const { return training.has_value(); }
};

}  // namespace contend
