#pragma once
// A training profile describes a training job measured as a whole: the times of the forward and the backward pass of
// one worker, the size of the gradient, and the memory.

#include "sim/graph.hpp"
#include "sim/units.hpp"

#include <span>
#include <string_view>

namespace contend {

/// The measurements of one model.
struct TrainingProfile {
  std::string_view name;
  int batch = 0;  ///< samples per worker and iteration
  Time forward;   ///< of one iteration on one GPU
  Time backward;
  Bytes gradient;  ///< bytes to all-reduce each iteration
  Bytes memory;    ///< on each GPU
  std::string_view source;
};

/// The profiles that ship, in order of name.
[[nodiscard]] std::span<const TrainingProfile> training_profiles();
/// The profile of that name, or nullptr.
[[nodiscard]] const TrainingProfile* find_training_profile(std::string_view name);

/// The name under which an entry of a scenario's `training` gives a profile as its model; the catalogue has networks of
/// the same names.
inline constexpr std::string_view kPublished = "published-";
/// The profile of such a name, or nullptr.
[[nodiscard]] const TrainingProfile* find_published_profile(std::string_view name);

/// The graph of synchronous data parallelism without overlap: forward, backward, one all-reduce of the whole gradient
/// when every worker has finished, and the next forward when it is complete (arXiv 2002.10105, section 3).
[[nodiscard]] IterationGraph data_parallel_graph(const TrainingProfile& profile, int workers);

}  // namespace contend
