#pragma once
// Validates the contention-aware scheduling study (Wang et al., arXiv 2002.10105) against cases worked out by hand, an
// independent time-stepped simulator, and the published gains.

#include "scenarios/scenario.hpp"

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// Runs the suite `ada-srsf`. The part against the time-stepped simulator needs its data
/// (validate/ada_srsf/time_stepped.hpp); if they are missing, it is skipped and the reason printed. Returns 1 if any
/// part fails.
int validate_ada_srsf(std::FILE* out);
/// The same with this number of drawn job sets, 0 or more, on which the engine is compared with the time stepper.
int validate_ada_srsf(std::FILE* out, int drawn_sets);

/// Runs the suite `ada-srsf-full`, which measures the published gains on the shipped study. Published values outside
/// our intervals are a finding, not a failure. Returns 1 if jobs do not finish, or if the intervals do not decide which
/// placement is better.
int validate_ada_srsf_full(std::FILE* out);

/// The shipped study (scenarios/ada-srsf) with these policies, e.g. `{policy: lwf, kappa: 1}` and `ada-dual`. It is
/// defined in code, so that the suites need no file; a test checks that it equals the shipped files. Throws InputError
/// for unknown policies.
[[nodiscard]] Scenario ada_srsf_scenario(std::string_view placement, std::string_view communication,
                                         const std::vector<std::string>& overrides = {});

}  // namespace contend
