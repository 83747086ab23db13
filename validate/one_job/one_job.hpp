#pragma once
// Compares one job alone in a cluster with the study of its iteration: the ends of all its iterations, to the
// nanosecond, on the engine with the cluster's network, in the fast executor, and with and without leaping.

#include <cstdio>
#include <string>
#include <vector>

namespace contend {

/// One job: the model that the job trains, and its devices.
struct OneJobCase {
  std::string model, fusion, compression;
  std::string fidelity;  ///< `analytic` or `contention`
  int servers = 1, per_server = 1;
  std::string exchange{};  ///< members of the entry and keys of the study; empty: all-reduce

  [[nodiscard]] std::string title() const;
};

/// Every network of five families x fusion policy x compression method x {1, 2, 4, 16} servers x {1, 4} GPUs of each x
/// fidelity; and one network by parameter servers.
[[nodiscard]] std::vector<OneJobCase> one_job_cases();

/// What both sides make of a case.
struct OneJobOutcome {
  /// Why there is nothing to compare: the policies don't work together, or a job can't do what the study can. Both
  /// sides refuse alike, or `difference` says so.
  std::string refusal;
  std::string difference;  ///< empty if all iterations end at the same nanosecond
};
[[nodiscard]] OneJobOutcome compare_one_job(const OneJobCase& one_job);

/// The suite `one-job`. Returns the number of cases that differ.
int validate_one_job(std::FILE* out);

}  // namespace contend
