#include "validate/intervals/intervals.hpp"

#include "models/workloads/resampling.hpp"
#include "results/paired_change.hpp"
#include "scenarios/keys/reader.hpp"
#include "scenarios/run/run_scenario.hpp"
#include "sim/parallel.hpp"
#include "sim/random_stream.hpp"
#include "validate/verdict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/core.h>
#include <boost/math/distributions/gamma.hpp>

namespace contend {
namespace {

constexpr double kLevel = 0.025;  // of a one-sided test
constexpr std::size_t kTrials = 4000, kFewest = 20;
constexpr std::array<std::size_t, 5> kPairs = {5, 10, 20, 40, 80};

constexpr std::array<std::string_view, 3> kQueueSides = {"fifo", "sjf", "easy"};

Scenario scenario_of(std::string_view yaml, std::string setting) {
  LoadOptions options;
  options.overrides = {std::move(setting)};
  return parse_scenario(yaml, "intervals", options);
}

/// Jobs of so many days, about 60 a day, of 1 to 8 GPUs and log-normal durations. How many come on a day varies by a
/// log-normal factor whose logarithm is an autoregressive process of deviation 0.6, with the correlation `persistence`
/// from day to day.
std::vector<JobRequest> weeks(double persistence, int days, std::uint64_t seed) {
  constexpr double kDeviation = 0.6, kJobsOfDay = 60, kHoursOfDay = 24, kSecondsOfHour = 3600;
  constexpr double kLoad = 0.8, kGpus = 64, kSpread = 1.5;  // of ln duration
  constexpr std::array kSizes = {1, 1, 1, 2, 4, 8};
  constexpr double kMeanSize = 17.0 / 6;
  const double mean_duration = kLoad * kGpus * kHoursOfDay * kSecondsOfHour / (kJobsOfDay * kMeanSize);
  const double mu = std::log(mean_duration) - kSpread * kSpread / 2;  // of ln duration
  RandomStream factors{seed, "intervals.days"}, jobs{seed, "intervals.jobs"};
  std::vector<JobRequest> list;
  double factor = factors.normal(0, kDeviation);  // its logarithm
  for (int day = 0; day < days; ++day) {
    const double gap = kHoursOfDay / (kJobsOfDay * std::exp(factor - kDeviation * kDeviation / 2));  // hours
    factor = persistence * factor + std::sqrt(1 - persistence * persistence) * factors.normal(0, kDeviation);
    for (double hour = jobs.exponential(gap); hour < kHoursOfDay; hour += jobs.exponential(gap)) {
      JobRequest& job = list.emplace_back();
      job.name = fmt::format("{}", list.size());
      job.submit = Time::seconds(static_cast<std::int64_t>((day * kHoursOfDay + hour) * kSecondsOfHour));
      job.gpus = kSizes[static_cast<std::size_t>(jobs.uniform_integer(0, kSizes.size() - 1))];
      const double seconds = std::clamp(jobs.lognormal(mu, kSpread), 1.0, 5 * kHoursOfDay * kSecondsOfHour);
      job.duration = Time::seconds(static_cast<std::int64_t>(seconds));
      job.iterations = 1;
    }
  }
  return list;
}

struct Figures {
  double avg_jct = 0, p95_jct = 0, avg_queueing = 0;
};
struct NamedFigure {
  std::string_view name;
  double Figures::*value;
};
constexpr std::array<NamedFigure, 3> kFigures = {
    {{"average JCT", &Figures::avg_jct}, {"p95 JCT", &Figures::p95_jct}, {"average queueing", &Figures::avg_queueing}}};

/// The figures of one workload on each side.
using SideFigures = std::vector<Figures>;

Figures figures_of(const RunResult& result) {
  const Summary summary = summarise(result);
  return {summary.avg_jct_s, summary.p95_jct_s, summary.avg_queueing_s};
}

SideFigures run_list(const std::vector<Scenario>& sides, const std::vector<JobRequest>& jobs) {
  SideFigures figures;
  for (const Scenario& side : sides)
    figures.push_back(figures_of(run_workload(side, workload_of(side, side.workload, jobs), 1)));
  return figures;
}

/// Calls `run(i)` for every i below `count`, on all cores.
template <class Run>
void run_all(std::size_t count, const Run& run) {
  parallel_for(
      std::max(1U, std::thread::hardware_concurrency()), count, [&] { return [&](std::size_t i) { run(i); }; },
      [] { return false; });
}

std::vector<Scenario> queue_sides() {
  std::vector<Scenario> sides;
  for (const std::string_view each : kQueueSides)
    sides.push_back(scenario_of(interval_queue_case(), fmt::format("policies.scheduling={}", each)));
  return sides;
}

void add_populations(const std::string& name, const std::vector<SideFigures>& runs, std::size_t other,
                     std::vector<IntervalPopulation>& populations) {
  for (const NamedFigure& figure : kFigures) {
    IntervalPopulation& population = populations.emplace_back();
    population.name = fmt::format("{}, {}", name, figure.name);
    for (const SideFigures& run : runs) {
      population.base.push_back(run[0].*figure.value);
      population.other.push_back(run[other].*figure.value);
    }
    // Nobody queues in the network case.
    if (std::ranges::all_of(population.base, [](double value) { return value == 0; })) populations.pop_back();
  }
}

bool holds_truth(const ChangeEstimate& change, double truth) {
  return change.interval_95.low <= truth && truth <= change.interval_95.high;
}

double share_of(std::size_t count, std::size_t all) {
  return static_cast<double>(count) / static_cast<double>(all);
}

/// One figure of the resamples of a list, on both sides.
struct DrawnFigures {
  std::vector<double> base, other;
};

std::vector<DrawnFigures> drawn_figures(const std::vector<std::vector<SideFigures>>& drawn, std::size_t side,
                                        double Figures::*figure) {
  std::vector<DrawnFigures> all(drawn.size());
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    for (const SideFigures& run : drawn[i]) {
      all[i].base.push_back(run[0].*figure);
      all[i].other.push_back(run[side].*figure);
    }
  }
  return all;
}

/// Counts the lists whose intervals contain the mean change over all lists.
void count_lists(const std::vector<double>& base, const std::vector<double>& other,
                 const std::vector<DrawnFigures>& drawn, const std::vector<BlockScatter>& scatter,
                 ListCoverage& coverage) {
  const PairedChange truth = paired_change(base, other);
  std::size_t around_list = 0, difference = 0, resamples_alone = 0, as_independent = 0;
  for (std::size_t i = 0; i < base.size(); ++i) {
    const PairedChange change = resampled_change(base[i], other[i], drawn[i].base, drawn[i].other, scatter[i]);
    if (holds_truth(change.relative, truth.relative.value)) ++around_list;
    if (holds_truth(change.difference, truth.difference.value)) ++difference;
    const ChangeEstimate alone = paired_change(drawn[i].base, drawn[i].other, Draws::resamples).relative;
    if (holds_truth(alone, truth.relative.value)) ++resamples_alone;
    if (holds_truth(paired_change(drawn[i].base, drawn[i].other).relative, truth.relative.value)) ++as_independent;
  }
  coverage.around_list = share_of(around_list, base.size());
  coverage.difference = share_of(difference, base.size());
  coverage.resamples_alone = share_of(resamples_alone, base.size());
  coverage.as_independent = share_of(as_independent, base.size());
}

}  // namespace

std::vector<IntervalPopulation> interval_populations(std::size_t workloads) {
  std::vector<IntervalPopulation> populations;
  const std::vector<Scenario> network = {
      scenario_of(interval_network_case(), "policies.communication=ada-dual"),
      scenario_of(interval_network_case(), "policies.communication={policy: srsf, ways: 2}")};
  std::vector<SideFigures> runs(workloads);
  run_all(workloads, [&](std::size_t i) {
    for (const Scenario& side : network) runs[i].push_back(figures_of(run_scenario(side, i + 1)));
  });
  add_populations("network: AdaDUAL, SRSF(2)", runs, 1, populations);
  const std::vector<Scenario> queue = queue_sides();
  for (const double persistence : {0.0, 0.6}) {
    run_all(workloads, [&](std::size_t i) { runs[i] = run_list(queue, weeks(persistence, 42, i + 1)); });
    for (std::size_t side = 1; side < queue.size(); ++side)
      add_populations(fmt::format("queue, days correlated {}: {}, {}", persistence, kQueueSides[0], kQueueSides[side]),
                      runs, side, populations);
  }
  return populations;
}

IntervalCoverage coverage_of(const IntervalPopulation& population, std::size_t pairs, std::size_t trials,
                             std::uint64_t seed) {
  const PairedChange truth = paired_change(population.base, population.other);
  RandomStream stream{seed, "intervals.trials"};
  const auto last = static_cast<std::int64_t>(population.base.size()) - 1;
  std::vector<double> base(pairs), other(pairs);
  const double base_mean = mean(population.base);
  std::size_t geometric = 0, of_means = 0, difference = 0, one_side = 0, up = 0, down = 0;
  for (std::size_t trial = 0; trial < trials; ++trial) {
    for (std::size_t i = 0; i < pairs; ++i) {
      const auto drawn = static_cast<std::size_t>(stream.uniform_integer(0, last));
      base[i] = population.base[drawn];
      other[i] = population.other[drawn];
    }
    const PairedChange change = paired_change(base, other);
    if (holds_truth(change.relative, truth.relative.value)) ++geometric;
    if (holds_truth(change.of_means, truth.of_means.value)) ++of_means;
    if (holds_truth(change.difference, truth.difference.value)) ++difference;
    const Estimate of_base = estimate(base);
    if (std::abs(of_base.mean - base_mean) <= of_base.half_width) ++one_side;
    for (std::size_t i = 0; i < pairs; ++i)
      if (stream.uniform_integer(0, 1) == 1) std::swap(base[i], other[i]);
    const PairedChange neutral = paired_change(base, other);
    if (neutral.relative.chance_beyond(0, true) <= kLevel) ++up;
    if (neutral.relative.chance_beyond(0, false) <= kLevel) ++down;
  }
  return {.geometric = share_of(geometric, trials),
          .of_means = share_of(of_means, trials),
          .difference = share_of(difference, trials),
          .one_side = share_of(one_side, trials),
          .alarms_up = share_of(up, trials),
          .alarms_down = share_of(down, trials)};
}

std::vector<ListCoverage> list_coverages(double persistence, int days, std::size_t traces, std::size_t resamples,
                                         std::uint64_t first) {
  const std::vector<Scenario> sides = queue_sides();
  std::vector<SideFigures> own(traces);
  std::vector<std::vector<SideFigures>> drawn(traces);
  std::vector<double> block_days(traces);
  std::vector<BlockScatter> scatter(traces);
  run_all(traces, [&](std::size_t i) {
    const std::vector<JobRequest> list = weeks(persistence, days, first + i);
    const ChosenBlock chosen = choose_block(list);
    const Time block = chosen.length;
    block_days[i] = block.to_seconds() / 86'400;
    scatter[i] = {chosen.blocks, chosen.lost_correlation};
    own[i] = run_list(sides, list);
    for (std::size_t r = 0; r < resamples; ++r)
      drawn[i].push_back(run_list(sides, resample(list, {.block = block}, i * resamples + r + 1).jobs));
  });
  std::vector<ListCoverage> coverages;
  for (std::size_t side = 1; side < sides.size(); ++side) {
    for (const NamedFigure& figure : kFigures) {
      std::vector<double> base, other;
      for (const SideFigures& run : own) {
        base.push_back(run[0].*figure.value);
        other.push_back(run[side].*figure.value);
      }
      ListCoverage coverage{.name = fmt::format("{} days, correlated {}: {}, {}, {}", days, persistence, kQueueSides[0],
                                                kQueueSides[side], figure.name),
                            .block_days = mean(block_days)};
      count_lists(base, other, drawn_figures(drawn, side, figure.value), scatter, coverage);
      coverages.push_back(std::move(coverage));
    }
  }
  return coverages;
}

namespace {

/// A list of days, as jobs whose durations are the values of BASE, and the values of NEW, job by job. Each day has two
/// equal jobs, at its beginning and at its end, so that all of it is there.
struct DayList {
  std::vector<JobRequest> jobs;
  std::vector<double> base, other;
};

/// The value at the quantile at which `normal` lies among standard normal values.
double value_at(BlockValues values, double normal) {
  if (values == BlockValues::lognormal) return std::exp(normal);
  const double above = std::erfc(normal / std::sqrt(2.0)) / 2;
  if (values == BlockValues::exponential) return -std::log(above);
  // The square of a standard normal variable is distributed so.
  const boost::math::gamma_distribution<> gamma{0.5, 2};
  return boost::math::quantile(boost::math::complement(gamma, above));
}

std::string_view name_of(BlockValues values) {
  switch (values) {
    case BlockValues::exponential:
      return "exponential";
    case BlockValues::lognormal:
      return "lognormal";
    case BlockValues::gamma:
      return "gamma";
  }
  return {};
}

DayList draw_days(BlockValues values, double persistence, std::size_t days, std::uint64_t seed) {
  constexpr double kKept = 0.5, kOwn = 0.3, kMeanSeconds = 1e4;
  constexpr std::int64_t kDay = 86'400;
  RandomStream stream{seed, "intervals.blocks"};
  DayList list;
  std::array<double, 2> normals = {stream.normal(0, 1), stream.normal(0, 1)};
  for (std::size_t day = 0; day < days; ++day) {
    const double base = value_at(values, normals[0]), other = kKept * base + kOwn * value_at(values, normals[1]);
    for (const std::int64_t at : {std::int64_t{0}, kDay - 1}) {
      JobRequest& job = list.jobs.emplace_back();
      job.name = fmt::format("{}", list.jobs.size());
      job.submit = Time::seconds(static_cast<std::int64_t>(day) * kDay + at);
      job.gpus = 1;
      job.iterations = 1;
      job.duration = Time::nanoseconds(static_cast<std::int64_t>(1e9 * kMeanSeconds * base) + 1);
      list.base.push_back(base);
      list.other.push_back(other);
    }
    for (double& each : normals)
      each = persistence * each + std::sqrt(1 - persistence * persistence) * stream.normal(0, 1);
  }
  return list;
}

double on_its_scale(const ChangeEstimate& change, double value) {
  return change.logarithmic ? std::log1p(value) : value;
}

/// The half-width, on its scale, of an interval that is twice as wide as the interval of the change.
double twice_half_width(const ChangeEstimate& change) {
  return 2 * student_t_975(change.degrees_of_freedom) * change.error;
}

/// Whether an interval of this half-width around its change contains the truth.
bool reaches_truth(const ChangeEstimate& change, double truth, double half_width) {
  return std::abs(on_its_scale(change, truth) - on_its_scale(change, change.value)) <= half_width;
}

/// The coverage of intervals that know the error of the relative change, which is its standard deviation over the
/// lists.
void count_known(std::span<const PairedChange> plain, double truth, BlockCoverage& coverage) {
  constexpr double kNormal975 = 1.959963984540054;
  std::vector<double> own;
  for (const PairedChange& each : plain) own.push_back(on_its_scale(each.relative, each.relative.value));
  const double known = kNormal975 * sample_deviation(own);
  std::size_t uncapped = 0, capped = 0;
  for (const PairedChange& each : plain) {
    if (reaches_truth(each.relative, truth, known)) ++uncapped;
    if (reaches_truth(each.relative, truth, std::min(known, twice_half_width(each.relative)))) ++capped;
  }
  coverage.relative_known = share_of(uncapped, plain.size());
  coverage.relative_known_capped = share_of(capped, plain.size());
}

double mean_of_rows(const std::vector<double>& values, const std::vector<std::size_t>& rows) {
  double sum = 0;
  for (const std::size_t row : rows) sum += values[row];
  return sum / static_cast<double>(rows.size());
}

}  // namespace

BlockCoverage block_coverage(BlockValues values, double persistence, std::size_t blocks, std::size_t lists,
                             std::size_t resamples, std::uint64_t seed) {
  constexpr Time kOneDay = Time::seconds(86'400);
  std::vector<double> base(lists), other(lists);
  std::vector<PairedChange> changes(lists), plain(lists);  // with and without correlation
  run_all(lists, [&](std::size_t i) {
    const DayList list = draw_days(values, persistence, blocks, seed + i);
    std::vector<double> base_drawn, other_drawn;
    for (std::size_t r = 0; r < resamples; ++r) {
      const ResampledList drawn = resample(list.jobs, {.block = kOneDay}, i * resamples + r + 1);
      base_drawn.push_back(mean_of_rows(list.base, drawn.rows));
      other_drawn.push_back(mean_of_rows(list.other, drawn.rows));
    }
    base[i] = mean(list.base);
    other[i] = mean(list.other);
    const double correlation = lost_correlation(correlation_of_blocks(list.jobs, kOneDay), 1);
    changes[i] = resampled_change(base[i], other[i], base_drawn, other_drawn, {blocks, correlation});
    plain[i] = resampled_change(base[i], other[i], base_drawn, other_drawn, {blocks, 1});
  });
  const PairedChange truth = paired_change(base, other);
  std::size_t relative = 0, difference = 0, relative_twice = 0, difference_twice = 0;
  for (std::size_t i = 0; i < lists; ++i) {
    if (holds_truth(changes[i].relative, truth.relative.value)) ++relative;
    if (holds_truth(changes[i].difference, truth.difference.value)) ++difference;
    const auto is_in_twice = [](const ChangeEstimate& change, double whole) {
      return reaches_truth(change, whole, twice_half_width(change));
    };
    if (is_in_twice(plain[i].relative, truth.relative.value)) ++relative_twice;
    if (is_in_twice(plain[i].difference, truth.difference.value)) ++difference_twice;
  }
  BlockCoverage coverage{.name = fmt::format("{}, {} blocks, correlated {}", name_of(values), blocks, persistence),
                         .relative = share_of(relative, lists),
                         .difference = share_of(difference, lists),
                         .relative_twice = share_of(relative_twice, lists),
                         .difference_twice = share_of(difference_twice, lists)};
  count_known(plain, truth.relative.value, coverage);
  return coverage;
}

namespace {

constexpr std::array kPersistences = {0.0, 0.6};

bool print_seeds(std::FILE* out) {
  constexpr std::size_t kWorkloads = 400;
  constexpr Interval kCoverage{0.92, 0.97};
  constexpr double kMostAlarms = 0.04;
  bool holds = true;
  fmt::print(out,
             "intervals: how often a 95% interval contains the truth, over {} trials with workloads drawn from {}\n"
             "of means, difference: the ratio and the difference of the means; one side: the mean of BASE\n"
             "false alarms: a significant change, up or down, between sides that don't differ\n\n"
             "  {:<58}{:>6}{:>11}{:>10}{:>12}{:>10}{:>7}{:>7}\n",
             kTrials, kWorkloads, "", "seeds", "geometric", "of means", "difference", "one side", "up", "down");
  for (const IntervalPopulation& population : interval_populations(kWorkloads)) {
    for (const std::size_t pairs : kPairs) {
      const IntervalCoverage found = coverage_of(population, pairs, kTrials, pairs);
      const bool good =
          kCoverage.contains(found.geometric) && std::max(found.alarms_up, found.alarms_down) <= kMostAlarms;
      if (pairs >= kFewest) holds = holds && good;
      fmt::print(out, "  {:<58}{:>6}{:>10.1f}%{:>9.1f}%{:>11.1f}%{:>9.1f}%{:>6.1f}%{:>6.1f}%  {}\n",
                 pairs == kPairs.front() ? population.name : "", pairs, 100 * found.geometric, 100 * found.of_means,
                 100 * found.difference, 100 * found.one_side, 100 * found.alarms_up, 100 * found.alarms_down,
                 pairs >= kFewest ? word(good) : "few");
    }
  }
  return holds;
}

bool print_lists(std::FILE* out) {
  constexpr std::size_t kTraces = 150, kResamples = 20;
  constexpr std::uint64_t kFirstTrace = 151;  // the rule for the intervals was chosen on the lists of the seeds before
  constexpr double kListCoverage = 0.85;
  constexpr int kFewestDays = 42;
  bool holds = true;
  fmt::print(out,
             "\none job list and {} resamples of it: how often the interval contains the change over {} such lists\n\n"
             "  {:<58}{:>11}{:>9}{:>12}{:>17}{:>17}\n",
             kResamples, kTraces, "", "block [d]", "contend", "difference", "resamples alone", "as if independent");
  for (const double persistence : kPersistences) {
    for (const int days : {4, 7, 14, 42, 84}) {
      for (const ListCoverage& found : list_coverages(persistence, days, kTraces, kResamples, kFirstTrace)) {
        const bool good = found.around_list >= kListCoverage;
        if (days >= kFewestDays) holds = holds && good;
        fmt::print(out, "  {:<58}{:>11.2f}{:>8.1f}%{:>11.1f}%{:>16.1f}%{:>16.1f}%  {}\n", found.name, found.block_days,
                   100 * found.around_list, 100 * found.difference, 100 * found.resamples_alone,
                   100 * found.as_independent, days >= kFewestDays ? word(good) : "few");
      }
    }
  }
  return holds;
}

bool print_blocks(std::FILE* out) {
  constexpr std::size_t kLists = 4000, kResamples = 20, kManyBlocks = 42;
  constexpr Interval kIndependent{0.925, 0.975}, kCorrelated{0.9, 0.975};  // 93 to 97% with the error of 4,000 lists
  bool holds = true;
  fmt::print(out,
             "\nfigures that are means over skewed days: how often the interval by {} resamples contains the change, "
             "over {} lists\nat twice t: an interval of twice the width of Student's t without correlation, the widest "
             "allowed\nknown: an interval of the relative change by its true error; capped: at most twice t\n\n"
             "  {:<38}{:>11}{:>12}{:>12}{:>12}{:>9}{:>9}\n",
             kResamples, kLists, "", "relative", "difference", "at twice t", "difference", "known", "capped");
  for (const double persistence : {0.0, 0.3, 0.6}) {
    for (const BlockValues values : {BlockValues::exponential, BlockValues::lognormal, BlockValues::gamma}) {
      for (const std::size_t blocks : {4U, 7U, 14U, 42U, 84U}) {
        const BlockCoverage found = block_coverage(values, persistence, blocks, kLists, kResamples, 1);
        const Interval& right = persistence == 0 ? kIndependent : kCorrelated;
        const bool good = right.contains(found.relative) && right.contains(found.difference);
        const bool counts = persistence == 0 || blocks >= kManyBlocks;
        if (counts) holds = holds && good;
        fmt::print(out, "  {:<38}{:>10.1f}%{:>11.1f}%{:>11.1f}%{:>11.1f}%{:>8.1f}%{:>8.1f}%  {}\n", found.name,
                   100 * found.relative, 100 * found.difference, 100 * found.relative_twice,
                   100 * found.difference_twice, 100 * found.relative_known, 100 * found.relative_known_capped,
                   counts ? word(good) : "few");
      }
    }
  }
  return holds;
}

}  // namespace

int validate_intervals(std::FILE* out) {
  bool holds = print_blocks(out);
  holds = print_seeds(out) && holds;
  holds = print_lists(out) && holds;
  fmt::print(out, "\nintervals: {}\n", word(holds));
  return holds ? 0 : 1;
}

}  // namespace contend
