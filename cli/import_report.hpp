#pragma once
// Formats the result of `contend import`.

#include "traces/jobs/import_jobs.hpp"

#include <string>

namespace contend {

/// A summary for people: the jobs, and what became of every other row.
[[nodiscard]] std::string import_text(const ImportedJobs& imported);

/// The same as JSON.
[[nodiscard]] std::string import_json(const ImportedJobs& imported);

}  // namespace contend
