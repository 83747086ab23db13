#pragma once
// The table of validation suites. A suite is a set of reference figures, each with its source, and the code that
// compares simulations with them. A new suite is a .cpp and one line in suites.cpp.

#include <cstdio>
#include <span>
#include <string_view>

namespace contend {

struct SuiteRow {
  std::string_view name;
  std::string_view summary;    ///< one line
  bool slow;                   ///< takes minutes; runs only if it is named
  int (*run)(std::FILE* out);  ///< prints tables and verdicts, and which checks it skipped for want of which data;
                               ///< returns a SuiteVerdict
};

[[nodiscard]] std::span<const SuiteRow> validation_suites();

}  // namespace contend
