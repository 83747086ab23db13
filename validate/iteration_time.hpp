#pragma once
// Simulates single iterations for suites: a policy as a scenario gives it, on a problem with the suite's own costs.

#include "models/layers.hpp"
#include "models/overlap/problem.hpp"

#include <string>

namespace contend {

/// The settled iteration time in seconds of a fusion policy of the table, with default parameters except for the
/// overrides in YAML (`{policy: mg-wfbp, optimal: false}`). Uses the fast executor, which agrees with the engine to the
/// nanosecond.
[[nodiscard]] double iteration_s(const OverlapProblem& problem, const std::string& fusion);

/// The same without a comparison with the engine, for fits that need many of them.
[[nodiscard]] double quick_iteration_s(const OverlapProblem& problem, const std::string& fusion);

/// The parts of an iteration with compressed gradients, as means over the phases of the method.
struct CompressedIteration {
  double seconds = 0;
  double kernels_s = 0;  ///< of compression
};
/// The same with a compression method, also in YAML, whose kernels take `kernels` times as long as by the roofline of
/// `device`.
[[nodiscard]] CompressedIteration compressed_iteration(OverlapProblem problem, const std::string& fusion,
                                                       const std::string& compression, const std::string& device,
                                                       double kernels = 1);

/// A model of the catalogue timed by the roofline of a device and scaled to a measured iteration of one worker.
/// `sequence` 0 means the default length.
[[nodiscard]] TimedModel scaled_model(const std::string& model, const std::string& device, int batch, int sequence,
                                      double iteration_s);

}  // namespace contend
