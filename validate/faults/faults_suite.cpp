#include "validate/faults/faults_suite.hpp"

#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {
int validate_faults(std::FILE* out) {
  fmt::print(out, "faults: jobs that are interrupted, servers that break down\n\n");
  std::vector<CheckedTable> tables{faults_daly(),        faults_queues(),  faults_rsc(),        faults_llama(),
                                   faults_stragglers(),  faults_what_if(), faults_spot(),       faults_redundancy(),
                                   faults_lost_stages(), faults_copies(),  faults_mitigation(), faults_fabric(),
                                   faults_planning()};
  return report_tables(out, "faults", "docs/validation/faults.md", std::move(tables), known_reasons("faults"));
}

}  // namespace contend
