#include "models/fabric/crux.hpp"

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/random_stream.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace contend {
namespace {

/// An order of the jobs in which the higher one of each conflict comes first, drawn at random among the jobs that may
/// come next.
std::vector<std::size_t> random_order(std::size_t jobs, std::span<const CruxConflict> conflicts, RandomStream& random) {
  std::vector<int> above(jobs, 0);
  for (const CruxConflict& each : conflicts) ++above[each.low];
  std::vector<std::size_t> free, order;
  for (std::size_t job = 0; job < jobs; ++job)
    if (above[job] == 0) free.push_back(job);
  while (!free.empty()) {
    const auto at = static_cast<std::size_t>(random.uniform_integer(0, std::ssize(free) - 1));
    order.push_back(free[at]);
    free.erase(free.begin() + static_cast<std::ptrdiff_t>(at));
    for (const CruxConflict& each : conflicts)
      if (each.high == order.back() && --above[each.low] == 0) free.push_back(each.low);
  }
  if (order.size() < jobs) throw InputError{"conflicts of jobs form a circle: each says that one is above the next"};
  return order;
}

/// Cuts the order into at most `levels` parts so that most weight lies between different parts.
CruxLevels best_cut(std::span<const std::size_t> order, std::span<const CruxConflict> conflicts, int levels) {
  const std::size_t jobs = order.size();
  std::vector<std::size_t> place(jobs);
  for (std::size_t i = 0; i < jobs; ++i) place[order[i]] = i;
  // inside[i][j]: the weight of conflicts within places i, ..., j - 1.
  std::vector<std::vector<double>> inside(jobs + 1, std::vector<double>(jobs + 1, 0));
  for (const CruxConflict& each : conflicts) inside[place[each.high]][place[each.low] + 1] += each.weight;
  for (std::size_t length = 1; length <= jobs; ++length) {
    for (std::size_t i = 0; i + length <= jobs; ++i) {
      const std::size_t j = i + length;
      inside[i][j] += inside[i + 1][j] + (length > 1 ? inside[i][j - 1] - inside[i + 1][j - 1] : 0);
    }
  }
  // lost[j]: the least weight inside parts, with the first j jobs in the levels so far.
  std::vector<double> lost(jobs + 1, std::numeric_limits<double>::infinity());
  lost[0] = 0;
  std::vector<std::vector<std::size_t>> from(static_cast<std::size_t>(levels), std::vector<std::size_t>(jobs + 1, 0));
  for (std::size_t level = 0; level < from.size(); ++level) {
    std::vector<double> next(jobs + 1, std::numeric_limits<double>::infinity());
    for (std::size_t j = 0; j <= jobs; ++j) {
      for (std::size_t i = 0; i <= j; ++i) {
        if (lost[i] + inside[i][j] >= next[j]) continue;
        next[j] = lost[i] + inside[i][j];
        from[level][j] = i;
      }
    }
    lost = std::move(next);
  }
  CruxLevels result;
  result.level.assign(jobs, 0);
  std::size_t end = jobs;
  for (std::size_t level = from.size(); level-- > 0;) {
    const std::size_t begin = from[level][end];
    for (std::size_t i = begin; i < end; ++i) result.level[order[i]] = static_cast<int>(level);
    end = begin;
  }
  for (const CruxConflict& each : conflicts)
    if (result.level[each.high] != result.level[each.low]) result.kept += each.weight;
  return result;
}

}  // namespace

double crux_time(const CruxJob& job, std::span<const std::size_t> paths, std::span<const double> rates) {
  CONTEND_CHECK(paths.size() == job.flows.size(), "each flow has a path");
  std::vector<double> load(rates.size(), 0);
  double longest = 0;
  for (std::size_t f = 0; f < paths.size(); ++f) {
    for (const std::size_t link : job.flows[f].paths[paths[f]]) {
      load[link] += job.flows[f].bytes;
      longest = std::max(longest, load[link] / rates[link]);
    }
  }
  return longest;
}

double crux_intensity(const CruxJob& job, std::span<const std::size_t> paths, std::span<const double> rates) {
  const double time = crux_time(job, paths, rates);
  return time > 0 ? job.work / time : std::numeric_limits<double>::infinity();
}

CruxPaths crux_paths(std::span<const CruxJob> jobs, std::span<const double> rates) {
  CruxPaths paths;
  std::vector<double> intensity;
  for (const CruxJob& job : jobs) {
    paths.emplace_back(job.flows.size(), 0);
    intensity.push_back(crux_intensity(job, paths.back(), rates));
  }
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return intensity[a] > intensity[b]; });
  std::vector<double> load(rates.size(), 0);
  for (const std::size_t j : order) {
    const std::vector<CruxFlow>& flows = jobs[j].flows;
    std::vector<std::size_t> largest_first(flows.size());
    std::iota(largest_first.begin(), largest_first.end(), std::size_t{0});
    std::stable_sort(largest_first.begin(), largest_first.end(),
                     [&](std::size_t a, std::size_t b) { return flows[a].bytes > flows[b].bytes; });
    for (const std::size_t f : largest_first) {
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t p = 0; p < flows[f].paths.size(); ++p) {
        double fullest = 0;
        for (const std::size_t link : flows[f].paths[p])
          fullest = std::max(fullest, (load[link] + flows[f].bytes) / rates[link]);
        if (fullest >= least) continue;
        least = fullest;
        paths[j][f] = p;
      }
      for (const std::size_t link : flows[f].paths[paths[j][f]]) load[link] += flows[f].bytes;
    }
  }
  return paths;
}

CruxLevels crux_levels(std::size_t jobs, std::span<const CruxConflict> conflicts, int levels, int tries,
                       std::uint64_t seed) {
  CONTEND_CHECK(levels >= 1 && tries >= 1, "there is a level and an order");
  for (const CruxConflict& each : conflicts)
    CONTEND_CHECK(each.high < jobs && each.low < jobs && each.weight >= 0, "conflicts are between jobs");
  RandomStream random{seed, "crux"};
  CruxLevels best;
  best.kept = -1;
  for (int i = 0; i < tries; ++i) {
    CruxLevels found = best_cut(random_order(jobs, conflicts, random), conflicts, levels);
    if (found.kept > best.kept) best = std::move(found);
  }
  return best;
}

}  // namespace contend
