#pragma once
// Reads `--collective`, which names a timed communication for several verbs.

#include "calibration/collective_sample.hpp"
#include "cli/command.hpp"

#include <optional>

namespace contend {

/// The communication that `--collective` names; nothing without this option. Throws UsageError for an unknown name.
[[nodiscard]] std::optional<TimedExchange> exchange_option(const Arguments& arguments);

}  // namespace contend
