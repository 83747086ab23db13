#pragma once
// What `contend explain` says: the story of a job, or its parts as JSON.

#include "scenarios/run/explain_job.hpp"

#include <string>

namespace contend {

struct ExplainReport {
  std::string source;                 ///< folder or scenario, as the user gave it
  std::string scheduling, placement;  ///< policies
  std::uint64_t seed = 0;
  ExplainedJob job;
};

[[nodiscard]] std::string explanation_text(const ExplainReport& report);
[[nodiscard]] std::string explanation_json(const ExplainReport& report);

}  // namespace contend
