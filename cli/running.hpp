#pragma once
// What the verbs that simulate have in common: options, and runs with a progress line.

#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "results/expectations.hpp"
#include "results/replica.hpp"
#include "scenarios/run/job_lists.hpp"
#include "scenarios/scenario.hpp"
#include "sim/ports.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace contend {

inline constexpr Option kProgressOption = {
    .name = "progress", .letter = '\0', .value = "MODE", .text = "auto (on a terminal), always or never"};
inline constexpr Option kThreadsOption = {
    .name = "jobs", .letter = 'j', .value = "N", .text = "threads; the results do not depend on it (all cores)"};
inline constexpr Option kQuietOption = {.name = "quiet", .letter = 'q', .value = "", .text = "print errors only"};

/// By the options `progress` and `quiet`. Throws UsageError.
[[nodiscard]] ProgressMode progress_mode(const Arguments& arguments);
/// By the option `jobs`. Throws UsageError.
[[nodiscard]] unsigned thread_count(const Arguments& arguments);

/// All replicas of all scenarios. An interrupt ends them early: see catch_interrupts(). `observer` is for a batch of a
/// single run, or nullptr. Job lists come from `lists`; without, each is read once for these runs.
[[nodiscard]] std::vector<std::vector<Replica>> simulate(std::span<const Scenario> scenarios, ProgressMode mode,
                                                         unsigned threads, Observer* observer = nullptr,
                                                         JobLists* lists = nullptr);

/// Says on stderr which bounds were not met.
void print_unmet(std::string_view name, std::span<const ExpectationOutcome> outcomes);

}  // namespace contend
