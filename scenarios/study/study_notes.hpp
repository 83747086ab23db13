#pragma once
// Warnings about a study that is valid but whose figures may mislead.

#include "scenarios/scenario.hpp"

#include <string>
#include <vector>

namespace contend {

/// True if a message of the study costs nothing but the time of its bytes, so that merging messages gains nothing.
[[nodiscard]] bool messages_start_free(const ClusterSetup& cluster, const NetworkSetup& network,
                                       const IterationStudy& study);
/// The warning about a study of several fusion policies whose messages start for free.
[[nodiscard]] std::string free_start_note();

/// The variants that a study between sites can't do, such as because links are missing, one line each: it runs, which
/// is quick there. Throws InputError if these are all.
[[nodiscard]] std::vector<std::string> link_notes(const TrainingSystem& system);

/// All warnings that are known before the study runs, one line each; none for a scenario without a study.
[[nodiscard]] std::vector<std::string> study_notes(const ClusterSetup& cluster, const NetworkSetup& network,
                                                   const IterationStudy& study);

}  // namespace contend
