#include "scenarios/sweep/store_query.hpp"

#include "results/job_groups.hpp"
#include "results/paired_change.hpp"
#include "results/result_columns.hpp"
#include "results/tested_changes.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/scenario_jobs.hpp"
#include "scenarios/sweep/baseline.hpp"
#include "scenarios/sweep/store_schema.hpp"
#include "scenarios/sweep/sweep_columns.hpp"
#include "scenarios/yaml/codecs.hpp"
#include "sim/error.hpp"
#include "sim/statistics.hpp"
#include "text/csv.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace contend {
namespace {

std::size_t parameter_index(const StoreInfo& info, const std::string& name) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < info.parameters.size(); ++i) {
    if (info.parameters[i].key == name || info.parameters[i].column == name) return i;
    keys.push_back(info.parameters[i].key);
  }
  const std::string hint = did_you_mean(name, keys);
  throw InputError{fmt::format("\"{}\" is no parameter of the sweep{}; they are {}", name,
                               hint.empty() ? "" : ", " + hint, keys.empty() ? "none" : join(keys))};
}

std::size_t metric_index(const std::vector<StoreMetric>& known, const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i].name == name) return i;
    names.push_back(known[i].name);
  }
  const std::string hint = did_you_mean(name, names);
  throw InputError{fmt::format("\"{}\" is no metric of the sweep{}; they are {}", name, hint.empty() ? "" : ", " + hint,
                               join(names))};
}

std::vector<std::size_t> metric_indices(const StoreInfo& info, const std::vector<StoreMetric>& known,
                                        std::vector<std::string> names) {
  if (names == std::vector<std::string>{"all"}) {
    names.clear();
    for (const StoreMetric& each : known) names.push_back(each.name);
  }
  if (names.empty() && info.kind == "jobs") {
    names = {"avg_jct_s", "p95_jct_s", "makespan_s"};
    // Groups of jobs have no makespan.
    std::erase_if(names, [&](const std::string& name) {
      return std::none_of(known.begin(), known.end(), [&](const StoreMetric& each) { return each.name == name; });
    });
  }
  if (names.empty() && info.kind == "study") names = {"iteration_s", "throughput_per_s", "above_bound"};
  if (names.empty()) names = {known.front().name};
  std::vector<std::size_t> indices;
  for (const std::string& name : names) indices.push_back(metric_index(known, name));
  return indices;
}

bool is_wanted(const StoreInfo& info, const StorePoint& point, const std::vector<SweepDimension>& where) {
  return std::all_of(where.begin(), where.end(), [&](const SweepDimension& wanted) {
    const std::string& key = info.parameters[parameter_index(info, wanted.key)].key;
    return std::any_of(wanted.values.begin(), wanted.values.end(),
                       [&](const SweepValue& value) { return has_value(info, point, key, value); });
  });
}

/// The figures of the runs of a point, by seed.
using Figures = std::vector<double>;
using RunsOfPoint = std::map<std::uint64_t, const Figures*>;

/// Values of one metric in a group, as the header says.
class GroupFigure {
 public:
  GroupFigure(const std::vector<const RunsOfPoint*>& points, std::size_t metric, Draws draws)
      : metric_{metric}, draws_{draws} {
    std::map<std::uint64_t, std::vector<double>> by_seed;
    for (const RunsOfPoint* runs : points)
      for (const auto& [seed, run] : *runs) by_seed[seed].push_back((*run)[metric]);
    for (const auto& [seed, values] : by_seed) {
      const bool whole = values.size() == points.size() &&
                         std::none_of(values.begin(), values.end(), [](double x) { return std::isnan(x); });
      if (!whole) continue;
      seeds_.push_back(seed);
      means_.push_back(mean(values));
      runs_ += values.size();
    }
  }

  [[nodiscard]] Estimate figure() const {
    Estimate result = estimate(means_, draws_);
    result.count = runs_;
    return result;
  }

  /// `partners`: of each point, the runs that it is compared with.
  [[nodiscard]] TestedRatio ratio(const std::vector<const RunsOfPoint*>& points,
                                  const std::vector<const RunsOfPoint*>& partners) const {
    std::vector<double> geometric, own, other;  // by seed
    for (const std::uint64_t seed : seeds_) {
      double logarithms = 0;
      std::vector<double> above, below;
      for (std::size_t i = 0; i < points.size(); ++i) {
        const auto partner = partners[i]->find(seed);
        if (partner == partners[i]->end() || std::isnan((*partner->second)[metric_])) break;
        above.push_back((*points[i]->at(seed))[metric_]);
        below.push_back((*partner->second)[metric_]);
        logarithms += std::log(above.back()) - std::log(below.back());
      }
      if (above.size() < points.size()) continue;
      geometric.push_back(std::exp(logarithms / static_cast<double>(points.size())));
      own.push_back(mean(above));
      other.push_back(mean(below));
    }
    if (geometric.empty()) return {};
    TestedRatio ratio = tested_ratio(geometric, std::vector<double>(geometric.size(), 1.0), draws_);
    ratio.of_means = ratio_of_means(own, other, draws_);
    return ratio;
  }

 private:
  std::size_t metric_;
  Draws draws_;
  std::vector<std::uint64_t> seeds_;
  std::vector<double> means_;
  std::size_t runs_ = 0;
};

/// The points of each group, groups in the order of their first points.
std::vector<std::vector<std::size_t>> groups_of(const StoreInfo& info, const std::vector<StorePoint>& points,
                                                const ResultsQuery& query, const std::vector<std::size_t>& by) {
  std::vector<std::vector<std::size_t>> groups;
  std::map<std::vector<SqlValue>, std::size_t> numbers;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!is_wanted(info, points[i], query.where)) continue;
    std::vector<SqlValue> values;
    for (const std::size_t parameter : by) values.push_back(points[i].values[parameter]);
    const auto [group, is_new] = numbers.emplace(std::move(values), groups.size());
    if (is_new) groups.emplace_back();
    groups[group->second].push_back(i);
  }
  return groups;
}

/// The partner of each point, or nothing if the sweep compares nothing.
std::vector<std::int64_t> partners_of(const StoreInfo& info, const std::vector<StorePoint>& points,
                                      std::vector<SweepSetting> baseline) {
  for (SweepSetting& each : baseline) each.key = info.parameters[parameter_index(info, each.key)].key;
  if (!baseline.empty()) return baseline_points(info, points, baseline);
  std::vector<std::int64_t> partners;
  for (const StorePoint& point : points)
    if (point.baseline) partners.push_back(*point.baseline);
  if (partners.size() != points.size()) partners.clear();
  return partners;
}

/// The runs that ended well, by point: of all jobs, or as if they had run the jobs of one group alone.
struct RunsOfGroup {
  std::string value;  ///< of the grouping
  std::map<std::int64_t, RunsOfPoint> of{};
};

RunsOfGroup runs_of_all(const std::vector<StoreRun>& runs) {
  RunsOfGroup all;
  for (const StoreRun& run : runs)
    if (run.status == RunStatus::done) all.of[run.point][run.seed] = &run.metrics;
  return all;
}

void check_grouping(SweepStore& store, const std::string& name) {
  const std::vector<std::string>& stored = store.info().groupings;
  if (std::find(stored.begin(), stored.end(), name) != stored.end()) return store.check_columns();
  static_cast<void>(find_grouping(name));  // complains about a name that nothing has
  throw InputError{fmt::format("{}: has no groups of jobs by {}; `contend sweep --by {}` stores them{}", store.path(),
                               name, name, stored.empty() ? "" : ", this store has them by " + join(stored))};
}

/// By group of jobs, in the order of the first run that has the group. The figures are appended to `figures`.
std::vector<RunsOfGroup> runs_of_groups(SweepStore& store, const std::vector<StoreRun>& runs, const std::string& name,
                                        std::deque<Figures>& figures) {
  check_grouping(store, name);
  Figures& none = figures.emplace_back();
  for (const Metric& each : group_metrics()) none.push_back(is_count(each.unit) ? 0 : kNaN);
  RunsOfGroup empty = runs_of_all(runs);
  for (auto& of_point : empty.of)
    for (auto& of_seed : of_point.second) of_seed.second = &none;
  std::map<std::int64_t, const StoreRun*> by_number;
  for (const StoreRun& run : runs) by_number[run.run] = &run;
  std::vector<RunsOfGroup> groups;
  std::map<std::string, std::size_t> numbers;
  std::string columns = "run";
  for (const std::string& column : group_columns()) columns += ", " + sql_name(column);
  SqlStatement row{store.database(),
                   fmt::format("SELECT {} FROM job_groups WHERE grouping = ? ORDER BY run, place", columns)};
  row.bind(1, name);
  while (row.step()) {
    const auto run = by_number.find(row.integer(0));
    if (run == by_number.end() || run->second->status != RunStatus::done) continue;
    const auto [number, is_new] = numbers.emplace(row.text(3), groups.size());
    if (is_new) groups.push_back({row.text(3), empty.of});
    Figures& its = figures.emplace_back();
    for (int column = 4; column < row.columns(); ++column) its.push_back(row.number(column));
    groups[number->second].of[run->second->point][run->second->seed] = &its;
  }
  return groups;
}

void append_value(std::string& out, const SqlValue& value) {
  if (const auto* text = std::get_if<std::string>(&value))
    append_csv_field(out, *text);
  else if (const auto* whole = std::get_if<std::int64_t>(&value))
    out += fmt::format("{}", *whole);
  else if (const auto* number = std::get_if<double>(&value))
    out += fmt::format("{}", *number);
}

std::set<std::int64_t> wanted_points(SweepStore& store, const std::vector<SweepDimension>& where) {
  std::set<std::int64_t> wanted;
  for (const StorePoint& point : store.points())
    if (is_wanted(store.info(), point, where)) wanted.insert(point.point);
  return wanted;
}

std::string header_of(SqlStatement& row) {
  std::string header;
  for (int i = 0; i < row.columns(); ++i) header += (i > 0 ? "," : "") + row.name(i);
  return header + "\n";
}

/// Appends the rows of these points as CSV; the second column is the point.
void append_rows(std::string& out, SqlStatement& row, const std::set<std::int64_t>& wanted) {
  while (row.step()) {
    if (wanted.count(row.integer(1)) == 0) continue;
    for (int i = 0; i < row.columns(); ++i) {
      if (i > 0) out += ",";
      append_value(out, row.value(i));
    }
    out += "\n";
  }
}

std::string number_text(double value) {
  return std::isnan(value) ? std::string{} : fmt::format("{}", value);
}

/// Counts the runs of the points that were asked for which failed, or in which jobs are not finished.
void count_incomplete(const StoreInfo& info, const std::vector<StoreRun>& runs, const std::set<std::int64_t>& asked,
                      ResultsTable& table) {
  const auto jobs = std::ranges::find(info.metrics, "jobs", &StoreMetric::name),
             finished = std::ranges::find(info.metrics, "finished", &StoreMetric::name);
  if (jobs != info.metrics.end() && finished != info.metrics.end()) {
    const auto of = [&](const StoreRun& run, auto metric) {
      return run.metrics[static_cast<std::size_t>(metric - info.metrics.begin())];
    };
    table.unfinished = std::ranges::count_if(runs, [&](const StoreRun& run) {
      return run.status == RunStatus::done && asked.count(run.point) > 0 && of(run, finished) < of(run, jobs);
    });
  }
  table.failed = std::count_if(runs.begin(), runs.end(), [&](const StoreRun& run) {
    return run.status == RunStatus::failed && asked.count(run.point) > 0;
  });
}

}  // namespace

ResultsTable query_results(SweepStore& store, const ResultsQuery& query) {
  const StoreInfo& info = store.info();
  const std::vector<StorePoint> points = store.points();
  const std::vector<StoreRun> runs = store.runs();
  std::vector<std::size_t> by;
  for (const std::string& name : query.group_by) by.push_back(parameter_index(info, name));
  for (std::size_t i = 0; query.group_by.empty() && i < info.parameters.size(); ++i) by.push_back(i);
  RunsOfGroup all = runs_of_all(runs);
  std::deque<Figures> figures;
  std::vector<RunsOfGroup> job_groups;
  if (query.jobs_by) job_groups = runs_of_groups(store, runs, *query.jobs_by, figures);
  const std::vector<StoreMetric> known = query.jobs_by ? store_metrics(group_metrics()) : info.metrics;
  const std::vector<std::size_t> metrics = metric_indices(info, known, query.metrics);
  const std::vector<std::int64_t> partners = partners_of(info, points, query.baseline);

  const Draws draws = draws_of(info);
  ResultsTable table;
  for (const std::size_t i : by) table.parameters.push_back(info.parameters[i]);
  if (query.jobs_by) {
    StoreParameter& jobs = table.parameters.emplace_back();
    jobs.key = jobs.column = *query.jobs_by;
  }
  for (const std::size_t i : metrics) table.metrics.push_back(known[i]);
  table.compares = !partners.empty();
  std::set<std::int64_t> asked;
  for (const std::vector<std::size_t>& members : groups_of(info, points, query, by)) {
    for (const std::size_t i : members) {
      asked.insert(points[i].point);
      table.runs += std::ssize(all.of[points[i].point]);
    }
    for (RunsOfGroup& jobs : query.jobs_by ? std::span{job_groups} : std::span{&all, 1}) {
      ResultsGroup& group = table.groups.emplace_back();
      std::vector<const RunsOfPoint*> own, others;
      for (const std::size_t i : members) {
        own.push_back(&jobs.of[points[i].point]);
        if (table.compares) others.push_back(&jobs.of[partners[i]]);
      }
      for (const std::size_t i : by) {
        group.values.push_back(points[members.front()].values[i]);
        group.numbers.push_back(info.parameters[i].number_column.empty() ? kNaN : points[members.front()].numbers[i]);
      }
      if (query.jobs_by) {
        group.values.emplace_back(jobs.value);
        group.numbers.push_back(kNaN);
      }
      for (const std::size_t metric : metrics) {
        const GroupFigure figure{own, metric, draws};
        group.figures.push_back(figure.figure());
        if (!table.compares) continue;
        group.ratios.push_back(figure.ratio(own, others));
      }
    }
  }
  std::vector<TestedRatio*> tested;
  for (ResultsGroup& group : table.groups)
    for (TestedRatio& each : group.ratios) tested.push_back(&each);
  table.tests = test_together(tested);
  count_incomplete(info, runs, asked, table);
  return table;
}

Draws draws_of(const StoreInfo& info) {
  if (info.resampled) return *info.resampled ? Draws::resamples : Draws::independent;
  try {
    return draws_of(parse_scenario(info.scenario, info.name).workload);
  } catch (const InputError&) {
    return Draws::independent;
  }
}

std::string results_csv(const ResultsTable& table) {
  std::string out;
  for (const StoreParameter& each : table.parameters) {
    out += each.column + ",";
    if (!each.number_column.empty()) out += each.number_column + ",";
  }
  out += "runs";
  for (const StoreMetric& each : table.metrics) {
    out += fmt::format(",{0},{0}_ci95", each.name);
    for (const char* kind : {"ratio", "ratio_of_means"})
      if (table.compares) out += fmt::format(",{0}_{1},{0}_{1}_low,{0}_{1}_high", each.name, kind);
    if (table.compares) out += fmt::format(",{0}_p,{0}_detectable", each.name);
  }
  out += "\n";
  for (const ResultsGroup& group : table.groups) {
    for (std::size_t i = 0; i < group.values.size(); ++i) {
      append_value(out, group.values[i]);
      out += ",";
      if (!table.parameters[i].number_column.empty()) out += number_text(group.numbers[i]) + ",";
    }
    std::size_t most = 0;
    for (const Estimate& each : group.figures) most = std::max(most, each.count);
    out += fmt::format("{}", most);
    for (std::size_t i = 0; i < group.figures.size(); ++i) {
      out += fmt::format(",{},{}", number_text(group.figures[i].mean), number_text(group.figures[i].half_width));
      if (!table.compares) continue;
      const TestedRatio& tested = group.ratios[i];
      for (const RatioEstimate& ratio : {tested.geometric, tested.of_means})
        out += fmt::format(",{},{},{}", number_text(ratio.ratio), number_text(ratio.low), number_text(ratio.high));
      out += fmt::format(",{},{}", number_text(tested.p_value), number_text(tested.detectable));
    }
    out += "\n";
  }
  return out;
}

std::string runs_csv(SweepStore& store, const std::vector<SweepDimension>& where) {
  SqlStatement row{store.database(), "SELECT * FROM results ORDER BY run"};
  std::string out = header_of(row);
  append_rows(out, row, wanted_points(store, where));
  return out;
}

std::string groups_csv(SweepStore& store, const std::vector<SweepDimension>& where,
                       const std::vector<std::string>& groupings) {
  std::string sql = "SELECT runs.run, runs.point, runs.seed";
  for (const std::string& column : parameter_columns(store.info())) sql += ", points." + sql_name(column);
  for (const std::string& column : group_columns())
    if (column != "place") sql += ", job_groups." + sql_name(column);
  sql += " FROM job_groups JOIN runs USING(run) JOIN points USING(point) WHERE grouping = ? ORDER BY run, place";
  const std::set<std::int64_t> wanted = wanted_points(store, where);
  std::string out;
  for (const std::string& name : groupings) {
    check_grouping(store, name);
    SqlStatement row{store.database(), sql};
    row.bind(1, name);
    if (out.empty()) out = header_of(row);
    append_rows(out, row, wanted);
  }
  return out;
}

}  // namespace contend
