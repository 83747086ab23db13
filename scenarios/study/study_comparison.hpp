#pragma once
// Two studies of an iteration side by side: the iterations that both have, and the rules that their changes are held
// against.

#include "results/regression_rules.hpp"
#include "scenarios/scenario.hpp"
#include "scenarios/study/study_run.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// An iteration and its parts, which every folder of a study has, whatever the version that wrote it.
inline constexpr std::array<std::string_view, 4> kIterationParts = {"iteration_s", "compute_s", "compression_s",
                                                                    "exposed_communication_s"};

/// A row of a study.
struct StudiedIteration {
  std::string workers, compression, policy;
  std::vector<double> figures;  ///< of study_metrics(), in their order; NaN where there is none

  [[nodiscard]] bool is_same(const StudiedIteration& other) const {
    return workers == other.workers && compression == other.compression && policy == other.policy;
  }
  [[nodiscard]] double figure(std::string_view metric) const;
  [[nodiscard]] std::string title() const;  ///< `8 workers, none, wfbp`
};
using StudySide = std::vector<StudiedIteration>;

/// Of a folder that `contend run -o` wrote. Throws InputError.
[[nodiscard]] StudySide read_study(const std::string& folder);
/// Runs the study. Throws InputError.
[[nodiscard]] StudySide run_side(const Scenario& scenario, const StudyHooks& hooks);

/// The row of that side for the same workers and policies, or nullptr.
[[nodiscard]] const StudiedIteration* find_iteration(const StudySide& side, const StudiedIteration& wanted);

/// An iteration on both sides, which must outlive it.
struct StudyPair {
  const StudiedIteration* base;
  const StudiedIteration* other;

  [[nodiscard]] double change() const;  ///< of the time of the iteration, as a fraction
};
/// In the order of `base`. Throws InputError if the sides have nothing in common.
[[nodiscard]] std::vector<StudyPair> study_pairs(const StudySide& base, const StudySide& other);

/// A rule fails if its change holds for any iteration that both sides have; rules are about study_metrics(). Throws
/// InputError if they have none in common.
[[nodiscard]] std::vector<RuleOutcome> judge_studies(std::span<const RegressionRule> rules, const StudySide& base,
                                                     const StudySide& other);

}  // namespace contend
