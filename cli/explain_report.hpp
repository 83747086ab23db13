#pragma once
// Formats the explanation of a job for `contend explain`, as text or JSON.

#include "scenarios/run/explain_job.hpp"

#include <string>

namespace contend {

struct ExplainReport {
  std::string source;                 ///< folder or scenario, as the user named it
  std::string scheduling, placement;  ///< names of the policies
  std::uint64_t seed = 0;
  ExplainedJob job;
};

[[nodiscard]] std::string explanation_text(const ExplainReport& report);
[[nodiscard]] std::string explanation_json(const ExplainReport& report);

}  // namespace contend
