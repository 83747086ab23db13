#pragma once
// The story of one request to a job, and the reason why it waited, for `contend explain --request`.

#include "cli/explain_report.hpp"

#include <cstdint>
#include <string>

namespace contend {

/// Throws InputError if the job answers no requests, or has no request of this number.
[[nodiscard]] std::string request_text(const ExplainReport& report, std::uint64_t request);

}  // namespace contend
