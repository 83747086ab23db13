#pragma once
// The suite `rl`: RL post-training by hand, against plain loops, by closed forms, and beside published steps.

#include "validate/checked_table.hpp"
#include "validate/rl/rl_case.hpp"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace contend {

/// Random cases that the suite compares: seeds 1, 2, ...
inline constexpr std::uint64_t kRlCases = 200;

/// How a random case differs from plain loops, or breaks what holds for every run: sums of phases, bounds of staleness,
/// conservation of tokens. Empty if it doesn't.
[[nodiscard]] std::string rl_difference(const RlCase& each);

/// Tables of the suite. `folder` holds the public data.
[[nodiscard]] CheckedTable rl_hand_cases(const std::string& folder);
[[nodiscard]] CheckedTable rl_random_cases();
[[nodiscard]] CheckedTable rl_closed_forms();
[[nodiscard]] CheckedTable rl_longest_answers(const std::string& folder);
[[nodiscard]] CheckedTable rl_sums_of_parts(const std::string& folder);
[[nodiscard]] CheckedTable rl_asynchronous_arms(const std::string& folder);
[[nodiscard]] CheckedTable rl_weights(const std::string& folder);

/// Prints the tables and a verdict. Returns a SuiteVerdict.
int validate_rl(std::FILE* out);

}  // namespace contend
