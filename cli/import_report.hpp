#pragma once
// What `contend import` prints.

#include "traces/jobs/import_jobs.hpp"

#include <string>

namespace contend {

/// A summary for people: the jobs, and what became of every row that is none.
[[nodiscard]] std::string import_text(const ImportedJobs& imported);

/// The same for programs.
[[nodiscard]] std::string import_json(const ImportedJobs& imported);

}  // namespace contend
