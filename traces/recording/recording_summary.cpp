#include "traces/recording/recording_summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace contend {
namespace {

/// Half-open intervals of ns.
using Intervals = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// The union, in order, without empty ones.
Intervals united(Intervals all) {
  std::ranges::sort(all);
  Intervals kept;
  for (const auto& [begin, end] : all) {
    if (begin == end) continue;
    if (!kept.empty() && begin <= kept.back().second)
      kept.back().second = std::max(kept.back().second, end);
    else
      kept.emplace_back(begin, end);
  }
  return kept;
}

Time length(const Intervals& united) {
  Time sum;
  for (const auto& [begin, end] : united) sum += Time::nanoseconds(end - begin);
  return sum;
}

/// How much of `a` lies in no interval of `b`; both are unions.
Time length_outside(const Intervals& a, const Intervals& b) {
  std::int64_t common = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    common += std::max<std::int64_t>(0, std::min(a[i].second, b[j].second) - std::max(a[i].first, b[j].first));
    a[i].second < b[j].second ? ++i : ++j;
  }
  return length(a) - Time::nanoseconds(common);
}

/// What one GPU did.
struct GpuIntervals {
  Intervals compute, communication, other;

  void add(const RecordedTask& task) {
    Intervals& list = task.kind == RecordedKind::compute ? compute
                      : is_communication(task.kind)      ? communication
                                                         : other;
    list.emplace_back(task.start.ns(), (task.start + task.duration).ns());
  }
};

Intervals joined(Intervals a, const Intervals& b) {
  a.insert(a.end(), b.begin(), b.end());
  return united(std::move(a));
}

struct GpusOfRank {
  std::map<std::int64_t, GpuIntervals> gpus;
  std::int64_t first = INT64_MAX, last = INT64_MIN;

  void add(const RecordedRank& rank, const RecordedTask& task) {
    gpus[rank.lanes[task.lane].gpu].add(task);
    first = std::min(first, task.start.ns());
    last = std::max(last, (task.start + task.duration).ns());
  }
  [[nodiscard]] RecordedTimes times() const {
    RecordedTimes sum;
    for (const auto& [gpu, each] : gpus) {
      const Intervals compute = united(each.compute), communication = united(each.communication);
      const Intervals others = joined(compute, each.other);
      sum.busy += length(joined(others, communication));
      sum.compute += length(compute);
      sum.communication += length(communication);
      sum.exposed += length_outside(communication, compute);
      sum.alone += length_outside(communication, others);
    }
    if (!gpus.empty()) sum.span = Time::nanoseconds(last - first);
    return sum;
  }
};

void add_idle(const RecordedRank& rank, std::vector<const RecordedTask*>& tasks, IdleTimes& idle) {
  std::ranges::sort(tasks, {}, [](const RecordedTask* task) { return std::pair{task->start, task->node}; });
  std::optional<Time> busy_until;
  for (const RecordedTask* const task : tasks) {
    if (busy_until && task->start > *busy_until) {
      const Time gap = task->start - *busy_until;
      if (task->launch == kNoTask) {
        idle.unknown += gap;
      } else if (const Time launch = rank.tasks[task->launch].start; launch > *busy_until) {
        const Time late = std::min(launch - *busy_until, gap);  // clocks of host and device may be off
        idle.late_host += late;
        idle.launching += gap - late;
      } else {
        idle.device += gap;
      }
    }
    busy_until = std::max(busy_until.value_or(Time{}), task->start + task->duration);
  }
}

IdleTimes idle_times(const RecordedRank& rank) {
  std::map<std::int64_t, std::vector<const RecordedTask*>> by_gpu;
  for (const RecordedTask& task : rank.tasks)
    if (on_device(task.kind)) by_gpu[rank.lanes[task.lane].gpu].push_back(&task);
  IdleTimes idle;
  for (auto& [gpu, tasks] : by_gpu) add_idle(rank, tasks, idle);
  return idle;
}

LaunchDelays launch_delays(const RecordedRank& rank) {
  LaunchDelays delays;
  std::vector<Time> all;
  for (const RecordedTask& task : rank.tasks) {
    if (!on_device(task.kind)) continue;
    ++delays.tasks;
    if (task.launch != kNoTask) all.push_back(task.start - rank.tasks[task.launch].start);
  }
  delays.found = static_cast<std::int64_t>(all.size());
  if (all.empty()) return delays;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::ranges::nth_element(all, middle);
  delays.median = *middle;
  delays.shortest = *std::ranges::min_element(all);
  return delays;
}

std::vector<StepSummary> step_summaries(const RecordedRank& rank) {
  std::vector<GpusOfRank> launched(rank.steps.size());
  for (const RecordedTask& task : rank.tasks) {
    if (!on_device(task.kind) || task.launch == kNoTask) continue;
    const Time at = rank.tasks[task.launch].start;
    const auto after = std::ranges::upper_bound(rank.steps, at, {}, &RecordedStep::start);
    if (after == rank.steps.begin() || std::prev(after)->end <= at) continue;
    launched[static_cast<std::size_t>(after - rank.steps.begin()) - 1].add(rank, task);
  }
  std::vector<StepSummary> steps;
  for (std::size_t i = 0; i < rank.steps.size(); ++i) steps.push_back({rank.steps[i], launched[i].times()});
  return steps;
}

std::vector<RecordedCollectives> collectives_of(const RecordedRank& rank) {
  std::map<std::tuple<RecordedCollective, std::optional<std::size_t>, std::optional<Bytes>, std::optional<Bytes>>,
           RecordedCollectives>
      found;
  for (const RecordedTask& task : rank.tasks) {
    const RecordedTransfer* const transfer = rank.transfer_of(task);
    if (transfer == nullptr) continue;
    RecordedCollectives& each = found[{transfer->kind, transfer->group, transfer->in, transfer->out}];
    if (each.tasks++ == 0)
      each = {transfer->kind, transfer->group, transfer->in, transfer->out, 1, Time{}, task.duration};
    each.time += task.duration;
    each.shortest = std::min(each.shortest, task.duration);
  }
  std::vector<RecordedCollectives> list;
  for (auto& [key, each] : found) list.push_back(each);
  std::ranges::stable_sort(list, std::greater{}, [](const RecordedCollectives& each) { return each.time; });
  return list;
}

/// Times of threads are the times of their outermost operations, as others lie within them.
std::vector<RecordedSum> lane_sums(const RecordedRank& rank) {
  std::vector<RecordedSum> sums(rank.lanes.size());
  std::vector<Intervals> threads(rank.lanes.size());
  for (const RecordedTask& task : rank.tasks) {
    ++sums[task.lane].tasks;
    if (rank.timed && !rank.lanes[task.lane].device)
      threads[task.lane].emplace_back(task.start.ns(), (task.start + task.duration).ns());
    else
      sums[task.lane].time += task.duration;
  }
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i].time += length(united(std::move(threads[i])));
  return sums;
}

}  // namespace

RankSummary summarise(const RecordedRank& rank) {
  RankSummary summary;
  GpusOfRank gpus;
  for (const RecordedTask& task : rank.tasks) {
    RecordedSum& sum = summary.kinds[static_cast<std::size_t>(task.kind)];
    ++sum.tasks;
    sum.time += task.duration;
    if (rank.timed && on_device(task.kind)) gpus.add(rank, task);
  }
  summary.lanes = lane_sums(rank);
  summary.collectives = collectives_of(rank);
  if (!rank.timed) return summary;
  summary.times = gpus.times();
  summary.idle = idle_times(rank);
  summary.launches = launch_delays(rank);
  summary.steps = step_summaries(rank);
  return summary;
}

std::optional<double> bus_bandwidth(const RecordedCollectives& each, std::int64_t ranks) {
  const bool gathers = each.kind == RecordedCollective::all_gather;
  std::optional<Bytes> whole = gathers ? each.out : each.in;
  if (!whole && gathers && each.in) whole = *each.in * ranks;
  if (!whole) whole = each.out;
  if (!whole || ranks < 2 || each.shortest <= Time{}) return std::nullopt;
  const double n = static_cast<double>(ranks), rate = whole->to_double() / each.shortest.to_seconds();
  switch (each.kind) {
    case RecordedCollective::all_reduce:
      return rate * 2 * (n - 1) / n;
    case RecordedCollective::all_gather:
    case RecordedCollective::reduce_scatter:
    case RecordedCollective::all_to_all:
      return rate * (n - 1) / n;
    default:
      return rate;
  }
}

MeanAndSpread step_lengths(const std::vector<RecordedStep>& steps) {
  if (steps.empty()) return {};
  const auto count = static_cast<double>(steps.size());
  double sum = 0, squares = 0;
  for (const RecordedStep& step : steps) sum += static_cast<double>((step.end - step.start).ns());
  const double mean = sum / count;
  for (const RecordedStep& step : steps) {
    const double off = static_cast<double>((step.end - step.start).ns()) - mean;
    squares += off * off;
  }
  return {mean, steps.size() < 2 ? 0 : std::sqrt(squares / (count - 1))};
}

}  // namespace contend
