#pragma once
// `contend compare` on two studies of an iteration.

#include "scenarios/scenario.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// An iteration and its parts, in seconds.
struct StudiedIteration {
  static constexpr std::array<std::string_view, 4> kFigures = {"iteration_s", "compute_s", "compression_s",
                                                               "exposed_communication_s"};
  std::string workers, compression, policy;
  std::array<double, kFigures.size()> seconds{};

  [[nodiscard]] bool is_same(const StudiedIteration& other) const {
    return workers == other.workers && compression == other.compression && policy == other.policy;
  }
};
using StudySide = std::vector<StudiedIteration>;

/// Of a folder that `contend run -o` wrote. Throws InputError.
[[nodiscard]] StudySide read_study(const std::string& folder);
/// Runs the study. Throws InputError.
[[nodiscard]] StudySide run_study(const Scenario& scenario);

/// A line each iteration that both have, and what only one has. Throws InputError if they have none in common.
[[nodiscard]] std::string study_comparison_text(const StudySide& base, const StudySide& other);
[[nodiscard]] std::string study_comparison_json(const StudySide& base, const StudySide& other);

}  // namespace contend
