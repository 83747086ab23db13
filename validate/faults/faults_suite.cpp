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
    {"C4P: bus bandwidth of 8 jobs by ECMP, of 400 Gbit/s", -0.157,
     "the paper says less than 240 Gbit/s; here each way of each pair is one flow on one of eight links"},
    {"C4P: bus bandwidth of 8 jobs on planned paths", 0.11,
     "a flow alone on its links gets all of an interface here, and 360 of 400 Gbit/s there: headers, PCIe, protocol"},
};

}  // namespace

int validate_faults(std::FILE* out) {
  fmt::print(out, "faults: jobs that are interrupted, servers that break down\n\n");
  std::vector<CheckedTable> tables{faults_daly(),        faults_queues(),  faults_rsc(),        faults_llama(),
                                   faults_stragglers(),  faults_what_if(), faults_spot(),       faults_redundancy(),
                                   faults_lost_stages(), faults_copies(),  faults_mitigation(), faults_fabric(),
                                   faults_planning()};
  return report_tables(out, "faults", "docs/validation/faults.md", std::move(tables), kOutside);
}

}  // namespace contend
