#include "validate/faults/faults_suite.hpp"

#include <utility>
#include <vector>

#include <fmt/core.h>

namespace contend {
namespace {

/// Figures known to be outside, by how much, and why; docs/validation/faults.md says more.
constexpr KnownReason kOutside[] = {
    {"1024 GPUs: hours to an interruption, measured", 2.77,
     "the rate counts hardware alone: jobs of 1,024 GPUs also end for causes that do not grow with their size"},
    {"16384 GPUs: effective, a checkpoint each hour", 0.06,
     "the published figure is the first-order formula, beyond where it holds: the exact one gives 0.714"},
};

}  // namespace

int validate_faults(std::FILE* out) {
  fmt::print(out, "faults: jobs that are interrupted, servers that break down\n\n");
  std::vector<CheckedTable> tables{faults_daly(),       faults_queues(),  faults_rsc(),   faults_llama(),
                                   faults_stragglers(), faults_what_if(), faults_fabric()};
  return report_tables(out, "faults", "docs/validation/faults.md", std::move(tables), kOutside);
}

}  // namespace contend
