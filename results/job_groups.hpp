#pragma once
// Figures of groups of measured jobs: by virtual cluster, user, model, size, outcome, fusion policy or
// compression method. Every table and file that shows
// groups takes them from here. Also the waits of a run beside those that a trace measured.

#include "results/result_reader.hpp"
#include "results/tested_changes.hpp"
#include "text/json_writer.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

/// A property of jobs by which they can be grouped.
struct Grouping {
  std::string_view name;   ///< `vc`
  std::string_view title;  ///< heading of a table
  bool by_gpus;            ///< its groups are in order of their GPUs; groups of others by number of jobs, most first
  std::string (*value)(const StoredJob&);  ///< empty: the job has none
};
[[nodiscard]] std::span<const Grouping> groupings();
/// The grouping of that name. Throws InputError with the nearest name if there is none.
[[nodiscard]] const Grouping& find_grouping(const std::string& name);
/// The groupings of which some job has a value.
[[nodiscard]] std::vector<const Grouping*> groupings_of(std::span<const StoredJob> jobs);

struct GroupFigures {
  std::string value;            ///< of the grouping; empty for the jobs without one
  std::vector<double> figures;  ///< in the order of group_metrics()
};
/// The figures of every group, as means over the runs. In a run that has no job of a group, its counts are 0.
[[nodiscard]] std::vector<GroupFigures> group_figures(std::span<const StoredReplica> replicas,
                                                      const Grouping& grouping);

/// Runs of both sides on resamples of the job list that they ran.
struct ResampledSides {
  const StoredResults* base = nullptr;
  const StoredResults* other = nullptr;
  BlockScatter blocks{};
};

/// The figures of one group on both sides of a comparison.
struct GroupChange {
  std::string value;
  std::vector<double> base, other;  ///< as in GroupFigures
  /// Of the average and the 95th percentile of the JCT, the average queueing and, if jobs of any group waited again
  /// after their first start, the average waiting, under the seeds under which both sides have a value.
  std::vector<MetricChange> changes;
};
/// The changes of one grouping, tested together.
struct GroupChanges {
  const Grouping* grouping = nullptr;
  std::vector<GroupChange> groups;
  std::size_t tests = 0;
};
/// With `resampled`, BASE and NEW are one run each of a job list, and the intervals come from resamples of the list.
[[nodiscard]] GroupChanges compare_groups(const StoredResults& base, const StoredResults& other,
                                          const Grouping& grouping,
                                          const std::optional<ResampledSides>& resampled = {});

/// One figure of one group on both sides, `figure` in the order of group_metrics(), under the seeds under which both
/// sides have a value; of a single run in any case. Throws InputError with the nearest value if no job of either side
/// has this value of the grouping.
struct GroupPairs {
  std::vector<double> base, other;
};
[[nodiscard]] GroupPairs group_pairs(const StoredResults& base, const StoredResults& other, const Grouping& grouping,
                                     const std::string& value, std::size_t figure);
/// The change of group_pairs().
[[nodiscard]] PairedChange group_change(const StoredResults& base, const StoredResults& other, const Grouping& grouping,
                                        const std::string& value, std::size_t figure);

struct Waits {
  double mean_s = 0, median_s = 0, p90_s = 0;  ///< percentiles interpolate linearly
};
/// Waits from submission to the first start, simulated and measured, of the jobs that have both.
struct WaitsBeside {
  std::string value;  ///< of the grouping
  std::size_t jobs = 0;
  Waits simulated, measured;
};
/// A row for each group; without a grouping, a single one. Empty if no job has both waits.
[[nodiscard]] std::vector<WaitsBeside> waits_beside_measured(std::span<const StoredJob> jobs, const Grouping* grouping);

/// Appends the members `groups`, with every grouping that has values, and, if there are any, `waits` to an open object.
void write_groups(JsonWriter& json, const StoredReplica& replica);
/// Writes figures in the order of group_metrics() as members of an open object.
void write_group_figures(JsonWriter& json, std::span<const double> figures);

}  // namespace contend
