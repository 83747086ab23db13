#pragma once
// The suite `backfill`: what backfilling policies do with places, on random lists of jobs, against the same rules
// played plainly (plain_backfill.hpp).

#include "validate/backfill/plain_backfill.hpp"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace contend {

/// Random lists that the suite compares, and the fewer lists that every test of a merge compares: seeds 1, 2, ...
inline constexpr int kBackfillCases = 200, kBackfillCasesOfGate = 20;

/// A list of jobs on a cluster under a policy, and what is right.
struct BackfillCase {
  std::string policy;  ///< with its parameters, as a scenario gives it
  std::string placement;
  int servers = 1, per_server = 1;
  std::vector<WaitingJob> jobs;
  PlainOutcome plain;
  bool has_first_plans = false;  ///< the first plans are compared, too
};

/// The cases of a seed: one under `easy`, one under `conservative` and one under `slurm-backfill`.
[[nodiscard]] std::vector<BackfillCase> backfill_cases(std::uint64_t seed);

/// What the engine does: starts, places, and the first start for which the policy kept a place.
[[nodiscard]] PlainOutcome engine_outcome(const BackfillCase& each);

/// The first job that starts otherwise than it should, in words; empty if there is none.
[[nodiscard]] std::string first_difference(const BackfillCase& each, const PlainOutcome& engine);

/// Prints a table and a verdict. Returns a SuiteVerdict.
int validate_backfill(std::FILE* out);

}  // namespace contend
