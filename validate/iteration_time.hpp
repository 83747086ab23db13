#pragma once
// Iterations for suites: a policy by its words in a scenario, on a problem with costs of the suite's own.

#include "models/layers.hpp"
#include "models/overlap/problem.hpp"

#include <string>

namespace contend {

/// The settled iteration in seconds of a fusion policy of the table, with its usual parameters but for the overrides in
/// YAML (`{policy: mg-wfbp, optimal: false}`). The fast executor, held against the engine to the nanosecond.
[[nodiscard]] double iteration_s(const OverlapProblem& problem, const std::string& fusion);

/// Parts of an iteration with compressed gradients, means over the phases of the method.
struct CompressedIteration {
  double seconds = 0;
  double kernels_s = 0;  ///< of compression
};
/// The same with a compression method, also in YAML, whose kernels cost what the roofline of `device` says.
[[nodiscard]] CompressedIteration compressed_iteration(OverlapProblem problem, const std::string& fusion,
                                                       const std::string& compression, const std::string& device);

/// A model of the catalogue by the roofline of a device, scaled to a measured iteration of one worker. `sequence` 0:
/// the usual one.
[[nodiscard]] TimedModel scaled_model(const std::string& model, const std::string& device, int batch, int sequence,
                                      double iteration_s);

}  // namespace contend
