#pragma once
// Tables of groups of jobs, for the verbs that print results: `--by vc`.

#include "cli/command.hpp"
#include "results/job_groups.hpp"
#include "sim/statistics.hpp"

#include <span>
#include <string>
#include <vector>

namespace contend {

/// The groupings that the options `--by` name. Throws InputError for an unknown name.
[[nodiscard]] std::vector<const Grouping*> chosen_groupings(const Arguments& arguments);

/// A table of the largest groups, as means over the runs, averages with their intervals; says how many it leaves out.
[[nodiscard]] std::string group_table(std::span<const StoredReplica> replicas, const Grouping& grouping, Draws draws);

/// Simulated waits beside measured ones, for all jobs and by size; empty if no job has a measured wait.
[[nodiscard]] std::string waits_table(std::span<const StoredReplica> replicas);

/// The rows of a table of changes: a row of titles, then one for each of the first groups. A change that is significant
/// has a !.
[[nodiscard]] std::vector<std::vector<std::string>> group_change_rows(const GroupChanges& changes);
/// What a ! means under such a table; empty without tests.
[[nodiscard]] std::string marks_text(const GroupChanges& changes);
/// What follows such a table, or one of groups: how many groups it leaves out. Empty if it has all.
[[nodiscard]] std::string left_out_groups(std::size_t groups);

}  // namespace contend
