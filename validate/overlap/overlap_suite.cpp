#include "validate/overlap/overlap_suite.hpp"

#include <utility>

#include <fmt/core.h>

namespace contend {

int validate_overlap(std::FILE* out) {
  fmt::print(out, "overlap: scheduling of gradients inside an iteration\n\n");
  std::vector<CheckedTable> tables{overlap_k80_simulated(), overlap_k80_measured(), overlap_v100_measured(),
                                   overlap_v100_seconds()};
  for (CheckedTable& table : overlap_survey()) tables.push_back(std::move(table));
  return report_tables(out, "overlap", "docs/validation/overlap.md", std::move(tables), known_reasons("overlap"));
}

}  // namespace contend
