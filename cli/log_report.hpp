#pragma once
// Formats what a cluster has logged of its communication, for people and for programs.

#include "traces/recording/production_log.hpp"

#include <string>

namespace contend {

/// Times by group, collective and size with bus bandwidths, and which collectives ranks wait in, and for whom.
[[nodiscard]] std::string log_text(const ProductionLog& log);
[[nodiscard]] std::string log_json(const ProductionLog& log);

}  // namespace contend
