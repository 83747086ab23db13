#pragma once
// The layers of a study of one iteration, and on what ground their times stand.

#include "models/layers.hpp"
#include "scenarios/scenario.hpp"

#include <string>
#include <vector>

namespace contend {

/// Every layer with its gradient, its times and where they come from; where a calibration knows, the basis of each and
/// of the sum, with the error to expect.
[[nodiscard]] std::string layers_text(const TimedModel& model);

/// What somebody who relies on the times of the study must know: layers beyond what was measured, a calibration that
/// was not completed or was disturbed.
[[nodiscard]] std::vector<std::string> calibration_warnings(const Scenario& scenario, const TimedModel& model);

}  // namespace contend
