#pragma once
// The table of validation suites. A suite is a set of reference figures, each with its source, and the code that
// compares simulations with them. A new suite is a .cpp and one line in suites.cpp.

#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace contend {

/// Files of a suite that has them.
struct SuiteFiles {
  std::optional<std::string> rows;    ///< CSV to which it writes each row that it compares
  std::optional<std::string> others;  ///< CSV with what other simulators predict
};

struct SuiteRow {
  std::string_view name;
  std::string_view summary;    ///< one line
  bool slow;                   ///< takes minutes; runs only if it is named
  int (*run)(std::FILE* out);  ///< prints tables and verdicts, and which checks it skipped for want of which data;
                               ///< returns a SuiteVerdict
  /// In place of `run`, for suites with files.
  int (*run_with)(std::FILE* out, const SuiteFiles& files) = nullptr;
};

[[nodiscard]] std::span<const SuiteRow> validation_suites();

}  // namespace contend
