#pragma once
// The explicit table of validation suites: reference figures, each with its source, and the code that holds simulations
// against them. A new suite is a .cpp and one line in suites.cpp.

#include <cstdio>
#include <span>
#include <string_view>

namespace contend {

struct SuiteRow {
  std::string_view name;
  std::string_view summary;    ///< one line
  bool slow;                   ///< takes minutes: runs only when it is named
  int (*run)(std::FILE* out);  ///< prints its tables and verdicts; 0 if everything held, or was skipped with a reason
};

[[nodiscard]] std::span<const SuiteRow> validation_suites();

}  // namespace contend
