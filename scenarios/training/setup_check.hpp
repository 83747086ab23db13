#pragma once
// Checks values of a training setup that are valid one by one but contradict each other.

#include "scenarios/scenario.hpp"
#include "sim/error.hpp"

#include <string_view>
#include <vector>

namespace contend {

/// The contradictions, found before any file of layer times is read; the keys of the complaints begin with `prefix`,
/// the group of the setup. `compresses`: its gradients are compressed, in kernels on its device.
[[nodiscard]] std::vector<Complaint> setup_complaints(const TrainingSetup& setup, std::string_view prefix,
                                                      bool compresses);

}  // namespace contend
