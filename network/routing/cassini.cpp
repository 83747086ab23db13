#include "network/routing/cassini.hpp"

#include "sim/check.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include <fmt/core.h>

namespace contend {
namespace {

Time unified_circle(std::span<const LinkDemand> demands) {
  std::int64_t circle = 1;
  for (const LinkDemand& each : demands) {
    const std::int64_t period = each.period.ns();
    if (period <= 0) throw InputError{"a job on a link has no period"};
    for (const DemandArc& arc : each.arcs) {
      if (arc.from < Time{} || arc.until <= arc.from || arc.until > each.period || !(arc.rate >= 0))
        throw InputError{fmt::format("a demand from {} to {} ns is not within the period of {} ns", arc.from.ns(),
                                     arc.until.ns(), period)};
    }
    const std::int64_t turns = period / std::gcd(circle, period);
    std::int64_t longer = 0;
    if (__builtin_mul_overflow(circle, turns, &longer)) throw_time_overflow();
    circle = longer;
  }
  for (const LinkDemand& each : demands) {
    if (circle / each.period.ns() > kMostTurns)
      throw InputError{
          fmt::format("the periods have a common multiple of {} ns only, more than {} iterations of {} ns: "
                      "round them to a common unit",
                      circle, kMostTurns, each.period.ns())};
  }
  return Time::nanoseconds(circle);
}

/// A change of the sum of demands at an instant of the circle.
struct Change {
  std::int64_t at;
  double by;
  bool operator<(const Change& other) const { return at < other.at; }
};

std::int64_t modulo(std::int64_t value, std::int64_t period) {
  return ((value % period) + period) % period;
}

double score_on(std::int64_t circle, std::span<const LinkDemand> demands, double capacity,
                std::span<const Time> shifts) {
  std::vector<Change> changes;
  double sum = 0;  // at instant 0
  for (std::size_t j = 0; j < demands.size(); ++j) {
    const std::int64_t period = demands[j].period.ns();
    for (const DemandArc& arc : demands[j].arcs) {
      const std::int64_t from = modulo((arc.from + shifts[j]).ns(), period), length = (arc.until - arc.from).ns();
      if (length == period) {
        sum += arc.rate;
        continue;
      }
      const std::int64_t until = modulo(from + length, period);
      if (from + length > period) sum += arc.rate;  // it reaches around the begin
      for (std::int64_t turn = 0; turn < circle; turn += period) {
        changes.push_back({turn + from, arc.rate});
        if (until > 0 || turn + period < circle)
          changes.push_back({until > 0 ? turn + until : turn + period, -arc.rate});
      }
    }
  }
  std::sort(changes.begin(), changes.end());
  double excess = 0;  // rate x time
  std::int64_t since = 0;
  for (const Change& change : changes) {
    excess += std::max(0.0, sum - capacity) * static_cast<double>(change.at - since);
    since = change.at;
    sum += change.by;
  }
  excess += std::max(0.0, sum - capacity) * static_cast<double>(circle - since);
  return 1 - excess / capacity / static_cast<double>(circle);
}

}  // namespace

double link_score(std::span<const LinkDemand> demands, double capacity, std::span<const Time> shifts) {
  CONTEND_CHECK(capacity > 0 && shifts.size() == demands.size(), "a shift for each job on a link");
  if (demands.empty()) return 1;
  return score_on(unified_circle(demands).ns(), demands, capacity, shifts);
}

LinkShifts best_shifts(std::span<const LinkDemand> demands, double capacity) {
  LinkShifts best;
  best.shifts.assign(demands.size(), Time{});
  if (demands.empty()) return best;
  const std::int64_t circle = unified_circle(demands).ns();
  best.score = score_on(circle, demands, capacity, best.shifts);
  constexpr double kGain = 1e-12;
  for (bool gains = true; gains && best.score < 1;) {
    gains = false;
    for (std::size_t j = 1; j < demands.size(); ++j) {
      const std::int64_t period = demands[j].period.ns();
      std::vector<std::int64_t> candidates;
      for (std::size_t k = 0; k < demands.size(); ++k) {
        // Edges of k at all of its iterations fall on each other modulo the period of j.
        const std::int64_t its_period = demands[k].period.ns(), common = std::gcd(period, its_period);
        if (k == j) continue;
        for (const DemandArc& theirs : demands[k].arcs)
          for (const DemandArc& own : demands[j].arcs)
            for (const Time edge : {theirs.from, theirs.until})
              for (const Time mine : {own.from, own.until})
                for (std::int64_t turn = 0; turn < period; turn += common)
                  candidates.push_back(modulo((edge + best.shifts[k] - mine).ns() + turn, period));
      }
      std::sort(candidates.begin(), candidates.end());
      candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
      std::vector<Time> shifts = best.shifts;
      for (const std::int64_t candidate : candidates) {
        shifts[j] = Time::nanoseconds(candidate);
        const double score = score_on(circle, demands, capacity, shifts);
        if (score <= best.score + kGain) continue;
        best = {shifts, score};
        gains = true;
      }
    }
  }
  return best;
}

std::optional<std::vector<Time>> affinity_shifts(std::span<const Time> periods, std::size_t links,
                                                 std::span<const AffinityEdge> edges) {
  const std::size_t jobs = periods.size();
  std::vector<std::vector<std::size_t>> of_job(jobs), of_link(links);  // edges
  for (std::size_t e = 0; e < edges.size(); ++e) {
    CONTEND_CHECK(edges[e].job < jobs && edges[e].link < links, "an edge joins a job and a link that there are");
    of_job[edges[e].job].push_back(e);
    of_link[edges[e].link].push_back(e);
  }
  std::vector<Time> shifts(jobs);
  std::vector<bool> job_seen(jobs, false), link_seen(links, false);
  for (std::size_t root = 0; root < jobs; ++root) {
    if (job_seen[root]) continue;
    struct Step {
      std::size_t job, from_edge;
    };
    std::vector<Step> queue{{root, edges.size()}};
    job_seen[root] = true;
    for (std::size_t q = 0; q < queue.size(); ++q) {
      const auto [job, from_edge] = queue[q];
      for (const std::size_t e : of_job[job]) {
        if (e == from_edge) continue;
        const std::size_t link = edges[e].link;
        if (link_seen[link]) return std::nullopt;
        link_seen[link] = true;
        for (const std::size_t other : of_link[link]) {
          if (other == e) continue;
          const std::size_t next = edges[other].job;
          if (job_seen[next]) return std::nullopt;
          job_seen[next] = true;
          const Time shift = shifts[job] - edges[e].shift + edges[other].shift;
          shifts[next] = Time::nanoseconds(modulo(shift.ns(), periods[next].ns()));
          queue.push_back({next, other});
        }
      }
    }
  }
  return shifts;
}

}  // namespace contend
