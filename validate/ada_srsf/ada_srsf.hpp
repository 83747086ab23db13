#pragma once
// The contention-aware scheduling study (Wang et al., arXiv 2002.10105) against three sources of truth: cases worked
// out by hand, an independent time-stepped simulator, and the published gains.

#include "scenarios/scenario.hpp"

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// Suite `ada-srsf`. The part against the time-stepped simulator needs its data (validate/ada_srsf/time_stepped.hpp)
/// and is skipped, with the reason, where they are not there. Returns 1 if any part fails.
int validate_ada_srsf(std::FILE* out);

/// Suite `ada-srsf-full`: measures the published gains on the shipped study. That the published values lie elsewhere is
/// a finding, not a failure; returns 1 if jobs don't finish or the intervals leave open which placement is better.
int validate_ada_srsf_full(std::FILE* out);

/// The shipped study (scenarios/ada-srsf) with these policies, e.g. `{policy: lwf, kappa: 1}` and `ada-dual`. In code,
/// so that the suites depend on no file; a test holds it equal to the shipped files. Throws InputError for unknown
/// policies.
[[nodiscard]] Scenario ada_srsf_scenario(std::string_view placement, std::string_view communication,
                                         const std::vector<std::string>& overrides = {});

}  // namespace contend
