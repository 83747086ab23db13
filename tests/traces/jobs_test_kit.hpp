#pragma once
// Helpers of the tests of the trace readers.

#include "sim/error.hpp"
#include "text/byte_source.hpp"
#include "traces/jobs/import_jobs.hpp"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace contend {

/// Imports a text.
inline ImportedJobs import_text_of(const std::string& format, std::string_view text,
                                   const ImportOptions& options = {}) {
  TextSource source{text};
  return import_jobs(format, source, "trace", options);
}

/// What is wrong with a text, or an empty string.
inline std::string trace_complaints(const std::string& format, std::string_view text,
                                    const ImportOptions& options = {}) {
  try {
    static_cast<void>(import_text_of(format, text, options));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

/// `reason: rows (line, line), ...` for all of them.
inline std::string reasons_text(const std::vector<RowReason>& reasons) {
  std::string out;
  for (const RowReason& reason : reasons) {
    out += (out.empty() ? "" : "; ") + reason.reason + ": " + std::to_string(reason.rows) + " (";
    for (std::size_t i = 0; i < reason.first_lines.size(); ++i)
      out += (i == 0 ? "" : ", ") + std::to_string(reason.first_lines[i]);
    out += ")";
  }
  return out;
}

}  // namespace contend
