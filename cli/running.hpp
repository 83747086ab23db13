#pragma once
// Options that the verbs that simulate have in common.

#include "cli/command.hpp"
#include "cli/progress.hpp"

namespace contend {

inline constexpr Option kProgressOption = {
    .name = "progress", .letter = '\0', .value = "MODE", .text = "auto (on a terminal), always or never"};
inline constexpr Option kThreadsOption = {
    .name = "jobs", .letter = 'j', .value = "N", .text = "threads; the results do not depend on it (all cores)"};
inline constexpr Option kQuietOption = {.name = "quiet", .letter = 'q', .value = "", .text = "print errors only"};

[[nodiscard]] ProgressMode progress_mode(const Arguments& arguments);
[[nodiscard]] unsigned thread_count(const Arguments& arguments);

}  // namespace contend
