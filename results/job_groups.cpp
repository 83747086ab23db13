#include "results/job_groups.hpp"

#include "results/iteration_figures.hpp"
#include "results/result_columns.hpp"
#include "sim/error.hpp"
#include "sim/statistics.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

/// The class of a number of GPUs: up to a power of two and above the one before, `1`, `2`, `3-4`, `5-8`.
std::string size_class(const StoredJob& job) {
  const auto gpus = static_cast<unsigned>(std::max(job.gpus, 1));
  const unsigned most = std::bit_ceil(gpus), least = most / 2 + 1;
  return least >= most ? fmt::format("{}", most) : fmt::format("{}-{}", least, most);
}

constexpr Grouping kGroupings[] = {
    {"vc", "virtual cluster", false, [](const StoredJob& job) { return job.vc; }},
    {"user", "user", false, [](const StoredJob& job) { return job.user; }},
    {"model", "model", false, [](const StoredJob& job) { return job.model; }},
    {"size", "GPUs", true, size_class},
    {"outcome", "outcome", false, [](const StoredJob& job) { return job.outcome; }},
    {"fusion", "fusion", false, [](const StoredJob& job) { return job.fusion; }},
    {"compression", "compression", false, [](const StoredJob& job) { return job.compression; }},
};

struct Group {
  std::string value;
  std::vector<const StoredJob*> jobs;
};

/// The groups of some jobs, in the order in which they are shown.
std::vector<Group> groups_of(std::span<const StoredJob> jobs, const Grouping& grouping) {
  std::map<std::string, std::vector<const StoredJob*>> by_value;
  for (const StoredJob& job : jobs)
    if (job.measured) by_value[grouping.value(job)].push_back(&job);
  std::vector<Group> groups;
  for (auto& entry : by_value) groups.push_back({entry.first, std::move(entry.second)});
  std::stable_sort(groups.begin(), groups.end(), [&](const Group& a, const Group& b) {
    return grouping.by_gpus ? a.jobs.front()->gpus < b.jobs.front()->gpus : a.jobs.size() > b.jobs.size();
  });
  return groups;
}

/// The figures of some jobs, with figures of failures if `has_failures`.
std::vector<double> figures_of(std::span<const StoredJob* const> jobs, bool has_failures) {
  std::vector<JobTimes> times;
  for (const StoredJob* job : jobs) {
    const auto outcome =
        std::ranges::find_if(kJobOutcomes, [job](JobOutcome each) { return job->outcome == to_string(each); });
    times.push_back({job->state, outcome == std::end(kJobOutcomes) ? JobOutcome::completed : *outcome, job->gpus,
                     job->submit, job->start.value_or(Time::never()), job->finish.value_or(Time::never()), job->held,
                     job->waited, job->mean_gpus, std::nullopt, job->cost, job->drawn});
    if (has_failures) times.back().failures = {job->interruptions, job->held - job->overhead - job->redone, job->away};
  }
  const Summary summary = summarise(times);
  std::vector<double> figures;
  for (const Metric& each : group_metrics())
    if (!each.is_of_iterations()) figures.push_back(each.value(summary));
  IterationMeans means;
  for (const StoredJob* job : jobs)
    if (job->state == JobState::finished) means.add(job->iteration);
  const std::vector<double> of_iterations = means.means();
  figures.insert(figures.end(), of_iterations.begin(), of_iterations.end());
  return figures;
}

/// The mean of those that have a value; NaN if none has.
double mean_of_known(const std::vector<double>& values) {
  std::vector<double> known;
  for (const double value : values)
    if (!std::isnan(value)) known.push_back(value);
  return mean(known);
}

Waits waits_of(const std::vector<double>& seconds) {
  constexpr double kMedian = 0.5, kNinetieth = 0.9;
  return {mean(seconds), percentile(seconds, kMedian), percentile(seconds, kNinetieth)};
}

void write_waits(JsonWriter& json, const char* name, const Waits& waits) {
  json.key(name).begin_object().member("mean_s", waits.mean_s).member("median_s", waits.median_s);
  json.member("p90_s", waits.p90_s).end_object();
}

void write_waits(JsonWriter& json, const char* name, const std::vector<WaitsBeside>& rows) {
  json.key(name).begin_array();
  for (const WaitsBeside& row : rows) {
    json.begin_object().member("value", row.value).member("jobs", std::uint64_t{row.jobs});
    write_waits(json, "simulated", row.simulated);
    write_waits(json, "measured", row.measured);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::span<const Grouping> groupings() {
  return kGroupings;
}

const Grouping& find_grouping(const std::string& name) {
  std::vector<std::string> names;
  for (const Grouping& each : kGroupings) {
    if (each.name == name) return each;
    names.emplace_back(each.name);
  }
  throw InputError{{.reason = fmt::format("jobs can't be grouped by \"{}\"; expected {}", name, join(names)),
                    .hint = did_you_mean(name, names)}};
}

std::vector<const Grouping*> groupings_of(std::span<const StoredJob> jobs) {
  std::vector<const Grouping*> found;
  for (const Grouping& each : kGroupings)
    if (std::ranges::any_of(jobs, [&](const StoredJob& job) { return !each.value(job).empty(); }))
      found.push_back(&each);
  return found;
}

namespace {

/// The figures of every group in every run.
struct FiguresByRun {
  FiguresByRun(std::span<const StoredReplica> replicas, const Grouping& grouping)
      : none(replicas.size(), figures_of({}, false)) {
    // A run in which nothing happened to fail has none of them, and not an unknown number.
    const bool has_failures = std::ranges::any_of(replicas, [](const StoredReplica& run) {
      return std::ranges::any_of(run.jobs, [](const StoredJob& job) { return job.interruptions > 0; });
    });
    for (std::size_t r = 0; r < replicas.size(); ++r) {
      for (const Group& group : groups_of(replicas[r].jobs, grouping)) {
        const auto [entry, is_new] = of_group.try_emplace(group.value, none);
        if (is_new) values.push_back(group.value);
        entry->second[r] = figures_of(group.jobs, has_failures);
      }
    }
  }
  /// By run, then figure.
  [[nodiscard]] const std::vector<std::vector<double>>& of(const std::string& value) const {
    const auto found = of_group.find(value);
    return found == of_group.end() ? none : found->second;
  }
  [[nodiscard]] std::vector<double> means(const std::string& value) const {
    std::vector<double> all;
    for (std::size_t m = 0; m < group_metrics().size(); ++m) {
      std::vector<double> of_runs;
      for (const std::vector<double>& run : of(value)) of_runs.push_back(run[m]);
      all.push_back(mean_of_known(of_runs));
    }
    return all;
  }

  std::vector<std::string> values;  ///< in the order of the first run that has them
  std::vector<std::vector<double>> none;
  std::map<std::string, std::vector<std::vector<double>>> of_group;
};

std::size_t group_metric_index(std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(group_metrics(), name, &Metric::name) - group_metrics().begin());
}

/// True if jobs waited again after their first start.
bool waited_again(const std::vector<double>& figures) {
  return figures[group_metric_index("avg_waiting_s")] > figures[group_metric_index("avg_queueing_s")];
}

/// One figure on both sides, under the seeds under which both have a value; of a single run in any case.
GroupPairs paired(const std::vector<std::vector<double>>& base, const std::vector<std::vector<double>>& other,
                  std::size_t figure) {
  GroupPairs pairs;
  for (std::size_t i = 0; i < base.size(); ++i) {
    const double was = base[i][figure], is = other[i][figure];
    if (base.size() > 1 && (std::isnan(was) || std::isnan(is))) continue;
    pairs.base.push_back(was);
    pairs.other.push_back(is);
  }
  return pairs;
}

PairedChange change_of(const GroupPairs& pairs, Draws draws) {
  return pairs.base.empty() ? plain_change(kNaN, kNaN) : paired_change(pairs.base, pairs.other, draws);
}

}  // namespace

std::vector<GroupFigures> group_figures(std::span<const StoredReplica> replicas, const Grouping& grouping) {
  const FiguresByRun found{replicas, grouping};
  std::vector<GroupFigures> all;
  for (const std::string& value : found.values) all.push_back({value, found.means(value)});
  return all;
}

GroupChanges compare_groups(const StoredResults& base, const StoredResults& other, const Grouping& grouping,
                            const std::optional<ResampledSides>& resampled) {
  const FiguresByRun before{base.replicas, grouping}, after{other.replicas, grouping};
  std::optional<FiguresByRun> base_drawn, other_drawn;
  if (resampled) base_drawn.emplace(resampled->base->replicas, grouping);
  if (resampled) other_drawn.emplace(resampled->other->replicas, grouping);
  std::vector<std::string> values = before.values;
  for (const std::string& value : after.values)
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);

  std::vector<std::string_view> compared{"avg_jct_s", "p95_jct_s", "avg_queueing_s"};
  if (std::ranges::any_of(values, [&](const std::string& value) {
        return waited_again(before.means(value)) || waited_again(after.means(value));
      }))
    compared.emplace_back("avg_waiting_s");
  GroupChanges changes{&grouping, {}, 0};
  for (const std::string& value : values) {
    GroupChange& group = changes.groups.emplace_back(GroupChange{value, before.means(value), after.means(value), {}});
    for (const std::string_view name : compared) {
      const std::size_t figure = group_metric_index(name);
      const Metric* const metric = &group_metrics()[figure];
      const GroupPairs pairs = paired(before.of(value), after.of(value), figure);
      PairedChange change = change_of(pairs, base.draws);
      if (resampled) {
        const GroupPairs drawn = paired(base_drawn->of(value), other_drawn->of(value), figure);
        change = resampled_change(change.base, change.other, drawn.base, drawn.other, resampled->blocks);
      }
      group.changes.push_back({metric, change});
    }
  }
  std::vector<MetricChange*> all;
  for (GroupChange& group : changes.groups)
    for (MetricChange& each : group.changes) all.push_back(&each);
  changes.tests = test_together(all);
  return changes;
}

GroupPairs group_pairs(const StoredResults& base, const StoredResults& other, const Grouping& grouping,
                       const std::string& value, std::size_t figure) {
  const FiguresByRun before{base.replicas, grouping}, after{other.replicas, grouping};
  if (before.of_group.contains(value) || after.of_group.contains(value))
    return paired(before.of(value), after.of(value), figure);
  std::set<std::string> there{before.values.begin(), before.values.end()};
  there.insert(after.values.begin(), after.values.end());
  const std::vector<std::string> values{there.begin(), there.end()};
  constexpr std::size_t kFew = 12;
  std::vector<std::string> named;
  for (const std::string& each : values)
    named.push_back(each.empty() ? "none (nothing after the =)" : fmt::format("\"{}\"", each));
  throw InputError{{.reason = fmt::format("no job of either side has the {} \"{}\"", grouping.title, value),
                    .hint = values.size() <= kFew ? "there are " + join(named) : did_you_mean(value, values)}};
}

PairedChange group_change(const StoredResults& base, const StoredResults& other, const Grouping& grouping,
                          const std::string& value, std::size_t figure) {
  return change_of(group_pairs(base, other, grouping, value, figure), base.draws);
}

std::vector<WaitsBeside> waits_beside_measured(std::span<const StoredJob> jobs, const Grouping* grouping) {
  constexpr Grouping kAll = {"", "", false, [](const StoredJob&) { return std::string{}; }};
  std::vector<StoredJob> both;
  for (const StoredJob& job : jobs)
    if (job.start && job.measured_wait) both.push_back(job);
  std::vector<WaitsBeside> rows;
  for (const Group& group : groups_of(both, grouping == nullptr ? kAll : *grouping)) {
    std::vector<double> simulated, measured;
    for (const StoredJob* job : group.jobs) {
      simulated.push_back((*job->start - job->submit).to_seconds());
      measured.push_back(job->measured_wait->to_seconds());
    }
    rows.push_back({group.value, group.jobs.size(), waits_of(simulated), waits_of(measured)});
  }
  return rows;
}

void write_group_figures(JsonWriter& json, std::span<const double> figures) {
  for (std::size_t m = 0; m < figures.size(); ++m) {
    const Metric& metric = group_metrics()[m];
    if (!metric.is_left_out(figures[m])) json.member(metric.name, figures[m]);
  }
}

void write_groups(JsonWriter& json, const StoredReplica& replica) {
  json.key("groups").begin_object();
  for (const Grouping* grouping : groupings_of(replica.jobs)) {
    json.key(grouping->name).begin_array();
    for (const GroupFigures& group : group_figures({&replica, 1}, *grouping)) {
      json.begin_object().member("value", group.value);
      write_group_figures(json, group.figures);
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
  const std::vector<WaitsBeside> all = waits_beside_measured(replica.jobs, nullptr);
  if (all.empty()) return;
  json.key("waits").begin_object();
  write_waits(json, "all", all);
  write_waits(json, "size", waits_beside_measured(replica.jobs, &find_grouping("size")));
  json.end_object();
}

}  // namespace contend
